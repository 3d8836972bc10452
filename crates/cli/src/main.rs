//! The program `madrigal`: flags in [`args`], one module per command in [`commands`], all parties on
//! this machine in [`local`], one real party in [`remote`], what goes wrong in [`exit`].

// A program has no outside: `pub` here says what one module offers the others.
#![allow(unreachable_pub)]

mod args;
mod commands;
mod data;
mod exit;
mod files;
mod local;
mod models;
mod party;
#[cfg(test)]
mod reference;
mod remedies;
mod source;
mod stats;
mod work;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use madrigal_app::{machine, numbers, progress, rates, reach, remote, stop, stores, terminal};

use args::{Cli, Command};
use exit::{Failure, Usage};

fn main() -> ExitCode {
    stop::watch();
    let child = local::child::is_one();
    let command = (!child).then(|| parse().command);
    if let Err(error) = madrigal_kernels::level_from_env() {
        return fail(&Usage::Level(error).into());
    }
    let Some(command) = command else {
        return local::child::run();
    };
    let done = match command {
        Command::Run(args) => commands::run::run(*args),
        Command::Infer(args) => commands::infer::run(&args),
        Command::Circuit(args) => commands::circuit::run(args),
        Command::Model(args) => commands::model::run(args),
        Command::Explain(args) => commands::explain::run(args),
        Command::Keygen(args) => commands::keygen::run(args),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Dealer(args) => commands::dealer::run(args),
        Command::Bench(args) => commands::bench::run(args),
        Command::Precompute(args) => commands::precompute::run(*args),
        Command::Store(args) => commands::store::run(args),
        Command::Completions { shell } => commands::pages::completions(shell),
        Command::Man { directory } => commands::pages::man(&directory),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&failure),
    }
}

/// A tip that leads to a flag which no help shows is none.
fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|mut error| {
        let tip = error.get(ContextKind::SuggestedArg);
        if matches!(tip, Some(ContextValue::String(flag)) if flag.starts_with("--test-")) {
            error.remove(ContextKind::SuggestedArg);
            // It names the flag too.
            error.remove(ContextKind::Usage);
        }
        error.exit()
    })
}

fn fail(failure: &Failure) -> ExitCode {
    terminal::failed("madrigal", failure);
    failure.status().into()
}
