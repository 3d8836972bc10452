//! Functions of all numbers along an axis.

use crate::element::{Fixed, FixedWord, Type};
use crate::error::Source;
use crate::function::Kind;
use crate::ir::{Binary, Reduction, Rounding};
use crate::secret::{Secret, Tensor};

/// The type that rows of numbers are computed in: their own if products of numbers up to 2^`room` have room.
fn working_type(element: Type, room: u32) -> Type {
    match element.bits() < 2 * element.fraction() + room + 2 {
        true => element.wider().unwrap_or(element),
        false => element,
    }
}

/// e^(x - greatest) of each element, the sum of these, and x - greatest.
struct Exponentials {
    each: Tensor,
    sum: Tensor,
    below: Tensor,
    wide: Type,
}

impl Tensor {
    fn exponentials(&self, axis: usize, at: Source) -> Exponentials {
        let element = self.element();
        let greatest = self.folded(Reduction::Greatest, axis, at);
        let below = self.less_by(&greatest, at);
        let length = self.length(axis).next_power_of_two().trailing_zeros();
        let wide = working_type(element, length.max(1));
        let each = below.function(Kind::Decay, wide, at);
        let sum = each.folded(Reduction::Sum, axis, at);
        Exponentials {
            each,
            sum,
            below,
            wide,
        }
    }

    /// [`Secret::softmax`] of numbers with a fixed point.
    #[track_caller]
    pub fn softmax(&self, axis: usize) -> Self {
        let at = Source::here();
        let (element, powers) = (self.element(), self.exponentials(axis, at));
        let share = powers
            .sum
            .function(Kind::PositiveReciprocal, powers.wide, at);
        let result = powers.each.rounded_product(&share, at);
        // Results from 0 to 1 take few bits, whose way back to the ring is short.
        let bits = (element.fraction() + 1)
            .next_power_of_two()
            .clamp(8, element.bits());
        result.recast(Type::unsigned(bits), at).recast(element, at)
    }

    /// [`Secret::log_softmax`] of numbers with a fixed point.
    #[track_caller]
    pub fn log_softmax(&self, axis: usize) -> Self {
        let at = Source::here();
        let (element, powers) = (self.element(), self.exponentials(axis, at));
        let log = powers.sum.function(Kind::Log, powers.wide, at);
        powers.below.less_by(&log.recast(element, at), at)
    }

    /// [`Secret::layer_norm`] of numbers with a fixed point.
    #[track_caller]
    pub fn layer_norm(&self, axis: usize, epsilon: f64) -> Self {
        let at = Source::here();
        let share = 1.0 / self.length(axis).max(1) as f64;
        let mean = self.folded(Reduction::Sum, axis, at).scaled(share, at);
        self.less_by(&mean, at).over_root(axis, epsilon, at)
    }

    /// [`Secret::rms_norm`] of numbers with a fixed point.
    #[track_caller]
    pub fn rms_norm(&self, axis: usize, epsilon: f64) -> Self {
        self.over_root(axis, epsilon, Source::here())
    }

    /// Divided by the root of the mean of their squares and of epsilon.
    fn over_root(&self, axis: usize, epsilon: f64, at: Source) -> Self {
        let element = self.element();
        let length = self.length(axis).max(1);
        let wide = working_type(element, 14);
        let apart = self.recast(wide, at);
        let squares = apart.squared(at).folded(Reduction::Sum, axis, at);
        let variance = squares.truncated(wide, at).scaled(1.0 / length as f64, at);
        let variance = variance.added(&variance.number(epsilon, at), at);
        // With half of the bits after the point and one more, the factor's last place is half a step of the result, as
        // numbers whose squares have room are below 2^((l - 1) / 2 - F). No result is greater than the root of the length,
        // and half of it again where the variance is next to nothing: there is room for as many bits as are left.
        let whole = length.next_power_of_two().ilog2().div_ceil(2) + 2;
        let room = (wide.bits() - 1).saturating_sub(element.fraction() + whole);
        let places = room.min(wide.bits() / 2 + 1);
        let Some(fine) = Type::fixed(wide.bits(), places) else {
            return self.rounded_product(&variance.smooth(Kind::InverseRoot, at), at);
        };
        let factor = variance.factor(Kind::FineInverseRoot, fine, at);
        let product = apart.binary(Binary::Mul, &factor, at);
        // The products are too large for chance.
        product.cut(places, Rounding::Exact, at).recast(element, at)
    }
}

impl<W: FixedWord, const F: u32> Secret<Fixed<W, F>> {
    forward! {
        /// `e^x / sum(e^x)` along an axis, within (4 + n / 2) 2^-F for n elements, and within 5 2^-F as a rule.
        ///
        /// The greatest number is found first, by n - 1 comparisons, and taken off all: so e^x is 1 at most, and
        /// the sum 1 at least. The difference of any two numbers must be in the type's range. The maximum is about
        /// a third of the work; it cannot be left out where x is not known to be small, because e^x leaves any type
        /// soon.
        softmax(axis: usize);
        /// The logarithm of [`softmax`](Secret::softmax), `x - ln(sum(e^x))`, within (2 + 1.5 n) 2^-F for n
        /// elements, and within 3 2^-F as a rule. The difference of any two numbers must be in the type's range.
        log_softmax(axis: usize);
        /// `(x - mean) / sqrt(variance + epsilon)` along an axis. The sum of the squares of `x - mean` must be in
        /// the range of `*`, and the result in that of the type.
        ///
        /// With s = 1 / sqrt(variance + epsilon), within 2 + 2 s + |result| (1/2 + 2 s^2) steps of 2^-F: where the variance
        /// is 4 at least, within 3 + |result|.
        layer_norm(axis: usize, epsilon: f64);
        /// `x / sqrt(mean of x^2 + epsilon)` along an axis; else as [`layer_norm`](Secret::layer_norm).
        rms_norm(axis: usize, epsilon: f64);
    }
}
