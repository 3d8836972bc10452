//! All tests: built once, and run from what was built.

use std::time::Instant;

use crate::Outcome;
use crate::levels::{LEVEL_VARIABLE, available};
use crate::process::cargo;
use crate::suites::{self, Suite};

/// The crates that work on what the kernels give, without sockets or processes: they are tested at
/// every level. What lies above sees the same bytes at any level.
const OVER_KERNELS: [&str; 7] = [
    "kernels",
    "lattice",
    "okvs",
    "ot",
    CORRELATIONS,
    "circuit",
    "garbling",
];
const CORRELATIONS: &str = "correlations-make";
/// The lower level at which those are tested.
const OF_CORRELATIONS: &str = "aesni";
/// Modules of its tests that look at messages, which are the same at every level.
const AT_ONE_LEVEL: [&str; 1] = ["tampered::"];

/// Suites that take the most time, which begin first: what begins last must not be what all else waits for.
const LONGEST: [&str; 7] = [
    "operations tests",
    "program tests",
    "cli tests",
    "program-file tests",
    "lab tests",
    "net tests",
    "madrigal tests",
];

/// All tests and doc tests of the workspace at this machine's best level, and those of
/// [`OVER_KERNELS`] at the others, those of correlations at one of them and without [`AT_ONE_LEVEL`].
pub(crate) fn test() -> Outcome {
    let began = Instant::now();
    let executables = suites::build(&[])?;
    println!(
        "xtask: {} test executables after {:.0} s",
        executables.len(),
        began.elapsed().as_secs_f64()
    );

    let mut all = vec![documentation()];
    all.extend(executables.iter().map(|executable| executable.suite(None)));
    // As the tests are built: each crate has the features that all of them need together.
    let levels = available(&["--workspace"])?;
    let (_best, others) = levels.split_last().ok_or("there is no level at all")?;
    for level in others {
        // What OTs are used for takes a minute at each level, minutes without AES instructions, and has no
        // kernels of its own that the others' tests do not reach.
        let slow = |package: &str| level != OF_CORRELATIONS && package == CORRELATIONS;
        let mut found = 0;
        for executable in &executables {
            let package = executable.package.as_str();
            if OVER_KERNELS.contains(&package) && !slow(package) {
                let mut suite = executable.suite(Some((LEVEL_VARIABLE, level.clone())));
                if package == CORRELATIONS {
                    suite = suite.without(&AT_ONE_LEVEL);
                }
                all.push(suite);
                found += 1;
            }
        }
        if found == 0 {
            return Err(format!("no test is run at level {level}").into());
        }
    }
    all.sort_by_key(|suite| {
        let long = LONGEST.iter().position(|long| suite.name() == *long);
        long.unwrap_or(LONGEST.len())
    });
    suites::run(all).close(began.elapsed())
}

/// Those of the documentation, which rustdoc builds, all of a crate together.
fn documentation() -> Suite {
    let mut command = cargo();
    command.args(["test", "--workspace", "--doc", "--quiet"]);
    Suite::new("documentation".into(), command, false)
}
