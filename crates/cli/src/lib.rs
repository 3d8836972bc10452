//! The program `madrigal`: flags in `args`, one module per command in `commands`, problems in `exit`.
//! Parts that it shares with other programs with parties are in `madrigal_app`.
//!
//! It is a library of one function, so that the Python package brings the program too: see `crates/python`. Exit statuses of a service's client
//! are here for it as well.

// The program has no other outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]

mod args;
mod arrays;
mod commands;
mod exit;
#[cfg(test)]
mod reference;
mod work;

use std::ffi::OsString;

use madrigal_app::{
    figures, files, jobs, machine, numbers, progress, rates, reach, remote, show, start, stores,
    terminal,
};

use args::Cli;
pub use commands::of_client;

/// Does what the arguments of a process, without its own name, say; gives the exit status. Results are on standard output, and
/// what went wrong is on standard error.
pub fn run(arguments: &[OsString]) -> u8 {
    start::program("madrigal", arguments, |cli: Cli| commands::run(cli.command))
}
