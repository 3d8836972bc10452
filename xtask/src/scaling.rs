//! How work scales with the threads of a party.

use std::process::Command;

use crate::Outcome;
use crate::process::{cargo, shown, target_folder};

/// Builds the benchmarks, optimised as what users run is, and runs `madrigal-lab scaling` with these words. Standard output
/// has what that prints alone, so that `--json` can be read by programs.
pub(crate) fn scaling(words: &[&str]) -> Outcome {
    let build = ["build", "--release", "--quiet", "-p", "madrigal-lab"];
    follow(cargo().args(build))?;
    let mut lab = Command::new(target_folder().join("release/madrigal-lab"));
    follow(lab.arg("scaling").args(words))
}

/// Runs a command, named on standard error; fails if it does.
fn follow(command: &mut Command) -> Outcome {
    let shown = shown(command);
    eprintln!("+ {shown}");
    let status = command.status();
    match status.map_err(|error| format!("cannot start `{shown}`: {error}"))? {
        status if status.success() => Ok(()),
        status => Err(format!("`{shown}` failed ({status})").into()),
    }
}
