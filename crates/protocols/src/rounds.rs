//! Declared rounds: the same clocks that messages carry, run over the schedule alone.

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
    fn opening_to_one_never_needs_a_relay() {
        let mut clocks = Rounds::new(3);
        clocks.open(Opening::Relay, &[Party::new(2)]);
        assert_eq!([0, 1, 2].map(|i| clocks.of(Party::new(i))), [1, 1, 1]);
    }
}
