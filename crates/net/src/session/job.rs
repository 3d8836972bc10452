//! One job of a session: opened by all parties on the same facts, finished by all or failed for all.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use madrigal_core::{Party, Phase, PhaseCost};

use super::{Peer, Shared, lock};
use crate::context::Context;
use crate::control::{Control, FinishJob, Message, OpenJob, first_difference, to_facts};
use crate::counters::Counters;
use crate::error::{Error, Result};

/// A fact that all parties of a job must agree on: its name and its value, both for people to read.
pub type Fact = (String, String);

pub(crate) struct JobShared {
    pub(crate) id: u32,
    pub(crate) session: Arc<Shared>,
    pub(crate) counters: Counters,
    pub(crate) deadline: Option<(Instant, Duration)>,
    /// How it ended: finished too, so that it is either finished or failed.
    failure: OnceLock<Error>,
    /// The steps whose shared generators were handed out.
    masks: Mutex<HashSet<(Arc<str>, Party)>>,
    /// By what was done, and in which step: steps may run side by side.
    tallies: Mutex<BTreeMap<&'static str, BTreeMap<Arc<str>, Tally>>>,
}

/// What all parties must have done alike in one step.
#[derive(Default)]
struct Tally {
    amount: u64,
    calls: u64,
    /// Of all calls' numbers, in order: by accident no two are the same.
    crc: crc32fast::Hasher,
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
        let speaking = self.session.speak();
        if let Err(earlier) = self.session.check() {
            return earlier;
        }
        let first = self.failure.set(error.clone()).is_ok();
        let error = self.failure.get().cloned().unwrap_or(error);
        if first {
            self.session.abort(self.id, &error);
        }
        drop(speaking);
        if first {
            self.session.wake_job(self.id);
        }
        error
    }

    /// Ends it well, unless it has failed.
    fn finish(&self) -> Result<()> {
        let reason = "it is finished".into();
        match self.failure.set(Error::Ended { reason }) {
            Ok(()) => Ok(()),
            Err(_) => self.check(),
        }
    }

    /// Whether the generator that this step shares with `peer` is handed out for the first time.
    pub(crate) fn use_mask(&self, path: &Arc<str>, peer: Party) -> bool {
        lock(&self.masks).insert((Arc::clone(path), peer))
    }

    pub(crate) fn tally(&self, what: &'static str, step: &Arc<str>, numbers: &[usize]) {
        let mut tallies = lock(&self.tallies);
        let steps = tallies.entry(what).or_default();
        let tally = steps.entry(Arc::clone(step)).or_default();
        let amount = numbers.first().map_or(0, |&number| number as u64);
        tally.amount = tally.amount.saturating_add(amount);
        tally.calls += 1;
        for &number in numbers {
            tally.crc.update(&(number as u64).to_le_bytes());
        }
    }

    /// As they are compared with those of the others.
    fn tallies(&self) -> Vec<(String, String)> {
        let tallies = lock(&self.tallies);
        let fact = |(what, steps): (&&str, &BTreeMap<Arc<str>, Tally>)| {
            let (mut amount, mut calls) = (0_u64, 0);
            let mut crc = crc32fast::Hasher::new();
            for (step, tally) in steps {
                amount = amount.saturating_add(tally.amount);
                calls += tally.calls;
                crc.update(step.as_bytes());
                crc.update(&tally.crc.clone().finalize().to_le_bytes());
            }
            let plural = if calls == 1 { "" } else { "s" };
            let value = format!(
                "{amount} in {calls} call{plural}, crc {:08x}",
                crc.finalize()
            );
            ((*what).to_owned(), value)
        };
        tallies.iter().map(fact).collect()
    }

    pub(crate) fn over(&self) -> bool {
        self.failure.get().is_some()
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
            masks: Mutex::default(),
            tallies: Mutex::default(),
        });
        session.register(&shared)?;
        let job = Self { shared };
        let announcement = OpenJob::from_facts(facts);
        session.tell_all(id, &Control::new(Message::OpenJob(announcement)));
        let waits = "announce the job";
        let opened = |peer: &Peer| {
            let theirs = peer.control().opened.remove(&id)?;
            Some(match theirs.first_difference(facts) {
                None => Ok(()),
                Some((what, ours, theirs)) => Err(Error::Program {
                    peer: peer.party,
                    what,
                    ours,
                    theirs,
                }),
            })
        };
        let announced = job
            .await_all(waits, Some(session.config.patience), opened)
            .await;
        let Err(error) = announced else {
            return Ok(job);
        };
        // An announcement that does not fit says more than that its sender gave up.
        let pending = session.peers().iter().filter_map(opened);
        let differs = pending.filter_map(Result::err).next();
        let error = differs.unwrap_or(error);
        job.shared.fail(error.clone());
        Err(error)
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
    /// The job's failure at any party; [`Error::Tally`] if a party has asked for other things than
    /// we have ([`Context::tally`]).
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
        // A job that never waited is late all the same.
        if let Some((_, after)) = self.shared.deadline.filter(|(at, _)| Instant::now() >= *at) {
            let culprits = String::new();
            return Err(self.shared.fail(Error::Deadline { after, culprits }));
        }
        let ours = to_facts(&self.shared.tallies());
        let tallies = ours.clone();
        session.tell_all(id, &Control::new(Message::FinishJob(FinishJob { tallies })));
        let finished = |peer: &Peer| {
            let control = peer.control();
            let theirs = &control.finished.get(&id)?.tallies;
            // Who did nothing of the kind takes no part in it.
            let compared = !ours.is_empty() && !theirs.is_empty();
            let differs = compared.then(|| first_difference(&ours, theirs)).flatten();
            Some(match differs {
                None => Ok(()),
                Some((what, ours, theirs)) => Err(Error::Tally {
                    peer: peer.party,
                    what,
                    ours,
                    theirs,
                }),
            })
        };
        match self.await_all("finish the job", patience, finished).await {
            Ok(()) => self.shared.finish(),
            Err(error) => {
                // What differs says more than that a party gave up because of it.
                let pending = session.peers().iter().filter_map(finished);
                let differs = pending.filter_map(Result::err).next();
                let error = differs.unwrap_or(error);
                self.shared.fail(error.clone());
                Err(error)
            }
        }
    }

    /// Waits until `look` has found something at every peer, or something wrong at one; without
    /// `patience`, for as long as they live. What all peers have said counts, also when the session
    /// has failed since then.
    async fn await_all(
        &self,
        what: &'static str,
        patience: Option<Duration>,
        look: impl Fn(&Peer) -> Option<Result<()>>,
    ) -> Result<()> {
        let session = &self.shared.session;
        let until = patience.map(|patience| (Instant::now() + patience, patience));
        for peer in session.peers() {
            let look = || match self.shared.failure.get() {
                None => look(peer).or_else(|| session.check().err().map(Err)),
                Some(error) => Some(Err(error.clone())),
            };
            match until {
                None => session.control_idly(look).await,
                Some((until, after)) => {
                    let late = || {
                        let peer = peer.party;
                        Err(self.shared.fail(Error::Late { peer, what, after }))
                    };
                    session.control(until, look).await.unwrap_or_else(late)
                }
            }?;
        }
        Ok(())
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
        let _ = self.shared.finish();
        self.shared.session.wake_job(self.shared.id);
        self.shared.session.unregister(self.shared.id);
    }
}

/// Protects the map of a session's jobs from growing with what peers announce.
pub(crate) const MAX_ANNOUNCED: usize = 64;

pub(crate) type JobMap = Mutex<std::collections::HashMap<u32, Arc<JobShared>>>;
