//! Floating-point numbers as IEEE 754 has them: correctly rounded to nearest, ties to even, with
//! subnormal numbers, infinities and both zeros. A result without a value is the quiet NaN with an empty
//! payload and a positive sign, whatever NaNs came in.
//!
//! A number of [`Format`] is its bits, lowest first: fraction, exponent, sign.

mod add;
mod compare;
mod convert;
mod divide;
mod multiply;
mod root;

use crate::builder::{Builder, Wire};

/// Widths of a binary interchange format, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format {
    exponent: usize,
    fraction: usize,
}

impl Format {
    /// 16 bits.
    pub const F16: Self = Self::new(5, 10);
    /// 32 bits.
    pub const F32: Self = Self::new(8, 23);
    /// 64 bits.
    pub const F64: Self = Self::new(11, 52);

    const fn new(exponent: usize, fraction: usize) -> Self {
        Self { exponent, fraction }
    }

    /// Bits of a number.
    pub const fn width(self) -> usize {
        1 + self.exponent + self.fraction
    }

    /// The biased exponent of numbers from 1 to 2.
    const fn bias(self) -> u128 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Bits of exponents while they are computed with: signed, and none leaves them.
    const fn wide(self) -> usize {
        self.exponent + 2
    }
}

/// A number taken apart.
struct Parts {
    sign: Wire,
    /// The biased exponent of the significand's highest bit; 1 for subnormal numbers too.
    exponent: Vec<Wire>,
    /// The fraction, and above it the bit that is not written: 0 for subnormal numbers.
    significand: Vec<Wire>,
    zero: Wire,
    infinite: Wire,
    nan: Wire,
}

/// Kinds of values that are not a finite number other than 0; at most one of them is 1.
struct Special {
    zero: Wire,
    infinite: Wire,
    nan: Wire,
}

impl Builder {
    /// `-a`.
    ///
    /// # Panics
    /// If a number has not the width of its format; so do all operations on floating-point numbers.
    pub fn float_negate(&mut self, format: Format, a: &[Wire]) -> Vec<Wire> {
        check(format, a);
        self.flip_sign(a)
    }

    fn float_parts(&mut self, format: Format, a: &[Wire]) -> Parts {
        check(format, a);
        let (fraction, rest) = a.split_at(format.fraction);
        let (exponent, sign) = rest.split_at(format.exponent);
        let no_fraction = self.is_zero(fraction);
        let (least, most) = (self.is_zero(exponent), self.all(exponent));
        let fractional = self.not(no_fraction);
        let mut exponent = exponent.to_vec();
        exponent[0] = self.xor(exponent[0], least);
        let mut significand = fraction.to_vec();
        significand.push(self.not(least));
        Parts {
            sign: sign[0],
            exponent,
            significand,
            zero: self.and(least, no_fraction),
            infinite: self.and(most, no_fraction),
            nan: self.and(most, fractional),
        }
    }

    /// `a` shifted left until its highest bit is 1, and by how much; a 0 stays one.
    fn float_normalize(&mut self, a: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
        let zeros = self.leading_zeros(a);
        (self.shift_left(a, &zeros), zeros)
    }

    /// Exponent and significand of a number whose highest bit is 1, made such that the exponent is 1 at
    /// least. The exponent less 1 is `plus - minus`; gives it, and the significand with what was lost as
    /// its lowest bit.
    fn float_settle(
        &mut self,
        [plus, minus]: [&[Wire]; 2],
        significand: &[Wire],
    ) -> (Vec<Wire>, Vec<Wire>) {
        let (base, amount) = (self.sub(plus, minus), self.sub(minus, plus));
        let small = base[base.len() - 1];
        let amount = self.mask(&amount, small);
        let (shifted, lost) = self.shift_right_sticky(significand, &amount);
        let mut settled = vec![lost];
        settled.extend(shifted);
        let normal = self.not(small);
        (self.mask(&base, normal), settled)
    }

    /// The number of this sign, exponent less 1 (not negative, [`Format::wide`]) and significand, with
    /// any number of bits below its own to be rounded off.
    fn float_pack(
        &mut self,
        format: Format,
        sign: Wire,
        base: &[Wire],
        significand: &[Wire],
        special: Special,
    ) -> Vec<Wire> {
        let Special {
            zero,
            mut infinite,
            nan,
        } = special;
        let below = significand.len() - format.fraction - 1;
        let (off, own) = significand.split_at(below);
        let up = match off.split_last() {
            Some((&half, rest)) => {
                let mut rest = rest.to_vec();
                rest.push(own[0]);
                let more = self.any(&rest);
                self.and(half, more)
            }
            None => self.constant(false),
        };
        // The highest bit counts in the exponent, and so does what rounding up carries there.
        let mut number = own[..format.fraction].to_vec();
        number.extend(base);
        let mut unwritten = self.number(0, number.len());
        unwritten[format.fraction] = own[format.fraction];
        let number = self.add_with_carry(&number, &unwritten, up);
        let (fraction, exponent) = number.split_at(format.fraction);
        let (exponent, beyond) = exponent.split_at(format.exponent);
        let full = self.all(exponent);
        let beyond = self.any(beyond);
        let overflow = self.or(full, beyond);
        // A result that is 0 or NaN by itself may have any exponent.
        let other = self.or(zero, nan);
        let finite = self.not(other);
        let overflow = self.and(overflow, finite);
        infinite = self.or(infinite, overflow);

        let most = self.xor(infinite, nan);
        let empty = self.xor(most, zero);
        let written = self.not(empty);
        let mut packed = self.mask(fraction, written);
        packed[format.fraction - 1] = self.xor(packed[format.fraction - 1], nan);
        let exponent = self.mask(exponent, written);
        packed.extend(exponent.iter().map(|&bit| self.xor(bit, most)));
        let not_nan = self.not(nan);
        packed.push(self.and(sign, not_nan));
        packed
    }
}

fn check(format: Format, a: &[Wire]) {
    assert_eq!(a.len(), format.width(), "bits of a floating-point number");
}
