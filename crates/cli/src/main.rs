//! The program `madrigal`: flags in [`args`], one module per command in [`commands`], what goes wrong in [`exit`].
//! What other programs with parties share with it is in `madrigal_app`.

// A program has no outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]

mod args;
mod arrays;
mod commands;
mod exit;
#[cfg(test)]
mod reference;
mod work;

use std::process::ExitCode;

use madrigal_app::{
    figures, files, jobs, machine, numbers, progress, rates, reach, remote, show, start, stores,
    terminal,
};

use args::Cli;

fn main() -> ExitCode {
    start::program("madrigal", |cli: Cli| commands::run(cli.command))
}
