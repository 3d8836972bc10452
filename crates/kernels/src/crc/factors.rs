//! Factors that fold blocks, and the remainder of the last one.

use crate::Block;

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
