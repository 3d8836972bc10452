//! A piece of ANDs, as the levels garble and evaluate it.

use core::ops::Range;

use crate::Block;

/// The labels of both operands of a piece's ANDs, at most [`ANDS_PER_KEY`] of each.
pub type Operands<'a> = [&'a [Block]; 2];

/// The most ANDs that share a key.
pub const ANDS_PER_KEY: usize = 64;

/// Keys that are expanded together.
pub(crate) const KEYS: usize = 16;

/// The round keys of [`KEYS`] keys: `[round][key]`, as vectors of keys make them.
pub(crate) type KeyWindow = [[Block; KEYS]; 11];

/// The tweaks of an AND's operands, by its number in the piece; that of their sum is the sum of both. They differ
/// from each other and from those of other ANDs, and lie in the upper halves of the words, where
/// `sigma` leaves room for them: one instruction makes the half that has the tweak.
pub(crate) const fn tweaks(number: u64) -> [Block; 2] {
    let tweak = (number + 1) << 32;
    [Block::new(tweak, 0), Block::new(0, tweak)]
}

/// [`tweaks`] of all ANDs of a piece, those of first operands and those of second ones.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) static TWEAKS: [[Block; ANDS_PER_KEY]; 2] = {
    let mut all = [[Block::ZERO; ANDS_PER_KEY]; 2];
    let mut i = 0;
    while i < ANDS_PER_KEY {
        [all[0][i], all[1][i]] = tweaks(i as u64);
        i += 1;
    }
    all
};

/// A piece to be garbled, with `W` bytes of the table beside 16 for each AND. The levels are given it by reference: moved,
/// it would be read back from the stack in other units than it was written, which takes as long as several ANDs.
pub(crate) struct Garbled<'a, const W: usize> {
    pub a: &'a [Block],
    pub b: &'a [Block],
    pub c: &'a mut [Block],
    /// The table's blocks of 16 bytes.
    pub sides: &'a mut [u8],
    /// Blocks of `W` bytes of the piece.
    pub rest: &'a mut [u8],
}

/// A piece to be evaluated; as [`Garbled`].
pub(crate) struct Evaluated<'a, const W: usize> {
    pub a: &'a [Block],
    pub b: &'a [Block],
    pub c: &'a mut [Block],
    pub sides: &'a [u8],
    pub rest: &'a [u8],
}

/// The control bits of a piece of three halves, each AND's at the bit of its number: z_R in the lower half and z_L in
/// the upper one of the first block, z_1 and z_0 in the second, z_2 in the upper half of the third. Its lower half is the
/// same to evaluate; to garble it holds secrets, and is not sent.
pub(crate) type Controls = [Block; 3];

/// The bit of an AND's number in both halves of a block.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) static BITS: [Block; ANDS_PER_KEY] = {
    let mut all = [Block::ZERO; ANDS_PER_KEY];
    let mut i = 0;
    while i < ANDS_PER_KEY {
        all[i] = Block::new(1 << i, 1 << i);
        i += 1;
    }
    all
};

/// Splits a range: its first ANDs, the most that are a multiple of `unit`, and the others.
#[inline]
pub(crate) fn split_range(range: Range<usize>, unit: usize) -> [Range<usize>; 2] {
    let middle = range.start + range.len() / unit * unit;
    [range.start..middle, middle..range.end]
}

/// Bytes of the table of `ands` ANDs of three halves: blocks of 16, then 8 for each, then the control bits.
pub(crate) const fn three_bytes(ands: usize) -> usize {
    24 * ands + packed_bytes(ands)
}

/// Bytes of the control bits of `ands` ANDs.
pub(crate) const fn packed_bytes(ands: usize) -> usize {
    5 * ands.div_ceil(8)
}

/// Writes the control bits, to which the coins are still to be added, without which they are secret: those of z_L, z_R,
/// z_0, z_1 and z_2, one after the other. Wipes them.
pub(crate) fn pack(coins: Block, controls: &mut Controls, ands: usize, bytes: &mut [u8]) {
    let of_ands = u64::MAX >> (64 - ands.max(1));
    controls[0] ^= Block::new(coins.hi() & of_ands, coins.lo() & of_ands);
    let [ends, turns, both] = &*controls;
    let planes = [ends.hi(), ends.lo(), turns.hi(), turns.lo(), both.hi()];
    for (bytes, plane) in bytes.chunks_exact_mut(ands.div_ceil(8).max(1)).zip(planes) {
        bytes.copy_from_slice(&plane.to_le_bytes()[..bytes.len()]);
    }
    *controls = [Block::ZERO; 3];
    // The compiler must believe that somebody still reads the zeros.
    zeroize::optimization_barrier(controls);
}

/// The inverse of [`pack`] but for coins. Bits of ANDs that there are not count for nothing.
pub(crate) fn unpack(bytes: &[u8]) -> Controls {
    let mut planes = [0; 5];
    let each = (bytes.len() / planes.len()).max(1);
    for (plane, bytes) in planes.iter_mut().zip(bytes.chunks_exact(each)) {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        *plane = u64::from_le_bytes(word);
    }
    let [l, r, zero, one, two] = planes;
    [
        Block::new(r, l),
        Block::new(one, zero),
        Block::new(two, two),
    ]
}
