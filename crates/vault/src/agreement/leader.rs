//! The leader: it alone forms batches, begins runs and decides ends.

use std::collections::HashMap;
use std::sync::Arc;

use madrigal_core::{MAX_PARTIES, Party};

use super::bits::Bits;
use super::contradiction::Contradiction;
use super::message::{Chosen, Message};
use super::outcome::{MAX_IDS, MAX_OVERDUE, Outcome, shortened};
use super::peer::{Peer, out_of_order};
use super::types::{
    Action, Batch, Closed, Event, Host, Record, Restored, Rules, batch_digest, run_name,
};
use crate::submission::Id;

/// Ids that the leader asks the followers about.
#[derive(Debug)]
struct Proposal {
    attempt: u64,
    /// In order.
    ids: Arc<[Id]>,
    /// One for each id: its place among the accepted ones, oldest first.
    age: Vec<u32>,
    /// One for each id.
    overdue: Vec<bool>,
    /// One for each id: whether all that answered have it.
    common: Vec<bool>,
    answered: Vec<bool>,
    /// The strictest of the servers.
    least: u64,
}

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

    /// Takes an event, tells what to do. After a [`Action::Report`] the machine takes no event any more.
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
            out.push(Action::Report(contradiction));
            self.stopped = true;
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
                if self.session == Some(generation) {
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

    fn message(
        &mut self,
        from: Party,
        message: Message,
        host: &dyn Host,
        out: &mut Vec<Action>,
    ) -> Result<(), Contradiction> {
        let place = from.index().wrapping_sub(1);
        let last = self.last();
        let wrong = |message: &Message, expected: &str| {
            Err(out_of_order(&self.kind, from, message, expected))
        };
        let Some(peer) = self.peers.get_mut(place) else {
            return wrong(&message, "a message of another server of this kind");
        };
        if let Message::Hello(hello) = message {
            if peer.known || peer.hello.is_some() {
                return wrong(&Message::Hello(hello), "one Hello in a session");
            }
            peer.hello = Some(hello);
            return Ok(());
        }
        if !peer.known {
            return wrong(&message, "Hello");
        }
        // The batch that the follower is in: the open one, or the last that ended here.
        let open = self.open.as_ref().map(|open| (open.n, open.digest));
        let closed = self.closed.as_ref().map(|closed| (closed.n, closed.digest));
        let current = open.or(closed.filter(|closed| peer.ended < closed.0));
        match &message {
            Message::Have { .. } => return self.have(place, &message, host, out),
            Message::Prepared { n, digest } | Message::Refused { n, digest, .. } => {
                if current != Some((*n, *digest)) || !peer.sent_batch {
                    return wrong(&message, "an answer to the batch that was sent");
                }
                peer.prepared = true;
                if let Message::Refused { reason, .. } = message {
                    peer.refused = Some(reason);
                }
            }
            Message::Done { n, run } => {
                if let Some(open) = self.open.as_ref().filter(|open| open.n == *n) {
                    if *run > open.run || !peer.prepared {
                        return wrong(&message, "results of a run that was begun");
                    }
                    peer.done = *run;
                }
            }
            Message::Broken { n, run, reason } => {
                if self.runs(*n, *run) {
                    self.broken = Some(format!("{from}: {reason}"));
                }
            }
            Message::Ended { n } => {
                if !peer.sent_end || *n != last {
                    return wrong(&message, "an answer to the end that was sent");
                }
                peer.end(*n);
            }
            _ => return wrong(&message, "a message of a follower"),
        }
        Ok(())
    }

    /// Asks all followers which of the accepted submissions they have.
    fn propose(&mut self, host: &dyn Host, out: &mut Vec<Action>) {
        let mut accepted: Vec<_> = host.accepted().into_iter().zip(0_u32..).collect();
        accepted.truncate(MAX_IDS);
        accepted.sort_unstable();
        accepted.dedup_by_key(|((id, _), _)| *id);
        let ids: Arc<[Id]> = accepted.iter().map(|((id, _), _)| *id).collect();
        let overdue: Vec<bool> = accepted.iter().map(|((_, overdue), _)| *overdue).collect();
        self.attempt += 1;
        self.triggered = false;
        for i in 0..self.peers.len() {
            let message = Message::Propose {
                attempt: self.attempt,
                n: self.last() + 1,
                ids: ids.clone(),
                overdue: Bits::new(overdue.iter().copied()),
            };
            self.send(i, message, out);
        }
        self.proposal = Some(Proposal {
            attempt: self.attempt,
            common: vec![true; ids.len()],
            ids,
            age: accepted.iter().map(|(_, age)| *age).collect(),
            overdue,
            answered: vec![false; self.peers.len()],
            least: host.least().max(1),
        });
    }

    /// Takes a follower's answer to the proposal; after the last one there is a batch, or none.
    fn have(
        &mut self,
        place: usize,
        message: &Message,
        host: &dyn Host,
        out: &mut Vec<Action>,
    ) -> Result<(), Contradiction> {
        let last = self.last();
        let from = Party::new(place + 1);
        let wrong = || {
            let expected = "one answer to the proposal that was sent";
            Err(out_of_order(&self.kind, from, message, expected))
        };
        let (Some(proposal), Message::Have { attempt, n, .. }) = (&mut self.proposal, message)
        else {
            return wrong();
        };
        let Message::Have {
            least,
            have,
            overdue,
            ..
        } = message
        else {
            return wrong();
        };
        let fits = *attempt == proposal.attempt && *n == last + 1;
        if !fits
            || have.len() != proposal.ids.len()
            || std::mem::replace(&mut proposal.answered[place], true)
        {
            return wrong();
        }
        for (i, common) in proposal.common.iter_mut().enumerate() {
            *common &= have.get(i);
        }
        proposal.least = proposal.least.max(*least);
        let all = proposal.answered.iter().all(|answered| *answered);
        if !overdue.is_empty() {
            let token = self.token();
            if let Some(generation) = self.session {
                self.bars.insert(token, (from, generation));
            }
            let ids = overdue[..overdue.len().min(MAX_OVERDUE)].to_vec();
            let record = Record::Bar { ids };
            out.push(Action::Write { token, record });
        }
        if all && let Some(proposal) = self.proposal.take() {
            self.conclude(proposal, host, out);
        }
        Ok(())
    }

    /// Makes the batch of what all servers have.
    fn conclude(&mut self, proposal: Proposal, host: &dyn Host, out: &mut Vec<Action>) {
        let n = self.last() + 1;
        let lacking = |i: &usize| proposal.overdue[*i] && !proposal.common[*i];
        let expired: Vec<Id> = (0..proposal.ids.len())
            .filter(lacking)
            .map(|i| proposal.ids[i])
            .collect();
        if !expired.is_empty() {
            // A follower that lacks one of them has promised to do so for ever.
            let token = self.token();
            let record = Record::Expire { ids: expired };
            out.push(Action::Write { token, record });
        }
        let mut chosen: Vec<usize> = (0..proposal.ids.len())
            .filter(|i| proposal.common[*i])
            .collect();
        let common = chosen.len();
        if chosen.len() > self.rules.most {
            chosen.sort_unstable_by_key(|i| proposal.age[*i]);
            chosen.truncate(self.rules.most);
            chosen.sort_unstable();
        }
        if (chosen.len() as u64) < proposal.least {
            let least = proposal.least;
            out.push(Action::NoBatch { common, least });
            return;
        }
        let ids: Arc<[Id]> = chosen.iter().map(|i| proposal.ids[*i]).collect();
        let mut bits = vec![false; proposal.ids.len()];
        chosen.iter().for_each(|i| bits[*i] = true);
        self.source = self.session.map(|generation| Source {
            generation,
            attempt: proposal.attempt,
            bits: Bits::new(bits.into_iter()),
        });
        let refused = host.refuses(n, &ids).map(|reason| shortened(&reason));
        self.write(Record::Prepare { n, ids, refused }, out);
    }

    /// Does what the disk and the followers' state ask for, unless a record is on its way.
    fn advance(&mut self, host: &dyn Host, out: &mut Vec<Action>) -> Result<(), Contradiction> {
        if self.session.is_none() || self.writing.is_some() {
            return Ok(());
        }
        for (peer, i) in self.peers.iter_mut().zip(1..) {
            if let Some(hello) = peer.hello.take() {
                let (closed, open) = (self.closed.as_ref(), self.open.as_ref());
                peer.greet(&self.kind, Party::new(i), hello, closed, open)?;
            }
        }
        if self.open.is_some() {
            self.advance_open(out);
        } else {
            self.advance_closed(host, out);
        }
        Ok(())
    }

    /// The batch as a follower can read it.
    fn chosen(&self, ids: &Arc<[Id]>) -> Chosen {
        let source = self.source.as_ref();
        match source.filter(|source| self.session == Some(source.generation)) {
            Some(Source { attempt, bits, .. }) => Chosen::Of {
                attempt: *attempt,
                bits: bits.clone(),
            },
            None => Chosen::Ids(ids.clone()),
        }
    }

    fn advance_open(&mut self, out: &mut Vec<Action>) {
        let Some(open) = self.open.clone() else {
            return;
        };
        let n = open.n;
        for i in 0..self.peers.len() {
            let peer = &mut self.peers[i];
            if peer.known && !peer.holds() && !peer.sent_batch {
                peer.sent_batch = true;
                let message = Message::Prepare {
                    n,
                    digest: open.digest,
                    chosen: self.chosen(&open.ids),
                };
                self.send(i, message, out);
            }
        }
        let theirs = self.peers.iter().zip(1..).find_map(|(peer, i)| {
            let reason = peer.refused.as_ref()?;
            Some(format!("party {i} refuses: {reason}"))
        });
        let ours = open
            .refused
            .map(|reason| format!("party 0 refuses: {reason}"));
        if let Some(reason) = ours.or(theirs) {
            self.fail(n, &reason, out);
        } else if !self.peers.iter().all(|peer| peer.prepared) {
        } else if self.fresh {
            self.fresh = false;
            self.running = true;
            for i in 0..self.peers.len() {
                let run = open.run;
                self.send(i, Message::Run { n, run }, out);
            }
            out.push(Action::StartJob {
                n,
                run: open.run,
                name: run_name(&open.digest, open.run),
                ids: open.ids,
            });
        } else if open.run > 0
            && open.done == open.run
            && self.peers.iter().all(|peer| peer.done == open.run)
        {
            let outcome = Outcome::Final { run: open.run };
            self.running = false;
            self.write(Record::End { n, outcome }, out);
        } else if !self.running || self.broken.is_some() {
            self.stop_job(out);
            let broken = open.broken + u32::from(self.broken.is_some());
            let why = self.broken.take();
            if let Some(why) = &why
                && broken >= self.rules.broken
            {
                self.fail(n, &format!("{broken} runs broke, the last at {why}"), out);
            } else if open.run >= self.rules.runs {
                let runs = open.run;
                self.fail(
                    n,
                    &format!("{runs} runs came to nothing, lost with their sessions"),
                    out,
                );
            } else {
                let run = open.run + 1;
                self.write(Record::Run { n, run, broken }, out);
            }
        }
    }

    fn fail(&mut self, n: u64, reason: &str, out: &mut Vec<Action>) {
        let reason = shortened(reason);
        let outcome = Outcome::Failed { reason };
        self.write(Record::End { n, outcome }, out);
    }

    fn advance_closed(&mut self, host: &dyn Host, out: &mut Vec<Action>) {
        if let Some(closed) = self.closed.clone() {
            for i in 0..self.peers.len() {
                let peer = &mut self.peers[i];
                if !peer.known || peer.ended == closed.n {
                    continue;
                }
                if peer.holds() && !peer.sent_end {
                    peer.sent_end = true;
                    let message = Message::End {
                        n: closed.n,
                        digest: closed.digest,
                        outcome: closed.outcome.clone(),
                    };
                    self.send(i, message, out);
                } else if !peer.holds() && !peer.sent_batch {
                    // A batch that failed before all had prepared it.
                    peer.sent_batch = true;
                    let message = Message::Prepare {
                        n: closed.n,
                        digest: closed.digest,
                        chosen: Chosen::Ids(closed.ids.clone()),
                    };
                    self.send(i, message, out);
                }
            }
        }
        let last = self.last();
        let ended = |peer: &Peer| peer.known && peer.ended == last;
        if self.triggered && self.proposal.is_none() && self.peers.iter().all(ended) {
            self.propose(host, out);
        }
    }
}
