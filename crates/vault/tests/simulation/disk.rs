//! A server's disk in the simulation: what was synced survives, of the rest a crash leaves a part from its beginning.

use std::collections::{BTreeMap, VecDeque};

use madrigal_vault::Id;
use madrigal_vault::agreement::{Batch, Closed, Outcome, Record, Restored, Waiting, batch_digest};

use super::shadow::Shadow;
use crate::random::Random;

/// State of an id at a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Accepted { at: u64, order: u64 },
    InBatch { n: u64 },
    Ended { n: u64 },
    Expired,
}

/// Something on its way to the disk.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Accept { id: Id, at: u64 },
    Results { n: u64, run: u32, value: u64 },
    Record { token: u64, record: Record },
}

/// What an operation came to, once it is synced.
#[derive(Debug)]
pub(crate) enum Ack {
    /// Whether the id is kept: a receipt.
    Accepted {
        id: Id,
        kept: bool,
    },
    Written {
        token: u64,
        ids: Vec<Id>,
    },
    NotWritten {
        token: u64,
        reason: String,
    },
    Nothing,
}

/// What is synced.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    pub(crate) ids: BTreeMap<Id, State>,
    pub(crate) history: Vec<Closed>,
    pub(crate) open: Option<Batch>,
    /// Order of the last submission that was accepted.
    pub(crate) order: u64,
    /// Values of results by batch and run.
    pub(crate) results: BTreeMap<(u64, u32), u64>,
    pub(crate) waiting: VecDeque<Op>,
    /// A real vault, to which all that is synced is done too.
    pub(crate) shadow: Option<Shadow>,
}

pub(crate) const KIND: &str = "votes";

impl Disk {
    /// A copy of what is synced, as somebody makes it who means to put it back some day.
    pub(crate) fn copy(&self) -> Self {
        Self {
            ids: self.ids.clone(),
            history: self.history.clone(),
            open: self.open.clone(),
            results: self.results.clone(),
            order: self.order,
            ..Self::default()
        }
    }

    /// Syncs the first of what waits.
    pub(crate) fn sync(&mut self) -> Option<Ack> {
        let op = self.waiting.pop_front()?;
        Some(self.apply(op))
    }

    /// Loses power: some of what waits may have come to the disk, and nobody heard of it.
    pub(crate) fn crash(&mut self, random: &mut Random) {
        let kept = random.below(self.waiting.len() + 1);
        for _ in 0..kept {
            self.sync();
        }
        self.waiting.clear();
    }

    pub(crate) fn restored(&self) -> Restored {
        Restored {
            closed: self.history.last().cloned(),
            open: self.open.clone(),
        }
    }

    pub(crate) fn accepted(&self) -> impl Iterator<Item = (Id, u64)> {
        self.ids.iter().filter_map(|(id, state)| match state {
            State::Accepted { at, .. } => Some((*id, *at)),
            _ => None,
        })
    }

    /// Submissions that wait, in the order in which they were accepted.
    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        let waiting = self.ids.iter().filter_map(|(id, state)| match *state {
            State::Accepted { at, order } => Some(Waiting { id: *id, order, at }),
            _ => None,
        });
        let mut waiting: Vec<Waiting> = waiting.collect();
        waiting.sort_unstable_by_key(|one| one.order);
        waiting
    }

    fn apply(&mut self, op: Op) -> Ack {
        match op {
            Op::Accept { id, at } => {
                let state = self.ids.entry(id).or_insert_with(|| {
                    self.order += 1;
                    let order = self.order;
                    State::Accepted { at, order }
                });
                let kept = *state != State::Expired;
                if let Some(shadow) = &self.shadow {
                    shadow.accept(id, at, kept);
                }
                Ack::Accepted { id, kept }
            }
            Op::Results { n, run, value } => {
                self.results.insert((n, run), value);
                if let Some(shadow) = &self.shadow {
                    shadow.results(n, run, value);
                }
                Ack::Nothing
            }
            Op::Record { token, record } => {
                let done = self.record(record.clone());
                if let Some(shadow) = &self.shadow {
                    shadow.record(record, &done);
                    shadow.compare(self);
                }
                match done {
                    Ok(ids) => Ack::Written { token, ids },
                    Err(reason) => Ack::NotWritten { token, reason },
                }
            }
        }
    }

    fn record(&mut self, record: Record) -> Result<Vec<Id>, String> {
        match record {
            Record::Prepare { n, ids, refused } => {
                if self.open.is_some() || n != self.history.len() as u64 + 1 {
                    return Err(format!("batch {n} is not the next"));
                }
                for id in ids.iter() {
                    let state = self.ids.get(id);
                    if !matches!(state, Some(State::Accepted { .. })) {
                        return Err(format!("{:?} in batch {n}", state));
                    }
                }
                for id in ids.iter() {
                    self.ids.insert(*id, State::InBatch { n });
                }
                let digest = batch_digest(KIND, n, &ids);
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
            Record::Run { n, run, broken } => {
                let open = self.open.as_mut().filter(|open| open.n == n);
                let open = open.ok_or("a run of no batch")?;
                (open.run, open.broken) = (run, broken);
            }
            Record::RunDone { n, run } => {
                if !self.results.contains_key(&(n, run)) {
                    return Err(format!("no results of run {run}"));
                }
                let open = self.open.as_mut().filter(|open| open.n == n);
                let open = open.ok_or("results of no batch")?;
                open.done = open.done.max(run);
                self.results.retain(|of, _| of.0 != n || of.1 >= run);
            }
            Record::End { n, outcome } => {
                let open = self.open.take().filter(|open| open.n == n);
                let open = open.ok_or("the end of no batch")?;
                for id in open.ids.iter() {
                    self.ids.insert(*id, State::Ended { n });
                }
                let counts = match outcome {
                    Outcome::Final { run } => run,
                    Outcome::Failed { .. } => 0,
                };
                self.results.retain(|of, _| of.0 != n || of.1 == counts);
                self.history.push(Closed {
                    n,
                    ids: open.ids,
                    digest: open.digest,
                    outcome,
                });
            }
            Record::Bar { ids } => {
                let mut barred = ids;
                barred
                    .retain(|id| *self.ids.entry(*id).or_insert(State::Expired) == State::Expired);
                return Ok(barred);
            }
            Record::Expire { ids } => {
                for id in ids {
                    if let Some(state @ State::Accepted { .. }) = self.ids.get_mut(&id) {
                        *state = State::Expired;
                    }
                }
            }
        }
        Ok(Vec::new())
    }
}
