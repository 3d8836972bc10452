//! Random numbers that hide small differences of counts, for differential privacy.
//!
//! [`Noise`] is discrete Laplace, of which a number `z` has a chance that goes with `exp(-|z| epsilon / each)`, cut to `-half..=half` and
//! shifted by `half`, so that it is from 0 to `most = 2 half`. Two counts that differ by `each` at most, with a draw more, have chances that
//! differ by a factor of `exp(epsilon)` at most, where both can be, and one that the other count cannot have comes with a chance of `delta` at
//! most: the sum is (epsilon, delta)-differentially private. The bound `half` is the least for which this is so.
//!
//! ```
//! use madrigal_noise::Noise;
//! let noise = Noise::new(1.0, 1e-9, 1)?;
//! assert_eq!((noise.half(), noise.most()), (20, 40));
//! let mut word = 1_u64;
//! // Random words in a program, and not such ones.
//! let draw = noise.draw(|| {
//!     word = word.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word >> 29;
//!     Ok::<_, std::convert::Infallible>(word)
//! });
//! assert!(draw.is_ok_and(|draw| draw <= noise.most()));
//! # Ok::<(), madrigal_noise::NoiseError>(())
//! ```
//!
//! # Composition
//! Epsilons and deltas of several draws for the same count, or for counts of the same people, add up: [`Epsilon`] and [`Delta`] add exactly.
//!
//! # Floats
//! Numbers are drawn exactly. Floats say where the noise is cut alone, which is public, and on the safe side of their errors. Two
//! machines whose `exp` differs in its last bit could come to two bounds, hardly ever: parties who both need `half` compare it.

mod draw;
mod joint;

use std::fmt;

pub use joint::Coins;

/// Units in an epsilon of 1. A float holds all numbers of units that there can be, and of [`DELTA`] too.
const EPSILON: f64 = 1e9;
/// Units in a delta of 1.
const DELTA: f64 = 1e15;
/// The greatest epsilon of one draw: at 5 a number is the middle but for 1 time in 75.
const GREATEST_EPSILON: f64 = 5.0;
/// The greatest sum of epsilons.
const GREATEST_SUM: f64 = 1e6;
/// The greatest delta: with a chance of 1 in 1000 a number tells the difference.
const GREATEST_DELTA: f64 = 1e-3;
/// The greatest difference.
const EACH: u64 = 1_000_000;
/// The most that noise may be.
const MOST: u64 = 1 << 30;
/// Bound of what rounding may come to in numbers that are computed of floats, and much more.
const ROUNDING: f64 = 1e-9;

/// The greatest sum of deltas.
const GREATEST_CHANCE: f64 = 1.0;

/// Noise that hides a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noise {
    epsilon: Epsilon,
    delta: Delta,
    /// The difference.
    each: u64,
}

/// Numbers that make no noise.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// An epsilon or a delta that is none, or hides nothing.
    #[error("{name} = {value}: write a number from {least:e} to {most}")]
    Number {
        /// `epsilon` or `delta`.
        name: &'static str,
        /// Number that was given.
        value: f64,
        /// The least that there may be.
        least: f64,
        /// The greatest.
        most: f64,
    },
    /// A difference that cannot be.
    #[error("each = {each}: write a number from 1 to {most}")]
    Each {
        /// Difference that was given.
        each: u64,
        /// The greatest.
        most: u64,
    },
    /// Noise with a delta that coins do not keep.
    #[error(
        "{noise}: its delta is too small for noise that several draw together: write a larger one, from 1e-12 on"
    )]
    Fine {
        /// The noise.
        noise: Noise,
    },
    /// Noise that would be more than any count.
    #[error(
        "{noise} take noise of more than {most}: write a larger epsilon or delta, or a smaller each"
    )]
    TooMuch {
        /// The noise.
        noise: Noise,
        /// The most that there may be.
        most: u64,
    },
}

/// An epsilon, or the sum of several: billionths, which add up exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epsilon(u64);

impl Epsilon {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// An epsilon from 1e-9 to 1e6, of which digits beyond the ninth after the point are left out.
    ///
    /// # Errors
    /// [`NoiseError::Number`]: a number that is none, or out of this range.
    pub fn new(value: f64) -> Result<Self, NoiseError> {
        units("epsilon", value, EPSILON, GREATEST_SUM).map(Self)
    }

    /// An epsilon of as many billionths.
    pub const fn of_units(units: u64) -> Self {
        Self(units)
    }

    /// Number of billionths.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0 as f64 / EPSILON
    }

    /// The sum, or the greatest number that there is.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// A delta, or the sum of several: units of 1e-15, which add up exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delta(u64);

impl Delta {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// One chance in a million.
    pub const MILLIONTH: Self = Self(1_000_000_000);

    /// The sum of as many of it, or the greatest number that there is.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// A delta from 1e-15 to 1, of which digits beyond the fifteenth after the point are left out.
    ///
    /// # Errors
    /// [`NoiseError::Number`]: a number that is none, or out of this range.
    pub fn new(value: f64) -> Result<Self, NoiseError> {
        units("delta", value, DELTA, GREATEST_CHANCE).map(Self)
    }

    /// A delta of as many units of 1e-15.
    pub const fn of_units(units: u64) -> Self {
        Self(units)
    }

    /// Number of units of 1e-15.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0 as f64 / DELTA
    }

    /// The sum, or the greatest number that there is.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Rounds a number down to whole units: no more is spent than is said.
fn units(name: &'static str, value: f64, unit: f64, most: f64) -> Result<u64, NoiseError> {
    let units = (value * unit * (1.0 + 4.0 * f64::EPSILON)).floor();
    match value <= most && units >= 1.0 {
        true => Ok(units as u64),
        false => Err(NoiseError::Number {
            name,
            value,
            least: 1.0 / unit,
            most,
        }),
    }
}

impl Noise {
    /// Noise that hides a difference of `each` up to `epsilon`, which has at most 9 digits after the point, and `delta`, which has at
    /// most 15: epsilon is from 1e-9 to 5, delta from 1e-15 to 0.001, each from 1 to a million.
    ///
    /// # Errors
    /// [`NoiseError`]: numbers that are none, too large to hide anything, or so small that noise would be more than 2^30.
    pub fn new(epsilon: f64, delta: f64, each: u64) -> Result<Self, NoiseError> {
        let noise = Self {
            epsilon: Epsilon(units("epsilon", epsilon, EPSILON, GREATEST_EPSILON)?),
            delta: Delta(units("delta", delta, DELTA, GREATEST_DELTA)?),
            each: match (1..=EACH).contains(&each) {
                true => each,
                false => return Err(NoiseError::Each { each, most: EACH }),
            },
        };
        match noise.is_enough(MOST / 2) {
            true => Ok(noise),
            false => Err(NoiseError::TooMuch { noise, most: MOST }),
        }
    }

    /// Noise by whole numbers: epsilon in billionths, delta in units of 1e-15, and the difference.
    ///
    /// # Errors
    /// [`NoiseError`], as [`new`](Self::new).
    pub fn of_units(epsilon: u64, delta: u64, each: u64) -> Result<Self, NoiseError> {
        Self::new(epsilon as f64 / EPSILON, delta as f64 / DELTA, each)
    }

    /// Epsilon in billionths, delta in units of 1e-15, and the difference: what [`of_units`](Self::of_units) takes.
    pub const fn units(&self) -> (u64, u64, u64) {
        (self.epsilon.0, self.delta.0, self.each)
    }

    /// Epsilon.
    pub const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// Delta.
    pub fn delta(&self) -> f64 {
        self.delta.get()
    }

    /// Delta, as it adds up.
    pub const fn exact_delta(&self) -> Delta {
        self.delta
    }

    /// The difference that is hidden.
    pub const fn each(&self) -> u64 {
        self.each
    }

    /// The greatest number that is drawn, `2 half`.
    pub fn most(&self) -> u64 {
        2 * self.half()
    }

    /// The middle of what is drawn, and its mean: the least number for which all that lies within `each` of either end has a chance of delta
    /// at most.
    pub fn half(&self) -> u64 {
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

    /// A bound of the standard deviation, close where delta is small: that of the distribution before it is cut, or that of numbers which all
    /// have the same chance, if that is less.
    pub fn deviation(&self) -> f64 {
        let slope = self.slope();
        let whole = (-slope / 2.0).exp() * std::f64::consts::SQRT_2 / -(-slope).exp_m1();
        let places = self.most() as f64 + 1.0;
        whole.min(((places * places - 1.0) / 12.0).sqrt())
    }

    /// Whether numbers that are cut at `half` are within `each` of an end with a chance of delta at most. With `a = exp(-epsilon / each)` the
    /// sum of their weights is `a^(half - each + 1) (1 - a^each) / (1 - a)`, and that of all `(1 + a - 2 a^(half + 1)) / (1 - a)`.
    fn is_enough(&self, half: u64) -> bool {
        let Some(rest) = half.checked_sub(self.each) else {
            return false;
        };
        let slope = self.slope();
        let less = |times: u64| -(-slope * times as f64).exp_m1();
        let end = (-slope * (rest + 1) as f64).exp() * less(self.each);
        let all = less(half + 1) + (-slope).exp() * less(half);
        end * (1.0 + ROUNDING) <= self.delta() * all
    }

    /// The scale's inverse.
    fn slope(&self) -> f64 {
        self.epsilon.get() / self.each as f64
    }

    /// The denominator and the counter of the scale, `each / epsilon`.
    const fn scale(&self) -> (u128, u128) {
        (self.epsilon.0 as u128, self.each as u128 * 1_000_000_000)
    }
}

/// As decimals have it.
impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.get())
    }
}

/// As decimals with a power of ten have it.
impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:e}", self.get())
    }
}

/// As fields of TOML, without those that are 1.
impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epsilon = {}, delta = {:e}", self.epsilon, self.delta())?;
        match self.each {
            1 => Ok(()),
            each => write!(f, ", each = {each}"),
        }
    }
}
