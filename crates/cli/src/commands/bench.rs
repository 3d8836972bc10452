//! `bench` and `sql`: the programs `madrigal-lab` and `madrigal-sql` in place of this one, where they are found.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::Command;

use crate::exit::{Failure, Result, Usage};

const LAB: &str = "madrigal-lab";
const SQL: &str = "madrigal-sql";
/// The benchmark that the program for queries has.
const TPCH: &str = "tpch";

/// Runs the laboratory with these arguments, or of benchmarks the one of queries.
pub fn run(arguments: &[OsString]) -> Result<()> {
    match arguments.first() {
        Some(first) if first == TPCH => sql(arguments),
        _ => run_other(LAB, arguments, Usage::NoLab),
    }
}

/// Runs the program for queries in SQL with these arguments.
pub fn sql(arguments: &[OsString]) -> Result<()> {
    run_other(SQL, arguments, Usage::NoSql)
}

/// Runs a program: the one beside this program, or else the first on PATH.
fn run_other(name: &str, arguments: &[OsString], missing: Usage) -> Result<()> {
    let places = beside_this_program(name).into_iter().chain([name.into()]);
    for place in places {
        let error = in_place_of_this(Command::new(place).args(arguments));
        if error.kind() != ErrorKind::NotFound {
            return Err(Failure::system("cannot start the other program")(error));
        }
    }
    Err(missing.into())
}

fn beside_this_program(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
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
