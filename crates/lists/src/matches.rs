//! Rows that match, collected in any order.

use madrigal_core::Zeroizing;

use crate::error::ListError;
use crate::listed::Listed;
use crate::store::{Room, Store};

/// Rows whose numbers are sorted at once, as a power of two.
const RANGE: u32 = 20;
/// Bytes of a row and its number.
const ENTRY: usize = 12;

/// Rows that match, and maybe a number for each.
///
/// It takes a bit for each row of the list. Numbers take 12 bytes for each row that matches: beyond the budget in a file,
/// for which `room` says where.
pub struct Matches {
    rows: u32,
    marked: u64,
    bits: Zeroizing<Vec<u64>>,
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
            bits: Zeroizing::zeros(words),
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

    /// Marks a row.
    ///
    /// # Errors
    /// [`ListError::Row`] if the list has no such row.
    pub fn mark(&mut self, row: u32) -> Result<(), ListError> {
        let rows = self.rows;
        if row >= rows {
            return Err(ListError::Row { row, rows });
        }
        let word = &mut self.bits[row as usize / 64];
        let bit = 1 << (row % 64);
        self.marked += u64::from(*word & bit == 0);
        *word |= bit;
        Ok(())
    }

    /// Marks a row, and says its number. If it is said twice, the greater one counts.
    ///
    /// # Errors
    /// [`ListError::Row`] if the list has no such row, [`ListError::Values`] if no numbers are collected,
    /// [`ListError::Spill`] if the disk fails.
    pub fn set(&mut self, row: u32, value: i64) -> Result<(), ListError> {
        self.mark(row)?;
        let Some(values) = &mut self.values else {
            return Err(ListError::Values { column: false });
        };
        let mut entry = [0; ENTRY];
        entry[..4].copy_from_slice(&row.to_le_bytes());
        entry[4..].copy_from_slice(&value.to_le_bytes());
        values.push(row >> RANGE, &entry)
    }

    /// Number of rows that were marked.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Whether a row was marked.
    pub fn is_marked(&self, row: u32) -> bool {
        let word = self.bits.get(row as usize / 64);
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
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
    /// Rows and numbers of the range that is loaded.
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
                    value.copy_from_slice(&entry[4..]);
                    let row = u64::from(u32::from_le_bytes(row));
                    all.push([row, u64::from_le_bytes(value)]);
                }
            })?;
            all.sort_unstable_by_key(|&[row, value]| (row, value as i64));
            (self.range, self.at, self.next) = (all, 0, range + 1);
        }
        let mut found = None;
        while let Some(&[at, value]) = self.range.get(self.at)
            && at <= u64::from(row)
        {
            if at == u64::from(row) {
                found = Some(value as i64);
            }
            self.at += 1;
        }
        Ok(found)
    }
}
