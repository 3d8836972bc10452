//! The program `madrigal`: flags in [`args`], one module per command in [`commands`], what goes wrong in [`exit`].
//! What other programs with parties share with it is in `madrigal_app`.

// A program has no outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]

mod args;
mod commands;
mod data;
mod exit;
mod models;
#[cfg(test)]
mod reference;
mod remedies;
mod show;
mod work;

use std::process::ExitCode;

use madrigal_app::{
    figures, files, jobs, machine, numbers, progress, rates, reach, remote, start, stores, terminal,
};

use args::{Cli, Command};
use exit::Result;

fn main() -> ExitCode {
    start::program("madrigal", |cli: Cli| run(cli.command))
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Run(args) => commands::run::run(*args),
        Command::Infer(args) => commands::infer::run(&args),
        Command::Circuit(args) => commands::circuit::run(args),
        Command::Model(args) => commands::model::run(args),
        Command::Explain(args) => commands::explain::run(args),
        Command::Keygen(args) => commands::keygen::run(args),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Dealer(args) => commands::dealer::run(args),
        Command::Bench { arguments } => commands::bench::run(&arguments),
        Command::Precompute(args) => commands::precompute::run(*args),
        Command::Store(args) => commands::store::run(args),
        Command::Completions { shell } => commands::pages::completions(shell),
        Command::Man { directory } => commands::pages::man(&directory),
    }
}
