//! e^x as 2^y for y = x log2(e): 2 to what follows y's point, by pieces, shifted by the rest.

use madrigal_circuit::{Builder, Wire};

use super::kind::PRECISION;
use super::normalised::{WRONG, WRONG_BITS, shifted};
use super::real::{LN_2, exp, power_of_two};
use super::spline::{Columns, Spline, Wanted};
use crate::element::Type;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Exponential {
    pub(super) spline: Spline,
    /// x is looked at below 2^whole, with `fraction` bits after its point.
    whole: u32,
    fraction: u32,
    /// log2(e), in units of 2^-factor_scale.
    factor: u64,
    factor_scale: u32,
    /// Bits after the point of y.
    places: u32,
    /// The spline's values are in units of 2^-scale.
    scale: u32,
}

impl Exponential {
    pub(super) fn new(element: Type) -> Self {
        let (bits, all) = (element.bits(), element.fraction());
        let fraction = all.min(PRECISION);
        let scale = fraction + 3 + WRONG_BITS;
        let places = fraction + 4;
        let spline = Spline::new(&Wanted {
            function: &|f: f64| exp(f * LN_2[0]),
            start: 0.0,
            unit: power_of_two(-(places as i32)),
            end: 1 << places,
            scale,
            error: WRONG / 4.0,
            // Errors by which y is too small add up to 3/32 of a step of 2^-fraction, 6 units at most.
            more: WRONG + 6.0,
            longest: places,
        });
        // Beyond that the result is too large, or less than a quarter of a step.
        let reach = f64::from((bits - 1 - all).max(all + 2)) * LN_2[0];
        let whole = (0..7)
            .find(|&whole| power_of_two(whole) >= reach)
            .unwrap_or(7) as u32;
        let factor_scale = fraction + whole + 3;
        let factor = (power_of_two(factor_scale as i32) / LN_2[0]).round() as u64;
        Self {
            spline,
            whole,
            fraction: all.min(fraction + 5),
            factor,
            factor_scale,
            places,
            scale,
        }
    }

    /// The tables in words.
    pub(super) fn words(&self) -> impl Iterator<Item = i64> + '_ {
        let more = [self.factor as i64, self.factor_scale.into()];
        self.spline.words().chain(more)
    }

    /// Bits of the product of x with the factor that are not looked at.
    fn dropped(&self) -> u32 {
        self.fraction + self.factor_scale - self.places
    }

    pub(super) fn evaluate(&self, element: Type, number: i128) -> i128 {
        let most = (element.mask() >> 1) as i128;
        let inside = number >> (element.fraction() + self.whole).min(127);
        if inside != 0 && inside != -1 {
            return if number < 0 { 0 } else { most };
        }
        let x = number >> (element.fraction() - self.fraction);
        let lift = i128::from(element.fraction() + 2) << self.places;
        let y = ((x * i128::from(self.factor)) >> self.dropped()) + lift;
        if y < 0 {
            return 0;
        }
        let by = (y >> self.places) as i32;
        let value = self
            .spline
            .evaluate(y as u128 & ((1 << self.places) - 1), false);
        shifted(value, by - 2 - self.scale as i32, most)
    }

    /// Range of all results of [`evaluate`](Self::evaluate).
    pub(super) fn range(&self, element: Type) -> Option<(i128, i128)> {
        let [low, _] = self.spline.bounds();
        Some((low.into(), (element.mask() >> 1) as i128))
    }

    pub(super) fn build(&self, element: Type, b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
        let bits = element.bits() as usize;
        let sign = x[bits - 1];
        let kept = ((element.fraction() + self.whole) as usize).min(bits - 1);
        let differ: Vec<_> = x[kept..bits - 1]
            .iter()
            .map(|&bit| b.xor(bit, sign))
            .collect();
        let outside = b.any(&differ);
        let mut number = x[(element.fraction() - self.fraction) as usize..kept].to_vec();
        number.push(sign);

        // y, and F + 2 more, so that all that is not 0 in the end has no sign.
        let (dropped, places) = (self.dropped() as usize, self.places as usize);
        let top = (3_u32 << self.whole) / 2 + element.fraction() + 3;
        let whole = (u32::BITS - top.leading_zeros()) as usize;
        let mut sum = Columns::new(dropped + places + whole + 1);
        sum.add_number(u128::from(element.fraction() + 2) << (dropped + places));
        for row in (0..64).filter(|row| self.factor >> row & 1 == 1) {
            let (sign, others) = (number[number.len() - 1], &number[..number.len() - 1]);
            for (at, &bit) in others.iter().enumerate() {
                sum.add(row + at, bit);
            }
            sum.subtract(b, row + others.len(), sign);
        }
        let y = sum.finish(b).split_off(dropped);
        let (within, amount, below) = (&y[..places], &y[places..places + whole], y[places + whole]);

        let zero = b.constant(false);
        let value = self.spline.build(b, within, zero);
        // From l + 1 on the result has more bits than the type.
        let limit = b.number(bits as u128 + 1, whole);
        let fits = b.less(amount, &limit);
        let word = b.zero_extend(&value, value.len() + bits);
        let word = b.shift_left(&word, amount);
        let result = &word[self.scale as usize + 2..];
        let above = b.any(result.get(bits - 1..).unwrap_or(&[]));
        let over = b.not(fits);
        let over = b.or(above, over);

        let positive = b.not(sign);
        let not_below = b.not(below);
        let over = b.and(over, not_below);
        let most = b.select(outside, &[positive], &[over])[0];
        let nothing = b.select(outside, &[sign], &[below])[0];
        let something = b.not(nothing);
        let result = b.zero_extend(result, bits - 1);
        let result = b.mask(&result, something);
        let mut result: Vec<_> = result.iter().map(|&bit| b.or(bit, most)).collect();
        result.push(zero);
        result
    }
}
