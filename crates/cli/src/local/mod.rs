//! All parties on this machine: as threads over memory, or as one process each over loopback.

pub mod child;
mod everyone;
mod processes;
mod threads;
mod wire;

pub use everyone::everyone;

use std::path::PathBuf;
use std::sync::Arc;

use madrigal_engine::Circuit;
use zeroize::Zeroizing;

use crate::args::{Patience, TransportArg};
use crate::exit::{Failure, Result};
use crate::progress::Bars;
use crate::reach::Network;
use crate::stats::PartyFigures;
use crate::work::{Input, Own, Task};

/// A run of all parties on this machine.
pub struct LocalRun<'a> {
    pub task: &'a Task,
    /// That of a computation, if it was read already.
    pub circuit: Option<Arc<Circuit>>,
    /// What party `i` brings is entry `i`.
    pub own: Vec<Own>,
    pub transport: TransportArg,
    pub network: &'a str,
    pub patience: &'a Patience,
    pub quiet: bool,
}

/// What came of it: only if all parties have succeeded.
pub struct LocalOutcome {
    /// The result, as lines.
    pub output: Vec<u8>,
    pub figures: Vec<PartyFigures>,
}

impl LocalRun<'_> {
    pub fn start(self) -> Result<LocalOutcome> {
        Network::parse(self.network)?;
        let bars = Bars::new(self.task.parties(), self.quiet);
        let outcome = match self.transport {
            TransportArg::Memory => threads::run(&self, &bars),
            TransportArg::Tcp | TransportArg::Tls => processes::run(&self, &bars),
        };
        bars.clear();
        outcome
    }

    /// The party whose result is the one that is given out.
    fn spokesman(&self) -> usize {
        self.task.receivers().first().copied().unwrap_or(0)
    }
}

/// Values of one party, as they go to its process.
fn split(input: &Input) -> (Option<PathBuf>, Option<&Zeroizing<Vec<u8>>>) {
    match input {
        Input::None => (None, None),
        Input::File(path) => (Some(path.clone()), None),
        Input::Inline(_, text) => (None, Some(text)),
    }
}

/// Of several parties' failures, the one that explains the others: the first that is no echo.
fn first_cause<T>(failures: Vec<T>, is_echo: impl Fn(&T) -> bool) -> Option<T> {
    let at = failures
        .iter()
        .position(|failure| !is_echo(failure))
        .unwrap_or(0);
    failures.into_iter().nth(at)
}

fn differing(party: usize, spokesman: usize) -> Failure {
    Failure::bug(format!(
        "party {party} got another result than party {spokesman}"
    ))
}
