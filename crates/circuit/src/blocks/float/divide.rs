//! Quotients.

use super::Format;
use crate::builder::{Builder, Wire};

impl Builder {
    /// `a / b`.
    pub fn float_div(&mut self, format: Format, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let (a, b) = (self.float_parts(format, a), self.float_parts(format, b));
        let sign = self.xor(a.sign, b.sign);
        let (dividend, a_zeros) = self.float_normalize(&a.significand);
        let (divisor, b_zeros) = self.float_normalize(&b.significand);
        let quotient = self.fraction_digits(&dividend, &divisor);

        // The quotient is more than a half: its first 1 is the first digit or the second.
        let (&first, rest) = quotient.split_last().unwrap_or((&a.zero, &[]));
        let mut moved = vec![self.constant(false)];
        moved.extend(rest);
        let significand = self.select(first, &quotient, &moved);
        let wide = format.wide();
        let [a_exponent, b_exponent, a_zeros, b_zeros] =
            [&a.exponent, &b.exponent, &a_zeros, &b_zeros].map(|n| self.zero_extend(n, wide));
        // Less 1, and 1 more where the first digit is 1.
        let bias = self.number(format.bias() - 2, wide);
        let plus = self.add(&a_exponent, &b_zeros);
        let minus = self.add(&b_exponent, &a_zeros);
        let plus = self.add_with_carry(&plus, &bias, first);
        let (base, significand) = self.float_settle([&plus, &minus], &significand);

        let both_zero = self.and(a.zero, b.zero);
        let both_infinite = self.and(a.infinite, b.infinite);
        let undefined = self.or(both_zero, both_infinite);
        let any_nan = self.or(a.nan, b.nan);
        let nan = self.or(any_nan, undefined);
        let zero = self.or(a.zero, b.infinite);
        let infinite = self.or(a.infinite, b.zero);
        let special = self.float_special(zero, infinite, nan);
        self.float_pack(format, sign, &base, &significand, special)
    }

    /// Digits of the quotient of two numbers whose highest bits are 1, the first one whole: as many as
    /// they have, one more, and below these whether anything is left. Without restoring, as in
    /// [`Builder::divide`].
    fn fraction_digits(&mut self, dividend: &[Wire], divisor: &[Wire]) -> Vec<Wire> {
        let width = divisor.len() + 1;
        let zero = self.constant(false);
        let divisor = self.zero_extend(divisor, width);
        let mut remainder = self.zero_extend(dividend, width);
        let mut minus = self.constant(true);
        let mut digits = Vec::new();
        for digit in 0..=width {
            if digit > 0 {
                remainder.pop();
                remainder.insert(0, zero);
            }
            remainder = self.add_or_sub(&remainder, &divisor, minus);
            minus = self.not(remainder[width - 1]);
            digits.insert(0, minus);
        }
        let rest = self.restore(remainder, &divisor[..width - 1]);
        digits.insert(0, self.any(&rest));
        digits
    }
}
