//! References that are made from the program.

use crate::Outcome;
use crate::process::{cargo, run};

/// Has the tests that compare the references write them.
pub(crate) fn reference() -> Outcome {
    run(cargo()
        .args(["test", "--quiet", "--package", "madrigal-cli", "--lib"])
        .args(["reference::"])
        .env("MADRIGAL_REFERENCE", "write"))
}
