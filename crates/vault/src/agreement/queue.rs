//! Order in which the leader asks the followers about its submissions.
//!
//! A proposal is a window of some ids, never all that wait: its work is that of a batch. Each id is read from the disk once, by its order there. Those that
//! all servers have and that found no place in the batch are the next one's. Those that a follower lacks are asked about again, after a longer time at
//! each try, and in a part of the window alone, so that whoever uploads to the leader alone holds up nobody. Where the window has room they are asked
//! about earlier. All of this is in memory: after a restart the leader reads from the beginning.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::types::{Host, Rules, Waiting};

/// An id waits at most two to this power proposals for its next turn.
const PATIENCE: u32 = 10;

/// An id that is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) waiting: Waiting,
    /// Number of proposals in which a follower lacked it.
    pub(super) tries: u32,
}

/// Ids that are to be asked about.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Order of the last id that was read from the disk.
    read: u64,
    /// Whether there was more on the disk after it.
    more: bool,
    /// Order up to which ids were read again, while that goes on because some were forgotten.
    again: Option<u64>,
    /// Ids that all servers had, in their order, for which a batch had no room.
    ready: VecDeque<Waiting>,
    /// Whether the last proposal made no batch: others are needed than those that are ready.
    stuck: bool,
    /// Ids that a follower lacked, by their order, with the proposal from which on they are due.
    lacking: BTreeMap<u64, (Asked, u64)>,
    /// Lacking ids by when they are due, and by their order.
    due: BTreeSet<(u64, u64)>,
    /// Whether ids were forgotten, because there were too many.
    forgot: bool,
    /// Number of proposals so far.
    proposals: u64,
    /// The most ids that are remembered because a follower lacks them, and because a batch had no room for them.
    most_lacking: usize,
    most_ready: usize,
}

impl Queue {
    pub(super) fn new(rules: &Rules) -> Self {
        Self {
            most_lacking: rules.lacking.max(1),
            most_ready: rules.lacking.max(rules.window()),
            ..Self::default()
        }
    }

    /// Ids of the next proposal. Whoever takes them gives back all that no batch takes.
    pub(super) fn take(&mut self, host: &dyn Host, rules: &Rules) -> Vec<Asked> {
        let (most, window) = (rules.most, rules.window());
        self.proposals += 1;
        self.more = false;
        let mut asked = Vec::new();
        let room = if self.stuck { window / 2 } else { most };
        while asked.len() < room && !self.ready.is_empty() {
            let count = self.ready.len().min(room - asked.len());
            let some: Vec<Waiting> = self.ready.drain(..count).collect();
            let still = host.still(&some).into_iter().zip(some);
            let still = still.filter_map(|(still, waiting)| still.then_some(waiting));
            asked.extend(still.map(|waiting| Asked { waiting, tries: 0 }));
        }
        if asked.len() >= most && !self.stuck {
            return asked;
        }
        self.retry(host, (window / 4).max(1), Some(self.proposals), &mut asked);
        self.fresh(host, window.saturating_sub(asked.len()), &mut asked);
        self.retry(host, window.saturating_sub(asked.len()), None, &mut asked);
        asked
    }

    /// Reads on; where there is nothing new, once more what was forgotten.
    fn fresh(&mut self, host: &dyn Host, most: usize, asked: &mut Vec<Asked>) {
        let mut fresh = host.waiting(self.read, most);
        self.more = fresh.len() == most && most > 0;
        self.read = fresh.last().map_or(self.read, |last| last.order);
        if self.again.is_none() && self.forgot {
            (self.again, self.forgot) = (Some(0), false);
        }
        if let Some(again) = self.again
            && fresh.len() < most
        {
            let old = host.waiting(again, most - fresh.len());
            let last = old.last().map(|last| last.order);
            self.again = last.filter(|last| *last < self.read);
            let known: BTreeSet<u64> = asked.iter().map(|one| one.waiting.order).collect();
            let new: BTreeSet<u64> = fresh.iter().map(|one| one.order).collect();
            fresh.extend(old.into_iter().filter(|Waiting { order, .. }| {
                let lacking = self.lacking.contains_key(order);
                !lacking && !known.contains(order) && !new.contains(order)
            }));
        }
        asked.extend(fresh.into_iter().map(|waiting| Asked { waiting, tries: 0 }));
    }

    /// Takes ids again that a follower lacked: those that are due by a proposal, or all, whichever is due first.
    fn retry(&mut self, host: &dyn Host, most: usize, by: Option<u64>, asked: &mut Vec<Asked>) {
        let mut some = Vec::new();
        while some.len() < most
            && let Some(&(due, order)) = self.due.first()
            && by.is_none_or(|by| due <= by)
        {
            self.due.pop_first();
            some.extend(self.lacking.remove(&order).map(|(asked, _)| asked));
        }
        let waiting: Vec<Waiting> = some.iter().map(|one| one.waiting).collect();
        let still = host.still(&waiting).into_iter().zip(some);
        asked.extend(still.filter_map(|(still, one)| still.then_some(one)));
    }

    /// Takes ids back, in their order, that all servers had and that are in no batch; whether there is none.
    pub(super) fn ready(&mut self, ids: impl DoubleEndedIterator<Item = Waiting>, stuck: bool) {
        self.stuck = stuck;
        ids.rev().for_each(|one| self.ready.push_front(one));
        if self.ready.len() > self.most_ready {
            self.ready.truncate(self.most_ready);
            self.forgot = true;
        }
    }

    /// Takes an id back that a follower lacked.
    pub(super) fn lacked(&mut self, asked: Asked) {
        let tries = asked.tries.saturating_add(1);
        let due = self.proposals + (1 << tries.min(PATIENCE));
        self.wait(Asked { tries, ..asked }, due);
    }

    /// Takes ids back about which the session's end left open who has them, and those of the ready ones: a follower may be another one now.
    pub(super) fn lost(&mut self, asked: impl Iterator<Item = Asked>) {
        asked.for_each(|one| self.wait(one, 0));
        for waiting in std::mem::take(&mut self.ready) {
            self.wait(Asked { waiting, tries: 0 }, 0);
        }
    }

    fn wait(&mut self, asked: Asked, due: u64) {
        let order = asked.waiting.order;
        self.lacking.insert(order, (asked, due));
        self.due.insert((due, order));
        if self.lacking.len() > self.most_lacking
            && let Some((_, last)) = self.due.pop_last()
        {
            self.lacking.remove(&last);
            self.forgot = true;
        }
    }

    /// Whether there are ids on the disk that were never read.
    pub(super) fn more(&self) -> bool {
        self.more
    }
}
