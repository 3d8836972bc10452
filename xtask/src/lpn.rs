//! What the attacks on silent OT's problem cost.

use crate::Outcome;
use crate::process::{cargo, run};

/// Runs crates/ot/examples/lpn, which knows the parameters in use.
pub(crate) fn lpn(words: &[&str]) -> Outcome {
    run(cargo()
        .args(["run", "--quiet", "--package", "madrigal-ot"])
        .args(["--example", "lpn", "--"])
        .args(words))
}
