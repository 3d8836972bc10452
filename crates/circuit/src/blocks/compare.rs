//! Comparisons, and what rests on them.

use super::same_width;
use crate::builder::{Builder, Goal, Wire};

impl Builder {
    /// `a < b`, both unsigned. For size width ANDs in a chain; for depth 3 width - log2(width) - 2
    /// ANDs, log2(width) + 1 of them in a row.
    pub fn less(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        same_width(a, b);
        match self.goal() {
            // No carry leaves a + !b + 1 exactly if a < b.
            Goal::Size => {
                let mut carry = self.constant(true);
                for (&a, &b) in a.iter().zip(b) {
                    let b = self.not(b);
                    carry = self.majority(a, b, carry);
                }
                self.not(carry)
            }
            Goal::Depth => {
                let mut places = Vec::new();
                for (&a, &b) in a.iter().zip(b) {
                    let differ = self.xor(a, b);
                    places.push((self.and(differ, b), self.not(differ)));
                }
                match places.is_empty() {
                    true => self.constant(false),
                    false => self.decide(&places, false).0,
                }
            }
        }
    }

    /// The carry of `a + b` out of its lowest `at` bits, at least one, and out of all of them. For size width ANDs in a
    /// chain; for depth as [`Builder::less`] for both, of which the first is part of the second where
    /// it is one of its blocks, or one bit longer: for 16 of 63 or 64 bits.
    ///
    /// # Panics
    /// If there are not as many bits.
    pub fn carries(&mut self, a: &[Wire], b: &[Wire], at: usize) -> [Wire; 2] {
        same_width(a, b);
        assert!((1..=a.len()).contains(&at), "{at} of {} bits", a.len());
        match self.goal() {
            Goal::Size => {
                let mut carry = self.constant(false);
                let mut low = carry;
                for (place, (&a, &b)) in a.iter().zip(b).enumerate() {
                    carry = self.majority(a, b, carry);
                    if place + 1 == at {
                        low = carry;
                    }
                }
                [low, carry]
            }
            Goal::Depth => {
                let mut places = Vec::new();
                for (&a, &b) in a.iter().zip(b) {
                    places.push((self.and(a, b), self.xor(a, b)));
                }
                let mut low = None;
                let (carry, _) = self.decide_noting(&places, false, at, &mut low);
                let low = match low {
                    Some((of, low)) if of == at => low,
                    Some((_, below)) => {
                        let (own, passes) = places[at - 1];
                        let passed = self.and(passes, below);
                        self.xor(own, passed)
                    }
                    None => self.decide(&places[..at], false).0,
                };
                [low, carry]
            }
        }
    }

    /// `a < b`, both signed; as [`Builder::less`].
    pub fn less_signed(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        let [a, b] = [a, b].map(|number| self.flip_sign(number));
        self.less(&a, &b)
    }

    /// `a == b`; width - 1 ANDs, in a tree.
    pub fn equal(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        let differ = self.xor_all(a, b);
        let same = self.not_all(&differ);
        self.all(&same)
    }

    /// Whether `a` is 0; width - 1 ANDs, in a tree.
    pub fn is_zero(&mut self, a: &[Wire]) -> Wire {
        let zeros = self.not_all(a);
        self.all(&zeros)
    }

    /// The smaller of two unsigned numbers, and whether it is the second; twice as many ANDs as bits.
    pub fn min(&mut self, a: &[Wire], b: &[Wire]) -> (Vec<Wire>, Wire) {
        let second = self.less(b, a);
        (self.select(second, b, a), second)
    }

    /// The greater of two unsigned numbers, and whether it is the second.
    pub fn max(&mut self, a: &[Wire], b: &[Wire]) -> (Vec<Wire>, Wire) {
        let second = self.less(a, b);
        (self.select(second, b, a), second)
    }

    /// The least of unsigned numbers, and its place, the first one if there are several: a knock-out
    /// tournament, in which the winner takes its place along.
    ///
    /// # Panics
    /// If there are no numbers.
    pub fn least(&mut self, numbers: &[Vec<Wire>]) -> (Vec<Wire>, Vec<Wire>) {
        self.winner(numbers, |builder, a, b| builder.less(b, a))
    }

    /// The greatest of unsigned numbers, and its place, the first one if there are several.
    ///
    /// # Panics
    /// If there are no numbers.
    pub fn greatest(&mut self, numbers: &[Vec<Wire>]) -> (Vec<Wire>, Vec<Wire>) {
        self.winner(numbers, |builder, a, b| builder.less(a, b))
    }

    /// A signed number as an unsigned one in the same order; free, and its own inverse.
    pub fn flip_sign(&mut self, a: &[Wire]) -> Vec<Wire> {
        let mut a = a.to_vec();
        if let Some(sign) = a.last_mut() {
            *sign = self.not(*sign);
        }
        a
    }

    /// `second` says of two numbers whether the second one wins.
    fn winner(
        &mut self,
        numbers: &[Vec<Wire>],
        second: fn(&mut Self, &[Wire], &[Wire]) -> Wire,
    ) -> (Vec<Wire>, Vec<Wire>) {
        assert!(!numbers.is_empty(), "there is no winner among no numbers");
        let mut round: Vec<_> = numbers.iter().map(|n| (n.clone(), Vec::new())).collect();
        while round.len() > 1 {
            let mut next = Vec::new();
            for pair in round.chunks(2) {
                next.push(match pair {
                    [(a, a_place), (b, b_place)] => {
                        let second = second(self, a, b);
                        // Who had no opponent has no bit for that round yet.
                        let b_place = self.zero_extend(b_place, a_place.len());
                        let mut place = self.select(second, &b_place, a_place);
                        place.push(second);
                        (self.select(second, b, a), place)
                    }
                    [(a, place)] => {
                        let place = self.zero_extend(place, place.len() + 1);
                        (a.clone(), place)
                    }
                    _ => unreachable!("chunks of two have one or two"),
                });
            }
            round = next;
        }
        round.swap_remove(0)
    }

    /// Of places that decide by themselves or leave it to those below: whether the highest that decides
    /// says yes, and whether none does (a 0 that is not asked for costs nothing).
    fn decide(&mut self, places: &[(Wire, Wire)], none: bool) -> (Wire, Wire) {
        self.decide_noting(places, none, 0, &mut None)
    }

    /// The same; notes the answer of the lowest `at` places, or of one less, if it is one on the way, and of how many.
    fn decide_noting(
        &mut self,
        places: &[(Wire, Wire)],
        none: bool,
        at: usize,
        noted: &mut Option<(usize, Wire)>,
    ) -> (Wire, Wire) {
        let near = (places.len()..=places.len() + 1).contains(&at);
        if let [place] = places {
            if near {
                *noted = Some((1, place.0));
            }
            return *place;
        }
        // The lower part may have one place less than a power of two, as in `prefix`.
        let most = places.len().next_power_of_two() / 2;
        let above = if places.len() > most {
            most
        } else {
            places.len() / 2
        };
        let (low, high) = places.split_at(places.len() - above);
        let (low, low_none) = self.decide_noting(low, none, at, noted);
        let (high, high_none) = self.decide(high, true);
        let low = self.and(high_none, low);
        let neither = match none {
            true => self.and(high_none, low_none),
            false => high_none,
        };
        let answer = self.xor(high, low);
        // The longer block is the later one.
        if near {
            *noted = Some((places.len(), answer));
        }
        (answer, neither)
    }
}
