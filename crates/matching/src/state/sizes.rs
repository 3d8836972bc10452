//! The first record of a state: sizes of both lists, once these are known.

use std::io::{self, Read};

use super::sums::{CHECK, check};
use crate::partitions::CELLS;

/// Number in the place of a partition's, where sizes follow.
const SIZES: u32 = u32::MAX - 1;
/// Bytes of the record with sizes.
pub(super) const OF_SIZES: usize = 4 + 4 + 16 + CHECK;

/// Sizes of both lists, by the parties' order, and the number of partitions that follows from them.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) sizes: [u64; 2],
    pub(crate) partitions: usize,
}

impl Cut {
    /// The record: its number, partitions, sizes, and a checksum.
    pub(super) fn record(self, salt: &[u8; 32]) -> Vec<u8> {
        let mut record = Vec::with_capacity(OF_SIZES);
        record.extend_from_slice(&SIZES.to_le_bytes());
        record.extend_from_slice(&(self.partitions as u32).to_le_bytes());
        for size in self.sizes {
            record.extend_from_slice(&size.to_le_bytes());
        }
        let sum = check(b"record", salt, [&record[..]]);
        record.extend_from_slice(&sum);
        record
    }

    /// Reads the record with sizes, of what is left of a file; nothing if it is not whole, or one that cannot be.
    pub(super) fn read(
        from: &mut impl Read,
        salt: &[u8; 32],
        left: u64,
    ) -> io::Result<Option<Self>> {
        if left < OF_SIZES as u64 {
            return Ok(None);
        }
        let mut record = [0; OF_SIZES];
        from.read_exact(&mut record)?;
        let (made, sum) = record.split_at(OF_SIZES - CHECK);
        let (words, _) = made.as_chunks::<4>();
        let [kind, partitions, sizes @ ..] = words else {
            return Ok(None);
        };
        let size = |of: usize| {
            let half = |at: usize| u64::from(u32::from_le_bytes(sizes[2 * of + at]));
            half(0) | half(1) << 32
        };
        let cut = Self {
            sizes: [size(0), size(1)],
            partitions: u32::from_le_bytes(*partitions) as usize,
        };
        let can_be = u32::from_le_bytes(*kind) == SIZES
            && cut.partitions.is_power_of_two()
            && cut.partitions <= CELLS as usize
            && check(b"record", salt, [made]) == sum;
        Ok(can_be.then_some(cut))
    }
}
