//! Code generated from schema/.

use crate::Outcome;
use crate::process::{cargo, run};

/// Has xtask/codegen write it, or look whether it is current. It brings a compiler for the schema, which
/// no other chore should wait for.
pub(crate) fn codegen(check: bool) -> Outcome {
    let check = check.then_some("--check");
    run(cargo()
        .args(["run", "--quiet", "--package", "xtask-codegen", "--"])
        .args(check))
}
