//! Powers of x and its logarithm: x = m 2^e with m from 1 to 2, a function of m by pieces, and what 2^e
//! makes of it, a shift or a sum.
//!
//! 0 has no m: it counts as 2^-(F + 1), half of the least number above it, of which all comes by itself; only
//! its root is 0. Results of reciprocals and roots are never less than the exact number by a whole step, and
//! more by a part of themselves at most, which the spline sees to: all its values are slightly too large.
//!
//! The inverse root that products are made with has more bits after the point than the number: it is right in proportion
//! to itself, to a 2^-(F + 2)th and a unit of its last place, to either side. The inverse that quotients are made with
//! is not shifted back at all ([`Packing`]).

use madrigal_circuit::{Builder, Wire};

use super::kind::{GUARD, Kind, PRECISION};
use super::quotient::{Packing, moved_up};
use super::real::{LN_2, ln, power_of_two};
use super::spline::{Columns, Spline, Wanted};
use crate::element::Type;
use crate::lower::one_hot;

/// Largest error of a spline's values, in its units, and the bits of this error.
pub(super) const WRONG: f64 = 8.0;
pub(super) const WRONG_BITS: u32 = 3;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Normalised {
    pub(super) spline: Spline,
    power: Power,
    /// The spline's values are in units of 2^-scale.
    scale: u32,
    /// The type of the results.
    to: Type,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Power {
    /// 1 / x; of numbers below 0, too, or not.
    Reciprocal { signed: bool },
    /// 1 / m, the zeros and the sign, side by side.
    Inverse(Packing),
    /// The square root.
    Root,
    /// 1 over it.
    InverseRoot,
    /// The logarithm, and what is added for each number of leading zeros.
    Log(Vec<i64>),
}

/// A number's parts: the number of its leading zeros, and the bits after the first 1.
struct Parts {
    zeros: u32,
    rest: u128,
}

impl Normalised {
    /// A function of numbers of a type, whose results are numbers of another.
    pub(super) fn new(kind: Kind, element: Type, to: Type) -> Self {
        let fraction = element.fraction().min(PRECISION);
        let power = match kind {
            Kind::Reciprocal => Power::Reciprocal { signed: true },
            Kind::PositiveReciprocal => Power::Reciprocal { signed: false },
            Kind::Inverse => Power::Inverse(Packing::new(element)),
            Kind::Root => Power::Root,
            Kind::InverseRoot | Kind::FineInverseRoot => Power::InverseRoot,
            _ => Power::Log(Vec::new()),
        };
        let bits = power.bits(element);
        let scale = match &power {
            Power::Log(_) => fraction + GUARD,
            Power::Inverse(packing) => packing.scale,
            _ => fraction + 3 + WRONG_BITS,
        };
        let more = match (kind, &power) {
            (Kind::FineInverseRoot, _) | (_, Power::Log(_)) => 0.0,
            (_, Power::Inverse(_)) => Packing::MORE,
            _ => WRONG,
        };
        let odd = power.exponent(element, to).rem_euclid(2) as f64;
        // The argument is what follows the 1; behind that, for roots, whether the zeros are odd in number.
        let split = |z: f64| match z >= 1.0 {
            true => (1.0, z),
            false => (0.0, z + 1.0),
        };
        let function: &dyn Fn(f64) -> f64 = match power {
            Power::Reciprocal { .. } | Power::Inverse(_) => &|z: f64| 1.0 / (1.0 + z),
            Power::Root => &|z: f64| {
                let (zeros, m) = split(z);
                (m * (1.0 + odd) * (1.0 - zeros / 2.0)).sqrt()
            },
            Power::InverseRoot => &|z: f64| {
                let (zeros, m) = split(z);
                ((1.0 + odd) * (1.0 + zeros) / m).sqrt()
            },
            Power::Log(_) => &|z: f64| ln(1.0 + z),
        };
        let halves = matches!(power, Power::Root | Power::InverseRoot);
        let spline = Spline::new(&Wanted {
            function,
            start: 0.0,
            unit: power_of_two(1 - bits as i32),
            end: 1 << (bits - 1 + u32::from(halves)),
            scale,
            error: WRONG / 4.0,
            more,
            longest: bits - 1,
        });
        let power = match power {
            Power::Log(_) => {
                let half = power_of_two(GUARD as i32 - 1);
                let entry = |zeros: u32| {
                    let exponent = bits as i32 - 1 - zeros as i32 - element.fraction() as i32;
                    let value = f64::from(exponent) * LN_2[0] * power_of_two(scale as i32);
                    (value + half).round() as i64
                };
                Power::Log((0..=bits).map(entry).collect())
            }
            power => power,
        };
        Self {
            spline,
            power,
            scale,
            to,
        }
    }

    /// Bits after the point of the results.
    pub(super) fn places(&self) -> u32 {
        self.to.fraction()
    }

    /// The tables in words.
    pub(super) fn words(&self) -> impl Iterator<Item = i64> + '_ {
        let more = match &self.power {
            Power::Log(entries) => &entries[..],
            _ => &[],
        };
        self.spline.words().chain(more.iter().copied())
    }

    pub(super) fn evaluate(&self, element: Type, number: i128) -> i128 {
        let bits = self.power.bits(element);
        let (magnitude, negative) = match self.power {
            Power::Reciprocal { signed: true } | Power::Inverse(_) => {
                (number.unsigned_abs(), number < 0)
            }
            _ => (number.max(0) as u128, false),
        };
        let parts = Parts::of(magnitude, bits);
        let most = (self.to.mask() >> 1) as i128;
        let exponent = self.power.exponent(element, self.to);
        let zeros = parts.zeros as i32;
        let result = match &self.power {
            Power::Reciprocal { .. } => {
                let value = self.spline.evaluate(parts.rest, false);
                shifted(value, exponent + zeros - self.scale as i32, most)
            }
            Power::Inverse(packing) => {
                let mantissa = self.spline.evaluate(parts.rest, false);
                return packing.pack(mantissa as u128, parts.zeros, negative) as i128;
            }
            Power::Root if magnitude == 0 => 0,
            Power::Root => {
                let value = self.spline.evaluate(parts.with_parity(bits), false);
                let by = exponent.div_euclid(2) - zeros / 2 - self.scale as i32;
                shifted(value, by, most)
            }
            Power::InverseRoot => {
                let value = self.spline.evaluate(parts.with_parity(bits), false);
                let by = exponent.div_euclid(2) + zeros / 2 - self.scale as i32;
                shifted(value, by, most)
            }
            Power::Log(entries) => {
                let sum = self.spline.evaluate(parts.rest, false) + entries[parts.zeros as usize];
                i128::from(sum >> GUARD) << (element.fraction() + GUARD - self.scale)
            }
        };
        if negative { -result } else { result }
    }

    /// Range of all results of [`evaluate`](Self::evaluate).
    pub(super) fn range(&self, element: Type) -> Option<(i128, i128)> {
        let [low, high] = self.spline.bounds();
        let most = (self.to.mask() >> 1) as i128;
        match &self.power {
            Power::Inverse(packing) => Some((0, packing.to().mask() as i128)),
            Power::Log(entries) => {
                let least = low + entries.iter().fold(0, |least, &entry| least.min(entry));
                let greatest = high + entries.iter().fold(0, |most, &entry| most.max(entry));
                let unit = 1_i128 << (element.fraction() + GUARD - self.scale);
                let code = |sum: i64| i128::from(sum >> GUARD).checked_mul(unit);
                Some((code(least)?, code(greatest)?))
            }
            Power::Reciprocal { signed: true } => Some((-most.max(-i128::from(low)), most)),
            // Shifted to the left what is below 0 becomes the greatest number, to the right no less than it is.
            _ => Some((low.into(), most)),
        }
    }

    pub(super) fn build(&self, element: Type, b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
        let bits = self.power.bits(element) as usize;
        let sign = x[x.len() - 1];
        let signed = self.power.is_signed();
        let magnitude = match signed {
            true => b.negate_if(x, sign),
            false => x[..bits].to_vec(),
        };
        let zeros = b.leading_zeros(&magnitude);
        let moved = moved_up(b, &magnitude, &zeros);
        let (first, rest) = (moved[bits - 1], moved[..bits - 1].to_vec());
        // A number below 0 counts as 0: with all zeros in front, and nothing after them.
        let (zeros, rest) = match signed {
            true => (zeros, rest),
            false => {
                let all = b.number(bits as u128, zeros.len());
                let positive = b.not(sign);
                (b.select(sign, &all, &zeros), b.mask(&rest, positive))
            }
        };
        let zero = b.constant(false);
        let exponent = self.power.exponent(element, self.to);
        let scale = self.scale as i32;
        let with_parity = || [&rest[..], &zeros[..1]].concat();
        match &self.power {
            Power::Reciprocal { .. } => {
                let value = self.spline.build(b, &rest, zero);
                let result = shifted_left(b, &value, &zeros, bits, exponent - scale, self.to);
                match signed {
                    true => b.negate_if(&result, sign),
                    false => result,
                }
            }
            Power::Inverse(packing) => {
                let mantissa = self.spline.build(b, &rest, zero);
                packing.join(b, &mantissa, &zeros, sign)
            }
            Power::Root => {
                let value = self.spline.build(b, &with_parity(), zero);
                let positive = b.not(sign);
                let there = b.and(first, positive);
                let value = b.mask(&value, there);
                let by = exponent.div_euclid(2) - scale;
                let mut word = b.number(0, by.max(0) as usize);
                word.extend(value);
                let word = b.shift_right(&word, &zeros[1..]);
                let result = word.get((-by).max(0) as usize..).unwrap_or(&[]);
                b.zero_extend(result, element.bits() as usize)
            }
            Power::InverseRoot => {
                let value = self.spline.build(b, &with_parity(), zero);
                let by = exponent.div_euclid(2) - scale;
                shifted_left(b, &value, &zeros[1..], bits / 2, by, self.to)
            }
            Power::Log(entries) => {
                let value = self.spline.build(b, &rest, zero);
                let hot = one_hot(b, &zeros, entries.len());
                let width =
                    (scale + i32::BITS as i32 - (bits as i32).leading_zeros() as i32) as usize;
                let mut sum = Columns::new(width + 1);
                for (at, &bit) in value.iter().enumerate() {
                    sum.add(at, bit);
                }
                for at in 0..=width {
                    let ones = hot.iter().zip(entries);
                    let ones = ones.filter(|(_, entry)| *entry >> at.min(63) & 1 == 1);
                    let bit = ones.fold(zero, |sum, (&hot, _)| b.xor(sum, hot));
                    sum.add(at, bit);
                }
                let sum = sum.finish(b);
                let coarse = element.fraction() + GUARD - self.scale;
                let mut result = b.number(0, coarse as usize);
                result.extend(&sum[GUARD as usize..]);
                b.sign_extend(&result, element.bits() as usize)
            }
        }
    }
}

impl Power {
    /// Whether numbers below 0 have one, too.
    fn is_signed(&self) -> bool {
        matches!(self, Self::Reciprocal { signed: true } | Self::Inverse(_))
    }

    /// Bits of the number whose leading zeros count.
    fn bits(&self, element: Type) -> u32 {
        match self.is_signed() {
            // The least number has a bit more above 0.
            true => element.bits(),
            false => element.bits() - 1,
        }
    }

    /// The exponent of 2 that the power makes of 2^(bits - 1 - F), in steps of the results; of roots the
    /// double of that.
    fn exponent(&self, element: Type, to: Type) -> i32 {
        let top = self.bits(element) as i32 - 1 - element.fraction() as i32;
        let places = to.fraction() as i32;
        match self {
            Self::Reciprocal { .. } => places - top,
            Self::Root => 2 * places + top,
            Self::InverseRoot => 2 * places - top,
            Self::Inverse(_) | Self::Log(_) => 0,
        }
    }
}

impl Parts {
    fn of(magnitude: u128, bits: u32) -> Self {
        let zeros = (magnitude.leading_zeros() + bits - 128).min(bits);
        let moved = magnitude.checked_shl(zeros).unwrap_or(0);
        Self {
            zeros,
            rest: moved & ((1 << (bits - 1)) - 1),
        }
    }

    /// The bits after the first 1, and above them whether the zeros are odd in number.
    fn with_parity(&self, bits: u32) -> u128 {
        self.rest | u128::from(self.zeros & 1) << (bits - 1)
    }
}

/// value 2^by rounded down, or `most` if it is more than that.
pub(super) fn shifted(value: i64, by: i32, most: i128) -> i128 {
    let value = i128::from(value);
    if by < 0 {
        return (value >> (-by).min(127)).min(most);
    }
    match value.leading_zeros() as i32 > by {
        true => (value << by).min(most),
        false => most,
    }
}

/// Shifts by a secret amount of `longest` at most and by a public one; gives a number of the type that is not
/// negative.
fn shifted_left(
    b: &mut Builder,
    value: &[Wire],
    amount: &[Wire],
    longest: usize,
    by: i32,
    element: Type,
) -> Vec<Wire> {
    let mut word = b.number(0, by.max(0) as usize);
    word.extend(value);
    let word = b.zero_extend(&word, word.len() + longest);
    let word = b.shift_left(&word, amount);
    let result = word.get((-by).max(0) as usize..).unwrap_or(&[]);
    saturated(b, result, element)
}

/// A number that is not negative in the bits of a type: the greatest one where it has more.
fn saturated(b: &mut Builder, number: &[Wire], element: Type) -> Vec<Wire> {
    let bits = element.bits() as usize - 1;
    let above = number.get(bits..).unwrap_or(&[]);
    let above = b.any(above);
    let number = b.zero_extend(number, bits);
    let mut number: Vec<_> = number.iter().map(|&bit| b.or(bit, above)).collect();
    number.push(b.constant(false));
    number
}
