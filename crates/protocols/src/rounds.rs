//! Declared rounds: the same clocks that messages carry, run over the schedule alone.

use std::collections::VecDeque;

use madrigal_core::Party;

use crate::Opening;

/// Each party's count of rounds while a schedule of openings is gone through. A message's round is
/// one more than the latest that its sender has received; a party's rounds are the highest round it
/// sent or received.
#[derive(Clone, Debug)]
pub struct Rounds {
    heard: Vec<u64>,
    highest: Vec<u64>,
}

impl Rounds {
    /// No round yet, for `parties` parties.
    pub fn new(parties: usize) -> Self {
        Self {
            heard: vec![0; parties],
            highest: vec![0; parties],
        }
    }

    /// Makes the count of the rounds of each party so far.
    pub fn at(rounds: &[u64]) -> Self {
        Self {
            heard: rounds.to_vec(),
            highest: rounds.to_vec(),
        }
    }

    /// An opening to the parties `to`.
    pub fn open(&mut self, opening: Opening, to: &[Party]) {
        let all: Vec<Party> = Party::all(self.heard.len()).collect();
        match opening.relay(to) {
            Some(relay) => {
                self.send(&all, &[relay]);
                self.send(&[relay], to);
            }
            None => self.send(&all, to),
        }
    }

    /// Everyone in `from` sends to everyone else in `to`, then all receive.
    fn send(&mut self, from: &[Party], to: &[Party]) {
        let pairs = from.iter().flat_map(|&sender| {
            let others = to.iter().filter(move |&&receiver| receiver != sender);
            others.map(move |&receiver| (sender, receiver))
        });
        self.exchange(&pairs.collect::<Vec<_>>());
    }

    /// One message from each sender to its receiver; all send before they receive.
    pub fn exchange(&mut self, messages: &[(Party, Party)]) {
        let before = self.heard.clone();
        for &(sender, receiver) in messages {
            let round = before[sender.index()] + 1;
            let (sender, receiver) = (sender.index(), receiver.index());
            self.highest[sender] = self.highest[sender].max(round);
            self.highest[receiver] = self.highest[receiver].max(round);
            self.heard[receiver] = self.heard[receiver].max(round);
        }
    }

    /// Takes in the rounds of work that ran beside.
    pub fn join(&mut self, other: &Self) {
        let pairs =
            |a: &mut Vec<u64>, b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).max(*b));
        pairs(&mut self.heard, &other.heard);
        pairs(&mut self.highest, &other.highest);
    }

    /// Goes through one schedule `times` times, one after the other. Counts come from each other by
    /// maxima and sums alone, so that a state that is ahead of an earlier one by the same number
    /// everywhere stays so: from there on nothing is walked through.
    pub fn repeat(&mut self, times: u64, schedule: impl Fn(&mut Self)) {
        // Messages in a ring come around after as many repetitions as there are parties, at most.
        let most = self.heard.len();
        let mut past: VecDeque<Self> = VecDeque::new();
        let mut left = times;
        while left > 0 {
            let periods = (1..).zip(past.iter().rev());
            let mut found =
                periods.filter_map(|(period, state)| Some((period, self.ahead_of(state)?)));
            if let Some((period, rounds)) = found.next() {
                let gained = left / period * rounds;
                self.heard.iter_mut().for_each(|count| *count += gained);
                self.highest.iter_mut().for_each(|count| *count += gained);
                left %= period;
                break;
            }
            past.push_back(self.clone());
            if past.len() > most {
                past.pop_front();
            }
            schedule(self);
            left -= 1;
        }
        (0..left).for_each(|_| schedule(self));
    }

    /// Number of rounds by which all counts are more than another's, if it is the same number.
    fn ahead_of(&self, earlier: &Self) -> Option<u64> {
        let pairs = || {
            let heard = self.heard.iter().zip(&earlier.heard);
            heard.chain(self.highest.iter().zip(&earlier.highest))
        };
        let (first, before) = pairs().next()?;
        let rounds = first - before;
        pairs()
            .all(|(now, before)| now - before == rounds)
            .then_some(rounds)
    }

    /// The rounds of one party.
    pub fn of(&self, party: Party) -> u64 {
        self.highest[party.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_takes_one_round_and_relay_two() {
        let all: Vec<Party> = Party::all(3).collect();
        for (opening, rounds) in [(Opening::Direct, 5), (Opening::Relay, 10)] {
            let mut clocks = Rounds::new(3);
            (0..5).for_each(|_| clocks.open(opening, &all));
            assert!(
                all.iter().all(|&party| clocks.of(party) == rounds),
                "{opening}"
            );
        }
    }

    #[test]
    fn repeating_is_walking() {
        let schedules: [&[(usize, usize)]; 7] = [
            &[],
            &[(0, 1)],
            &[(0, 1), (1, 0)],
            &[(0, 1), (1, 2), (2, 0)],
            &[(0, 1), (1, 2), (2, 3), (3, 0)],
            &[(0, 1), (1, 0), (2, 3)],
            &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 1)],
        ];
        let start = {
            let mut rounds = Rounds::new(4);
            for _ in 0..5 {
                rounds.exchange(&[
                    (Party::new(1), Party::new(2)),
                    (Party::new(2), Party::new(1)),
                ]);
            }
            rounds
        };
        for pairs in schedules {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|&(from, to)| (Party::new(from), Party::new(to)))
                .collect();
            for start in [Rounds::new(4), start.clone()] {
                for times in 0..50 {
                    let mut walked = start.clone();
                    (0..times).for_each(|_| walked.exchange(&pairs));
                    let mut repeated = start.clone();
                    repeated.repeat(times, |rounds| rounds.exchange(&pairs));
                    assert_eq!(repeated.heard, walked.heard, "{pairs:?}, {times} times");
                    assert_eq!(repeated.highest, walked.highest, "{pairs:?}, {times} times");
                }
            }
        }
    }

    #[test]
    fn opening_to_one_never_needs_a_relay() {
        let mut clocks = Rounds::new(3);
        clocks.open(Opening::Relay, &[Party::new(2)]);
        assert_eq!([0, 1, 2].map(|i| clocks.of(Party::new(i))), [1, 1, 1]);
    }
}
