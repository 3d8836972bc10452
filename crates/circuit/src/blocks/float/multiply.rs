//! Products.

use super::{Format, Special};
use crate::builder::{Builder, Wire};

impl Builder {
    /// `a * b`.
    pub fn float_mul(&mut self, format: Format, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let (a, b) = (self.float_parts(format, a), self.float_parts(format, b));
        let product = self.mul_wide(&a.significand, &b.significand);
        let sign = self.xor(a.sign, b.sign);

        // A product of two subnormal numbers rounds to 0 whatever it is. Else its first 1 is no further
        // down than a significand is long.
        let top = format.fraction + 2;
        let zeros = self.leading_zeros(&product[product.len() - top..]);
        let product = self.shift_left(&product, &zeros);
        let wide = format.wide();
        let [a_exponent, b_exponent, zeros] =
            [&a.exponent, &b.exponent, &zeros].map(|n| self.zero_extend(n, wide));
        let sum = self.add(&a_exponent, &b_exponent);
        // The product's highest bit is worth one more than the exponents say: so this is one less.
        let bias = self.number(format.bias(), wide);
        let base = self.sub(&sum, &bias);
        // Bits that decide about rounding: one bit below, and whether there is anything further down.
        let (rest, kept) = product.split_at(product.len() - format.fraction - 2);
        let mut significand = vec![self.any(rest)];
        significand.extend(kept);
        let (base, significand) = self.float_settle([&base, &zeros], &significand);

        let any_zero = self.or(a.zero, b.zero);
        let any_infinite = self.or(a.infinite, b.infinite);
        let undefined = self.and(any_zero, any_infinite);
        let any_nan = self.or(a.nan, b.nan);
        let nan = self.or(any_nan, undefined);
        let special = self.float_special(any_zero, any_infinite, nan);
        self.float_pack(format, sign, &base, &significand, special)
    }

    /// A value that is NaN is nothing else.
    pub(super) fn float_special(&mut self, zero: Wire, infinite: Wire, nan: Wire) -> Special {
        let number = self.not(nan);
        Special {
            zero: self.and(zero, number),
            infinite: self.and(infinite, number),
            nan,
        }
    }
}
