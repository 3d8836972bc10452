//! Functions whose pieces are straight lines: comparisons and choices.

use crate::element::{Fixed, FixedWord, Number, Signed};
use crate::error::Source;
use crate::ir::Binary;
use crate::secret::{Operand, Secret, Tensor};

impl Tensor {
    /// [`Secret::relu`] of signed numbers.
    #[track_caller]
    pub fn relu(&self) -> Self {
        let at = Source::here();
        let element = self.element();
        self.negative(at)
            .choice(&self.code(element, 0, at), self, at)
    }

    /// [`Secret::leaky_relu`] of numbers with a fixed point.
    #[track_caller]
    pub fn leaky_relu(&self, slope: f64) -> Self {
        let at = Source::here();
        self.negative(at).choice(&self.scaled(slope, at), self, at)
    }

    /// [`Secret::sign`] of signed numbers.
    #[track_caller]
    pub fn sign(&self) -> Self {
        let at = Source::here();
        let element = self.element();
        let zero = self.code(element, 0, at);
        let one = self.code(element, 1 << element.fraction(), at);
        let positive = zero.binary(Binary::Less, self, at);
        let below = self.negative(at).choice(&one.negated(at), &zero, at);
        positive.choice(&one, &zero, at).added(&below, at)
    }

    /// [`Secret::clip`] of numbers.
    #[track_caller]
    pub fn clip(&self, low: &Self, high: &Self) -> Self {
        let at = Source::here();
        let element = self.element();
        let zero = self.code(element, 0, at);
        let below = self.binary(Binary::Less, low, at);
        let above = high.binary(Binary::Less, self, at);
        let up = below.choice(&low.less_by(self, at), &zero, at);
        let down = above.choice(&high.less_by(self, at), &zero, at);
        self.added(&up, at).added(&down, at)
    }
}

impl<T: Signed> Secret<T> {
    forward! {
        /// `max(x, 0)`, exactly: the highest bit of x, and a product with it.
        relu();
        /// -1, 0 or 1, exactly: two comparisons. Where 0 may count as either,
        /// [`is_negative`](Secret::is_negative) is half the work.
        sign();
    }
}

impl<T: Number> Secret<T> {
    /// `min(max(x, low), high)`, exactly, for bounds with `low <= high`: two comparisons side by side.
    #[track_caller]
    pub fn clip(&self, low: impl Operand<T>, high: impl Operand<T>) -> Self {
        let at = Source::here();
        let (low, high) = (self.beside(low, at), self.beside(high, at));
        Self::of(self.tensor.clip(&low.tensor, &high.tensor))
    }
}

impl<W: FixedWord, const F: u32> Secret<Fixed<W, F>> {
    forward! {
        /// x from 0 on, and x times the slope below: within 2^-F + |x slope| 2^-(F + 3) below 0 and exact from 0 on,
        /// for all numbers whose result is in range.
        leaky_relu(slope: f64);
    }
}
