//! A follower: it answers the leader from its disk, and decides nothing but what it lacks and what its policy refuses.

mod messages;
mod state;

pub use state::Follower;
use state::{LEADER, prepared};

use super::contradiction::Contradiction;
use super::message::{Hello, Message, Preparation};
use super::outcome::shortened;
use super::peer::out_of_order;
use super::types::{Action, Batch, Closed, Event, Host, Record, batch_digest};

impl Follower {
    /// Takes an event, tells what to do. [`Action::Report`] says when the machine goes on after it, if at all.
    pub fn handle(&mut self, event: Event, host: &dyn Host) -> Vec<Action> {
        let mut out = Vec::new();
        if self.stopped {
            return out;
        }
        if let Err(contradiction) = self.take(event, host, &mut out) {
            self.stop_job(&mut out);
            self.halted = matches!(contradiction, Contradiction::Halted { .. });
            self.stopped = !self.halted;
            if self.session.is_some() && !self.hello && self.stopped {
                let reason = shortened(&contradiction.to_string());
                self.send(Message::Halted { reason }, &mut out);
            }
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
                self.hello = true;
                self.greet(out);
            }
            Event::SessionDown => self.session_down(out),
            Event::Message {
                from,
                generation,
                message,
            } => {
                if self.session == Some(generation) && !self.halted {
                    if from != LEADER {
                        let expected = "nothing: followers hear of the leader alone";
                        return Err(out_of_order(&self.kind, from, &message, expected));
                    }
                    return self.message(message, host, out);
                }
            }
            Event::Written { token, .. } => self.written(token, host, out),
            Event::NotWritten { reason, .. } => {
                let kind = self.kind.clone();
                return Err(Contradiction::Disk { kind, reason });
            }
            Event::Trigger | Event::Overdue => {}
            Event::JobDone { n, run } => {
                if self.runs(n, run) {
                    self.running = None;
                    self.write(Record::RunDone { n, run }, out);
                }
            }
            Event::JobBroken { n, run, reason } => {
                if self.runs(n, run) {
                    self.running = None;
                    let reason = shortened(&reason);
                    self.send(Message::Broken { n, run, reason }, out);
                }
            }
        }
        Ok(())
    }

    /// Tells what is on disk, when nothing is on its way there: so the leader never hears less than what will be.
    fn greet(&mut self, out: &mut Vec<Action>) {
        if !self.hello || !self.writing.is_empty() {
            return;
        }
        self.hello = false;
        let closed = self.closed.as_ref();
        let open = self.open.as_ref();
        let hello = Hello {
            ended: closed.map(|closed| (closed.n, closed.digest, closed.outcome.clone())),
            prepared: open.map(|open| Preparation {
                n: open.n,
                digest: open.digest,
                refused: open.refused.clone(),
                done: open.done,
            }),
        };
        self.send(Message::Hello(hello), out);
    }

    fn written(&mut self, token: u64, host: &dyn Host, out: &mut Vec<Action>) {
        let Some((record, session)) = self.writing.remove(&token) else {
            return;
        };
        let answers = session.is_some() && session == self.session;
        match record {
            Record::Prepare { n, ids, refused } => {
                let digest = batch_digest(&self.kind, n, &ids);
                if answers {
                    let reason = refused.clone();
                    self.send(prepared(n, digest, reason), out);
                }
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
            Record::RunDone { n, run } => {
                if let Some(open) = self.open.as_mut().filter(|open| open.n == n) {
                    open.done = open.done.max(run);
                    if answers {
                        self.send(Message::Done { n, run }, out);
                    }
                }
            }
            Record::End { n, outcome } => {
                if let Some(open) = self.open.take() {
                    out.push(Action::Ended {
                        n,
                        outcome: outcome.clone(),
                    });
                    self.closed = Some(Closed {
                        n,
                        ids: open.ids,
                        digest: open.digest,
                        outcome,
                    });
                    if answers {
                        self.send(Message::Ended { n }, out);
                    }
                }
            }
            Record::Bar { .. } if answers => self.have(host, out),
            Record::Bar { .. } | Record::Expire { .. } | Record::Run { .. } => {}
        }
        self.greet(out);
    }
}
