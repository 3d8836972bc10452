//! Numbers of rows hidden by noise: a bound that is rows and a random number more, so that it tells little of whether a few rows are there.
//!
//! The distribution, and how it is drawn, are [`madrigal_noise`]'s: numbers are from 0 on, so that the bound is never too small.

use std::fmt;
use std::str::FromStr;

use madrigal_noise::NoiseError;

/// How a number of rows is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noise(madrigal_noise::Noise);

impl Noise {
    /// Noise that hides whether `each` rows are there, up to `epsilon`, which has at most 9 digits after the point, and `delta`, which has at
    /// most 15.
    ///
    /// # Errors
    /// Numbers that are none, too large to hide anything, or so small that noise would be more than the rows of any table.
    pub fn new(epsilon: f64, delta: f64, each: u64) -> Result<Self, String> {
        let noise = madrigal_noise::Noise::new(epsilon, delta, each);
        noise.map(Self).map_err(|error| match error {
            NoiseError::TooMuch { noise, most } => format!(
                "{noise} take more than {most} rows of noise: write a larger epsilon or delta, or a smaller each"
            ),
            other => other.to_string(),
        })
    }

    /// Epsilon.
    pub fn epsilon(&self) -> f64 {
        self.0.epsilon().get()
    }

    /// Delta.
    pub fn delta(&self) -> f64 {
        self.0.delta()
    }

    /// The rows of one person whose presence is hidden.
    pub const fn each(&self) -> u64 {
        self.0.each()
    }

    /// The most rows that noise adds. It adds half of them on average.
    pub fn most(&self) -> u64 {
        self.0.most()
    }

    /// Draws the rows that are added, of fair words that `random` gives.
    ///
    /// # Errors
    /// Errors of `random`, as they come.
    pub fn draw<E>(&self, random: impl FnMut() -> Result<u64, E>) -> Result<u64, E> {
        self.0.draw(random)
    }
}

/// As a schema has it, between braces.
impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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
