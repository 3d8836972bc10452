//! Quotients and averages.

use crate::element::{Fixed, FixedWord};
use crate::error::Source;
use crate::function::Kind;
use crate::ir::{Op, Reduction};
use crate::secret::{Operand, Secret, Tensor};

impl Tensor {
    /// [`Secret::divided_by`] of numbers with a fixed point.
    #[track_caller]
    pub fn divided_by(&self, divisor: f64) -> Self {
        self.scaled(1.0 / divisor, Source::here())
    }

    /// [`Secret::divided_by_secret`] of numbers with a fixed point.
    #[track_caller]
    pub fn divided_by_secret(&self, divisor: &Self) -> Self {
        let at = Source::here();
        self.product(&divisor.smooth(Kind::Reciprocal, at), at)
    }

    /// [`Secret::mean`] of numbers with a fixed point.
    #[track_caller]
    pub fn mean(&self, axis: usize) -> Self {
        let at = Source::here();
        let sum = self.apply(Op::Reduce(Reduction::Sum, axis), at);
        sum.divided_by(self.length(axis).max(1) as f64)
    }
}

impl<W: FixedWord, const F: u32> Secret<Fixed<W, F>> {
    /// The numbers divided by a public one: within 2^-F and a 2^-(F + 3)th of the quotient; rounded down,
    /// exactly, if it is a power of two. A product with a public integer, of F + 3 bits, and a truncation.
    ///
    /// For types of 2 F + 20 bits or more |x| must be below 2^(l - 2 F - 4), of l bits, so that the
    /// product has room; for others the product is computed in the type of twice the width, and x may be any.
    #[track_caller]
    pub fn divided_by(&self, divisor: f64) -> Self {
        Self::of(self.tensor.divided_by(divisor))
    }

    /// The average along an axis, which goes: the sum, which must be in range, [divided
    /// by](Secret::divided_by) the axis's length.
    #[track_caller]
    pub fn mean(&self, axis: usize) -> Self {
        Self::of(self.tensor.mean(axis))
    }

    /// The quotient by secret numbers, as the product with their [`reciprocal`](Secret::reciprocal): within
    /// (1 + |x|) 2^-F, or 2^-F + |x / y| 2^-(F + 1) for |y| below 1/2. Exact quotients, by `/`, cost more
    /// than five times as many ANDs, all one after the other. The product must be in range as that of `*` must.
    #[track_caller]
    pub fn divided_by_secret(&self, divisor: impl Operand<Fixed<W, F>>) -> Self {
        let at = Source::here();
        let divisor = self.beside(divisor, at);
        Self::of(self.tensor.divided_by_secret(&divisor.tensor))
    }
}
