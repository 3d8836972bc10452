//! Sums and differences.

use super::Format;
use crate::builder::{Builder, Wire};

/// Bits below a significand that decide how a sum is rounded: two, and whether there is anything below.
const BELOW: usize = 3;

impl Builder {
    /// `a - b`.
    pub fn float_sub(&mut self, format: Format, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let b = self.float_negate(format, b);
        self.float_add(format, a, &b)
    }

    /// `a + b`.
    pub fn float_add(&mut self, format: Format, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let magnitude = format.width() - 1;
        let swap = self.less(&a[..magnitude], &b[..magnitude]);
        let (a, b) = self.swap_if(swap, a, b);
        let (a, b) = (self.float_parts(format, &a), self.float_parts(format, &b));
        let minus = self.xor(a.sign, b.sign);

        // The smaller one moves down to the greater one's exponent.
        let distance = self.sub(&a.exponent, &b.exponent);
        let zero = self.constant(false);
        let widened = |significand: &[Wire], below: usize| {
            let mut wide = vec![zero; below];
            wide.extend(significand);
            wide
        };
        let great = widened(&a.significand, BELOW);
        let small = widened(&b.significand, BELOW - 1);
        let (moved, lost) = self.shift_right_sticky(&small, &distance);
        let mut small = vec![lost];
        small.extend(moved);
        let [great, small] = [great, small].map(|n| self.zero_extend(&n, n.len() + 1));
        let sum = self.add_or_sub(&great, &small, minus);

        // Up to its first 1, or to the least exponent: the highest bit has one more than `a`.
        let zeros = self.leading_zeros(&sum);
        let width = zeros.len().max(format.exponent);
        let [limit, zeros] = [&a.exponent, &zeros].map(|n| self.zero_extend(n, width));
        let limited = self.less(&limit, &zeros);
        let amount = self.select(limited, &limit, &zeros);
        let needed = (usize::BITS - sum.len().leading_zeros()) as usize;
        let shifted = self.shift_left(&sum, &amount[..needed.min(width)]);
        let base = self.sub(&limit, &amount);
        let base = self.zero_extend(&base, format.wide());

        let both_infinite = self.and(a.infinite, b.infinite);
        let undefined = self.and(both_infinite, minus);
        // The greater one, a, is NaN if one of the two is.
        let nan = self.or(a.nan, undefined);
        let infinite = self.xor(a.infinite, undefined);
        // Numbers that cancel give +0; two zeros of one sign keep it.
        let nothing = self.is_zero(&sum);
        let cancelled = self.and(nothing, minus);
        let kept = self.not(cancelled);
        let sign = self.and(a.sign, kept);
        let special = self.float_special(nothing, infinite, nan);
        self.float_pack(format, sign, &base, &shifted, special)
    }
}
