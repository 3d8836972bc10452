//! Comparisons, and what rests on them.

use crate::builder::{Builder, Wire};

impl Builder {
    /// `a < b`, both unsigned. For size width ANDs in a chain; for depth log2(width + 1) in a row, and 2.1 to
    /// 2.5 for each bit: 137 in 7 layers for 64 bits.
    pub fn less(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        // !a + b is b - a - 1 above 2^width - 1, so that there is a carry exactly if a < b.
        let (none, a) = (self.constant(false), self.not_all(a));
        self.carry_out(&a, b, none)
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
                        // A candidate that had no opponent has no bit for that round yet.
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
}
