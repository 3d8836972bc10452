//! Random programs and networks against the oracle.

use crate::Outcome;
use crate::process::{cargo, run};

/// Runs crates/nn/examples/differential.
pub(crate) fn differential(words: &[&str]) -> Outcome {
    run(cargo()
        .args(["run", "--release", "--quiet", "--package", "madrigal-nn"])
        .args(["--example", "differential", "--"])
        .args(words))
}
