//! On which strand a task goes, and how far all strands together may run ahead of a party that is late.
//!
//! A party may be at work online while another one is still busy with its setup, and has opened none of
//! the strands' channels. What it is sent until then it has to keep, and what it keeps for steps that it
//! has not opened is bounded for the whole session: beyond that it takes the sender for hostile. So the
//! plan bounds what all strands can have sent before they wait for an answer.

use std::cmp::Reverse;

use madrigal_core::time::FIRST_WINDOW;
use madrigal_core::{Party, PhaseCost};

use crate::bill::PhaseBill;

/// The most strands of a program. Each costs channels to all peers, for each protocol that it uses.
const MAX_STRANDS: usize = 256;
/// Bytes that all strands together send a peer before it has opened them: with as many of the setup's,
/// what a session keeps by default.
const UNHEARD: u64 = 128 << 20;
/// Preparations of a strand that are under way at once, each with channels of its own: those whose results are
/// known before they end, so that a chain of them takes a few rounds. All others go one after the other.
pub(crate) const PREPARERS: usize = 8;
/// Preparer of preparations that send more than `SHORT` before they wait; shorter ones go to the preparers after it.
const LONG_PREPARER: usize = 1;
/// Bytes.
const SHORT: u64 = 256 << 10;
const SHORT_PREPARERS: u64 = (PREPARERS - LONG_PREPARER - 1) as u64;
/// Protocols that one strand sends in one way in, at most: each has a window of its own.
const WAYS: u64 = 3;
/// The most strands that send in one way, where all of them together send more than a peer keeps: each may fill all of its
/// windows. With more strands, all but one would be full before that one takes the rest by itself.
const ONE_WAY_STRANDS: usize = (UNHEARD / (WAYS * FIRST_WINDOW)) as usize;

/// Bytes that a task sends a peer before it waits for anything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lead {
    /// Bytes of the longest message, within a window.
    bytes: u64,
    /// A party sends and gets nothing back: it goes on to the next task.
    one_way: bool,
    /// The preparation beside others, if its results are known before it ends: others do not wait for it.
    beside: Option<Beside>,
}

/// Bytes that such a preparation sends before it waits, and how often it does.
#[derive(Clone, Copy, Debug)]
struct Beside {
    bytes: u64,
    rounds: u64,
}

/// Rounds of what the preparers of a strand have to do.
pub(crate) type Busy = [u64; PREPARERS];

impl Lead {
    /// Lead of a task's setup and of its online part, which may come at the same time. `known`: whether its results are
    /// known before its setup ends.
    pub(crate) fn of(phases: [&PhaseBill; 2], known: bool) -> Self {
        let [setup, online] = phases.map(Self::of_phase);
        if known && !setup.one_way {
            let rounds = |party| phases[0].clock.of(party);
            let beside = Beside {
                bytes: setup.bytes,
                rounds: Party::all(phases[0].costs.len())
                    .map(rounds)
                    .max()
                    .unwrap_or(0),
            };
            return Self {
                beside: Some(beside),
                ..online
            };
        }
        Self {
            bytes: (setup.bytes + online.bytes).min(FIRST_WINDOW),
            one_way: setup.one_way || online.one_way,
            beside: None,
        }
    }

    /// Who prepares a task, the next one of its strand.
    pub(crate) fn preparer(self, busy: &mut Busy) -> usize {
        let Some(Beside { bytes, rounds }) = self.beside else {
            return 0;
        };
        let who = match bytes > SHORT {
            true => LONG_PREPARER,
            false => {
                let short = LONG_PREPARER + 1..PREPARERS;
                short.min_by_key(|&who| busy[who]).expect("there are some")
            }
        };
        busy[who] += rounds;
        who
    }

    fn of_phase(phase: &PhaseBill) -> Self {
        let one_way = |cost: &PhaseCost| cost.bytes_sent > 0 && cost.bytes_received == 0;
        let one_way = phase.costs.iter().any(one_way);
        let links = phase.link_bytes.iter().copied().max().unwrap_or(0);
        let bytes = if one_way {
            links
        } else {
            phase.longest.min(links)
        };
        Self {
            bytes: bytes.min(FIRST_WINDOW),
            one_way,
            beside: None,
        }
    }
}

/// Strands as they are filled.
pub(crate) struct Strands {
    all: Vec<Strand>,
    /// Bytes that all of them can have sent before anything is heard.
    ahead: u64,
    /// The most strands that send in one way.
    one_way_most: usize,
}

#[derive(Clone, Copy, Default)]
struct Strand {
    /// When its last task ends.
    free: u64,
    one_way: u64,
    /// Bytes of the one of the other tasks that sends most.
    most: u64,
    /// Bytes of the longest preparation beside these; of those with short messages the sum, and the longest.
    most_beside: u64,
    short_beside: [u64; 2],
}

impl Strand {
    fn ahead(&self) -> u64 {
        let [short, most] = self.short_beside;
        let short = short.min(SHORT_PREPARERS * most);
        self.one_way + self.most + self.most_beside + short
    }

    fn with(mut self, lead: Lead) -> Self {
        if lead.one_way {
            self.one_way = (self.one_way + lead.bytes).min(WAYS * FIRST_WINDOW);
        } else {
            self.most = self.most.max(lead.bytes);
        }
        match lead.beside {
            Some(Beside { bytes, .. }) if bytes > SHORT => {
                self.most_beside = self.most_beside.max(bytes);
            }
            Some(Beside { bytes, .. }) => {
                let [all, most] = self.short_beside;
                self.short_beside = [all.saturating_add(bytes), most.max(bytes)];
            }
            None => {}
        }
        self
    }

    fn more(&self, lead: Lead) -> u64 {
        self.with(lead).ahead() - self.ahead()
    }
}

impl Strands {
    /// Strands for tasks with these leads.
    pub(crate) fn of(leads: impl Iterator<Item = Lead>) -> Self {
        let one_way = leads.filter(|lead| lead.one_way);
        let bytes = one_way.fold(0, |sum: u64, lead| sum.saturating_add(lead.bytes));
        Self {
            all: Vec::new(),
            ahead: 0,
            one_way_most: match bytes > UNHEARD {
                true => ONE_WAY_STRANDS,
                false => MAX_STRANDS,
            },
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Puts a task that is ready at `at` on a strand, for so long. Gives the strand, and when the task
    /// ends.
    pub(crate) fn put(&mut self, at: u64, lead: Lead, time: u64) -> (usize, u64) {
        let number = self.pick(at, lead);
        let strand = &mut self.all[number];
        self.ahead += strand.more(lead);
        *strand = strand.with(lead);
        strand.free = strand.free.max(at) + time;
        (number, strand.free)
    }

    /// A strand that is free at `at`, if need be a new one; else the one that is free first. Where all
    /// would run too far ahead, one that gets no further ahead by the task, or least.
    fn pick(&mut self, at: u64, lead: Lead) -> usize {
        let all_fit =
            self.ahead + lead.bytes + lead.beside.map_or(0, |beside| beside.bytes) <= UNHEARD;
        let one_way = self.all.iter().filter(|strand| strand.one_way > 0).count();
        let fits = |strand: &Strand| {
            let begins = lead.one_way && strand.one_way == 0;
            let may = !begins || one_way < self.one_way_most;
            may && (all_fit || self.ahead + strand.more(lead) <= UNHEARD)
        };
        let all = self.all.iter().enumerate();
        // The one that became free last: few strands have much to do, the others are not opened.
        let waiting = all
            .clone()
            .filter(|(_, strand)| strand.free <= at && fits(strand));
        if let Some((number, _)) =
            waiting.max_by_key(|(number, strand)| (strand.free, Reverse(*number)))
        {
            return number;
        }
        let new = Strand::default();
        if self.all.is_empty() || self.all.len() < MAX_STRANDS && fits(&new) {
            self.all.push(new);
            return self.all.len() - 1;
        }
        let first = |(number, strand): &(usize, &Strand)| (strand.free, *number);
        let fitting = all
            .clone()
            .filter(|(_, strand)| fits(strand))
            .min_by_key(first);
        // Those that get further ahead are few: what one way takes is bounded for each strand.
        let least = |(number, strand): &(usize, &Strand)| {
            let more = strand.more(lead);
            let ahead = if more > 0 { strand.ahead() } else { 0 };
            (more, Reverse(ahead), strand.free, *number)
        };
        let least = || all.min_by_key(least);
        let (number, _) = fitting.or_else(least).expect("there are strands");
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn lead(bytes: u64, one_way: bool) -> Lead {
        let beside = None;
        Lead {
            bytes,
            one_way,
            beside,
        }
    }

    /// Tasks that are all ready at once.
    fn strands(tasks: impl IntoIterator<Item = Lead>) -> Strands {
        let tasks: Vec<Lead> = tasks.into_iter().collect();
        let mut strands = Strands::of(tasks.iter().copied());
        for lead in tasks {
            strands.put(0, lead, 1000);
        }
        strands
    }

    #[test]
    fn short_messages_go_side_by_side() {
        let all = strands((0..300).map(|_| lead(1000, false)));
        assert_eq!((all.len(), all.ahead), (MAX_STRANDS, 256_000));
        // A strand that is free is taken again.
        let mut one = Strands::of(std::iter::empty());
        for turn in 0..10 {
            assert_eq!(one.put(turn * 1000, lead(1000, false), 1000).0, 0);
        }
    }

    #[test]
    fn long_messages_do_not_run_too_far_ahead() {
        for one_way in [false, true] {
            let all = strands((0..300).map(|_| lead(4 * MIB, one_way)));
            assert!(
                all.ahead <= UNHEARD + WAYS * FIRST_WINDOW,
                "{}",
                all.ahead / MIB
            );
            assert!(all.len() >= 8, "{}", all.len());
        }
        // Short ones first leave room for one long message at least.
        let short = (0..256).map(|_| lead(MIB / 2, false));
        let long = (0..50).map(|_| lead(4 * MIB, false));
        let all = strands(short.chain(long));
        assert!(all.ahead <= UNHEARD + 4 * MIB, "{}", all.ahead / MIB);
    }

    /// Blocks whose tables take more together than a peer keeps, as many at a time as threads want.
    #[test]
    fn much_that_goes_one_way_is_spread_evenly() {
        for at_once in [4, 16, 64] {
            let mut strands = Strands::of((0..2000).map(|_| lead(MIB, true)));
            let mut tasks = vec![0; MAX_STRANDS];
            let mut ends = vec![0; at_once];
            for task in 0..2000 {
                let place = task % at_once;
                let (strand, end) = strands.put(ends[place], lead(MIB, true), 1000);
                (tasks[strand], ends[place]) = (tasks[strand] + 1, end);
            }
            let used = at_once.min(ONE_WAY_STRANDS);
            let most = tasks.iter().max().expect("strands");
            assert!(*most <= 2000 / used + at_once, "{at_once}: {tasks:?}");
        }
    }

    #[test]
    fn preparations_beside_each_other_are_counted() {
        let beside = |bytes| Lead {
            beside: Some(Beside { bytes, rounds: 1 }),
            ..lead(1000, false)
        };
        let mut busy = Busy::default();
        let who = [SHORT, SHORT + 1, 1, 1, 2 * SHORT, 1, 1, 1, 1, 1];
        let who = who.map(|bytes| beside(bytes).preparer(&mut busy));
        assert_eq!(who, [2, 1, 3, 4, 1, 5, 6, 7, 2, 3]);
        assert_eq!(lead(1 << 30, false).preparer(&mut busy), 0);
        // Those that have less to do take more.
        busy = [0, 0, 3, 3, 3, 1, 3, 2];
        assert_eq!(
            [1; 4].map(|bytes| beside(bytes).preparer(&mut busy)),
            [5, 5, 7, 2]
        );
        let mut strand = Strand::default();
        for bytes in [SHORT, SHORT, MIB, 2 * MIB] {
            strand = strand.with(beside(bytes));
        }
        assert_eq!(strand.ahead(), 1000 + 2 * SHORT + 2 * MIB);
        // No more at once than there are preparers.
        for _ in 0..100 {
            strand = strand.with(beside(SHORT));
        }
        assert_eq!(strand.ahead(), 1000 + 6 * SHORT + 2 * MIB);
        let all = strands((0..300).map(|_| beside(4 * MIB)));
        assert!(all.ahead <= UNHEARD + 4 * MIB, "{}", all.ahead / MIB);
    }
}
