//! Functions of |x| that go to 0, and what is made of them by the sign of x.
//!
//! |x| of a negative number is its bits inverted, and 1 more. The 1 needs no sum: it goes into the spline's
//! last product as a row more.

use madrigal_circuit::{Builder, Wire};

use super::kind::{GUARD, Kind, PRECISION};
use super::real::{erfc, exp, ln_one_more, power_of_two, sigmoid_below};
use super::spline::{Spline, Wanted};
use crate::element::Type;

/// The use that is made of f(|x|).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Ending {
    /// Itself.
    Plain,
    /// Itself below 0, and 1 less it from 0 on.
    Step,
    /// 1 less it, with the sign of x.
    Odd,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Symmetric {
    pub(super) spline: Spline,
    ending: Ending,
    /// Bits after the point that the results have less than the type, which are 0.
    coarse: u32,
}

/// `h` from which on a function is less than a quarter of 2^-fraction, in steps of 1/4.
fn end(function: &dyn Fn(f64) -> f64, fraction: u32) -> f64 {
    let least = 0.25 * power_of_two(-(fraction as i32));
    let steps = (1..400)
        .rev()
        .take_while(|&step| function(f64::from(step) / 4.0).abs() < least);
    f64::from(400 - steps.count() as u32) / 4.0
}

impl Symmetric {
    pub(super) fn new(kind: Kind, element: Type) -> Self {
        let fraction = element.fraction().min(PRECISION);
        let root = 0.5_f64.sqrt();
        let tail = |y: f64| 2.0 * sigmoid_below(2.0 * y); // 1 - tanh y
        let below_tanh_gelu = |a: f64| {
            let inner = (std::f64::consts::FRAC_2_PI).sqrt() * (a + 0.044_715 * a * a * a);
            0.5 * a * tail(inner)
        };
        let function: &dyn Fn(f64) -> f64 = match kind {
            Kind::Sigmoid => &sigmoid_below,
            Kind::Tanh => &tail,
            Kind::Erf => &erfc,
            Kind::BelowGelu => &|a: f64| 0.5 * a * erfc(a * root),
            Kind::BelowTanhGelu => &below_tanh_gelu,
            Kind::BelowSilu => &|a: f64| a * sigmoid_below(a),
            Kind::AboveSoftplus => &|a: f64| ln_one_more(exp(-a)),
            _ => &|a: f64| exp(-a),
        };
        let ending = match kind {
            Kind::Sigmoid => Ending::Step,
            Kind::Tanh | Kind::Erf => Ending::Odd,
            _ => Ending::Plain,
        };
        let unit = power_of_two(-(element.fraction() as i32));
        let end = (end(function, fraction) / unit) as u128;
        let end = end.clamp(2, 1 << (element.bits() - 1));
        let half = power_of_two(GUARD as i32 - 1);
        let spline = Spline::new(&Wanted {
            function,
            start: 0.0,
            unit,
            end,
            scale: fraction + GUARD,
            error: half / 4.0,
            // Rounded to the nearest.
            more: half,
            // Longer ones could miss what a function does near 0.
            longest: end.ilog2() - 1,
        });
        // e^0 stays below 1, to have no bit more than what is.
        let spline = match kind {
            Kind::Decay => spline.capped((1 << (fraction + GUARD)) - 1),
            _ => spline,
        };
        Self {
            spline,
            ending,
            coarse: element.fraction() - fraction,
        }
    }

    /// The narrowest type that has all results.
    pub(super) fn result(&self, element: Type) -> Type {
        let fraction = element.fraction();
        let (bits, signed) = match self.ending {
            Ending::Plain => (fraction, false),
            Ending::Step => (fraction + 1, false),
            Ending::Odd => (fraction + 2, true),
        };
        let bits = bits.next_power_of_two().clamp(8, element.bits());
        match signed {
            true => Type::signed(bits),
            false => Type::unsigned(bits),
        }
    }

    pub(super) fn evaluate(&self, element: Type, number: i128) -> i128 {
        let negative = number < 0;
        let place = if negative { !number } else { number };
        let value = i128::from(self.spline.evaluate(place as u128, negative) >> GUARD);
        let one = 1 << (element.fraction() - self.coarse);
        let result = match (self.ending, negative) {
            (Ending::Plain, _) | (Ending::Step, true) => value,
            (Ending::Step, false) | (Ending::Odd, false) => one - value,
            (Ending::Odd, true) => value - one,
        };
        result << self.coarse
    }

    /// Range of all results of [`evaluate`](Self::evaluate).
    pub(super) fn range(&self, element: Type) -> Option<(i128, i128)> {
        let [low, high] = self.spline.bounds().map(|end| i128::from(end >> GUARD));
        let one = 1_i128 << (element.fraction() - self.coarse);
        let (low, high) = match self.ending {
            Ending::Plain => (low, high),
            Ending::Step => (low.min(one - high), high.max(one - low)),
            Ending::Odd => {
                let most = (one - low).max(high - one);
                (-most, most)
            }
        };
        let unit = 1_i128 << self.coarse;
        Some((low.checked_mul(unit)?, high.checked_mul(unit)?))
    }

    pub(super) fn build(&self, element: Type, b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
        let sign = x[x.len() - 1];
        let place: Vec<_> = x[..x.len() - 1]
            .iter()
            .map(|&bit| b.xor(bit, sign))
            .collect();
        let value = self.spline.build(b, &place, sign);
        let value = value[GUARD as usize..].to_vec();
        let fraction = (element.fraction() - self.coarse) as usize;
        let positive = b.not(sign);
        let result = match self.ending {
            Ending::Plain => value,
            // 2^fraction less the value, which is half of that at most.
            Ending::Step => {
                let value = b.zero_extend(&value, fraction + 1);
                let mut result = b.negate_if(&value, positive);
                result[fraction] = b.xor(result[fraction], positive);
                result
            }
            // The value less 2^fraction is not above 0; its negative is 1 less the value.
            Ending::Odd => {
                let mut less = b.zero_extend(&value, fraction + 1);
                let top = b.not(less[fraction]);
                less.truncate(fraction);
                less.extend([top, top]);
                b.negate_if(&less, positive)
            }
        };
        let mut shifted = b.number(0, self.coarse as usize);
        shifted.extend(result);
        shifted
    }
}
