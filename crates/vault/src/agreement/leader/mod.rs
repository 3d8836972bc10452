//! The leader: it alone forms batches, begins runs and decides ends.

mod messages;
mod progress;
mod state;

pub use state::Leader;

use super::contradiction::Contradiction;
use super::message::Message;
use super::outcome::shortened;
use super::types::{Action, Batch, Closed, Event, Host, Record, batch_digest};
use crate::submission::Id;

impl Leader {
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
            Event::Overdue => self.overdue = true,
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
