//! Quotients and averages.

use crate::element::{Fixed, FixedWord};
use crate::error::Source;
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
        self.quotient(divisor, Source::here())
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
    forward! {
        /// The numbers divided by a public one: within 2^-F and a 2^-(F + 3)th of the quotient, wherever that is in range;
        /// rounded down, exactly, if the divisor is a power of two. Products with a public integer, of F + 3 bits,
        /// and two truncations; one of a power of two.
        divided_by(divisor: f64);
        /// The average along an axis, which goes: the sum, which must be in range, [divided
        /// by](Secret::divided_by) the axis's length.
        mean(axis: usize);
    }

    /// The quotient by secret numbers, within 2^-F and a 2^-(F + 1)th of itself, whatever their sizes: of |x / y| never
    /// less by a whole step, and never more than that part of it. The greatest number of the type, or its negative, where
    /// it is more than that; 0 as a divisor counts as 2^-(F + 1).
    ///
    /// Where many numbers are divided by one, what depends on the divisor alone is done once. Exact quotients, by `/`, cost
    /// up to five times as many ANDs, all one after the other.
    #[track_caller]
    pub fn divided_by_secret(&self, divisor: impl Operand<Fixed<W, F>>) -> Self {
        let at = Source::here();
        let divisor = self.beside(divisor, at);
        Self::of(self.tensor.divided_by_secret(&divisor.tensor))
    }
}
