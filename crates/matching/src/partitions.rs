//! Numbers of cells and partitions that lists are cut into.

use madrigal_psi::{Security, Sizes};

/// Cells of every list. Partitions are as many or fewer, so that a list can be read before anybody knows how long both are.
pub(crate) const CELLS: u32 = 256;

/// Keys of a partition, at most: some three hundred megabytes of memory.
pub(crate) const KEYS: u64 = 2_500_000;

/// The most keys of a list that is matched.
pub const MOST: u64 = KEYS * CELLS as u64;

/// Keys of the receiver, which may cheat, for each partition before it is rounded to a power of two: half as many are in one then. Every partition has a store with room for
/// some hundreds of keys more than it should have, and many partitions of few keys would have room for many times as many.
const OF_RECEIVER: u64 = 8192;

/// Keys of the longer list in a partition, at most, where the receiver may cheat and has too few for partitions of [`KEYS`]: some two gigabytes of memory.
const CHECKED_KEYS: u64 = 4 * KEYS;

/// Number of partitions of lists of these sizes, of `most` keys of the longer list if there may be that many, for this many threads: a power of two. Where parties may be malicious, each
/// has thousands of the receiver's keys, or as many keys of the longer list as memory allows: a receiver that cheats then has
/// no more than three times the keys that it says, and a thousand for each partition.
pub fn partitions(sizes: Sizes, threads: usize, most: u64, security: Security) -> usize {
    let keys = sizes.receiver.max(sizes.sender);
    let wanted = keys
        .div_ceil(most)
        .max(threads as u64)
        .min(keys.div_ceil(most.min(1000)));
    let wanted = match security {
        Security::SemiHonest => wanted,
        Security::Malicious => wanted
            .min(sizes.receiver / OF_RECEIVER)
            .max(keys.div_ceil(CHECKED_KEYS)),
    };
    wanted.next_power_of_two().clamp(1, CELLS.into()) as usize
}
