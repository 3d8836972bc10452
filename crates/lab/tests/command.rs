//! Starts the program.

use std::path::Path;

use madrigal_testkit::command::{Ended, Running};

/// Runs `madrigal-lab` with these arguments, in a directory, to its end.
pub fn lab(directory: &Path, line: &str) -> Ended {
    Running::start(env!("CARGO_BIN_EXE_madrigal-lab"), directory, line).end()
}
