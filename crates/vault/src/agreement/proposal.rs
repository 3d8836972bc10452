//! Proposals: which of the leader's accepted submissions all servers have.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bits::Bits;
use super::message::Message;
use super::queue::Asked;
use super::types::Host;
use crate::submission::Id;

/// Ids that the leader asks the followers about.
#[derive(Debug)]
pub(super) struct Proposal {
    /// Number in its session.
    pub(super) attempt: u64,
    /// Number of the batch.
    n: u64,
    /// Whether a batch may come of it, or overdue ids alone expire.
    batch: bool,
    /// In order of their ids.
    asked: Vec<Asked>,
    ids: Arc<[Id]>,
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
    /// Whether a batch could come of it.
    pub(super) looked: bool,
    /// Overdue ids that some follower lacks: it has promised to do so for ever.
    pub(super) expired: Vec<Id>,
    /// Ids that some follower lacks, and that are not overdue.
    pub(super) lacked: Vec<Asked>,
    /// Ids that all servers have and no batch takes: first those of groups of which a batch must have one, then the others in their order.
    pub(super) left: Vec<Asked>,
    /// Number of ids that all servers have, and of those that there must be.
    pub(super) common: usize,
    pub(super) least: u64,
    /// The batch: its ids, and their places in the proposal. Nothing if they are too few.
    pub(super) chosen: Option<(Arc<[Id]>, Bits)>,
}

impl Proposal {
    /// A question about some ids, for batch `n`, if any batch may come of it.
    pub(super) fn new(
        host: &dyn Host,
        (attempt, n): (u64, u64),
        batch: bool,
        mut asked: Vec<Asked>,
        followers: usize,
    ) -> Self {
        asked.sort_unstable_by_key(|one| one.waiting.id);
        asked.dedup_by_key(|one| one.waiting.id);
        Self {
            attempt,
            n,
            batch,
            ids: asked.iter().map(|one| one.waiting.id).collect(),
            overdue: (asked.iter().map(|one| host.is_overdue(one.waiting.at))).collect(),
            common: vec![true; asked.len()],
            asked,
            answered: vec![false; followers],
            least: host.least().max(1),
        }
    }

    /// Whether a batch may come of it.
    pub(super) fn is_for_batch(&self) -> bool {
        self.batch
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

    /// Takes what all servers have, `most` at most: one of each group, and the first in order.
    pub(super) fn conclude(self, most: usize, groups: &[Vec<usize>]) -> Concluded {
        let (mut expired, mut lacked, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for (i, one) in self.asked.iter().enumerate() {
            match (self.common[i], self.overdue[i]) {
                (true, _) => all.push(i),
                (false, true) => expired.push(one.waiting.id),
                (false, false) => lacked.push(*one),
            }
        }
        let order = |i: &usize| self.asked[*i].waiting.order;
        let is_common = |i: &&usize| self.common.get(**i).is_some_and(|common| *common);
        let needed = groups.iter().map(|group| {
            let common = group.iter().filter(is_common).copied();
            common.min_by_key(order)
        });
        let needed: Option<BTreeSet<usize>> = needed.collect();
        let wanted: BTreeSet<usize> = groups.iter().flatten().copied().collect();
        let firsts = needed.clone().unwrap_or_default();
        // The needed ones, then all others in their order.
        all.sort_unstable_by_key(|i| (!firsts.contains(i), order(i)));
        let common = all.len();
        let count = common.min(most);
        let enough =
            self.batch && count as u64 >= self.least && needed.is_some() && firsts.len() <= most;
        let mut left = all.split_off(if enough { count } else { 0 });
        left.sort_unstable_by_key(|i| (!wanted.contains(i), order(i)));
        let chosen = enough.then(|| {
            all.sort_unstable();
            let mut bits = vec![false; self.ids.len()];
            all.iter().for_each(|i| bits[*i] = true);
            let ids = all.iter().map(|i| self.ids[*i]).collect();
            (ids, Bits::new(bits.into_iter()))
        });
        Concluded {
            looked: self.batch,
            expired,
            lacked,
            left: left.iter().map(|i| self.asked[*i]).collect(),
            common,
            least: self.least,
            chosen,
        }
    }

    /// The ids, in order.
    pub(super) fn ids(&self) -> &[Id] {
        &self.ids
    }

    /// Ids of a proposal that comes to nothing.
    pub(super) fn unanswered(self) -> impl Iterator<Item = Asked> {
        // Those that were looked at for their age alone are where they were.
        self.asked.into_iter().filter(move |_| self.batch)
    }
}
