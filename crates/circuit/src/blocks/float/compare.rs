//! Comparisons.

use super::Format;
use crate::builder::{Builder, Wire};

impl Builder {
    /// `a < b`; no if one is NaN.
    pub fn float_less(&mut self, format: Format, a: &[Wire], b: &[Wire]) -> Wire {
        let comparable = self.float_comparable(format, a, b);
        let [a_key, b_key] = [a, b].map(|n| self.float_key(format, n));
        let less = self.less(&a_key, &b_key);
        let zeros = self.float_zeros(format, a, b);
        let differ = self.not(zeros);
        self.all(&[less, comparable, differ])
    }

    /// `a <= b`; no if one is NaN.
    pub fn float_less_or_equal(&mut self, format: Format, a: &[Wire], b: &[Wire]) -> Wire {
        let comparable = self.float_comparable(format, a, b);
        let [a_key, b_key] = [a, b].map(|n| self.float_key(format, n));
        let greater = self.less(&b_key, &a_key);
        let not_greater = self.not(greater);
        let zeros = self.float_zeros(format, a, b);
        let either = self.or(not_greater, zeros);
        self.and(either, comparable)
    }

    /// `a == b`: both zeros are equal, a NaN equals nothing.
    pub fn float_equal(&mut self, format: Format, a: &[Wire], b: &[Wire]) -> Wire {
        let comparable = self.float_comparable(format, a, b);
        let same = self.equal(a, b);
        let zeros = self.float_zeros(format, a, b);
        let either = self.or(same, zeros);
        self.and(either, comparable)
    }

    /// Whether `a` is NaN.
    pub fn float_is_nan(&mut self, format: Format, a: &[Wire]) -> Wire {
        super::check(format, a);
        let (fraction, rest) = a.split_at(format.fraction);
        let full = self.all(&rest[..format.exponent]);
        let some = self.any(fraction);
        self.and(full, some)
    }

    fn float_comparable(&mut self, format: Format, a: &[Wire], b: &[Wire]) -> Wire {
        let [a, b] = [a, b].map(|n| self.float_is_nan(format, n));
        let neither = self.or(a, b);
        self.not(neither)
    }

    /// Whether both are zeros, of any signs.
    fn float_zeros(&mut self, format: Format, a: &[Wire], b: &[Wire]) -> Wire {
        let magnitude = format.width() - 1;
        let bits = [&a[..magnitude], &b[..magnitude]].concat();
        self.is_zero(&bits)
    }

    /// An unsigned number in the same order, but for the zeros: negative numbers are turned over.
    fn float_key(&mut self, format: Format, a: &[Wire]) -> Vec<Wire> {
        let sign = a[format.width() - 1];
        let mut key: Vec<_> = a.iter().map(|&bit| self.xor(bit, sign)).collect();
        key[format.width() - 1] = self.not(sign);
        key
    }
}
