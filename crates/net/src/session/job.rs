//! One job of a session: opened by all parties on the same facts, finished by all or failed for all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use madrigal_core::{Party, Phase, PhaseCost};

use super::job_shared::JobShared;
use super::shared::{Peer, Shared};
use crate::context::Context;
use crate::control::{Control, FinishJob, Message, OpenJob, first_difference, to_facts};
use crate::error::{Error, Result};

/// A fact that all parties of a job must agree on: its name and its value, both for people to read.
pub type Fact = (String, String);

/// The next job of others and the facts that they agree on, or that one of them has left.
pub type Attended = Option<(Job, Vec<Fact>)>;

/// Facts that some parties of a job agree on and tell no other party.
#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    /// Number of these parties, the session's first ones.
    pub(crate) parties: usize,
    pub(crate) facts: &'a [Fact],
}

/// A running job. Dropped before [`finish`](Job::finish), it fails for all parties.
pub struct Job {
    shared: Arc<JobShared>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Job({})", self.shared.id())
    }
}

impl Job {
    /// Opens job `id`: announces `facts` to all parties, those of `own` to the parties of these, and waits until all
    /// have announced theirs. One round, not counted as the job's.
    ///
    /// Before the facts, the session's identity is compared, a hash of all parties' nonces. Each process has
    /// a nonce of its own, so two that have the same identity have met the same others: whoever forwards
    /// connections of several sessions crosswise can only put together such as fit each other altogether.
    pub(crate) async fn open(
        session: Arc<Shared>,
        id: u32,
        facts: &[Fact],
        own: Own<'_>,
        deadline: Option<Duration>,
    ) -> Result<Self> {
        let insiders = own.parties;
        let shared = JobShared::new(Arc::clone(&session), id, insiders, deadline);
        let shared = Arc::new(shared);
        session.unused(id)?;
        session.find_places(id).await?;
        let registered = session.register(&shared.state);
        registered.inspect_err(|_| session.give_places_back(id))?;
        let job = Self { shared };
        let identity = session.identity.get().ok_or(Error::Ungreeted)?;
        let among = [facts, own.facts].concat();
        let is_insider = |party: Party| party.index() < insiders;
        let with = |peer: Party| match is_insider(session.me()) && is_insider(peer) {
            true => &among[..],
            false => facts,
        };
        session.tell_each(id, |peer| {
            Control::new(Message::OpenJob(OpenJob::new(with(peer), identity)))
        });
        let waits = "announce the job";
        let opened = |peer: &Peer| {
            let theirs = peer.control().opened.remove(&id)?;
            if theirs.identity != identity {
                return Some(Err(Error::Mixed { peer: peer.party }));
            }
            Some(match theirs.first_difference(with(peer.party)) {
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
        // An error of mixed runs is not about this job alone, and those who have not opened it must hear it too.
        if matches!(error, Error::Mixed { .. }) {
            session.fail(error.clone());
        }
        job.shared.fail(error.clone());
        Err(error)
    }

    /// The context at the top of the job, in the setup phase.
    pub fn context(&self) -> Context {
        Context::root(Arc::clone(&self.shared))
    }

    /// Cost of the job so far, by the counters.
    pub fn spent(&self, phase: Phase) -> PhaseCost {
        self.shared.counters.phase(phase)
    }

    /// Says that this party has done its part, and waits for all others to say so. Results may be
    /// used after this: then every party had what it needed.
    ///
    /// # Errors
    /// The job's failure at any party; [`Error::Tally`] if a party has asked for other things than
    /// we have ([`Context::tally`]).
    pub fn finish(self) -> BoxFuture<'static, Result<()>> {
        let patience = self.shared.session.config.stall;
        Box::pin(self.finish_within(Some(patience)))
    }

    /// Finishes as [`finish`](Self::finish) does, for a party whose part is over before that of the others: they may
    /// go on for as long as they live and the deadline allows.
    ///
    /// # Errors
    /// [`Error`] in the same cases as [`finish`](Self::finish).
    pub fn finish_idle(self) -> BoxFuture<'static, Result<()>> {
        Box::pin(self.finish_within(None))
    }

    async fn finish_within(self, patience: Option<Duration>) -> Result<()> {
        let (id, session) = (self.shared.id(), &self.shared.session);
        // A job that never waited is late all the same.
        if let Some((_, after)) = self
            .shared
            .state
            .deadline
            .filter(|(at, _)| Instant::now() >= *at)
        {
            let culprits = String::new();
            return Err(self.shared.fail(Error::Deadline { after, culprits }));
        }
        session.tell_each(id, |peer| {
            let tallies = to_facts(&self.shared.tallies(peer));
            Control::new(Message::FinishJob(FinishJob { tallies }))
        });
        let finished = |peer: &Peer| {
            let ours = to_facts(&self.shared.tallies(peer.party));
            let control = peer.control();
            let theirs = &control.finished.get(&id)?.tallies;
            // A party that did nothing of the kind takes no part in it.
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
                // A fact that differs says more than that a party gave up because of it.
                let pending = session.peers().iter().filter_map(finished);
                let differs = pending.filter_map(Result::err).next();
                let error = differs.unwrap_or(error);
                self.shared.fail(error.clone());
                Err(error)
            }
        }
    }

    /// Waits until `look` has found something at every peer, or something wrong at one; without
    /// `patience`, for as long as they live. Messages that all peers have sent count, also when the session
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
            let look = || match self.shared.state.ended.get() {
                None => look(peer).or_else(|| self.shared.check().err().map(Err)),
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
        if !self.shared.state.over() {
            self.shared.fail(Error::Ended {
                reason: "it was dropped before it was finished".into(),
            });
        }
        // Whoever still waits for a message of a finished job waits in vain.
        let _ = self.shared.finish();
        self.shared.session.wake_job(self.shared.id());
        self.shared.session.unregister(self.shared.id());
    }
}

impl Shared {
    /// Waits until every peer has room for the announcement of job `id`. Nothing is said of it before:
    /// what comes to nothing here takes no room there.
    async fn find_places(&self, id: u32) -> Result<()> {
        let after = self.config.patience;
        let until = Instant::now() + after;
        for peer in self.peers() {
            let look = || match self.check() {
                Ok(()) => peer.control().announce(id).then_some(Ok(())),
                Err(error) => Some(Err(error)),
            };
            let late = || {
                let (peer, what) = (peer.party, "announce any of 64 jobs that we have announced");
                Err(Error::Late { peer, what, after })
            };
            let found = self.control(until, look).await.unwrap_or_else(late);
            found.inspect_err(|_| self.give_places_back(id))?;
        }
        Ok(())
    }

    fn give_places_back(&self, id: u32) {
        for peer in self.peers() {
            peer.control().announced.remove(&id);
        }
        self.wake_control();
    }
}
