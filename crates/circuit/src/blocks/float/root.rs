//! Square roots.

use super::Format;
use crate::builder::{Builder, Wire};

impl Builder {
    /// The square root; of -0 it is -0, of other negative numbers NaN.
    pub fn float_sqrt(&mut self, format: Format, a: &[Wire]) -> Vec<Wire> {
        let a = self.float_parts(format, a);
        let zero = self.constant(false);
        let (significand, zeros) = self.float_normalize(&a.significand);
        let wide = format.wide();
        let [exponent, zeros] = [&a.exponent, &zeros].map(|n| self.zero_extend(n, wide));
        let exponent = self.sub(&exponent, &zeros);
        // With e the exponent less its bias: half of e, and a significand from 1 to 4. The bias is odd,
        // so e is odd where the biased exponent is even.
        let even = self.not(exponent[0]);
        let bias = self.number(format.bias(), wide);
        let twice = self.add(&exponent, &bias);
        let half = self.sign_extend(&twice[1..], wide);
        let mut wider = vec![zero];
        wider.extend(&significand);
        let significand = self.zero_extend(&significand, wider.len());
        let radicand = self.select(even, &wider, &significand);
        // The root has a digit for each bit of a significand, and one to round by.
        let below = 2 * (format.fraction + 2) - radicand.len();
        let mut padded = vec![zero; below];
        padded.extend(radicand);
        let (root, inexact) = self.square_root(&padded);
        let mut significand = vec![inexact];
        significand.extend(root);
        let one = self.number(1, wide);
        let base = self.sub(&half, &one);

        let positive = self.not(a.zero);
        let negative = self.and(a.sign, positive);
        let nan = self.or(a.nan, negative);
        let special = self.float_special(a.zero, a.infinite, nan);
        self.float_pack(format, a.sign, &base, &significand, special)
    }
}
