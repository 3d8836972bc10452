//! Next steps, by the leader's disk and the followers' state.

use std::sync::Arc;

use madrigal_core::Party;

use super::state::{Leader, Source};
use crate::agreement::contradiction::Contradiction;
use crate::agreement::message::{Chosen, Message};
use crate::agreement::outcome::{MAX_OVERDUE, Outcome, shortened};
use crate::agreement::peer::Peer;
use crate::agreement::proposal::Proposal;
use crate::agreement::queue::Asked;
use crate::agreement::types::{Action, Host, Record, Waiting, run_name};
use crate::submission::Id;

impl Leader {
    /// Does what the disk and the followers' state ask for, unless a record is on its way.
    pub(super) fn advance(
        &mut self,
        host: &dyn Host,
        out: &mut Vec<Action>,
    ) -> Result<(), Contradiction> {
        if self.session.is_none() || self.writing.is_some() || self.halted {
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
        let wanted = self.triggered || self.overdue;
        if wanted && self.proposal.is_none() && self.peers.iter().all(ended) {
            self.propose(host, out);
        }
    }

    /// Asks all followers which of some accepted submissions they have.
    fn propose(&mut self, host: &dyn Host, out: &mut Vec<Action>) {
        self.attempt += 1;
        let batch = self.triggered;
        let asked = match batch {
            true => {
                self.triggered = false;
                self.queue.take(host, &self.rules)
            }
            false => self.overdue_ids(host),
        };
        let followers = self.peers.len();
        let of = (self.attempt, self.last() + 1);
        let proposal = Proposal::new(host, of, batch, asked, followers);
        for i in 0..followers {
            self.send(i, proposal.message(), out);
        }
        self.proposal = Some(proposal);
    }

    /// The oldest overdue ids that were not asked about since the first one was.
    fn overdue_ids(&mut self, host: &dyn Host) -> Vec<Asked> {
        let overdue = host.overdue(self.past, &|_| false, MAX_OVERDUE);
        self.past = overdue
            .last()
            .copied()
            .filter(|_| overdue.len() == MAX_OVERDUE);
        self.overdue = self.past.is_some();
        let asked = |(at, id)| Asked {
            waiting: Waiting { id, order: 0, at },
            tries: 0,
        };
        overdue.into_iter().map(asked).collect()
    }
}
