//! The problem, and the arithmetic of costs: all of them are base-two logarithms of bit operations.

use madrigal_kernels::lpn::LOCALITY;
use madrigal_ot::silent::Stage;

/// Exponent of linear algebra (Strassen's, as the papers take it).
pub(crate) const OMEGA: f64 = 2.8;

/// LPN with regular noise: n rows of d ones among k columns, in t bins of n / t rows with one error
/// each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem {
    pub(crate) n: f64,
    pub(crate) k: f64,
    pub(crate) t: f64,
    pub(crate) d: f64,
    /// Bits of secrets and errors: B problems with one code and errors in the same places.
    pub(crate) bits: f64,
    /// Equations without noise that each bin gives: the sum of its rows where its error is a one. An error of more bits may be
    /// anything, so there is none.
    pub(crate) sums: f64,
}

impl Problem {
    pub(crate) fn new(n: usize, k: usize, t: usize, d: usize) -> Result<Self, String> {
        if t < 2 || k <= t || n <= 2 * k || n < 8 * t || !(2..=64).contains(&d) {
            return Err(format!(
                "{n} rows, dimension {k}, {t} errors, locality {d}: the estimates need 2 to 64 ones \
                 in a row, more columns than errors, at least twice as many rows as columns, and \
                 bins of at least 8 rows"
            ));
        }
        Ok(Problem {
            n: n as f64,
            k: k as f64,
            t: t as f64,
            d: d as f64,
            bits: 1.0,
            sums: 1.0,
        })
    }

    pub(crate) fn of(stage: &Stage) -> Self {
        Problem {
            n: stage.rows() as f64,
            k: stage.dimension() as f64,
            t: stage.trees() as f64,
            d: LOCALITY as f64,
            bits: 1.0,
            sums: 1.0,
        }
        .with_bits(stage.bits())
    }

    pub(crate) fn with_bits(self, bits: usize) -> Self {
        Problem {
            bits: bits as f64,
            sums: if bits > 1 { 0.0 } else { 1.0 },
            ..self
        }
    }

    /// Rows of a bin.
    pub(crate) fn bin(&self) -> f64 {
        self.n / self.t
    }

    /// Counts the unknowns that are left after the bins' sums.
    pub(crate) fn unknowns(&self) -> f64 {
        self.k - self.sums * self.t
    }

    /// Chance that a bin has an error in a share of its rows, under one linear map of the error's bits to one bit: half
    /// of all errors of more bits are zero under it.
    pub(crate) fn hit(&self, share: f64) -> f64 {
        if self.bits > 1.0 { share / 2.0 } else { share }
    }
}

pub(crate) fn log2_binomial(n: f64, k: f64) -> f64 {
    let mut sum = 0.0;
    let mut i = 0.0;
    while i < k {
        sum += ((n - i) / (i + 1.0)).log2();
        i += 1.0;
    }
    sum
}

pub(crate) fn log2_sum(terms: &[f64]) -> f64 {
    let greatest = terms.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = terms.iter().map(|x| (x - greatest).exp2()).sum();
    greatest + sum.log2()
}

/// The least x in `low..=high` with `holds(x)`, which holds from some point on; `None` if it does not
/// even at `high`.
pub(crate) fn least(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    if !holds(high) {
        return None;
    }
    if holds(low) {
        return Some(low);
    }
    let (mut low, mut high) = (low, high);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}
