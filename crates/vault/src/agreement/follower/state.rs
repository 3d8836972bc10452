//! State of a follower, and the steps that all else is made of.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use madrigal_core::{Digest256, Party};

use crate::agreement::message::Message;
use crate::agreement::types::{Action, Batch, Closed, Record, Restored};
use crate::submission::Id;

pub(super) const LEADER: Party = Party::new(0);

/// A proposal of this session.
#[derive(Debug)]
pub(super) struct Proposal {
    pub(super) attempt: u64,
    pub(super) n: u64,
    pub(super) ids: Arc<[Id]>,
}

/// The side of all parties but party 0 in the agreement about the batches of one kind.
#[derive(Debug)]
pub struct Follower {
    pub(super) kind: String,
    pub(super) session: Option<u64>,
    /// Whether the first message of the session is still to be sent.
    pub(super) hello: bool,
    /// Batches that are on disk: the last that ended, and the one after it.
    pub(super) closed: Option<Closed>,
    pub(super) open: Option<Batch>,
    /// Records on their way to disk, each with the session that waits for it.
    pub(super) writing: HashMap<u64, (Record, Option<u64>)>,
    pub(super) next_token: u64,
    pub(super) proposal: Option<Proposal>,
    /// Overdue ids that the leader was told of in this session.
    pub(super) asked: BTreeSet<Id>,
    /// The last overdue id that the leader was told of, where there were more.
    pub(super) past: Option<(u64, Id)>,
    pub(super) running: Option<u32>,
    /// The leader has stopped the kind, in this session.
    pub(super) halted: bool,
    pub(super) stopped: bool,
}

impl Follower {
    /// A follower of a kind, from what is on its disk.
    pub fn new(kind: &str, restored: Restored) -> Self {
        Self {
            kind: kind.to_owned(),
            session: None,
            hello: false,
            closed: restored.closed,
            open: restored.open,
            writing: HashMap::new(),
            next_token: 0,
            proposal: None,
            asked: BTreeSet::new(),
            past: None,
            running: None,
            halted: false,
            stopped: false,
        }
    }

    /// The batch that is prepared and has not ended.
    pub fn open(&self) -> Option<&Batch> {
        self.open.as_ref()
    }

    /// The last batch that ended.
    pub fn closed(&self) -> Option<&Closed> {
        self.closed.as_ref()
    }

    pub(super) fn runs(&self, n: u64, run: u32) -> bool {
        let open = self.open.as_ref();
        self.running == Some(run) && open.is_some_and(|open| open.n == n)
    }

    pub(super) fn last(&self) -> u64 {
        self.closed.as_ref().map_or(0, |closed| closed.n)
    }

    pub(super) fn session_down(&mut self, out: &mut Vec<Action>) {
        self.stop_job(out);
        self.session = None;
        self.halted = false;
        self.hello = false;
        self.proposal = None;
        self.asked.clear();
    }

    pub(super) fn stop_job(&mut self, out: &mut Vec<Action>) {
        if let (Some(run), Some(open)) = (self.running.take(), &self.open) {
            let n = open.n;
            out.push(Action::StopJob { n, run });
        }
    }

    pub(super) fn send(&self, message: Message, out: &mut Vec<Action>) {
        let to = LEADER;
        out.push(Action::Send { to, message });
    }

    pub(super) fn write(&mut self, record: Record, out: &mut Vec<Action>) {
        self.next_token += 1;
        let token = self.next_token;
        self.writing.insert(token, (record.clone(), self.session));
        out.push(Action::Write { token, record });
    }
}

/// The answer to a batch.
pub(super) fn prepared(n: u64, digest: Digest256, refused: Option<String>) -> Message {
    match refused {
        None => Message::Prepared { n, digest },
        Some(reason) => Message::Refused { n, digest, reason },
    }
}
