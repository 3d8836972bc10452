//! Outcome of a run.

use madrigal_app::failure::Result;
use madrigal_core::{Cost, Zeroizing};
use madrigal_lists::{Listed, Matches};
use madrigal_noise::Noise;
use madrigal_psi::Security;

use crate::failure::Unmatched;
use crate::numbers::{Answer, InBins};
use crate::question::Question;
use crate::state::Folder;
use crate::task::Task;

/// Outcome of one party.
pub struct Found {
    /// Question that was answered.
    pub question: Question,
    /// Parties against which the lists were protected.
    pub security: Security,
    /// Noise of the number of keys.
    pub noise: Option<Noise>,
    /// Number that this party drew for it, from 0 to twice the middle, which is its own secret.
    pub drawn: Option<Zeroizing<u64>>,
    /// List of this party.
    pub listed: Listed,
    /// Rows that match, and the number of different keys among them; `None` at a party that does not learn it, and for other questions.
    pub matches: Option<(Matches, u64)>,
    /// Numbers that were asked for; `None` likewise.
    pub answer: Option<Answer>,
    /// Inputs of a program that goes on, where they were asked for.
    pub in_bins: Option<InBins>,
    /// Different keys of all lists, by the parties' order, or the bounds that were told.
    pub sizes: Vec<u64>,
    /// Partitions of the lists.
    pub partitions: usize,
    /// Partitions whose answers an earlier run has left.
    pub before: usize,
    /// Threads of each party.
    pub threads: usize,
    /// Number of the session's next job.
    pub next_job: u32,
    /// Cost by the counters.
    pub cost: Cost,
    /// Seconds in which the list was read, and in which lists were matched.
    pub seconds: [f64; 2],
    /// Time at which the run began whose answer this is, where the other party was not asked again.
    pub earlier: Option<String>,
    /// Directory with the state of the run.
    pub(crate) folder: Option<Folder>,
}

/// A directory with what a run has kept, if it has one: no other run uses it meanwhile, and what is dropped stays on the disk.
#[must_use = "what was kept stays until it is forgotten"]
pub struct KeptRun(Option<Folder>);

madrigal_core::opaque!(KeptRun);

impl KeptRun {
    /// Removes it.
    ///
    /// # Errors
    /// [`Failure`](madrigal_app::failure::Failure): files that cannot be removed.
    pub fn forget(self) -> Result<()> {
        match self.0 {
            Some(folder) => folder
                .remove()
                .map_err(|error| Unmatched::from(error).into()),
            None => Ok(()),
        }
    }
}

impl Found {
    /// An outcome in which nothing has been found yet, of a task's question to lists of these sizes.
    pub(crate) fn nothing(task: &Task, listed: Listed, sizes: impl Into<Vec<u64>>) -> Self {
        Self {
            question: task.question,
            security: task.security,
            noise: task.noise,
            drawn: None,
            listed,
            matches: None,
            answer: None,
            in_bins: None,
            sizes: sizes.into(),
            partitions: 1,
            before: 0,
            threads: 1,
            next_job: 0,
            cost: Cost::default(),
            seconds: [0.0; 2],
            earlier: None,
            folder: None,
        }
    }

    /// Removes what the run has kept in the directory of [`Task::state`], once its answer is not needed there any more.
    ///
    /// # Errors
    /// [`Failure`](madrigal_app::failure::Failure): files that cannot be removed.
    pub fn forget(&mut self) -> Result<()> {
        self.kept().forget()
    }

    /// Whether the run has kept something.
    pub(crate) fn keeps(&self) -> bool {
        self.folder.is_some()
    }

    /// Takes what the run has kept, for whoever hands its answer on first.
    pub fn kept(&mut self) -> KeptRun {
        KeptRun(self.folder.take())
    }
}
