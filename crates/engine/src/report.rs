//! Reports of jobs: results, time and cost.

use std::time::Duration;

use madrigal_core::{Phase, PhaseCost};
use madrigal_correlations_make::Made;

use crate::shares::Shares;

/// A program that has ended well.
#[derive(Debug)]
pub struct Outcome<Outputs = Vec<Shares>> {
    /// The outputs: as shares in order, unknown where they are for others, shares of what is shared; or what was made
    /// of these.
    pub outputs: Outputs,
    /// Before the inputs.
    pub setup: PhaseReport,
    /// From the inputs on.
    pub online: PhaseReport,
    /// From the opening of the job until all parties had agreed on it: then the phases begin.
    pub agreed: Duration,
    /// Time that the source of the correlations took to open, part of the setup: the base OTs with all peers where OT
    /// makes them. Zero where no correlations are needed.
    pub opening: Duration,
    /// From the opening of the job to its finish at all parties.
    pub total: Duration,
    /// Bytes sent with headers and control messages.
    pub wire_bytes_sent: u64,
    /// When each operation was at work on which block.
    pub tasks: Vec<TaskReport>,
    /// Costs of each primitive that the correlations were made of.
    pub made: Vec<Made>,
}

impl<Outputs> Outcome<Outputs> {
    /// Makes something else of the outputs.
    pub fn map<Made>(self, make: impl FnOnce(Outputs) -> Made) -> Outcome<Made> {
        Outcome {
            outputs: make(self.outputs),
            setup: self.setup,
            online: self.online,
            agreed: self.agreed,
            opening: self.opening,
            total: self.total,
            wire_bytes_sent: self.wire_bytes_sent,
            tasks: self.tasks,
            made: self.made,
        }
    }
}

/// One operation at work on one block.
#[derive(Debug, Clone)]
pub struct TaskReport {
    /// The operation, by its place in the graph.
    pub operation: usize,
    /// The block.
    pub block: usize,
    /// Strand that did it, one task after the other.
    pub strand: usize,
    /// From the beginning of the job until everything it needs was there.
    pub ready: Duration,
    /// From the beginning of the job until it had ended.
    pub ended: Duration,
    /// How much of that it was at work itself; for the rest it waited, for messages or for the thread that it shares
    /// with other strands.
    pub worked: Duration,
}

/// One phase of one party, measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct PhaseReport {
    /// Wall time during which this phase was at work. Interleaved phases overlap.
    pub time: Duration,
    /// Cost by the counters.
    pub spent: PhaseCost,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The phase that has moved on.
    pub phase: Phase,
    /// Work done, in triples (setup) or AND gates times lanes (online).
    pub done: u64,
    /// Work in all, in the same unit.
    pub total: u64,
}
