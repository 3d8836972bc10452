//! Messages of the leader, and the answers.

use madrigal_core::Digest256;

use super::state::{Follower, LEADER, Proposal, prepared};
use crate::agreement::bits::Bits;
use crate::agreement::contradiction::{Contradiction, described};
use crate::agreement::message::{Chosen, Message};
use crate::agreement::outcome::{MAX_OVERDUE, Outcome, shortened};
use crate::agreement::peer::out_of_order;
use crate::agreement::types::{Action, Batch, Host, Record, batch_digest, run_name};
use crate::submission::Id;

impl Follower {
    pub(super) fn message(
        &mut self,
        message: Message,
        host: &dyn Host,
        out: &mut Vec<Action>,
    ) -> Result<(), Contradiction> {
        let wrong = |expected: String| Err(out_of_order(&self.kind, LEADER, &message, expected));
        if let Message::Halted { reason } = message {
            let (kind, by) = (self.kind.clone(), LEADER);
            return Err(Contradiction::Halted { kind, by, reason });
        }
        if self.hello {
            return wrong("nothing before Hello".to_owned());
        }
        let next = self.last() + 1;
        let preparing = |(record, _): &(Record, _)| matches!(record, Record::Prepare { .. });
        let free = self.open.is_none() && !self.writing.values().any(preparing);
        match message {
            Message::Propose {
                attempt,
                n,
                ref ids,
                ref overdue,
            } => {
                if n != next || !free {
                    return wrong(format!(
                        "a proposal of batch {next}, after the end of the last"
                    ));
                }
                self.proposal = Some(Proposal {
                    attempt,
                    n,
                    ids: ids.clone(),
                });
                let have = host.have(ids);
                let lacking = (0..ids.len()).filter(|i| overdue.get(*i) && !have[*i]);
                let lacking: Vec<Id> = lacking.map(|i| ids[i]).collect();
                if lacking.is_empty() {
                    self.have(host, out);
                } else {
                    self.write(Record::Bar { ids: lacking }, out);
                }
            }
            Message::Barred { ref ids } => {
                if !ids.iter().all(|id| self.asked.contains(id)) {
                    return wrong("ids that this server asked to bar".to_owned());
                }
                let ids = ids.clone();
                self.write(Record::Expire { ids }, out);
            }
            Message::Prepare {
                n,
                digest,
                ref chosen,
            } => {
                if let Some(open) = self.open.as_ref().filter(|open| open.n == n) {
                    if open.digest != digest {
                        return Err(self.differs(
                            n,
                            described(&open.digest, None),
                            described(&digest, None),
                        ));
                    }
                    let message = prepared(n, digest, open.refused.clone());
                    self.send(message, out);
                    return Ok(());
                }
                if n != next || !free {
                    return wrong(format!("batch {next}, after the end of the last"));
                }
                let ids = match chosen {
                    Chosen::Ids(ids) => ids.clone(),
                    Chosen::Of { attempt, bits } => {
                        let proposal = self.proposal.take();
                        let Some(Proposal { ids, .. }) = proposal.filter(|proposal| {
                            proposal.attempt == *attempt && proposal.ids.len() == bits.len()
                        }) else {
                            return wrong("a batch of the last proposal".to_owned());
                        };
                        let chosen = (0..ids.len()).filter(|i| bits.get(*i));
                        chosen.map(|i| ids[i]).collect()
                    }
                };
                if batch_digest(&self.kind, n, &ids) != digest || ids.is_empty() {
                    return wrong("submissions with the digest that goes with them".to_owned());
                }
                self.proposal = None;
                let refused = host.refuses(n, &ids).map(|reason| shortened(&reason));
                self.write(Record::Prepare { n, ids, refused }, out);
            }
            Message::Run { n, run } => {
                let known = |open: &&Batch| {
                    open.n == n && open.refused.is_none() && run > open.done.max(open.run)
                };
                let Some(open) = self.open.as_ref().filter(known) else {
                    return wrong("a new run of the batch that is prepared".to_owned());
                };
                let (name, ids) = (run_name(&open.digest, run), open.ids.clone());
                self.stop_job(out);
                if let Some(open) = &mut self.open {
                    open.run = run;
                }
                self.running = Some(run);
                out.push(Action::StartJob { n, run, name, ids });
            }
            Message::End {
                n,
                digest,
                ref outcome,
            } => return self.end(n, digest, outcome, out),
            _ => return wrong("a message of the leader".to_owned()),
        }
        Ok(())
    }

    /// Answers the proposal from what is on disk now.
    pub(super) fn have(&mut self, host: &dyn Host, out: &mut Vec<Action>) {
        let Some(Proposal { attempt, n, ids }) = &self.proposal else {
            return;
        };
        let have = host.have(ids);
        let proposed = |id: &Id| ids.binary_search(id).is_ok();
        let overdue = host.overdue(self.past, &proposed, MAX_OVERDUE);
        // Those that the leader does not bar do not keep others from being told of.
        self.past = overdue
            .last()
            .copied()
            .filter(|_| overdue.len() == MAX_OVERDUE);
        let overdue: Vec<Id> = overdue.into_iter().map(|(_, id)| id).collect();
        self.asked.extend(&overdue);
        let message = Message::Have {
            attempt: *attempt,
            n: *n,
            least: host.least(),
            have: Bits::new(have.into_iter()),
            overdue,
        };
        self.send(message, out);
    }

    fn end(
        &mut self,
        n: u64,
        digest: Digest256,
        outcome: &Outcome,
        out: &mut Vec<Action>,
    ) -> Result<(), Contradiction> {
        let theirs = described(&digest, Some(outcome));
        if let Some(closed) = self.closed.as_ref().filter(|closed| closed.n == n) {
            if closed.digest != digest || closed.outcome != *outcome {
                let ours = described(&closed.digest, Some(&closed.outcome));
                return Err(self.differs(n, ours, theirs));
            }
            self.send(Message::Ended { n }, out);
            return Ok(());
        }
        let has_results = |open: &Batch| match outcome {
            Outcome::Final { run } => open.done == *run && open.refused.is_none(),
            Outcome::Failed { .. } => true,
        };
        match &self.open {
            Some(open) if open.n == n && open.digest == digest && has_results(open) => {
                self.stop_job(out);
                let outcome = outcome.clone();
                self.write(Record::End { n, outcome }, out);
                Ok(())
            }
            Some(open) => {
                let ours = described(&open.digest, None);
                let done = open.done;
                Err(self.differs(n, format!("{ours} and results of run {done}"), theirs))
            }
            None => Err(self.differs(n, "not there".to_owned(), theirs)),
        }
    }

    fn differs(&self, n: u64, here: String, leader: String) -> Contradiction {
        let kind = self.kind.clone();
        Contradiction::Order {
            kind,
            from: LEADER,
            came: format!("batch {n}, {leader}"),
            expected: format!("what is on disk here ({here})"),
        }
    }
}
