//! `bench`: the program `madrigal-lab` in place of this one, where it is found.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::Command;

use crate::exit::{Failure, Result, Usage};

const LAB: &str = "madrigal-lab";

/// Runs the laboratory with these arguments: the one beside this program, or else the first on PATH.
pub fn run(arguments: &[OsString]) -> Result<()> {
    let places = beside_this_program().into_iter().chain([LAB.into()]);
    for place in places {
        let error = in_place_of_this(Command::new(place).args(arguments));
        if error.kind() != ErrorKind::NotFound {
            return Err(Failure::system("cannot start madrigal-lab")(error));
        }
    }
    Err(Usage::NoLab.into())
}

fn beside_this_program() -> Option<PathBuf> {
    let name = format!("{LAB}{}", std::env::consts::EXE_SUFFIX);
    let own = std::env::current_exe().ok()?;
    // Links are followed: the other program lies beside what was built.
    let own = own.canonicalize().unwrap_or(own);
    Some(own.with_file_name(name))
}

/// Gives this process to another program. It returns only if that cannot be started.
#[cfg(unix)]
fn in_place_of_this(command: &mut Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

/// Runs another program to its end and ends as it does. It returns only if that cannot be started.
#[cfg(not(unix))]
fn in_place_of_this(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
