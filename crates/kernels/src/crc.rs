//! CRC-32, the checksum of gzip and of Ethernet frames, in time that depends on the message's length
//! alone. Code that computes it before a message is encrypted must not look tables up by the bytes, as is
//! usual.
//!
//! A message is a polynomial over the field of two elements, its first bit the highest coefficient,
//! and the checksum is its remainder by a polynomial P of degree 32. A block of 128 bits that stands
//! D bits before another is worth the same as its two halves times x^(D + 64) and x^D mod P, added to
//! that other: carry-less products, by which a message of any length *folds* into one block. Source:
//! Gopal, Ozturk, Guilford, Wolrich, Feghali, Dixon and Karakoyunlu, "Fast CRC Computation for Generic
//! Polynomials Using PCLMULQDQ Instruction" (Intel, 2009). There, what fills no block is looked up at
//! the end; here it comes first, after zeros, which change no remainder.
//!
//! # Conventions
//! The lowest bit of a byte is the highest coefficient, so everything is *reflected*: bit `i` of a
//! word of `w` bits is the coefficient of x^(w - 1 - i). The product of two reflected words of 64 bits
//! is one bit short of 128: read as a reflected word of 128 bits it is x times the product. The
//! constants make up for that.

use crate::dispatch::dispatch;
use crate::{Block, Kernels};

/// P without x^32, reflected in 32 bits.
const P: u32 = 0xedb8_8320;

/// x^n mod P, reflected in 64 bits.
const fn power(n: u32) -> u64 {
    // x^0, reflected in 32 bits; times x is one to the right.
    let mut power = 1_u32 << 31;
    let mut i = 0;
    while i < n {
        power = power >> 1 ^ P & (power & 1).wrapping_neg();
        i += 1;
    }
    (power as u64) << 32
}

/// Factors that move the first and the second half of a block `blocks` blocks onward by a product.
pub(crate) const fn factors(blocks: usize) -> Block {
    let bits = 128 * blocks as u32;
    Block::new(few(power(bits + 63)), few(power(bits - 1)))
}

/// The [`factors`] of each but the last of `N` vectors of `blocks` blocks, to stand where the last does;
/// the last one is not multiplied.
pub(crate) const fn factors_to_last<const N: usize>(blocks: usize) -> [Block; N] {
    let mut all = [Block::ZERO; N];
    let mut i = 0;
    while i + 1 < N {
        all[i] = factors(blocks * (N - 1 - i));
        i += 1;
    }
    all
}

/// The whole part of x^96 / P, reflected in 65 bits, without the last of these.
const QUOTIENT: u64 = {
    // Long division, from the highest coefficient on.
    let divisor = (P.reverse_bits() as u128) | 1 << 32;
    let (mut rest, mut quotient) = (1_u128 << 96, 0);
    let mut i = 0;
    while i < 64 {
        if rest >> (96 - i) & 1 == 1 {
            rest ^= divisor << (64 - i);
            quotient |= 1 << i;
        }
        i += 1;
    }
    few(quotient)
};

/// P, reflected in 33 bits.
const DIVISOR: u64 = few((P as u64) << 1 | 1);

/// A constant with at most 15 ones in each set of every fourth bit, as the portable product wants.
const fn few(constant: u64) -> u64 {
    let mut i = 0;
    while i < 4 {
        assert!((constant >> i & 0x1111_1111_1111_1111).count_ones() <= 15);
        i += 1;
    }
    constant
}

/// The remainder by P of a block times x^32, reflected. `multiply` is the carry-less product; its
/// second factor is one of the constants here.
#[inline(always)]
pub(crate) fn reduce(block: Block, multiply: impl Fn(u64, u64) -> u128) -> u32 {
    const UP: u64 = few(power(95));
    // The first half stands 96 places up, the second 32. The lowest 32 coefficients of the sum are
    // left at the end.
    let sum = (multiply(block.lo(), UP) ^ u128::from(block.hi()) << 32) >> 32;
    // Barrett: how often P goes into the 64 coefficients above, then what that leaves below.
    let quotient = multiply(sum as u64, QUOTIENT) as u64;
    ((multiply(quotient, DIVISOR) ^ sum) >> 64) as u32
}

/// The checksum of a message that comes in pieces: CRC-32 as in IEEE 802.3, gzip and PNG.
///
/// It has no `Debug`, since it tells something of the message.
#[derive(Clone)]
pub struct Crc32 {
    kernels: Kernels,
    /// The remainder so far, the message begun with 32 ones added to it.
    register: u32,
}

impl Kernels {
    /// [`Crc32::new`], run at this handle's level.
    #[must_use]
    pub fn crc32(self) -> Crc32 {
        Crc32 {
            kernels: self,
            register: u32::MAX,
        }
    }
}

impl Default for Crc32 {
    fn default() -> Self {
        Self::new()
    }
}

impl Crc32 {
    /// Starts the checksum: that of the empty message.
    #[must_use]
    pub fn new() -> Self {
        Kernels::detect().crc32()
    }

    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        // Bytes that fill no block come first. The register is added to the 32 bits that come next.
        let (first, blocks) = bytes.split_at(bytes.len() % 16);
        let [free, taken] = [128 - 8 * first.len(), 8 * first.len()].map(|bits| bits as u32);
        let lead = last_of_block(first) ^ u128::from(self.register).unbounded_shl(free);
        let spill = self.register.unbounded_shr(taken);
        let (blocks, _) = blocks.as_chunks();
        self.register = dispatch!(self.kernels, crc32(lead, spill, blocks));
    }

    /// The checksum.
    #[must_use]
    pub fn value(&self) -> u32 {
        !self.register
    }
}

/// A block that ends with these fewer than 16 bytes, after zeros. Not by a loop: what one writes byte by
/// byte the processor cannot soon read as a block.
fn last_of_block(bytes: &[u8]) -> u128 {
    let place = 128_u32.wrapping_sub(8 * bytes.len() as u32);
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        u128::from(first) << place | u128::from(last) << 64
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        u128::from(first) << place | u128::from(last) << 96
    } else {
        let bytes = bytes.iter().rev();
        bytes
            .fold(0, |word, &byte| word << 8 | u128::from(byte))
            .unbounded_shl(place)
    }
}
