//! A column of a piece, as the levels garble and evaluate it.

use crate::Block;

/// Number of parties that the tweaks of hashes can tell apart.
const MOST_PARTIES: usize = 1 << 16;

/// One column of a piece, as the levels garble it.
pub(crate) struct Column<'a> {
    /// Keys of 0 of the operands.
    pub a: &'a [Block],
    pub b: &'a [Block],
    /// Part of the column's tweaks beside those of its ANDs.
    pub tweak: Block,
    /// Rows for `T_1`, `T_a`, `T_b`.
    pub rows: [&'a [Block]; 3],
    /// Keys of 0 of the own column; empty in others.
    pub zero: &'a [Block],
    /// Three bits for each AND of the own column; empty in others.
    pub bits: &'a [u8],
    pub table: [&'a mut [u8]; 3],
}

/// One column of a piece, as the levels evaluate it.
pub(crate) struct Summed<'a> {
    /// Active keys of the operands, those of all parties, `stride` apart.
    pub a: &'a [Block],
    pub b: &'a [Block],
    pub stride: usize,
    pub parties: usize,
    pub column: usize,
    /// The first AND's number in the piece.
    pub first: usize,
    pub table: [&'a [u8]; 3],
    /// Bytes that are read next, and asked for along the way.
    pub ahead: &'a [u8],
    pub c: &'a mut [Block],
}

/// Part of the tweaks of a party's hashes for a column beside those of the ANDs: both numbers, above the ANDs'.
///
/// # Panics
/// If one of them is [`MOST_PARTIES`] or more.
#[inline]
pub(crate) const fn tweak(party: usize, column: usize) -> Block {
    assert!(
        party < MOST_PARTIES && column < MOST_PARTIES,
        "tweaks have 16 bits for a party"
    );
    Block::new((column as u64) << 48, (party as u64) << 48)
}

/// Asks for memory that is read soon, where the target has an instruction for it. A little at a time, or the processor
/// waits until it has room for the requests.
#[inline(always)]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is within the slice, and all processors of the target have the instruction, which
        // changes nothing that a program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
