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

mod arithmetic;

pub(crate) use arithmetic::{inner_blocks, inner_words, product, scaled};
pub use arithmetic::{times_x, times_y};

impl Kernels {
    /// Adds `factor` times `x[i]` to each `out[i]`.
    ///
    /// # Panics
    /// If `x` and `out` differ in length.
    pub fn field_multiply_add<V: Element>(self, factor: Block, x: &[V], out: &mut [Block]) {
        assert_eq!(x.len(), out.len(), "a product for each element");
        V::multiply_add(self, factor, x, out);
    }

    /// The sum of all products `factors[i]` times `x[i]`.
    ///
    /// # Panics
    /// If `factors` and `x` differ in length.
    #[must_use]
    pub fn field_inner_product<V: Element>(self, factors: &[Block], x: &[V]) -> Block {
        assert_eq!(x.len(), factors.len(), "a factor for each element");
        V::inner_product(self, factors, x)
    }

    /// The product of two elements of GF(2^128).
    #[must_use]
    pub fn field_product(self, a: Block, b: Block) -> Block {
        let mut out = [Block::ZERO];
        dispatch!(self, field_add_blocks(a, &[b], &mut out));
        out[0]
    }
}
