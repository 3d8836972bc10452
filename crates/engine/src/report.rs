//! What came of a job.

use std::time::Duration;

use madrigal_core::{Phase, PhaseCost};

/// One phase of one party, measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct PhaseReport {
    /// Wall time during which this phase was at work. Interleaved phases overlap.
    pub time: Duration,
    /// What the counters say.
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
