//! Bits and blocks chosen without a branch.

use madrigal_kernels::Block;

/// Bit `i` of packed bits, as 0 or 1. `i` is public.
pub(crate) fn bit(bits: &[u8], i: usize) -> u8 {
    bits[i / 8] >> (i % 8) & 1
}

/// All ones if bit `i` is set, else all zeros.
pub(crate) fn bit_mask(bits: &[u8], i: usize) -> Block {
    Block::mask(bit(bits, i) == 1)
}

/// Clears the bits of the last byte that lie past bit `n`.
pub(crate) fn clear_padding(bits: &mut [u8], n: usize) {
    if !n.is_multiple_of(8)
        && let Some(last) = bits.get_mut(n / 8)
    {
        *last &= (1 << (n % 8)) - 1;
    }
}
