//! Events that go into a machine, and actions that come out of it.

use std::sync::Arc;

use madrigal_core::{Digest256, Party, domains};
use sha2::{Digest, Sha256};

use super::contradiction::Contradiction;
use super::message::Message;
use super::outcome::{MAX_IDS, Outcome};
use crate::submission::Id;

/// Records that a machine has written to disk. Vaults apply one in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// Batch `n` has these submissions: each must be accepted, and is in the batch afterwards.
    Prepare {
        /// Number of the batch.
        n: u64,
        /// Submissions, in order of their ids.
        ids: Arc<[Id]>,
        /// Reason of this server's policy not to compute it.
        refused: Option<String>,
    },
    /// The leader is about to begin a run: the number is used up.
    Run {
        /// Number of the batch.
        n: u64,
        /// Number of the run, from 1.
        run: u32,
        /// Number of runs before this one that broke, lost sessions not counted.
        broken: u32,
    },
    /// The results of a run are all there. Those of runs before it go away.
    RunDone {
        /// Number of the batch.
        n: u64,
        /// Number of the run.
        run: u32,
    },
    /// Batch `n` ended: its submissions are counted or have failed, their bodies go away, and results of all other runs too.
    End {
        /// Number of the batch.
        n: u64,
        /// How it ended.
        outcome: Outcome,
    },
    /// Bars ids: those that are not accepted here never will be. [`Event::Written`] tells which those are.
    Bar {
        /// The ids.
        ids: Vec<Id>,
    },
    /// Lets ids expire that are accepted and in no batch.
    Expire {
        /// The ids.
        ids: Vec<Id>,
    },
}

impl Record {
    /// Bytes of the ids that it holds.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Bar { ids } | Self::Expire { ids } => 32 * ids.len(),
            Self::Prepare { ids, .. } => 32 * ids.len(),
            Self::Run { .. } | Self::RunDone { .. } | Self::End { .. } => 0,
        }
    }
}

/// Events of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The servers have a session.
    SessionUp {
        /// Number of the session, greater than that of any before.
        generation: u64,
    },
    /// The session is lost. Nothing arrives in it any more.
    SessionDown,
    /// A message has come.
    Message {
        /// Sender.
        from: Party,
        /// Session that it came in; messages of other sessions are ignored.
        generation: u64,
        /// The message.
        message: Message,
    },
    /// A record is on disk.
    Written {
        /// Token of the [`Action::Write`].
        token: u64,
        /// Ids of a [`Record::Bar`] that are barred now.
        ids: Vec<Id>,
    },
    /// A record cannot be written: it contradicts what is on disk.
    NotWritten {
        /// Token of the [`Action::Write`].
        token: u64,
        /// Reason, in words.
        reason: String,
    },
    /// The leader is to look for a batch. Followers ignore it.
    Trigger,
    /// The leader is to look for overdue submissions, its own and the followers', and for no batch. Followers ignore it.
    Overdue,
    /// The job that was started is done, and its results were handed to the vault before this event.
    JobDone {
        /// Number of the batch.
        n: u64,
        /// Number of the run.
        run: u32,
    },
    /// The job that was started came to nothing.
    JobBroken {
        /// Number of the batch.
        n: u64,
        /// Number of the run.
        run: u32,
        /// Reason, in words.
        reason: String,
    },
}

/// Actions that a machine wants done, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Send a message in the session that is up, after all messages to this party before it.
    Send {
        /// Receiver.
        to: Party,
        /// The message.
        message: Message,
    },
    /// Write a record, after all records before it, and tell when it is on disk.
    Write {
        /// Token that the event carries.
        token: u64,
        /// The record.
        record: Record,
    },
    /// Compute a batch.
    StartJob {
        /// Number of the batch.
        n: u64,
        /// Number of the run.
        run: u32,
        /// Name of the run, which no other run of any batch has: [`run_name`].
        name: Digest256,
        /// Submissions, in order.
        ids: Arc<[Id]>,
    },
    /// Stop computing a batch, if that still goes on. What it would give counts no more.
    StopJob {
        /// Number of the batch.
        n: u64,
        /// Number of the run.
        run: u32,
    },
    /// A batch has ended, and this is on disk here.
    Ended {
        /// Number of the batch.
        n: u64,
        /// How.
        outcome: Outcome,
    },
    /// The leader has looked, and there is no batch now.
    NoBatch {
        /// Number of submissions that all servers have.
        common: usize,
        /// Least number, by the strictest of the servers.
        least: u64,
    },
    /// The kind has stopped: an operator must look. If another server has stopped it ([`Contradiction::Halted`]), the machine goes on in the next
    /// session; if this one has, it takes no event any more, and its server makes a new one when the operator has looked.
    Report(Contradiction),
}

/// An accepted submission in no batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Name.
    pub id: Id,
    /// Order, from 1: above those of all of its kind that were accepted before it.
    pub order: u64,
    /// When it was accepted, in seconds.
    pub at: u64,
}

/// Questions of a machine to its server. Answers are about what is on disk.
pub trait Host {
    /// Accepted submissions in no batch whose orders are above one, in their order, `most` at most.
    fn waiting(&self, above: u64, most: usize) -> Vec<Waiting>;
    /// Tells for each whether it still is accepted and in no batch.
    fn still(&self, waiting: &[Waiting]) -> Vec<bool>;
    /// Tells for each id whether it is accepted and in no batch.
    fn have(&self, ids: &[Id]) -> Vec<bool>;
    /// Whether a submission that was accepted at this time is overdue.
    fn is_overdue(&self, at: u64) -> bool;
    /// Some accepted submissions in no batch that are overdue, with their times: the oldest, `most` at most, none of `but`, and none before `past`.
    fn overdue(
        &self,
        past: Option<(u64, Id)>,
        but: &dyn Fn(&Id) -> bool,
        most: usize,
    ) -> Vec<(u64, Id)>;
    /// The least number of submissions that this server computes together.
    fn least(&self) -> u64;
    /// Groups of which a batch must have a submission each: the places of those of some ids that are in it. Without any, a batch may have whichever.
    fn groups(&self, _ids: &[Id]) -> Vec<Vec<usize>> {
        Vec::new()
    }
    /// Why this server's policy does not compute this batch, if so.
    fn refuses(&self, n: u64, ids: &[Id]) -> Option<String>;
}

/// Bounds that the leader keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The most submissions of a batch.
    pub most: usize,
    /// A batch fails when this many of its runs broke.
    pub broken: u32,
    /// A batch fails when this many runs were begun, those that a lost session ended among them.
    pub runs: u32,
    /// The most ids of a proposal, where four times `most` are fewer: small batches are not looked for one id at a time.
    pub window: usize,
    /// The most ids that are remembered because a follower lacks them, some 100 bytes each. Those beyond are read from the disk again.
    pub lacking: usize,
}

impl Rules {
    /// The most ids of a proposal.
    pub(super) fn window(&self) -> usize {
        let most = self.most.clamp(1, MAX_IDS);
        most.saturating_mul(4).max(self.window).min(MAX_IDS)
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            most: MAX_IDS,
            broken: 3,
            runs: 1000,
            window: 256,
            lacking: 1 << 16,
        }
    }
}

/// A batch that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// Number.
    pub n: u64,
    /// Submissions, in order. A follower needs none, and may restore an empty list.
    pub ids: Arc<[Id]>,
    /// Digest of the submissions: [`batch_digest`].
    pub digest: Digest256,
    /// How it ended.
    pub outcome: Outcome,
}

/// A batch that is prepared and has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Number.
    pub n: u64,
    /// Submissions, in order.
    pub ids: Arc<[Id]>,
    /// Digest of the submissions: [`batch_digest`].
    pub digest: Digest256,
    /// Reason of this server's policy not to compute it.
    pub refused: Option<String>,
    /// Number of the last run that was begun, or 0. The leader's alone.
    pub run: u32,
    /// Number of runs that broke. The leader's alone.
    pub broken: u32,
    /// Number of the last run whose results are here, or 0.
    pub done: u32,
}

/// State of a kind on disk: where a machine goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// The last batch that ended.
    pub closed: Option<Closed>,
    /// The batch after it, if it is prepared.
    pub open: Option<Batch>,
}

/// Digest of a batch.
pub fn batch_digest(kind: &str, n: u64, ids: &[Id]) -> Digest256 {
    let mut hash = Sha256::new_with_prefix(domains::VAULT_BATCH);
    hash.update((kind.len() as u64).to_le_bytes());
    hash.update(kind);
    hash.update(n.to_le_bytes());
    hash.update((ids.len() as u64).to_le_bytes());
    for id in ids {
        hash.update(id);
    }
    Digest256::from(hash.finalize())
}

/// Name of a run: all servers come to the same one, and no other run has it.
pub fn run_name(batch: &Digest256, run: u32) -> Digest256 {
    let mut hash = Sha256::new_with_prefix(domains::VAULT_RUN);
    hash.update(batch.0);
    hash.update(run.to_le_bytes());
    Digest256::from(hash.finalize())
}
