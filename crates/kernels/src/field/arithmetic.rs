//! Products of single elements, for any carry-less product of words.

use crate::Block;

/// x^64 in GF(2^64), as all levels reduce by it.
const TAIL: u64 = 0b11011;

/// Reduces `wide` to its element of GF(2^64). `multiply` is the carry-less product.
#[inline(always)]
fn reduce(wide: u128, multiply: impl Fn(u64, u64) -> u128) -> u64 {
    // The first product has 68 bits at most, so that the second has no more than a word.
    let once = multiply((wide >> 64) as u64, TAIL);
    let twice = multiply((once >> 64) as u64, TAIL);
    wide as u64 ^ once as u64 ^ twice as u64
}

/// The product of two elements of GF(2^128), by three products of words (Karatsuba).
#[inline(always)]
pub(crate) fn product(a: Block, b: Block, multiply: impl Fn(u64, u64) -> u128 + Copy) -> Block {
    let low = multiply(a.lo(), b.lo());
    let high = multiply(a.hi(), b.hi());
    let cross = multiply(a.lo() ^ a.hi(), b.lo() ^ b.hi()) ^ low ^ high;
    // y^2 = x y + 1; the product of two words has no highest bit, so that x times it stays in 128.
    Block::new(
        reduce(low ^ high, multiply),
        reduce(cross ^ high << 1, multiply),
    )
}

/// The product of an element of GF(2^128) and one of GF(2^64).
#[inline(always)]
pub(crate) fn scaled(a: Block, b: u64, multiply: impl Fn(u64, u64) -> u128 + Copy) -> Block {
    Block::new(
        reduce(multiply(a.lo(), b), multiply),
        reduce(multiply(a.hi(), b), multiply),
    )
}

/// The sum of the products of elements of GF(2^128), reduced once.
#[inline(always)]
pub(crate) fn inner_blocks(
    factors: &[Block],
    x: &[Block],
    multiply: impl Fn(u64, u64) -> u128 + Copy,
) -> Block {
    let (mut low, mut high, mut all) = (0, 0, 0);
    for (a, b) in factors.iter().zip(x) {
        low ^= multiply(a.lo(), b.lo());
        high ^= multiply(a.hi(), b.hi());
        all ^= multiply(a.lo() ^ a.hi(), b.lo() ^ b.hi());
    }
    // As in `product`.
    let cross = all ^ low ^ high;
    Block::new(
        reduce(low ^ high, multiply),
        reduce(cross ^ high << 1, multiply),
    )
}

/// The sum of the products of elements of GF(2^128) and of GF(2^64), reduced once.
#[inline(always)]
pub(crate) fn inner_words(
    factors: &[Block],
    x: &[u64],
    multiply: impl Fn(u64, u64) -> u128 + Copy,
) -> Block {
    let (mut low, mut high) = (0, 0);
    for (a, &b) in factors.iter().zip(x) {
        low ^= multiply(a.lo(), b);
        high ^= multiply(a.hi(), b);
    }
    Block::new(reduce(low, multiply), reduce(high, multiply))
}

/// x times an element of GF(2^64).
#[inline(always)]
const fn shifted(a: u64) -> u64 {
    a << 1 ^ (TAIL & (a >> 63).wrapping_neg())
}

/// x times an element of GF(2^128).
#[inline]
#[must_use]
pub const fn times_x(a: Block) -> Block {
    Block::new(shifted(a.lo()), shifted(a.hi()))
}

/// y times an element of GF(2^128).
#[inline]
#[must_use]
pub const fn times_y(a: Block) -> Block {
    Block::new(a.hi(), a.lo() ^ shifted(a.hi()))
}
