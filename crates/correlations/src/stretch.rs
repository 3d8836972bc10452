//! Long masks from the masks of random OTs.

use madrigal_kernels::{Block, mmo_blocks};
use zeroize::Zeroizing;

/// Blocks formed at a time.
const PIECE: usize = 64;

/// Fills `out` with the stream of `seed`: block j is pi(s ^ j) ^ s ^ j, one AES block each.
///
/// Property: pseudorandom for a uniformly random secret seed, which the hash of an extension's row is
/// to who does not know the row. Construction: the correlation-robust MMO hash of Guo et al. (S&P
/// 2020, 7.2), whose definition is just this for an offset s and distinct public points j, with the
/// fixed-key AES as a random permutation. It needs no key schedule, which for strings of a few dozen
/// blocks would cost as much as the strings. As with every fixed-key construction here, q blocks in
/// all cost about q^2 / 2^128 of security.
pub(crate) fn stretch(seed: Block, out: &mut [Block]) {
    let mut points = Zeroizing::new([Block::ZERO; PIECE]);
    for (piece, out) in out.chunks_mut(PIECE).enumerate() {
        let points = &mut points[..out.len()];
        for (j, point) in points.iter_mut().enumerate() {
            *point = seed ^ Block::new((piece * PIECE + j) as u64, 0);
        }
        mmo_blocks(points, out);
    }
}

/// AES blocks of a string of `bytes` bytes.
pub(crate) const fn stretch_blocks(bytes: usize) -> usize {
    bytes.div_ceil(16)
}
