//! Rows that match, collected in any order.

use madrigal_core::Zeroizing;

use crate::error::ListError;
use crate::listed::Listed;
use crate::store::{Room, Store};

/// Rows whose numbers are sorted at once, as a power of two.
const RANGE: u32 = 20;
/// Bytes of a row, the place of its key, and its number.
const ENTRY: usize = 13;

/// Rows that match, and maybe a number for each.
///
/// It takes a bit for each row of the list and each key that a row has. Numbers take 13 bytes for each row and key that match: beyond the budget in a file,
/// for which `room` says where.
pub struct Matches {
    rows: u32,
    marked: u64,
    /// Rows that match by their first key, by their second one, and so on.
    bits: Vec<Zeroizing<Vec<u64>>>,
    values: Option<Store>,
}

madrigal_core::opaque!(Matches);

impl Matches {
    /// Begins to collect rows of a list, none of which matches yet.
    pub fn new(listed: &Listed) -> Self {
        let words = (listed.rows() as usize).div_ceil(64);
        Self {
            rows: listed.rows(),
            marked: 0,
            bits: (listed.source().all_keys().iter())
                .map(|_| Zeroizing::zeros(words))
                .collect(),
            values: None,
        }
    }

    /// Begins to collect rows of a list and a number for each.
    pub fn with_values(listed: &Listed, room: &Room) -> Self {
        let ranges = (listed.rows() >> RANGE) + 1;
        Self {
            values: Some(Store::new(ENTRY, ranges, room)),
            ..Self::new(listed)
        }
    }

    /// Marks a row, by its first key.
    ///
    /// # Errors
    /// [`ListError::Row`] if the list has no such row.
    pub fn mark(&mut self, row: u32) -> Result<(), ListError> {
        self.mark_by(row, 0)
    }

    /// Marks a row by one of its keys.
    ///
    /// # Errors
    /// [`ListError::Row`] if the list has no such row, [`ListError::Key`] if a row has no such key.
    pub fn mark_by(&mut self, row: u32, key: usize) -> Result<(), ListError> {
        let (rows, keys) = (self.rows, self.bits.len());
        if row >= rows {
            return Err(ListError::Row { row, rows });
        }
        let marked = self.is_marked(row);
        let bits = self.bits.get_mut(key);
        let bits = bits.ok_or(ListError::Key { key, keys })?;
        bits[row as usize / 64] |= 1 << (row % 64);
        self.marked += u64::from(!marked);
        Ok(())
    }

    /// Marks a row by its first key, and says its number. If it is said twice, the greater one counts.
    ///
    /// # Errors
    /// [`ListError`] in the same cases as [`set_by`](Self::set_by).
    pub fn set(&mut self, row: u32, value: i64) -> Result<(), ListError> {
        self.set_by(row, 0, value)
    }

    /// Marks a row by one of its keys, and says its number. Of several, that of the first key counts, and of those the greatest.
    ///
    /// # Errors
    /// [`ListError::Row`] if the list has no such row, [`ListError::Key`] if a row has no such key, [`ListError::Values`] if no numbers are
    /// collected, [`ListError::Spill`] if the disk fails.
    pub fn set_by(&mut self, row: u32, key: usize, value: i64) -> Result<(), ListError> {
        self.mark_by(row, key)?;
        let Some(values) = &mut self.values else {
            return Err(ListError::Values { column: false });
        };
        let mut entry = [0; ENTRY];
        entry[..4].copy_from_slice(&row.to_le_bytes());
        // Rows have few keys.
        entry[4] = key as u8;
        entry[5..].copy_from_slice(&value.to_le_bytes());
        values.push(row >> RANGE, &entry)
    }

    /// Number of rows that were marked.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Whether a row was marked.
    #[inline]
    pub fn is_marked(&self, row: u32) -> bool {
        self.key_of(row).is_some()
    }

    /// Place of the first key by which a row was marked; none of one that was not.
    #[inline]
    pub fn key_of(&self, row: u32) -> Option<usize> {
        let marks = |bits: &Zeroizing<Vec<u64>>| {
            let word = bits.get(row as usize / 64);
            word.is_some_and(|word| word >> (row % 64) & 1 == 1)
        };
        self.bits.iter().position(marks)
    }

    /// Number of rows that were marked, by the first key of each by which it was.
    pub fn marked_by(&self) -> Vec<u64> {
        let mut found = vec![0; self.bits.len()];
        for word in 0..(self.rows as usize).div_ceil(64) {
            let mut before = 0;
            for (found, bits) in found.iter_mut().zip(&self.bits) {
                *found += u64::from((bits[word] & !before).count_ones());
                before |= bits[word];
            }
        }
        found
    }

    /// Tells the rows that were marked, counted from 0 and in ascending order, and the number of each if numbers are collected.
    ///
    /// # Errors
    /// [`ListError::Spill`] if the disk fails.
    pub fn each(&self, mut see: impl FnMut(u32, Option<i64>)) -> Result<(), ListError> {
        let mut values = self.values();
        for row in (0..self.rows).filter(|&row| self.is_marked(row)) {
            let value = match &mut values {
                Some(values) => values.of(row)?,
                None => None,
            };
            see(row, value);
        }
        Ok(())
    }

    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Numbers of the rows, in the order of the rows.
    pub(crate) fn values(&self) -> Option<Values<'_>> {
        self.values.as_ref().map(|store| Values {
            store,
            next: 0,
            range: Zeroizing::default(),
            at: 0,
        })
    }
}

/// Numbers of rows, in ascending order of the rows.
pub(crate) struct Values<'a> {
    store: &'a Store,
    /// Range that is loaded next.
    next: u32,
    /// Rows with the places of their keys in the lowest byte, and numbers, of the range that is loaded.
    range: Zeroizing<Vec<[u64; 2]>>,
    at: usize,
}

impl Values<'_> {
    /// The number of a row, which is past the one before.
    pub(crate) fn of(&mut self, row: u32) -> Result<Option<i64>, ListError> {
        while row >> RANGE >= self.next {
            let range = row >> RANGE;
            let mut all = Zeroizing::new(Vec::with_capacity(self.store.entries(range) as usize));
            self.store.each(range, |bytes| {
                for entry in bytes.chunks_exact(ENTRY) {
                    let (mut row, mut value) = ([0; 4], [0; 8]);
                    row.copy_from_slice(&entry[..4]);
                    value.copy_from_slice(&entry[5..]);
                    let by = u64::from(u32::from_le_bytes(row)) << 8 | u64::from(entry[4]);
                    all.push([by, u64::from_le_bytes(value)]);
                }
            })?;
            all.sort_unstable_by_key(|&[by, value]| (by, value as i64));
            (self.range, self.at, self.next) = (all, 0, range + 1);
        }
        let mut found: Option<(u64, i64)> = None;
        while let Some(&[by, value]) = self.range.get(self.at)
            && by >> 8 <= u64::from(row)
        {
            // The first key's numbers come first, and of these the greatest last.
            if by >> 8 == u64::from(row) && found.is_none_or(|(first, _)| first == by) {
                found = Some((by, value as i64));
            }
            self.at += 1;
        }
        Ok(found.map(|(_, value)| value))
    }
}
