//! Numbers of rows hidden by noise: a bound that is rows and a random number more, so that it tells little of whether a few rows are there.
//!
//! The noise is discrete Laplace, of which a number `z` has a chance that goes with `exp(-|z| epsilon / each)`, cut to `-most..=most` and
//! shifted by `most`, so that it is never negative. Two tables that differ in `each` rows have bounds whose chances differ by a factor of
//! `exp(epsilon)` at most, where both can be, and one that the other table cannot have comes with a chance of `delta` at most: the bound is
//! (epsilon, delta)-differentially private.
//!
//! It is drawn exactly, by the algorithms 1 and 2 of Canonne, Kamath and Steinke (*The Discrete Gaussian for Differential Privacy*, NeurIPS
//! 2020): of fair random integers, whose chances are fractions. No logarithm of a float is there that could tell by its last bits what was
//! drawn (Mironov, CCS 2012). Floats say where the noise is cut alone, which is public, and on the safe side of their errors.

use std::fmt;
use std::str::FromStr;

/// Units in an epsilon of 1. A float holds all numbers of units that there can be, and of [`DELTA`] too.
const EPSILON: f64 = 1e9;
/// Units in a delta of 1.
const DELTA: f64 = 1e15;
/// The greatest epsilon: at 5 the bound is the number of rows and always the same more but for 1 time in 75.
const GREATEST_EPSILON: f64 = 5.0;
/// The greatest delta: with a chance of 1 in 1000 a bound tells that a row is not there.
const GREATEST_DELTA: f64 = 1e-3;
/// The most rows that one person may have.
const EACH: u64 = 1_000_000;
/// The most rows that noise may add.
const MOST: u64 = 1 << 30;
/// What rounding may come to in what is computed of floats, and much more.
const ROUNDING: f64 = 1e-9;

/// How a number of rows is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noise {
    /// In billionths.
    epsilon: u64,
    /// In units of 1e-15.
    delta: u64,
    /// Rows that one person has at most.
    each: u64,
}

impl Noise {
    /// Noise that hides whether `each` rows are there, up to `epsilon`, which has at most 9 digits after the point, and `delta`, which has at
    /// most 15.
    ///
    /// # Errors
    /// Numbers that are none, too large to hide anything, or so small that noise would be more than the rows of any table.
    pub fn new(epsilon: f64, delta: f64, each: u64) -> Result<Self, String> {
        let units = |name: &str, value: f64, unit: f64, most: f64| {
            // No more is spent than is said.
            let units = (value * unit * (1.0 + 4.0 * f64::EPSILON)).floor();
            match value <= most && units >= 1.0 {
                true => Ok(units as u64),
                false => Err(format!(
                    "{name} = {value}: write a number from {:e} to {most}",
                    1.0 / unit
                )),
            }
        };
        let noise = Self {
            epsilon: units("epsilon", epsilon, EPSILON, GREATEST_EPSILON)?,
            delta: units("delta", delta, DELTA, GREATEST_DELTA)?,
            each: match (1..=EACH).contains(&each) {
                true => each,
                false => return Err(format!("each = {each}: write a number from 1 to {EACH}")),
            },
        };
        match noise.is_enough(MOST / 2) {
            true => Ok(noise),
            false => Err(format!(
                "{noise} take more than {MOST} rows of noise: write a larger epsilon or delta, or a smaller each"
            )),
        }
    }

    /// Epsilon.
    pub fn epsilon(&self) -> f64 {
        self.epsilon as f64 / EPSILON
    }

    /// Delta.
    pub fn delta(&self) -> f64 {
        self.delta as f64 / DELTA
    }

    /// The rows of one person whose presence is hidden.
    pub const fn each(&self) -> u64 {
        self.each
    }

    /// The most rows that noise adds. It adds half of them on average.
    pub fn most(&self) -> u64 {
        2 * self.half()
    }

    /// Draws the rows that are added, of fair words that `random` gives.
    ///
    /// # Errors
    /// Errors of `random`, as they come.
    pub fn draw<E>(&self, mut random: impl FnMut() -> Result<u64, E>) -> Result<u64, E> {
        let half = self.half();
        let (s, t) = self.scale();
        // Where the cut leaves little of the distribution, drawing from all of it would take long: numbers within the cut are drawn alike, and kept
        // with the chance that they have.
        while u128::from(half) * s <= t {
            let place = below(2 * u128::from(half) + 1, &mut random)? as u64;
            if exponential(u128::from(half.abs_diff(place)) * s, t, &mut random)? {
                return Ok(place);
            }
        }
        loop {
            let (distance, is_below) = self.laplace(&mut random)?;
            // What is beyond the cut is drawn again: the others' chances keep their proportions.
            if distance <= half {
                return Ok(match is_below {
                    true => half - distance,
                    false => half + distance,
                });
            }
        }
    }

    /// The place where the noise is cut: the least number for which all that lies within `each` of either end has a chance of delta at
    /// most.
    fn half(&self) -> u64 {
        let (mut least, mut most) = (self.each, MOST / 2);
        while least < most {
            let middle = least.midpoint(most);
            match self.is_enough(middle) {
                true => most = middle,
                false => least = middle + 1,
            }
        }
        least
    }

    /// Whether numbers that are cut at `half` are within `each` of an end with a chance of delta at most. With `a = exp(-epsilon / each)` the
    /// sum of their weights is `a^(half - each + 1) (1 - a^each) / (1 - a)`, and that of all `(1 + a - 2 a^(half + 1)) / (1 - a)`.
    fn is_enough(&self, half: u64) -> bool {
        let Some(rest) = half.checked_sub(self.each) else {
            return false;
        };
        let slope = self.epsilon() / self.each as f64;
        let less = |times: u64| -(-slope * times as f64).exp_m1();
        let end = (-slope * (rest + 1) as f64).exp() * less(self.each);
        let all = less(half + 1) + (-slope).exp() * less(half);
        end * (1.0 + ROUNDING) <= self.delta() * all
    }

    /// The denominator and the counter of the scale, `each / epsilon`.
    const fn scale(&self) -> (u128, u128) {
        (self.epsilon as u128, self.each as u128 * 1_000_000_000)
    }

    /// A number of discrete Laplace as its distance from 0 and whether it is below: algorithm 2 of the source, for the scale
    /// `each / epsilon`, whose counter is `t` and whose denominator is `s` there.
    fn laplace<E>(&self, random: &mut impl FnMut() -> Result<u64, E>) -> Result<(u64, bool), E> {
        let (s, t) = self.scale();
        loop {
            let low = below(t, random)?;
            if !exponential(low, t, random)? {
                continue;
            }
            let mut high = 0_u128;
            while exponential(1, 1, random)? {
                high += 1;
            }
            let distance = (low + t * high) / s;
            let is_below = below(2, random)? == 1;
            // Or 0 would come twice as often.
            if distance == 0 && is_below {
                continue;
            }
            return Ok((u64::try_from(distance).unwrap_or(u64::MAX), is_below));
        }
    }
}

/// True with a chance of `exp(-p / q)`, where `p` is at most `q`: algorithm 1 of the source.
fn exponential<E>(
    p: u128,
    q: u128,
    random: &mut impl FnMut() -> Result<u64, E>,
) -> Result<bool, E> {
    let mut k = 1_u128;
    while below(q * k, random)? < p {
        k += 1;
    }
    Ok(k % 2 == 1)
}

/// A number below a bound, each with the same chance.
fn below<E>(bound: u128, random: &mut impl FnMut() -> Result<u64, E>) -> Result<u128, E> {
    let unused = (bound - 1).leading_zeros();
    loop {
        let low = u128::from(random()?);
        let all = match unused < 64 {
            true => low | u128::from(random()?) << 64,
            false => low,
        };
        let number = match unused {
            128 => 0,
            unused => all << unused >> unused,
        };
        if number < bound {
            return Ok(number);
        }
    }
}

/// As a schema has it, between braces.
impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (epsilon, delta) = (self.epsilon(), self.delta());
        write!(f, "epsilon = {epsilon}, delta = {delta:e}")?;
        match self.each {
            1 => Ok(()),
            each => write!(f, ", each = {each}"),
        }
    }
}

/// As a flag has it: `epsilon=1,delta=1e-6` or `epsilon=1,delta=1e-6,each=10`.
impl FromStr for Noise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected epsilon=1,delta=1e-6 or epsilon=1,delta=1e-6,each=10".to_owned();
        let (mut epsilon, mut delta, mut each) = (None, None, None);
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let (name, value) = (name.trim(), value.trim());
            let number = || value.parse::<f64>().map_err(|_| wrong());
            let before = match name {
                "epsilon" => epsilon.replace(number()?).is_some(),
                "delta" => delta.replace(number()?).is_some(),
                "each" => each.replace(value.parse().map_err(|_| wrong())?).is_some(),
                _ => true,
            };
            if before {
                return Err(wrong());
            }
        }
        let (epsilon, delta) = epsilon.zip(delta).ok_or_else(wrong)?;
        Self::new(epsilon, delta, each.unwrap_or(1))
    }
}
