//! Values of several runs, and what is told of them.

use serde::Serialize;

use crate::spread::Spread;

/// The value that stands for all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typical {
    Median,
    Mean,
    /// Mean of the middle half.
    Middle,
}

impl Typical {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::Middle => "mean of the middle half",
        }
    }
}

/// A value over all runs.
#[derive(Debug, Clone, Serialize)]
pub struct Estimate {
    pub mean: f64,
    pub median: f64,
    /// Mean of the middle half.
    pub middle: f64,
    /// Half the width of the 95 % confidence interval of the mean; nothing for one run.
    pub within: Option<f64>,
    pub min: f64,
    pub max: f64,
    pub runs: usize,
}

impl Estimate {
    /// Takes the values of runs together.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let (runs, cut) = (values.len(), values.len() / 4);
        let middle = Spread::of(values[cut..runs - cut].to_vec()).mean;
        let spread = Spread::of(values);
        let within = (runs > 1)
            .then(|| student(runs - 1) * spread.standard_deviation / (runs as f64).sqrt());
        Self {
            mean: spread.mean,
            median: spread.median,
            middle,
            within,
            min: spread.min,
            max: spread.max,
            runs,
        }
    }

    /// A value that is known and not measured.
    pub fn exact(value: f64) -> Self {
        Self::of(vec![value])
    }

    pub fn typical(&self, which: Typical) -> f64 {
        match which {
            Typical::Median => self.median,
            Typical::Mean => self.mean,
            Typical::Middle => self.middle,
        }
    }
}

/// The value that Student's t with `freedom` degrees of freedom exceeds with a chance of 2.5 %, from tables: between two
/// numbers of the tables that of the lower one, which is on the safe side.
fn student(freedom: usize) -> f64 {
    const TABLE: [(usize, f64); 24] = [
        (120, 1.980),
        (60, 2.000),
        (40, 2.021),
        (30, 2.042),
        (20, 2.086),
        (19, 2.093),
        (18, 2.101),
        (17, 2.110),
        (16, 2.120),
        (15, 2.131),
        (14, 2.145),
        (13, 2.160),
        (12, 2.179),
        (11, 2.201),
        (10, 2.228),
        (9, 2.262),
        (8, 2.306),
        (7, 2.365),
        (6, 2.447),
        (5, 2.571),
        (4, 2.776),
        (3, 3.182),
        (2, 4.303),
        (1, 12.706),
    ];
    let found = TABLE.iter().find(|(least, _)| freedom >= *least);
    found.map_or(f64::INFINITY, |(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_five_runs() {
        let estimate = Estimate::of(vec![10.0, 12.0, 14.0, 16.0, 18.0]);
        assert_eq!((estimate.mean, estimate.median), (14.0, 14.0));
        assert_eq!((estimate.min, estimate.max), (10.0, 18.0));
        // s = sqrt(10), t of 4 is 2.776.
        let due = 2.776 * 2.0_f64.sqrt();
        assert!((estimate.within.unwrap() - due).abs() < 1e-12);
        assert_eq!(Estimate::exact(3.0).within, None);
    }

    #[test]
    fn the_middle_half_leaves_out_both_ends() {
        let values = vec![1000.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0];
        assert_eq!(Estimate::of(values).middle, 3.5);
    }
}
