//! The program `madrigal-sql`: queries in SQL on files of tables, with all parties here or as one real party.

// A program has no outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]

mod program;

use std::process::ExitCode;

use madrigal_app::start;

fn main() -> ExitCode {
    let status = start::program("madrigal-sql", &start::arguments(), program::run);
    ExitCode::from(status)
}
