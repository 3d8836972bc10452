//! Beginning and end of a program that has all parties on this machine: it is started once more for each.

use std::ffi::OsString;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use crate::failure::{Failure, Result, Usage};
pub use crate::jobs::local::again::start_by;
use crate::jobs::local::child;
use crate::{stop, terminal};

/// Runs what the arguments say, or one party of a local run; gives the exit status. The arguments are those of a process, without its
/// own name.
pub fn program<Cli: Parser>(
    name: &str,
    arguments: &[OsString],
    run: impl FnOnce(Cli) -> Result<()>,
) -> u8 {
    stop::watch();
    let command = (!child::is_one(arguments)).then(|| parse(name, arguments));
    if let Err(error) = madrigal_kernels::level_from_env() {
        return fail(name, &Usage::Level(error).into());
    }
    let Some(command) = command else {
        return child::run();
    };
    match run(command) {
        Ok(()) => 0,
        Err(failure) => fail(name, &failure),
    }
}

/// The arguments of this process, without its own name.
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().skip(1).collect()
}

/// Reads the arguments. A tip that leads to a flag which no help shows is none.
fn parse<Cli: Parser>(name: &str, arguments: &[OsString]) -> Cli {
    let words = [OsString::from(name)].into_iter();
    Cli::try_parse_from(words.chain(arguments.iter().cloned())).unwrap_or_else(|mut error| {
        let tip = error.get(ContextKind::SuggestedArg);
        if matches!(tip, Some(ContextValue::String(flag)) if flag.starts_with("--test-")) {
            error.remove(ContextKind::SuggestedArg);
            // It names the flag too.
            error.remove(ContextKind::Usage);
        }
        error.exit()
    })
}

fn fail(name: &str, failure: &Failure) -> u8 {
    terminal::failed(name, failure);
    failure.status() as u8
}
