//! From integers and back, and between formats.

use super::{Format, Special};
use crate::builder::{Builder, Wire};

impl Builder {
    /// An unsigned integer, rounded to nearest where it has more digits than a significand.
    pub fn float_from_unsigned(&mut self, format: Format, a: &[Wire]) -> Vec<Wire> {
        let sign = self.constant(false);
        self.float_from(format, sign, a)
    }

    /// A signed integer, rounded to nearest where it has more digits than a significand.
    pub fn float_from_signed(&mut self, format: Format, a: &[Wire]) -> Vec<Wire> {
        let zero = self.constant(false);
        let sign = a.last().copied().unwrap_or(zero);
        let magnitude = self.abs(a);
        self.float_from(format, sign, &magnitude)
    }

    /// The unsigned integer of `width` bits next to `a` towards zero; the nearest there is for numbers out
    /// of its range, and 0 for NaN.
    pub fn float_to_unsigned(&mut self, format: Format, a: &[Wire], width: usize) -> Vec<Wire> {
        let (sign, integer, beyond) = self.float_truncate(format, a, width);
        let all = self.sign_extend(&[beyond], width);
        let integer: Vec<_> = integer
            .iter()
            .zip(&all)
            .map(|(&a, &b)| self.or(a, b))
            .collect();
        let positive = self.not(sign);
        let nan = self.float_is_nan(format, a);
        let number = self.not(nan);
        let kept = self.and(positive, number);
        self.mask(&integer, kept)
    }

    /// The signed integer of `width` bits next to `a` towards zero; the nearest there is for numbers out
    /// of its range, and 0 for NaN.
    pub fn float_to_signed(&mut self, format: Format, a: &[Wire], width: usize) -> Vec<Wire> {
        let (sign, integer, beyond) = self.float_truncate(format, a, width);
        let negated = self.negate_if(&integer, sign);
        // 2^(width - 1) and more: the smallest number of those with a sign, else the greatest.
        let top = integer.last().copied().unwrap_or(beyond);
        let beyond = self.or(beyond, top);
        let positive = self.not(sign);
        let mut limit = vec![positive; width.saturating_sub(1)];
        limit.push(sign);
        let integer = self.select(beyond, &limit[..width], &negated);
        let nan = self.float_is_nan(format, a);
        let number = self.not(nan);
        self.mask(&integer, number)
    }

    /// A number of another format: exactly where that has more digits, else rounded.
    pub fn float_convert(&mut self, from: Format, a: &[Wire], to: Format) -> Vec<Wire> {
        let a = self.float_parts(from, a);
        let (significand, zeros) = self.float_normalize(&a.significand);
        let wide = to.wide().max(from.wide()) + 1;
        let [exponent, zeros] = [&a.exponent, &zeros].map(|n| self.zero_extend(n, wide));
        let exponent = self.sub(&exponent, &zeros);
        let bias = self.number(to.bias().wrapping_sub(from.bias()), wide);
        let exponent = self.add(&exponent, &bias);
        let special = Special {
            zero: a.zero,
            infinite: a.infinite,
            nan: a.nan,
        };
        // An exponent that leaves the narrower one's range is as good as beyond it or below it.
        let (exponent, special) = self.float_clamp(to, &exponent, special);
        let below = (to.fraction + 2).saturating_sub(significand.len());
        let mut padded = self.number(0, below);
        padded.extend(significand);
        let one = self.number(1, to.wide());
        let (base, significand) = self.float_settle([&exponent, &one], &padded);
        self.float_pack(to, a.sign, &base, &significand, special)
    }

    /// An exponent of more bits as one of [`Format::wide`]: what is greater becomes an infinity, what is
    /// less the least there is, at which everything is rounded off.
    fn float_clamp(
        &mut self,
        to: Format,
        exponent: &[Wire],
        special: Special,
    ) -> (Vec<Wire>, Special) {
        // One bit less than there is room for, so that nothing that is computed with it overflows.
        let (low, high) = exponent.split_at(to.wide() - 2);
        let Some((&negative, between)) = high.split_last() else {
            return (exponent.to_vec(), special);
        };
        let odd: Vec<_> = between.iter().map(|&bit| self.xor(bit, negative)).collect();
        let outside = self.any(&odd);
        let positive = self.not(negative);
        let above = self.and(outside, positive);
        let below = self.and(outside, negative);
        let other = self.or(special.zero, special.nan);
        let counts = self.not(other);
        let above = self.and(above, counts);
        let infinite = self.or(special.infinite, above);
        let kept = self.not(below);
        let mut clamped = self.mask(low, kept);
        clamped.extend([negative; 2]);
        (
            clamped,
            Special {
                infinite,
                ..special
            },
        )
    }

    fn float_from(&mut self, format: Format, sign: Wire, magnitude: &[Wire]) -> Vec<Wire> {
        let zero = self.is_zero(magnitude);
        let never = self.constant(false);
        let (significand, zeros) = self.float_normalize(magnitude);
        let bits = (usize::BITS - magnitude.len().leading_zeros()) as usize;
        let wide = format.wide().max(bits + 2);
        let zeros = self.zero_extend(&zeros, wide);
        let highest = (magnitude.len() as u128 + format.bias()).wrapping_sub(1);
        let highest = self.number(highest, wide);
        let exponent = self.sub(&highest, &zeros);
        let special = Special {
            zero,
            infinite: never,
            nan: never,
        };
        let (exponent, special) = self.float_clamp(format, &exponent, special);
        let one = self.number(1, format.wide());
        let base = self.sub(&exponent, &one);
        let below = (format.fraction + 2).saturating_sub(significand.len());
        let mut padded = self.number(0, below);
        padded.extend(significand);
        self.float_pack(format, sign, &base, &padded, special)
    }

    /// Sign, the lowest `width` bits of the magnitude without its fraction, and whether it has more.
    fn float_truncate(
        &mut self,
        format: Format,
        a: &[Wire],
        width: usize,
    ) -> (Wire, Vec<Wire>, Wire) {
        let parts = self.float_parts(format, a);
        let wide = format
            .wide()
            .max((usize::BITS - width.leading_zeros()) as usize + 1);
        // The significand stands at the top of an integer of `width` bits and moves down.
        let place = width.max(format.fraction + 1);
        let mut integer = self.number(0, place - format.fraction - 1);
        integer.extend(&parts.significand);
        let exponent = self.zero_extend(&parts.exponent, wide);
        let highest = self.number(place as u128 - 1 + format.bias(), wide);
        let down = self.sub(&highest, &exponent);
        let beyond = down[wide - 1];
        let (moved, _) = self.shift_right_sticky(&integer, &down[..wide - 1]);
        let (integer, above) = moved.split_at(width.min(moved.len()));
        let above = self.any(above);
        let beyond = self.or(beyond, above);
        (parts.sign, integer.to_vec(), beyond)
    }
}
