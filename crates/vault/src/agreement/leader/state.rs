//! State of the leader, and the steps that all else is made of.

use std::collections::HashMap;

use madrigal_core::{MAX_PARTIES, Party};

use crate::agreement::bits::Bits;
use crate::agreement::message::Message;
use crate::agreement::peer::Peer;
use crate::agreement::proposal::Proposal;
use crate::agreement::queue::Queue;
use crate::agreement::types::{Action, Batch, Closed, Record, Restored, Rules};
use crate::submission::Id;

/// A batch that was made of a proposal of this session, so that followers know its ids by their places.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) generation: u64,
    pub(super) attempt: u64,
    pub(super) bits: Bits,
}

/// Party 0's side of the agreement about the batches of one kind.
#[derive(Debug)]
pub struct Leader {
    pub(super) kind: String,
    pub(super) rules: Rules,
    pub(super) peers: Vec<Peer>,
    pub(super) session: Option<u64>,
    /// Batches that are on disk: the last that ended, and the one after it.
    pub(super) closed: Option<Closed>,
    pub(super) open: Option<Batch>,
    /// The one record that decisions wait for.
    pub(super) writing: Option<(u64, Record)>,
    /// Bars on their way to disk: whom to tell, in which session.
    pub(super) bars: HashMap<u64, (Party, u64)>,
    pub(super) next_token: u64,
    pub(super) attempt: u64,
    /// Whether a batch is to be looked for, and overdue ids.
    pub(super) triggered: bool,
    pub(super) overdue: bool,
    /// Ids that are asked about next.
    pub(super) queue: Queue,
    /// The last overdue id that was asked about, where there were more.
    pub(super) past: Option<(u64, Id)>,
    pub(super) proposal: Option<Proposal>,
    pub(super) source: Option<Source>,
    /// Whether the last run's number is on disk, and nobody was told of the run.
    pub(super) fresh: bool,
    pub(super) running: bool,
    /// Why the last run broke, and at whom.
    pub(super) broken: Option<String>,
    /// Another server has stopped the kind, in this session.
    pub(super) halted: bool,
    pub(super) stopped: bool,
}

impl Leader {
    /// The leader of a kind among `parties` servers, from what is on its disk.
    ///
    /// # Panics
    /// If `parties` is not 2 to [`MAX_PARTIES`].
    pub fn new(kind: &str, parties: usize, rules: Rules, restored: Restored) -> Self {
        assert!((2..=MAX_PARTIES).contains(&parties), "2 to 64 servers");
        Self {
            kind: kind.to_owned(),
            rules,
            peers: (1..parties).map(|_| Peer::default()).collect(),
            session: None,
            closed: restored.closed,
            open: restored.open,
            writing: None,
            bars: HashMap::new(),
            next_token: 0,
            attempt: 0,
            triggered: false,
            overdue: false,
            queue: Queue::new(&rules),
            past: None,
            proposal: None,
            source: None,
            fresh: false,
            running: false,
            broken: None,
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

    /// Whether nothing is under way: all servers have ended the last batch, and none is looked for.
    pub fn is_idle(&self) -> bool {
        let last = self.last();
        let ended = |peer: &Peer| peer.known && peer.ended == last;
        self.open.is_none()
            && self.writing.is_none()
            && self.proposal.is_none()
            && self.peers.iter().all(ended)
    }

    /// Whether this is the run that is computed now.
    pub(super) fn runs(&self, n: u64, run: u32) -> bool {
        let open = self.open.as_ref();
        self.running
            && self.broken.is_none()
            && open.is_some_and(|open| open.n == n && open.run == run)
    }

    pub(super) fn last(&self) -> u64 {
        self.closed.as_ref().map_or(0, |closed| closed.n)
    }

    pub(super) fn session_down(&mut self, out: &mut Vec<Action>) {
        self.stop_job(out);
        self.session = None;
        self.halted = false;
        self.broken = None;
        // A proposal that nobody will answer is made again.
        let proposal = self.proposal.take();
        match proposal.as_ref().map(Proposal::is_for_batch) {
            Some(true) => self.triggered = true,
            Some(false) => self.overdue = true,
            None => {}
        }
        self.queue
            .lost(proposal.into_iter().flat_map(Proposal::unanswered));
        self.peers.fill_with(Peer::default);
    }

    pub(super) fn stop_job(&mut self, out: &mut Vec<Action>) {
        if let Some(open) = self.open.as_ref().filter(|_| self.running) {
            let (n, run) = (open.n, open.run);
            out.push(Action::StopJob { n, run });
        }
        self.running = false;
    }

    pub(super) fn send(&self, peer: usize, message: Message, out: &mut Vec<Action>) {
        let to = Party::new(peer + 1);
        out.push(Action::Send { to, message });
    }

    pub(super) fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    /// Writes a record that all further decisions wait for.
    pub(super) fn write(&mut self, record: Record, out: &mut Vec<Action>) {
        let token = self.token();
        self.writing = Some((token, record.clone()));
        out.push(Action::Write { token, record });
    }
}
