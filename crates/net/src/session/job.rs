//! One job of a session: opened by all parties on the same facts, finished by all or failed for all.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use madrigal_core::{Party, Phase, PhaseCost};

use super::{Peer, Shared, lock};
use crate::context::Context;
use crate::control::{Control, Message, OpenJob};
use crate::counters::Counters;
use crate::error::{Error, Result};

/// A fact that all parties of a job must agree on: its name and its value, both for people to read.
pub type Fact = (String, String);

pub(crate) struct JobShared {
    pub(crate) id: u32,
    pub(crate) session: Arc<Shared>,
    pub(crate) counters: Counters,
    pub(crate) deadline: Option<(Instant, Duration)>,
    failure: OnceLock<Error>,
    finished: AtomicBool,
    /// The steps whose shared generators were handed out.
    masks: Mutex<HashSet<(Arc<str>, Party)>>,
}

/// A running job. Dropped before [`finish`](Job::finish), it fails for all parties.
pub struct Job {
    shared: Arc<JobShared>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Job({})", self.shared.id)
    }
}

impl JobShared {
    pub(crate) fn check(&self) -> Result<()> {
        match self.failure.get() {
            Some(error) => Err(error.clone()),
            None => self.session.check(),
        }
    }

    /// Records the failure, tells the other parties, wakes whoever waits. The first failure counts.
    pub(crate) fn fail(&self, error: Error) -> Error {
        if let Err(earlier) = self.session.check() {
            return earlier;
        }
        let _speaking = self.session.speak();
        let first = self.failure.set(error.clone()).is_ok();
        let error = self.failure.get().cloned().unwrap_or(error);
        if first && !self.finished.load(Relaxed) {
            self.session.abort(self.id, &error);
            self.session.wake_job(self.id);
        }
        error
    }

    /// Whether the generator that this step shares with `peer` is handed out for the first time.
    pub(crate) fn use_mask(&self, path: &Arc<str>, peer: Party) -> bool {
        lock(&self.masks).insert((Arc::clone(path), peer))
    }

    pub(crate) fn over(&self) -> bool {
        self.finished.load(Relaxed) || self.failure.get().is_some()
    }
}

impl Job {
    /// Opens job `id`: announces `facts` to all parties and waits until all have announced theirs.
    /// One round, not counted as the job's.
    pub(crate) async fn open(
        session: Arc<Shared>,
        id: u32,
        facts: &[Fact],
        deadline: Option<Duration>,
    ) -> Result<Self> {
        let shared = Arc::new(JobShared {
            id,
            session: Arc::clone(&session),
            counters: Counters::default(),
            deadline: deadline.map(|after| (Instant::now() + after, after)),
            failure: OnceLock::new(),
            finished: AtomicBool::new(false),
            masks: Mutex::default(),
        });
        session.register(&shared)?;
        let job = Self { shared };
        let announcement = OpenJob::from_facts(facts);
        session.tell_all(id, &Control::new(Message::OpenJob(announcement)));
        let waits = "announce the job";
        let opened = |peer: &Peer| peer.control().opened.remove(&id);
        let differs = |(peer, theirs): (Party, OpenJob)| {
            let (what, ours, theirs) = theirs.first_difference(facts)?;
            Some(Error::Program {
                peer,
                what,
                ours,
                theirs,
            })
        };
        let announced = job
            .await_all(waits, Some(session.config.patience), opened)
            .await;
        let problem = match announced {
            Ok(all) => all.into_iter().find_map(differs),
            Err(error) => {
                // An announcement that does not fit says more than that its sender gave up.
                let pending = |peer: &Peer| Some((peer.party, opened(peer)?));
                let pending = session.peers().iter().filter_map(pending);
                Some(pending.into_iter().find_map(differs).unwrap_or(error))
            }
        };
        if let Some(error) = problem {
            job.shared.fail(error.clone());
            return Err(error);
        }
        Ok(job)
    }

    /// The context at the top of the job, in the setup phase.
    pub fn context(&self) -> Context {
        Context::root(Arc::clone(&self.shared))
    }

    /// What the job has cost so far, by the counters.
    pub fn spent(&self, phase: Phase) -> PhaseCost {
        self.shared.counters.phase(phase)
    }

    /// Says that this party has done its part, and waits for all others to say so. Results may be
    /// used after this: then every party had what it needed.
    ///
    /// # Errors
    /// The job's failure at any party.
    pub async fn finish(self) -> Result<()> {
        let patience = self.shared.session.config.stall;
        self.finish_within(Some(patience)).await
    }

    /// As [`finish`](Self::finish), for a party whose part is over before that of the others: they may
    /// go on for as long as they live and the deadline allows.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub async fn finish_idle(self) -> Result<()> {
        self.finish_within(None).await
    }

    async fn finish_within(self, patience: Option<Duration>) -> Result<()> {
        let (id, session) = (self.shared.id, &self.shared.session);
        session.tell_all(id, &Control::new(Message::FinishJob(Default::default())));
        let finished = |peer: &Peer| peer.control().finished.contains(&id).then_some(());
        self.await_all("finish the job", patience, finished).await?;
        self.shared.finished.store(true, Relaxed);
        Ok(())
    }

    /// Waits until `look` has found something at every peer; without `patience`, for as long as they
    /// live.
    async fn await_all<T>(
        &self,
        what: &'static str,
        patience: Option<Duration>,
        look: impl Fn(&Peer) -> Option<T>,
    ) -> Result<Vec<(Party, T)>> {
        let session = &self.shared.session;
        let until = patience.map(|patience| (Instant::now() + patience, patience));
        let mut found = Vec::new();
        for peer in session.peers() {
            let look = || match self.shared.check() {
                Ok(()) => look(peer).map(Ok),
                Err(error) => Some(Err(error)),
            };
            let one = match until {
                None => session.control_idly(look).await,
                Some((until, after)) => {
                    let late = || {
                        let peer = peer.party;
                        Err(self.shared.fail(Error::Late { peer, what, after }))
                    };
                    session.control(until, look).await.unwrap_or_else(late)
                }
            }?;
            found.push((peer.party, one));
        }
        Ok(found)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if !self.shared.over() {
            self.shared.fail(Error::Ended {
                reason: "it was dropped before it was finished".into(),
            });
        }
        // Whoever still waits for a message of a finished job waits in vain.
        let finished = "it is finished".into();
        let _ = self.shared.failure.set(Error::Ended { reason: finished });
        self.shared.session.wake_job(self.shared.id);
        self.shared.session.unregister(self.shared.id);
    }
}

/// Protects the map of a session's jobs from growing with what peers announce.
pub(crate) const MAX_ANNOUNCED: usize = 64;

pub(crate) type JobMap = Mutex<std::collections::HashMap<u32, Arc<JobShared>>>;
