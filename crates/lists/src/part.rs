//! A partition in order: its digests, each once, with the rows that have it.

use std::ops::Range;

use madrigal_core::{Plain, Wipe, Zeroizing};
use madrigal_kernels::Block;

use crate::error::{ListError, Problem};
use crate::source::{Duplicates, Payload};
use crate::store::Store;

/// Bytes of an entry: a digest and a row.
const ENTRY: usize = 20;
/// Bytes of an entry with a number.
const LONG_ENTRY: usize = 28;

/// Entries of a bucket on average, which is sorted by itself.
const BUCKET: usize = 8;

/// The different keys of a partition, in ascending order of their digests.
///
/// It takes 20 bytes for each key, 28 with a payload, one more where a row has several keys, and 4 more for each row where a key has several rows.
pub struct Part {
    digests: Zeroizing<Vec<Block>>,
    /// Rows, key by key.
    rows: Vec<u32>,
    /// Where each key's rows begin, and the end; empty if each key has one row.
    starts: Vec<u32>,
    values: Option<Zeroizing<Vec<i64>>>,
    /// Places of the keys among their rows' keys; empty if a row has one.
    places: Vec<u8>,
}

madrigal_core::opaque!(Part);

impl Part {
    /// Digests of the keys, in ascending order, none twice. A digest's first byte is the most significant one.
    pub fn digests(&self) -> &[Block] {
        &self.digests
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.digests.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    /// Rows that have the key at a place, in ascending order, counted from 0 over the whole list.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn rows(&self, place: usize) -> &[u32] {
        assert!(place < self.len(), "place {place} of {} keys", self.len());
        let range: Range<usize> = match self.starts.get(place..place + 2) {
            Some(&[begin, end]) => begin as usize..end as usize,
            _ => place..place + 1,
        };
        &self.rows[range]
    }

    /// The place that the key at a place here has among the keys of its rows, from 0 on.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn key_of_row(&self, place: usize) -> usize {
        assert!(place < self.len(), "place {place} of {} keys", self.len());
        self.places.get(place).map_or(0, |&key| key.into())
    }

    /// All rows of the partition, key by key.
    pub fn all_rows(&self) -> &[u32] {
        &self.rows
    }

    /// Adds the keys and their numbers to a list's sum.
    pub(crate) fn add_to(&self, sum: &mut [u64; 2]) {
        /// An odd number, so that other numbers of keys give other sums.
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        for (place, digest) in self.digests.iter().enumerate() {
            let value = self.values().map_or(0, |values| values[place] as u64);
            sum[0] = sum[0].wrapping_add(digest.hi() ^ digest.lo().rotate_left(17));
            let mixed = digest.lo().wrapping_add(value.wrapping_mul(ODD));
            sum[1] = sum[1].wrapping_add(mixed.wrapping_mul(digest.hi() | 1));
        }
    }

    /// Numbers of the keys, if the list has a payload.
    pub fn values(&self) -> Option<&[i64]> {
        self.values.as_ref().map(|values| values.as_slice())
    }
}

/// A problem of a key with several rows.
pub(crate) enum Clash {
    /// The list fails by itself.
    Error(ListError),
    /// A row has a problem: the second of those given, the first being that of the same key before.
    Rows(u32, u32, Problem),
}

impl From<ListError> for Clash {
    fn from(error: ListError) -> Self {
        Self::Error(error)
    }
}

/// Sorts a partition's entries.
pub(crate) fn sorted(
    store: &Store,
    partition: u32,
    payload: Option<&Payload>,
) -> Result<Part, Clash> {
    let several = store.entry() > length(payload.is_some(), false);
    let mut places = Vec::new();
    let mut place = |entry: u64| {
        if several {
            places.push((entry >> 32) as u8);
        }
    };
    let part = match payload {
        None => grouped(entries::<3>(store, partition)?, |group| {
            place(group[0][2]);
            Ok(())
        })?,
        Some(payload) => {
            let entries = entries::<4>(store, partition)?;
            let mut values = Zeroizing::new(Vec::with_capacity(entries.len()));
            let part = grouped(entries, |group| {
                place(group[0][2]);
                values.push(value(group, payload)?);
                Ok(())
            })?;
            values.shrink_to_fit();
            Part {
                values: Some(values),
                ..part
            }
        }
    };
    Ok(Part { places, ..part })
}

/// Bytes of an entry: with a number or without, of one of several keys of a row or of its only one.
pub(crate) fn length(number: bool, several: bool) -> usize {
    let length = if number { LONG_ENTRY } else { ENTRY };
    length + usize::from(several)
}

/// The number of a key with these rows.
fn value(group: &[[u64; 4]], payload: &Payload) -> Result<i64, Clash> {
    let first = group[0][3] as i64;
    let [_, others @ ..] = group else {
        return Ok(first);
    };
    let Some(second) = others.first() else {
        return Ok(first);
    };
    let clash = |problem| Clash::Rows(group[0][2] as u32, second[2] as u32, problem);
    match payload.duplicates {
        Duplicates::First => Ok(first),
        Duplicates::Refuse => Err(clash(Problem::Repeated {
            other: String::new(),
        })),
        Duplicates::Sum => {
            // A sum of fewer than 2^32 numbers of 64 bits fits.
            let sum: i128 = group.iter().map(|entry| i128::from(entry[3] as i64)).sum();
            payload.check(sum).map_err(|_| clash(Problem::Sum))
        }
    }
}

/// Decodes and sorts entries: high and low half of the digest, row with the place of the key above its 32 bits, and number.
///
/// Entries go to buckets by where in the partition they are, some eight to each: digests are as good as uniform. That
/// takes two passes, and buckets are sorted in the cache. A file made to collide (whoever makes it knows no salt that is drawn
/// later) would be sorted more slowly, in n log n steps.
fn entries<const N: usize>(
    store: &Store,
    partition: u32,
) -> Result<Zeroizing<Vec<[u64; N]>>, ListError>
where
    [u64; N]: Plain,
    Vec<[u64; N]>: Wipe,
{
    let count = store.entries(partition) as usize;
    let buckets = (count / BUCKET).max(1);
    let partitions = u128::from(store.partitions());
    let bucket = |high: u64| {
        let within = (u128::from(high) * partitions) as u64;
        ((u128::from(within) * buckets as u128) >> 64) as usize
    };
    let word = |entry: &[u8], at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&entry[at..at + 8]);
        u64::from_le_bytes(word)
    };
    let mut ends = vec![0_u32; buckets + 1];
    store.each(partition, |bytes| {
        for entry in bytes.chunks_exact(store.entry()) {
            ends[bucket(word(entry, 0)) + 1] += 1;
        }
    })?;
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    let mut all = Zeroizing::zeros(count);
    store.each(partition, |bytes| {
        for entry in bytes.chunks_exact(store.entry()) {
            let mut decoded = [0; N];
            decoded[0] = word(entry, 0);
            decoded[1] = word(entry, 8);
            let mut row = [0; 4];
            row.copy_from_slice(&entry[16..20]);
            decoded[2] = u32::from_le_bytes(row).into();
            if N > 3 {
                decoded[3] = word(entry, 20);
            }
            if let Some(&place) = entry.get(length(N > 3, false)) {
                decoded[2] |= u64::from(place) << 32;
            }
            let next = &mut ends[bucket(decoded[0])];
            all[*next as usize] = decoded;
            *next += 1;
        }
    })?;
    let mut begin = 0;
    for &end in &ends[..buckets] {
        let end = end as usize;
        all[begin..end].sort_unstable_by_key(|entry| (entry[0], entry[1], entry[2]));
        begin = end;
    }
    Ok(all)
}

/// Makes groups of entries with one digest.
fn grouped<const N: usize>(
    entries: Zeroizing<Vec<[u64; N]>>,
    mut see: impl FnMut(&[[u64; N]]) -> Result<(), Clash>,
) -> Result<Part, Clash>
where
    [u64; N]: Plain,
    Vec<[u64; N]>: Wipe,
{
    let mut digests = Zeroizing::new(Vec::<Block>::with_capacity(entries.len()));
    let rows = entries.iter().map(|entry| entry[2] as u32).collect();
    let mut starts = Vec::new();
    let mut begin = 0_usize;
    for group in entries.chunk_by(|a, b| a[..2] == b[..2]) {
        // Starts are written down from the first key on that has several rows.
        if group.len() > 1 && starts.is_empty() {
            starts.reserve(entries.len() + 1);
            starts.extend(0..=begin as u32);
        }
        begin += group.len();
        if !starts.is_empty() {
            starts.push(begin as u32);
        }
        digests.push(Block::new(group[0][1], group[0][0]));
        see(group)?;
    }
    if !starts.is_empty() {
        digests.shrink_to_fit();
        starts.shrink_to_fit();
    }
    Ok(Part {
        digests,
        rows,
        starts,
        values: None,
        places: Vec::new(),
    })
}

/// Writes an entry as the store has it: without a number the first bytes of it; the place of the key among a row's comes last.
#[inline]
pub(crate) fn encode(
    digest: Block,
    row: u32,
    number: Option<i64>,
    place: u8,
) -> [u8; LONG_ENTRY + 1] {
    let mut entry = [0; LONG_ENTRY + 1];
    entry[..8].copy_from_slice(&digest.hi().to_le_bytes());
    entry[8..16].copy_from_slice(&digest.lo().to_le_bytes());
    entry[16..20].copy_from_slice(&row.to_le_bytes());
    if let Some(number) = number {
        entry[20..28].copy_from_slice(&number.to_le_bytes());
    }
    entry[length(number.is_some(), false)] = place;
    entry
}
