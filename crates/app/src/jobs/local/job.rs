//! A run on this machine, and the outcome of it.

use std::sync::Arc;

use madrigal_operations::Circuit;

use crate::failure::Failure;
use crate::flags::{Patience, TransportArg};
use crate::jobs::task::{Own, Task};
use crate::runs::PartyRuns;

/// A run of all parties on this machine.
pub struct LocalRun<'a> {
    /// Task of the parties.
    pub task: &'a Task,
    /// The circuit of a computation, if it was read already.
    pub circuit: Option<Arc<Circuit>>,
    /// Text of the circuit, if it is from a file: parties that are processes of their own read that.
    pub circuit_text: Option<Vec<u8>>,
    /// Values and store of each party; they are dropped when the parties have them.
    pub own: Vec<Own>,
    /// Transport between the parties.
    pub transport: TransportArg,
    /// Network that the links behave like.
    pub network: &'a str,
    /// Time that parties wait for each other.
    pub patience: &'a Patience,
    /// Whether no progress is shown.
    pub quiet: bool,
}

/// Outcome of a run in which all parties have succeeded.
pub struct LocalOutcome {
    /// The result, as lines.
    pub output: Vec<u8>,
    /// Costs of each party.
    pub figures: Vec<PartyRuns>,
}

impl LocalRun<'_> {
    /// The party whose result is the one that is given out.
    pub(super) fn spokesman(&self) -> usize {
        self.task.receivers().first().copied().unwrap_or(0)
    }
}

/// Says that two parties got different results.
pub(super) fn differing(party: usize, spokesman: usize) -> Failure {
    Failure::bug(format!(
        "party {party} got another result than party {spokesman}"
    ))
}
