//! Random ring elements.

use madrigal_core::{Ring, Zeroizing};
use madrigal_net::Generator;

/// Uniformly random elements: [`random_blocks`].
pub(crate) fn random<T: Ring>(prg: &mut Generator, count: usize) -> Zeroizing<Vec<T>> {
    filled(|piece| prg.fill(piece), count)
}

/// AES blocks that `count` random elements of `bytes` bytes each take.
pub(crate) const fn random_blocks(count: usize, bytes: usize) -> u64 {
    (count * bytes).div_ceil(16) as u64
}

/// So many elements, as `fill` writes them piece by piece.
pub(crate) fn filled<T: Ring>(mut fill: impl FnMut(&mut [u8]), count: usize) -> Zeroizing<Vec<T>> {
    let mut values = Zeroizing::new(Vec::with_capacity(count));
    let mut piece = Zeroizing::new([0; 4096]);
    while values.len() < count {
        let missing = (count - values.len()).saturating_mul(T::BYTES);
        let piece = &mut piece[..missing.min(4096)];
        fill(piece);
        values.extend(piece.chunks_exact(T::BYTES).map(T::read));
    }
    values
}
