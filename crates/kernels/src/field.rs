//! The fields GF(2^64) and GF(2^128), the smaller one inside the larger: products of many elements by one.
//!
//! GF(2^64) is F2\[x\] / (x^64 + x^4 + x^3 + x + 1), bit i of a word being the coefficient of x^i. GF(2^128) is GF(2^64)\[y\] /
//! (y^2 + x y + 1), the low word of a block being the constant term. So a word is also a block, with zero above, and its
//! product with a block takes two products of words. (The quadratic has no root: with y = x z it is z^2 + z + x^-2, and
//! the trace of x^-2 = (x^63 + x^3 + x^2 + 1)^2 is that of x^63, which is one.)
//!
//! Addition is XOR. Products are carry-less ones, in time that does not depend on the operands.

use crate::Element;
use crate::dispatch::dispatch;
use crate::{Block, Kernels};

/// x^64 in GF(2^64), as all levels reduce by it.
const TAIL: u64 = 0b11011;

/// What `wide` is in GF(2^64). `multiply` is the carry-less product.
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

impl Kernels {
    /// Adds `factor` times `x[i]` to each `out[i]`.
    ///
    /// # Panics
    /// If `x` and `out` differ in length.
    pub fn field_multiply_add<V: Element>(self, factor: Block, x: &[V], out: &mut [Block]) {
        assert_eq!(x.len(), out.len(), "a product for each element");
        V::multiply_add(self, factor, x, out);
    }

    /// The product of two elements of GF(2^128).
    #[must_use]
    pub fn field_product(self, a: Block, b: Block) -> Block {
        let mut out = [Block::ZERO];
        dispatch!(self, field_add_blocks(a, &[b], &mut out));
        out[0]
    }
}
