//! All tests.

use madrigal_kernels::{LEVEL_VARIABLE, Level};

use crate::Outcome;
use crate::process::{cargo, run};

/// The crates that work on what the kernels give, without sockets or processes: they are tested at
/// every level. What lies above sees the same bytes at any level.
const OVER_KERNELS: [&str; 5] = [
    "madrigal-kernels",
    "madrigal-lattice",
    "madrigal-ot",
    CORRELATIONS,
    "madrigal-circuit",
];
const CORRELATIONS: &str = "madrigal-correlations";

/// All tests and doc tests of the workspace at this machine's best level, and those of
/// [`OVER_KERNELS`] at the others, those of correlations only where AES is an instruction.
pub(crate) fn test() -> Outcome {
    run(cargo().args(["test", "--workspace"]))?;
    // Off by default, so the workspace's tests do not reach it.
    run(cargo().args([
        "test",
        "--package",
        "madrigal-ot",
        "--features",
        "ml-kem",
        "--test",
        "main",
        "kem::",
    ]))?;
    let levels: Vec<_> = Level::available().collect();
    let (_best, others) = levels.split_last().ok_or("there is no level at all")?;
    for level in others {
        // What OTs are used for takes minutes without AES instructions, and has no kernels of its own
        // that the others' tests do not reach.
        let slow = |package: &str| *level == Level::Portable && package == CORRELATIONS;
        let packages = OVER_KERNELS
            .into_iter()
            .filter(|package| !slow(package))
            .flat_map(|package| ["--package", package]);
        run(cargo()
            .args(["test", "--lib", "--tests"])
            .args(packages)
            .env(LEVEL_VARIABLE, level.to_string()))?;
    }
    println!("xtask: all tests passed");
    Ok(())
}
