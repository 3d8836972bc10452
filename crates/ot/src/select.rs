//! Bits and blocks chosen without a branch.

use madrigal_kernels::{Block, opaque};

/// Bit `i` of packed bits, as 0 or 1, so that the compiler does not know that it is one of these two
/// and makes no branch of it. `i` is public.
#[inline(always)]
pub(crate) fn bit(bits: &[u8], i: usize) -> u8 {
    opaque(bits[i / 8] >> (i % 8) & 1)
}

/// All ones if bit `i` is set, else all zeros.
#[inline(always)]
pub(crate) fn bit_mask(bits: &[u8], i: usize) -> Block {
    let word = u64::from(bit(bits, i)).wrapping_neg();
    Block::new(word, word)
}

/// Clears the bits of the last byte that lie past bit `n`.
pub(crate) fn clear_padding(bits: &mut [u8], n: usize) {
    if !n.is_multiple_of(8)
        && let Some(last) = bits.get_mut(n / 8)
    {
        *last &= (1 << (n % 8)) - 1;
    }
}

/// The choices, from the rows' lowest bits.
pub(crate) fn pack_choices(rows: &[Block], choices: &mut [u8]) {
    for (choices, rows) in choices.iter_mut().zip(rows.chunks(8)) {
        let bits = rows.iter().enumerate();
        *choices = bits.fold(0, |byte, (i, row)| byte | (row.lo() as u8 & 1) << i);
    }
}
