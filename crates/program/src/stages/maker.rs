//! Programs of stages for front ends.

use std::sync::Arc;

use super::cell::StagesRun;
use crate::program::Program;

/// Makes programs for the stages of one run: for front ends whose programs arise on other threads than that of the
/// [`Stages`](crate::Stages), which are told of it by [`of_maker`](crate::Stages::of_maker).
#[derive(Debug, Clone)]
pub struct StageMaker {
    pub(crate) parties: usize,
    pub(crate) run: Arc<StagesRun>,
}

impl StageMaker {
    /// Begins a run of stages of this number of parties.
    pub fn new(parties: usize) -> Self {
        let run = Arc::new(StagesRun);
        Self { parties, run }
    }

    /// Number of parties that compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// An empty program, for a stage of the run.
    #[track_caller]
    pub fn program(&self) -> Program {
        Program::new(self.parties).of_run(&self.run)
    }
}
