//! A server in the simulation: its machine, its disk, the job that it computes.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use madrigal_core::{Digest256, Party};
use madrigal_vault::Id;
use madrigal_vault::agreement::{Action, Event, Host, Machine, Outcome, Record, Rules, Waiting};

use super::disk::{Disk, KIND, Op, State};
use crate::random::Random;

/// What is left out on purpose, to see that the simulation finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    /// The leader sends a batch before it is on its disk.
    LeaderPrepareUnsynced,
    /// The leader never writes a batch down.
    IntersectionUnpersisted,
    /// The leader begins a run whose number is not on its disk.
    RunUnsynced,
    /// The leader sends an end that is not on its disk.
    LeaderEndUnsynced,
    /// A follower says Prepared, or Refused, before it is on its disk.
    FollowerPrepareUnsynced,
    /// A server says Done before the results are on its disk.
    DoneUnsynced,
    /// A follower says Ended before it is.
    FollowerEndUnsynced,
    /// A follower that loses the session after Done ends the batch by itself.
    FollowerEndsAlone,
    /// A server lets overdue ids expire by its clock alone.
    ExpireAlone,
    /// A follower lets overdue ids expire that the leader does not propose, without a bar at the leader.
    ExpireUnproposed,
    /// A bar is told before it is on disk.
    BarUnsynced,
    /// A receipt is given before it is on disk.
    ReceiptUnsynced,
    /// A follower answers for ids that are not on its disk yet.
    HaveUnsynced,
    /// A follower forgets that its policy refused.
    RefusalForgotten,
}

/// A run that a server computes.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) n: u64,
    pub(crate) run: u32,
    pub(crate) name: Digest256,
    pub(crate) generation: u64,
}

pub(crate) struct Node {
    pub(crate) index: usize,
    pub(crate) machine: Machine,
    pub(crate) disk: Disk,
    pub(crate) alive: bool,
    /// Session that the machine was told of last.
    pub(crate) told: Option<u64>,
    pub(crate) job: Option<Job>,
    /// Events of the server itself that the machine gets next.
    pub(crate) events: VecDeque<Event>,
}

/// What a machine hears of its server.
pub(crate) struct View<'a> {
    disk: &'a Disk,
    now: u64,
    least: u64,
    refuses: Option<usize>,
    random: RefCell<&'a mut Random>,
    sabotage: Option<Sabotage>,
}

/// How old an accepted id is when it is overdue.
pub(crate) const OVERDUE: u64 = 20;

impl Host for View<'_> {
    fn waiting(&self, above: u64, most: usize) -> Vec<Waiting> {
        let mut waiting = self.disk.waiting();
        waiting.retain(|one| one.order > above);
        waiting.truncate(most);
        waiting
    }

    fn still(&self, waiting: &[Waiting]) -> Vec<bool> {
        let still = |one: &Waiting| {
            let (at, order) = (one.at, one.order);
            self.disk.ids.get(&one.id) == Some(&State::Accepted { at, order })
        };
        waiting.iter().map(still).collect()
    }

    fn is_overdue(&self, at: u64) -> bool {
        at + OVERDUE <= self.now
    }

    fn have(&self, ids: &[Id]) -> Vec<bool> {
        let unsynced = |id: &Id| {
            let hasty = self.sabotage == Some(Sabotage::HaveUnsynced);
            let same =
                |op: &Op| matches!(op, Op::Accept { id: on_its_way, .. } if on_its_way == id);
            hasty && !self.disk.ids.contains_key(id) && self.disk.waiting.iter().any(same)
        };
        let accepted: std::collections::BTreeMap<Id, u64> = self.disk.accepted().collect();
        ids.iter()
            .map(|id| accepted.contains_key(id) || unsynced(id))
            .collect()
    }

    fn overdue(
        &self,
        past: Option<(u64, Id)>,
        but: &dyn Fn(&Id) -> bool,
        most: usize,
    ) -> Vec<(u64, Id)> {
        let mut overdue: Vec<(u64, Id)> = self.disk.accepted().map(|(id, at)| (at, id)).collect();
        overdue.retain(|(at, id)| self.is_overdue(*at) && !but(id));
        overdue.sort_unstable();
        overdue.retain(|one| past.is_none_or(|past| *one > past));
        overdue.truncate(most);
        overdue
    }

    fn least(&self) -> u64 {
        self.least
    }

    fn refuses(&self, _: u64, _: &[Id]) -> Option<String> {
        let times = self.refuses?;
        self.random
            .borrow_mut()
            .one_in(times)
            .then(|| "policy".to_owned())
    }
}

/// Circumstances of an event.
pub(crate) struct Around<'a> {
    pub(crate) now: u64,
    pub(crate) least: u64,
    /// One batch in this many is refused.
    pub(crate) refuses: Option<usize>,
    pub(crate) random: &'a mut Random,
    pub(crate) sabotage: Option<Sabotage>,
}

impl Node {
    pub(crate) fn new(index: usize, parties: usize, rules: Rules, disk: Disk) -> Self {
        let me = Party::new(index);
        let machine = Machine::new(KIND, me, parties, rules, disk.restored());
        Self {
            index,
            machine,
            disk,
            alive: true,
            told: None,
            job: None,
            events: VecDeque::new(),
        }
    }

    pub(crate) fn handle(&mut self, event: Event, around: Around<'_>) -> Vec<Action> {
        let view = View {
            disk: &self.disk,
            now: around.now,
            least: around.least,
            refuses: around.refuses,
            random: RefCell::new(around.random),
            sabotage: around.sabotage,
        };
        self.machine.handle(event, &view)
    }

    /// Hands a record to the disk.
    pub(crate) fn write(&mut self, token: u64, record: Record, sabotage: Option<Sabotage>) {
        let leads = self.index == 0;
        let early = match (sabotage, &record) {
            (Some(Sabotage::LeaderPrepareUnsynced), Record::Prepare { .. }) => leads,
            (Some(Sabotage::RunUnsynced), Record::Run { .. }) => leads,
            (Some(Sabotage::LeaderEndUnsynced), Record::End { .. }) => leads,
            (Some(Sabotage::FollowerPrepareUnsynced), Record::Prepare { .. }) => !leads,
            (Some(Sabotage::DoneUnsynced), Record::RunDone { .. }) => true,
            (Some(Sabotage::FollowerEndUnsynced), Record::End { .. }) => !leads,
            (Some(Sabotage::IntersectionUnpersisted), Record::Prepare { .. }) if leads => {
                let ids = Vec::new();
                self.events.push_back(Event::Written { token, ids });
                return;
            }
            (Some(Sabotage::BarUnsynced), Record::Bar { ids }) => {
                let missing = |id: &&Id| {
                    let state = self.disk.ids.get(*id);
                    state.is_none_or(|state| *state == State::Expired)
                };
                let ids = ids.iter().filter(missing).copied().collect();
                self.events.push_back(Event::Written { token, ids });
                false
            }
            _ => false,
        };
        if early {
            let ids = Vec::new();
            self.events.push_back(Event::Written { token, ids });
        }
        let record = match record {
            Record::Prepare { n, ids, .. } if sabotage == Some(Sabotage::RefusalForgotten) => {
                let ids: Arc<[Id]> = ids;
                let refused = None;
                Record::Prepare { n, ids, refused }
            }
            record => record,
        };
        self.disk.waiting.push_back(Op::Record { token, record });
    }

    /// Ends a batch without the leader, as no follower does.
    pub(crate) fn end_alone(&mut self) {
        let Some(open) = self.disk.open.as_ref().filter(|open| open.done > 0) else {
            return;
        };
        let (n, run) = (open.n, open.done);
        let outcome = Outcome::Final { run };
        let record = Record::End { n, outcome };
        let token = u64::MAX;
        self.disk.waiting.push_front(Op::Record { token, record });
        self.disk.sync();
    }

    /// Lets overdue ids expire by the clock alone, as no server does.
    pub(crate) fn expire_alone(&mut self, now: u64, but: &[Id]) {
        let overdue = |(id, at): &(Id, u64)| at + OVERDUE <= now && !but.contains(id);
        let overdue = self.disk.accepted().filter(overdue);
        let ids = overdue.map(|(id, _)| id).collect();
        let token = u64::MAX;
        let record = Record::Expire { ids };
        self.disk.waiting.push_front(Op::Record { token, record });
        self.disk.sync();
    }
}
