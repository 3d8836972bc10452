//! Proposals: which of the leader's accepted submissions all servers have.

use std::sync::Arc;

use super::bits::Bits;
use super::message::Message;
use super::outcome::MAX_IDS;
use super::types::Host;
use crate::submission::Id;

/// Ids that the leader asks the followers about.
#[derive(Debug)]
pub(super) struct Proposal {
    /// Number in its session.
    pub(super) attempt: u64,
    /// Number of the batch.
    n: u64,
    /// In order.
    ids: Arc<[Id]>,
    /// One for each id: its place among the accepted ones, oldest first.
    age: Vec<u32>,
    /// One for each id.
    overdue: Vec<bool>,
    /// One for each id: whether all that answered have it.
    common: Vec<bool>,
    /// One for each follower.
    answered: Vec<bool>,
    /// The strictest of the servers.
    least: u64,
}

/// End of a proposal.
pub(super) struct Concluded {
    /// Overdue ids that some follower lacks: it has promised to do so for ever.
    pub(super) expired: Vec<Id>,
    /// Number of ids that all servers have, and of those that there must be.
    pub(super) common: usize,
    pub(super) least: u64,
    /// The batch: its ids, and their places in the proposal. Nothing if they are too few.
    pub(super) batch: Option<(Arc<[Id]>, Bits)>,
}

impl Proposal {
    /// All that the leader has accepted and no batch has taken, for batch `n`.
    pub(super) fn new(host: &dyn Host, attempt: u64, n: u64, followers: usize) -> Self {
        let mut accepted: Vec<_> = host.accepted().into_iter().zip(0_u32..).collect();
        accepted.truncate(MAX_IDS);
        accepted.sort_unstable();
        accepted.dedup_by_key(|((id, _), _)| *id);
        Self {
            attempt,
            n,
            ids: accepted.iter().map(|((id, _), _)| *id).collect(),
            age: accepted.iter().map(|(_, age)| *age).collect(),
            overdue: accepted.iter().map(|((_, overdue), _)| *overdue).collect(),
            common: vec![true; accepted.len()],
            answered: vec![false; followers],
            least: host.least().max(1),
        }
    }

    /// The question to a follower.
    pub(super) fn message(&self) -> Message {
        Message::Propose {
            attempt: self.attempt,
            n: self.n,
            ids: self.ids.clone(),
            overdue: Bits::new(self.overdue.iter().copied()),
        }
    }

    /// Takes the answer of a follower; nothing if it is none to this proposal, else whether it was the last one.
    pub(super) fn answer(&mut self, follower: usize, answer: &Message) -> Option<bool> {
        let Message::Have {
            attempt,
            n,
            least,
            have,
            ..
        } = answer
        else {
            return None;
        };
        let fits = (*attempt, *n) == (self.attempt, self.n) && have.len() == self.ids.len();
        if !fits || std::mem::replace(self.answered.get_mut(follower)?, true) {
            return None;
        }
        for (i, common) in self.common.iter_mut().enumerate() {
            *common &= have.get(i);
        }
        self.least = self.least.max(*least);
        Some(self.answered.iter().all(|answered| *answered))
    }

    /// Takes what all servers have, the oldest first, `most` at most.
    pub(super) fn conclude(self, most: usize) -> Concluded {
        let all = 0..self.ids.len();
        let lacking = |i: &usize| self.overdue[*i] && !self.common[*i];
        let expired = all.clone().filter(lacking).map(|i| self.ids[i]);
        let expired = expired.collect();
        let mut chosen: Vec<usize> = all.clone().filter(|i| self.common[*i]).collect();
        let common = chosen.len();
        if chosen.len() > most {
            chosen.sort_unstable_by_key(|i| self.age[*i]);
            chosen.truncate(most);
            chosen.sort_unstable();
        }
        let enough = chosen.len() as u64 >= self.least;
        let batch = enough.then(|| {
            let mut bits = vec![false; self.ids.len()];
            chosen.iter().for_each(|i| bits[*i] = true);
            let ids = chosen.iter().map(|i| self.ids[*i]).collect();
            (ids, Bits::new(bits.into_iter()))
        });
        Concluded {
            expired,
            common,
            least: self.least,
            batch,
        }
    }
}
