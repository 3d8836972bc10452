//! On which strand a task goes, and how far all strands together may run ahead of a party that is late.
//!
//! A party may be at work online while another one is still busy with its setup, and has opened none of
//! the strands' channels. What it is sent until then it has to keep, and what it keeps for steps that it
//! has not opened is bounded for the whole session: beyond that it takes the sender for hostile. So the
//! plan bounds what all strands can have sent before they wait for an answer.

use std::cmp::Reverse;

use madrigal_core::time::FIRST_WINDOW;

use crate::bill::Stage;

/// The most strands of a program. Each costs channels to all peers, for each protocol that it uses.
const MAX_STRANDS: usize = 256;
/// Bytes that all strands together send a peer before it has opened them: with as many of the setup's,
/// what a session keeps by default.
const UNHEARD: u64 = 128 << 20;
/// Protocols that one strand sends in one way in, at most: each has a window of its own.
const WAYS: u64 = 3;

/// What a task sends a peer before it waits for anything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lead {
    /// Of the longest message, within a window.
    bytes: u64,
    /// A party sends and gets nothing back: it goes on to the next task.
    one_way: bool,
}

impl Lead {
    /// Of a task's setup and of its online part, which may come at the same time.
    pub(crate) fn of(stages: [&Stage; 2]) -> Self {
        stages.into_iter().fold(Self::default(), |all, stage| {
            let one = Self::of_stage(stage);
            Self {
                bytes: (all.bytes + one.bytes).min(FIRST_WINDOW),
                one_way: all.one_way || one.one_way,
            }
        })
    }

    fn of_stage(stage: &Stage) -> Self {
        let one_way =
            |cost: &madrigal_core::PhaseCost| cost.bytes_sent > 0 && cost.bytes_received == 0;
        let one_way = stage.costs.iter().any(one_way);
        let links = stage.link_bytes.iter().copied().max().unwrap_or(0);
        let bytes = if one_way {
            links
        } else {
            stage.longest.min(links)
        };
        Self {
            bytes: bytes.min(FIRST_WINDOW),
            one_way,
        }
    }
}

/// Strands as they are filled.
#[derive(Default)]
pub(crate) struct Strands {
    all: Vec<Strand>,
    /// What all of them can have sent before anything is heard.
    ahead: u64,
}

#[derive(Clone, Copy, Default)]
struct Strand {
    /// When its last task ends.
    free: u64,
    one_way: u64,
    /// Of the other tasks, the one with most.
    most: u64,
}

impl Strand {
    fn ahead(&self) -> u64 {
        self.one_way + self.most
    }

    fn with(mut self, lead: Lead) -> Self {
        if lead.one_way {
            self.one_way = (self.one_way + lead.bytes).min(WAYS * FIRST_WINDOW);
        } else {
            self.most = self.most.max(lead.bytes);
        }
        self
    }

    fn more(&self, lead: Lead) -> u64 {
        self.with(lead).ahead() - self.ahead()
    }
}

impl Strands {
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
        let all_fit = self.ahead + lead.bytes <= UNHEARD;
        let fits = |strand: &Strand| all_fit || self.ahead + strand.more(lead) <= UNHEARD;
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
        Lead { bytes, one_way }
    }

    /// Tasks that are all ready at once.
    fn strands(tasks: impl IntoIterator<Item = Lead>) -> Strands {
        let mut strands = Strands::default();
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
        let mut one = Strands::default();
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
}
