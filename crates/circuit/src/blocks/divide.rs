//! Quotients and remainders, digit by digit without restoring: the partial remainder may be negative,
//! and then the divisor is added at the next digit where it would have been subtracted.
//!
//! After i digits of the dividend the partial remainder lies in [-d, d) for a divisor d, and is
//! computed modulo 2^(i+1) alone. If d < 2^i its sign is bit i. Otherwise d is greater than all that
//! came of the dividend, so that the remainder is negative: no digit needs more bits than have come,
//! and all of them together take half as many as there would be with full width.

use super::same_width;
use crate::builder::{Builder, Wire};

impl Builder {
    /// `a / b` and `a % b`, both unsigned, of one width. For `b` = 0 the quotient has all ones and the
    /// remainder is `a`, as RISC-V has it. About width^2 / 2 ANDs in a chain for size.
    pub fn divide(&mut self, a: &[Wire], b: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
        same_width(a, b);
        let (quotient, remainder) = self.digits(a, b);
        let remainder = self.restore(remainder, b);
        (quotient, remainder)
    }

    /// `a / b` alone.
    pub fn quotient(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        self.divide(a, b).0
    }

    /// `a / b` rounded towards zero and the remainder with the sign of `a`, both signed. For `b` = 0
    /// the quotient is -1 and the remainder `a`; the smallest number by -1 gives itself and 0, as
    /// RISC-V has it.
    pub fn divide_signed(&mut self, a: &[Wire], b: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
        same_width(a, b);
        let zero = self.constant(false);
        let [a_sign, b_sign] = [a, b].map(|number| number.last().copied().unwrap_or(zero));
        let (a, b) = (self.abs(a), self.abs(b));
        let (quotient, remainder) = self.divide(&a, &b);
        // A zero divisor has no sign, and its quotient is -1 whatever the sign of `a`.
        let nothing = self.is_zero(&b);
        let something = self.not(nothing);
        let differ = self.xor(a_sign, b_sign);
        let negative = self.and(differ, something);
        (
            self.negate_if(&quotient, negative),
            self.negate_if(&remainder, a_sign),
        )
    }

    /// `a 2^fraction / b` rounded towards zero, both signed and of one width: the quotient of numbers with
    /// `fraction` bits after the point, modulo 2^width. For `b` = 0 it is -1, as of [`Builder::divide_signed`].
    pub fn divide_fixed(&mut self, a: &[Wire], b: &[Wire], fraction: usize) -> Vec<Wire> {
        same_width(a, b);
        let zero = self.constant(false);
        let [a_sign, b_sign] = [a, b].map(|number| number.last().copied().unwrap_or(zero));
        let (a, b) = (self.abs(a), self.abs(b));
        let mut dividend = self.number(0, fraction);
        dividend.extend(a);
        let (mut quotient, _) = self.digits(&dividend, &b);
        quotient.truncate(b.len());
        // With more digits than the divisor has bits, those of a zero divisor are not all ones.
        let nothing = self.is_zero(&b);
        let quotient: Vec<Wire> = quotient
            .into_iter()
            .map(|digit| self.or(digit, nothing))
            .collect();
        let something = self.not(nothing);
        let differ = self.xor(a_sign, b_sign);
        let negative = self.and(differ, something);
        self.negate_if(&quotient, negative)
    }

    /// Quotient digits of a dividend, whose highest come first, by a divisor of any width; and the
    /// partial remainder after the last one, as wide as the divisor and a sign.
    ///
    /// The dividend has no fewer bits than the divisor.
    pub(super) fn digits(&mut self, a: &[Wire], b: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
        let width = b.len();
        // Whether the divisor is 2^i or more, for all i.
        let mut large = vec![self.constant(false); width + 1];
        for i in (0..width).rev() {
            large[i] = self.or(large[i + 1], b[i]);
        }
        let zero = self.constant(false);
        let mut remainder: Vec<Wire> = Vec::new();
        let mut negative = zero;
        let mut quotient = Vec::new();
        for (came, &digit) in (1..).zip(a.iter().rev()) {
            remainder.insert(0, digit);
            let bits = (came + 1).min(width + 1);
            let remainder_bits = match remainder.len() {
                short if short < bits => self.zero_extend(&remainder, bits),
                _ => remainder[..bits].to_vec(),
            };
            let divisor = self.zero_extend(b, bits);
            let minus = self.not(negative);
            remainder = self.add_or_sub(&remainder_bits, &divisor, minus);
            negative = match large.get(came) {
                Some(&large) => self.or(large, remainder[bits - 1]),
                None => remainder[bits - 1],
            };
            quotient.insert(0, self.not(negative));
        }
        remainder.resize(width + 1, zero);
        (quotient, remainder)
    }

    /// A partial remainder as [`Builder::digits`] leaves it, made non-negative.
    pub(super) fn restore(&mut self, mut remainder: Vec<Wire>, b: &[Wire]) -> Vec<Wire> {
        let Some(negative) = remainder.pop() else {
            return remainder;
        };
        let back = self.mask(b, negative);
        self.add(&remainder, &back)
    }
}
