//! The leader: it alone forms batches, begins runs and decides ends.

mod messages;
mod progress;

use std::collections::HashMap;

use madrigal_core::{MAX_PARTIES, Party};

use super::bits::Bits;
use super::contradiction::Contradiction;
use super::message::Message;
use super::outcome::shortened;
use super::peer::Peer;
use super::proposal::Proposal;
use super::types::{Action, Batch, Closed, Event, Host, Record, Restored, Rules, batch_digest};
use crate::submission::Id;

/// A batch that was made of a proposal of this session, so that followers know its ids by their places.
#[derive(Debug)]
struct Source {
    generation: u64,
    attempt: u64,
    bits: Bits,
}

/// Party 0's side of the agreement about the batches of one kind.
#[derive(Debug)]
pub struct Leader {
    kind: String,
    rules: Rules,
    peers: Vec<Peer>,
    session: Option<u64>,
    /// What is on disk.
    closed: Option<Closed>,
    open: Option<Batch>,
    /// The one record that decisions wait for.
    writing: Option<(u64, Record)>,
    /// Bars on their way to disk: whom to tell, in which session.
    bars: HashMap<u64, (Party, u64)>,
    next_token: u64,
    attempt: u64,
    triggered: bool,
    proposal: Option<Proposal>,
    source: Option<Source>,
    /// Whether the last run's number is on disk, and nobody was told of the run.
    fresh: bool,
    running: bool,
    /// Why the last run broke, and at whom.
    broken: Option<String>,
    /// Another server has stopped the kind, in this session.
    halted: bool,
    stopped: bool,
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

    /// Takes an event, tells what to do. [`Action::Report`] says when the machine goes on after it, if at all.
    pub fn handle(&mut self, event: Event, host: &dyn Host) -> Vec<Action> {
        let mut out = Vec::new();
        if self.stopped {
            return out;
        }
        let done = self.take(event, host, &mut out);
        if let Err(contradiction) = done.and_then(|()| self.advance(host, &mut out)) {
            self.stop_job(&mut out);
            let reason = shortened(&contradiction.to_string());
            for (i, _) in self.peers.iter().enumerate().filter(|peer| peer.1.known) {
                self.send(
                    i,
                    Message::Halted {
                        reason: reason.clone(),
                    },
                    &mut out,
                );
            }
            self.halted = matches!(contradiction, Contradiction::Halted { .. });
            self.stopped = !self.halted;
            out.push(Action::Report(contradiction));
        }
        out
    }

    fn take(
        &mut self,
        event: Event,
        host: &dyn Host,
        out: &mut Vec<Action>,
    ) -> Result<(), Contradiction> {
        match event {
            Event::SessionUp { generation } => {
                self.session_down(out);
                self.session = Some(generation);
            }
            Event::SessionDown => self.session_down(out),
            Event::Message {
                from,
                generation,
                message,
            } => {
                if self.session == Some(generation) && !self.halted {
                    return self.message(from, message, host, out);
                }
            }
            Event::Written { token, ids } => self.written(token, ids, out),
            Event::NotWritten { reason, .. } => {
                let kind = self.kind.clone();
                return Err(Contradiction::Disk { kind, reason });
            }
            Event::Trigger => self.triggered = true,
            Event::JobDone { n, run } => {
                if self.runs(n, run) && self.writing.is_none() {
                    self.write(Record::RunDone { n, run }, out);
                }
            }
            Event::JobBroken { n, run, reason } => {
                if self.runs(n, run) {
                    self.broken = Some(format!("party 0: {reason}"));
                }
            }
        }
        Ok(())
    }

    /// Whether this is the run that is computed now.
    fn runs(&self, n: u64, run: u32) -> bool {
        let open = self.open.as_ref();
        self.running
            && self.broken.is_none()
            && open.is_some_and(|open| open.n == n && open.run == run)
    }

    fn last(&self) -> u64 {
        self.closed.as_ref().map_or(0, |closed| closed.n)
    }

    fn session_down(&mut self, out: &mut Vec<Action>) {
        self.stop_job(out);
        self.session = None;
        self.halted = false;
        self.broken = None;
        // A proposal that nobody will answer is made again.
        self.triggered |= self.proposal.take().is_some();
        self.peers.fill_with(Peer::default);
    }

    fn stop_job(&mut self, out: &mut Vec<Action>) {
        if let Some(open) = self.open.as_ref().filter(|_| self.running) {
            let (n, run) = (open.n, open.run);
            out.push(Action::StopJob { n, run });
        }
        self.running = false;
    }

    fn send(&self, peer: usize, message: Message, out: &mut Vec<Action>) {
        let to = Party::new(peer + 1);
        out.push(Action::Send { to, message });
    }

    fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    /// Writes a record that all further decisions wait for.
    fn write(&mut self, record: Record, out: &mut Vec<Action>) {
        let token = self.token();
        self.writing = Some((token, record.clone()));
        out.push(Action::Write { token, record });
    }

    fn written(&mut self, token: u64, barred: Vec<Id>, out: &mut Vec<Action>) {
        if let Some((to, generation)) = self.bars.remove(&token) {
            if self.session == Some(generation) && !barred.is_empty() {
                self.send(to.index() - 1, Message::Barred { ids: barred }, out);
            }
            return;
        }
        let Some((_, record)) = self.writing.take_if(|writing| writing.0 == token) else {
            // An id that expired.
            return;
        };
        match record {
            Record::Prepare { n, ids, refused } => {
                let digest = batch_digest(&self.kind, n, &ids);
                self.open = Some(Batch {
                    n,
                    ids,
                    digest,
                    refused,
                    run: 0,
                    broken: 0,
                    done: 0,
                });
            }
            Record::Run { run, broken, .. } => {
                if let Some(open) = &mut self.open {
                    (open.run, open.broken) = (run, broken);
                    self.fresh = true;
                }
            }
            Record::RunDone { run, .. } => {
                if let Some(open) = &mut self.open {
                    open.done = run;
                }
            }
            Record::End { n, outcome } => {
                if let Some(Batch { ids, digest, .. }) = self.open.take() {
                    out.push(Action::Ended {
                        n,
                        outcome: outcome.clone(),
                    });
                    self.closed = Some(Closed {
                        n,
                        ids,
                        digest,
                        outcome,
                    });
                    self.source = None;
                }
            }
            Record::Bar { .. } | Record::Expire { .. } => {}
        }
    }
}
