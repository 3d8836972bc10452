//! All parties on this machine: as threads over memory, or as one process each over loopback.

pub mod child;
mod processes;
mod threads;
mod wire;

pub use madrigal_app::everyone::everyone;
use madrigal_app::failure::first_cause;

use std::sync::Arc;

use madrigal_operations::Circuit;

use crate::args::{Patience, TransportArg};
use crate::exit::{Failure, Result};
use crate::progress::Bars;
use crate::reach::Network;
use crate::stats::PartyFigures;
use crate::work::{Own, Task};

/// A run of all parties on this machine.
pub struct LocalRun<'a> {
    pub task: &'a Task,
    /// That of a computation, if it was read already.
    pub circuit: Option<Arc<Circuit>>,
    /// Its text, if it is from a file: for the parties' processes.
    pub circuit_text: Option<Vec<u8>>,
    /// What party `i` brings is entry `i`; it is dropped when the parties have it.
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
    pub fn start(mut self) -> Result<LocalOutcome> {
        Network::parse(self.network)?;
        let bars = Bars::new(self.task.parties(), self.quiet);
        let outcome = match self.transport {
            TransportArg::Memory => threads::run(&mut self, &bars),
            TransportArg::Tcp | TransportArg::Tls => processes::run(&mut self, &bars),
        };
        bars.clear();
        outcome
    }

    /// The party whose result is the one that is given out.
    fn spokesman(&self) -> usize {
        self.task.receivers().first().copied().unwrap_or(0)
    }
}

fn differing(party: usize, spokesman: usize) -> Failure {
    Failure::bug(format!(
        "party {party} got another result than party {spokesman}"
    ))
}
