//! A kind that stands still because a server says that it lacks what waits at the leader.
//!
//! A submission that one server lacks is in no batch. Mostly its client has not brought it there yet, or never will, and others go on. A server that says
//! so of nearly all of them has lost them, or is at fault; nobody else can tell.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use madrigal_core::Party;
use madrigal_vault::agreement::Bits;

/// Time without a batch, though enough submissions wait at the leader, after which it says who lacks them; and the pause until it says so again.
pub(super) const STALL: Duration = Duration::from_secs(300);

/// Knowledge of the leader about who lacks submissions that wait.
#[derive(Debug, Default)]
pub(super) struct Stall {
    /// Since when no batch came of enough that wait.
    since: Option<Instant>,
    /// When it was told last.
    told: Option<Instant>,
    /// Numbers of submissions that each server lacked, and was asked for, when it was asked last.
    lacks: BTreeMap<Party, (usize, usize)>,
}

/// Word of a kind that stands still.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Still {
    /// Servers that lack submissions, in words.
    pub(super) who: String,
    /// Whether one of them lacks half of them or more: then the server is at fault rather than a client.
    pub(super) is_trouble: bool,
}

impl Stall {
    /// Takes a server's answer, with a bit for each submission that it was asked about. Gives how many it lacks.
    pub(super) fn answered(&mut self, from: Party, have: &Bits) -> usize {
        let asked = have.len();
        let lacks = (0..asked).filter(|at| !have.get(*at)).count();
        // Where all that it lacks are left alone for a while, it is asked about none.
        if asked > 0 {
            self.lacks.insert(from, (lacks, asked));
        }
        lacks
    }

    /// No batch came of it, though enough wait at the leader. Gives what is to be told, if it is time.
    pub(super) fn none(&mut self, now: Instant) -> Option<Still> {
        let since = *self.since.get_or_insert(now);
        let last = self.told.unwrap_or(since);
        if now.duration_since(last) < STALL {
            return None;
        }
        let lacking = self.lacks.iter().filter(|(_, (lacks, _))| *lacks > 0);
        let who: Vec<String> = lacking
            .clone()
            .map(|(party, (lacks, asked))| {
                format!(
                    "{party} says that it lacks {lacks} of {asked} submissions that wait at party 0"
                )
            })
            .collect();
        if who.is_empty() {
            return None;
        }
        self.told = Some(now);
        Some(Still {
            who: who.join("; "),
            is_trouble: lacking
                .clone()
                .any(|(_, (lacks, asked))| 2 * lacks >= *asked),
        })
    }

    /// A batch came, or too few wait. Gives whether something was told since.
    pub(super) fn over(&mut self) -> bool {
        let told = self.told.is_some();
        *self = Self::default();
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn have(bits: [bool; 4]) -> Bits {
        Bits::new(bits.into_iter())
    }

    #[test]
    fn who_lacks_what_waits_is_named_after_a_while() {
        let mut stall = Stall::default();
        let (one, two) = (Party::new(1), Party::new(2));
        let begun = Instant::now();
        assert_eq!(stall.answered(one, &have([true; 4])), 0);
        assert_eq!(stall.answered(two, &have([false, false, true, false])), 3);
        assert_eq!(stall.none(begun), None);
        assert_eq!(stall.none(begun + STALL / 2), None);
        // It is asked about none meanwhile, and what it lacked is remembered.
        stall.answered(two, &Bits::new([].into_iter()));
        let still = stall.none(begun + STALL).unwrap();
        let expected = "party 2 says that it lacks 3 of 4 submissions that wait at party 0";
        assert_eq!((still.who.as_str(), still.is_trouble), (expected, true));
        // Said once in each while.
        assert_eq!(stall.none(begun + STALL + STALL / 2), None);
        assert!(stall.none(begun + 2 * STALL).is_some());
        assert!(stall.over());
        assert_eq!(stall.none(begun + 3 * STALL), None);
        assert!(!stall.over());
    }

    /// A client that has brought its submission to the leader alone is no trouble of a server.
    #[test]
    fn a_few_that_are_lacked_are_no_trouble() {
        let mut stall = Stall::default();
        let begun = Instant::now();
        stall.answered(Party::new(1), &have([true, false, true, true]));
        assert_eq!(stall.none(begun), None);
        let still = stall.none(begun + STALL).unwrap();
        assert!(!still.is_trouble, "{still:?}");
    }
}
