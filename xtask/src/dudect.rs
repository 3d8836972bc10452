//! Timing differences.

use crate::Outcome;
use crate::process::{cargo, number_option, run};

/// Enough for a leak of a few cycles in work of some microseconds.
const MEASUREMENTS: u64 = 20_000;

/// Runs crates/ot/examples/dudect, optimised as what users run is.
pub(crate) fn dudect(words: &[&str]) -> Outcome {
    let (measurements, names) = number_option(words, "--measurements", MEASUREMENTS)?;
    run(cargo()
        .args(["run", "--release", "--package", "madrigal-ot"])
        .args(["--features", "ml-kem", "--example", "dudect", "--"])
        .args(["--measurements", &measurements.to_string()])
        .args(names))
}
