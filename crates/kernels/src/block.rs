//! The 128-bit value that all kernels work on, and byte views of word slices.

use core::ops::{BitAnd, BitAndAssign, BitXor, BitXorAssign, Not};

use zeroize::Zeroize;

/// A 128-bit value: two little-endian `u64` words, low word first.
///
/// `Debug` never shows the contents. `==` is not constant time: compare only what may become public.
#[repr(C, align(16))]
#[derive(Clone, Copy, Default, PartialEq, Eq, Zeroize)]
pub struct Block(pub [u64; 2]);

/// The eleven round keys of AES-128, in the byte order of FIPS 197.
pub(crate) type RoundKeys = [Block; 11];

impl madrigal_core::Plain for Block {
    const WIPED: Self = Self([0, 0]);
}

impl Block {
    /// All 128 bits zero.
    pub const ZERO: Self = Self([0, 0]);
    /// All 128 bits one.
    pub const ONES: Self = Self([u64::MAX, u64::MAX]);

    /// The value `lo + 2^64 hi`.
    #[inline]
    #[must_use]
    pub const fn new(lo: u64, hi: u64) -> Self {
        Self([lo, hi])
    }

    /// The low 64 bits.
    #[inline]
    #[must_use]
    pub const fn lo(self) -> u64 {
        self.0[0]
    }

    /// The high 64 bits.
    #[inline]
    #[must_use]
    pub const fn hi(self) -> u64 {
        self.0[1]
    }

    /// Makes a block from 16 bytes, least significant byte first.
    #[inline]
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        let value = u128::from_le_bytes(bytes);
        Self([value as u64, (value >> 64) as u64])
    }

    /// Gives the block's 16 bytes, least significant byte first.
    #[inline]
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        (self.0[0] as u128 | (self.0[1] as u128) << 64).to_le_bytes()
    }

    /// Bit `i` of the value, `i < 128` (taken modulo 128). The index must be public.
    #[inline]
    #[must_use]
    pub const fn bit(self, i: usize) -> bool {
        (self.0[(i >> 6) & 1] >> (i & 63)) & 1 == 1
    }

    /// All ones if `bit`, else all zeros; without a branch, so the bit may be secret.
    #[inline]
    #[must_use]
    pub fn mask(bit: bool) -> Self {
        let word = u64::from(crate::opaque(u8::from(bit))).wrapping_neg();
        Self([word, word])
    }
}

madrigal_core::opaque!(Block);

impl BitXor for Block {
    type Output = Self;
    #[inline]
    fn bitxor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }
}

impl BitXorAssign for Block {
    #[inline]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl BitAnd for Block {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }
}

impl BitAndAssign for Block {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl Not for Block {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self([!self.0[0], !self.0[1]])
    }
}

impl From<u128> for Block {
    #[inline]
    fn from(value: u128) -> Self {
        Self([value as u64, (value >> 64) as u64])
    }
}

impl From<Block> for u128 {
    #[inline]
    fn from(block: Block) -> Self {
        u128::from(block.0[0]) | u128::from(block.0[1]) << 64
    }
}

/// The bytes of `blocks`, 16 per block, each block least significant byte first.
#[inline]
#[must_use]
pub fn blocks_as_bytes(blocks: &[Block]) -> &[u8] {
    // SAFETY: `Block` is 16 initialised bytes without padding, `u8` has alignment 1 and no invalid
    // values, and the result borrows `blocks` for its whole life.
    unsafe { core::slice::from_raw_parts(blocks.as_ptr().cast(), size_of_val(blocks)) }
}

/// The bytes of `blocks`, writable; layout as in [`blocks_as_bytes`].
#[inline]
#[must_use]
pub fn blocks_as_bytes_mut(blocks: &mut [Block]) -> &mut [u8] {
    // SAFETY: as in `blocks_as_bytes`; every byte pattern is a valid `Block`, and the exclusive
    // borrow passes from `blocks` to the result.
    unsafe { core::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), size_of_val(blocks)) }
}

/// The bytes of `words`, 8 per word, least significant byte first.
#[inline]
#[must_use]
pub fn words_as_bytes(words: &[u64]) -> &[u8] {
    // SAFETY: `u64` is 8 initialised bytes without padding, `u8` has alignment 1 and no invalid
    // values, and the result borrows `words` for its whole life.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// The bytes of `words`, writable; layout as in [`words_as_bytes`].
#[inline]
#[must_use]
pub fn words_as_bytes_mut(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as in `words_as_bytes`; every byte pattern is a valid `u64`, and the exclusive borrow
    // passes from `words` to the result.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}
