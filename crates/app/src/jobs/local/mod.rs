//! All parties on this machine: as threads over memory, or as one process each over loopback.

pub mod again;
pub mod child;
mod job;
mod processes;
mod threads;
mod wire;

pub use job::{LocalOutcome, LocalRun};

use crate::failure::Result;
use crate::flags::TransportArg;
use crate::progress::Bars;
use crate::reach::Network;

impl LocalRun<'_> {
    /// Starts the parties, and waits until all have finished or one has failed.
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
}
