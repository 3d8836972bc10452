//! Times of several runs: their mean, median and spread.

use serde::Serialize;

/// Seconds over all runs.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Spread {
    /// Mean of all runs.
    pub mean: f64,
    /// Median of all runs.
    pub median: f64,
    /// Standard deviation of the sample, divided by runs - 1; 0 for one run.
    pub standard_deviation: f64,
    /// Shortest run.
    pub min: f64,
    /// Longest run.
    pub max: f64,
}

impl Spread {
    /// Counts the spread of some seconds; all is 0 where there are none.
    pub fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let count = seconds.len();
        let (Some(&min), Some(&max)) = (seconds.first(), seconds.last()) else {
            return Self {
                mean: 0.0,
                median: 0.0,
                standard_deviation: 0.0,
                min: 0.0,
                max: 0.0,
            };
        };
        let mean = seconds.iter().sum::<f64>() / count as f64;
        let squares: f64 = seconds.iter().map(|x| (x - mean).powi(2)).sum();
        Self {
            mean,
            median: (seconds[(count - 1) / 2] + seconds[count / 2]) / 2.0,
            standard_deviation: (squares / (count.max(2) - 1) as f64).sqrt(),
            min,
            max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_known_numbers() {
        let spread = Spread::of(vec![4.0, 2.0, 9.0, 5.0]);
        assert_eq!((spread.mean, spread.median), (5.0, 4.5));
        assert!((spread.standard_deviation - (26.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of(vec![1.0]).standard_deviation, 0.0);
    }
}
