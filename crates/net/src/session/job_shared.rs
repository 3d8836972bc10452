//! State that all contexts of one job share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use madrigal_core::Party;

use super::shared::{JobState, Shared, lock};
use super::tally::Tallies;
use crate::counters::Counters;
use crate::error::{Error, Result};

pub(crate) struct JobShared {
    pub(crate) session: Arc<Shared>,
    pub(crate) counters: Counters,
    pub(super) state: Arc<JobState>,
    /// The steps whose shared generators were handed out.
    masks: Mutex<HashSet<(Arc<str>, Party)>>,
    tallies: Mutex<Tallies>,
}

impl JobShared {
    pub(super) fn new(
        session: Arc<Shared>,
        id: u32,
        insiders: usize,
        deadline: Option<Duration>,
    ) -> Self {
        let state = JobState {
            id,
            insiders: AtomicUsize::new(insiders),
            deadline: deadline.map(|after| (Instant::now() + after, after)),
            ended: OnceLock::new(),
        };
        Self {
            session,
            counters: Counters::default(),
            state: Arc::new(state),
            masks: Mutex::default(),
            tallies: Mutex::default(),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.state.id
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.state.check(&self.session)
    }

    /// Fails the job for all parties. The first failure counts.
    pub(crate) fn fail(&self, error: Error) -> Error {
        self.session.fail_job(&self.state, error)
    }

    /// Ends it well, unless it has failed.
    pub(super) fn finish(&self) -> Result<()> {
        let reason = "it is finished".into();
        match self.state.ended.set(Error::Ended { reason }) {
            Ok(()) => Ok(()),
            Err(_) => self.check(),
        }
    }

    /// Whether the generator that this step shares with `peer` is handed out for the first time.
    pub(crate) fn use_mask(&self, path: &Arc<str>, peer: Party) -> bool {
        lock(&self.masks).insert((Arc::clone(path), peer))
    }

    /// See [`Context::tally`](crate::Context::tally).
    pub(crate) fn tally(
        &self,
        among: usize,
        what: &'static str,
        step: &Arc<str>,
        numbers: &[usize],
    ) {
        // Others are not told of it when the job fails, either.
        self.state.insiders.fetch_min(among, Relaxed);
        lock(&self.tallies).note(among, what, step, numbers);
    }

    /// Gives the tallies noted among parties of which `peer` is one, as they are compared with what it noted.
    pub(super) fn tallies(&self, peer: Party) -> Vec<(String, String)> {
        lock(&self.tallies).facts(peer)
    }
}
