//! Beginning and end of a program that has all parties on this machine: it is started once more for each.

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use crate::failure::{Failure, Result, Usage};
use crate::jobs::local::child;
use crate::{stop, terminal};

/// Runs what the arguments of this process say, or one party of a local run.
pub fn program<Cli: Parser>(name: &str, run: impl FnOnce(Cli) -> Result<()>) -> ExitCode {
    stop::watch();
    let command = (!child::is_one()).then(parse);
    if let Err(error) = madrigal_kernels::level_from_env() {
        return fail(name, &Usage::Level(error).into());
    }
    let Some(command) = command else {
        return child::run();
    };
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(name, &failure),
    }
}

/// Reads the arguments. A tip that leads to a flag which no help shows is none.
fn parse<Cli: Parser>() -> Cli {
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

fn fail(name: &str, failure: &Failure) -> ExitCode {
    terminal::failed(name, failure);
    failure.status().into()
}
