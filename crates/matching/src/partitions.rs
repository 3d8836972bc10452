//! Numbers of cells and partitions that lists are cut into.

/// Cells of every list. Partitions are as many or fewer, so that a list can be read before anybody knows how long both are.
pub(crate) const CELLS: u32 = 256;

/// Keys of a partition, at most: some three hundred megabytes of memory.
pub(crate) const KEYS: u64 = 2_500_000;

/// The most keys of a list that is matched.
pub const MOST: u64 = KEYS * CELLS as u64;

/// Number of partitions of the longer list's keys, of `most` keys if there may be that many, for this many threads: a power of two.
pub(crate) fn partitions(keys: u64, threads: usize, most: u64) -> usize {
    let wanted = keys
        .div_ceil(most)
        .max(threads as u64)
        .min(keys.div_ceil(most.min(1000)));
    wanted.next_power_of_two().clamp(1, CELLS.into()) as usize
}
