//! Layers by rounds: one layer in each, or two where a protocol can do that.
//!
//! A protocol with masked values can do two layers of ANDs in one round: an operand of the second one is of degree
//! two in what is known when the round begins. Its cost grows with how many results of the first layer an
//! operand is the sum of, XORed with whatever was there before; so these are two at most.

use crate::layered::{Layer, Layered, LocalOp};

/// Layers of a program that go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// Results that the second layer of each round takes of its first one, if it has two.
    rounds: Vec<Option<Takes>>,
}

/// Results of the layer before that a layer takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Takes {
    operands: [Vec<Take>; 2],
    both: Vec<(u32, [u32; 2])>,
    overwritten: Vec<u32>,
}

/// A result of the layer before that is part of an operand: XORed with others and with what is no result of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Take {
    /// Place of the AND in its layer whose operand it is.
    pub and: u32,
    /// Place of the AND in the layer before whose result it takes.
    pub from: u32,
}

/// One round of a program.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// First layer of the round.
    pub first: Layer<'a>,
    /// The one after that, done at once, with what it takes.
    pub second: Option<(Layer<'a>, &'a Takes)>,
}

impl Takes {
    /// Makes the list of these, in the order of their ANDs.
    pub fn new(operands: [Vec<Take>; 2], overwritten: Vec<u32>) -> Self {
        let [first, second] = &operands;
        let mut both = Vec::new();
        for one in first {
            let begin = second.partition_point(|take| take.and < one.and);
            let same = second[begin..].iter();
            let same = same.take_while(|other| other.and == one.and);
            both.extend(same.map(|other| (one.and, [one.from, other.from])));
        }
        Self {
            operands,
            both,
            overwritten,
        }
    }

    /// Operands, the first and the second ones, that take results, each as often as it takes one, in the order of
    /// their ANDs.
    pub fn operands(&self) -> &[Vec<Take>; 2] {
        &self.operands
    }

    /// Rows that the local operations between the two layers write, but for those that hold the results of the first.
    pub fn overwritten(&self) -> &[u32] {
        &self.overwritten
    }

    /// Results that the two operands of one AND take, each of the first with each of the second: whose operands these
    /// are, and whose results.
    pub fn both(&self) -> &[(u32, [u32; 2])] {
        &self.both
    }
}

impl Rounds {
    /// A round for each layer.
    pub fn of_one(layered: &Layered) -> Self {
        Self {
            rounds: vec![None; layered.depth()],
        }
    }

    /// Two layers in a round wherever the second one can be done with the first, from the first layer on: as few
    /// rounds as can be.
    pub fn of_two(layered: &Layered) -> Self {
        let mut search = Search::new(layered.rows());
        let mut rounds = Vec::new();
        let mut next = 0;
        while let Some(first) = layered.layer(next) {
            let second = layered.layer(next + 1);
            let takes = second.and_then(|second| search.takes(first, second));
            next += 1 + usize::from(takes.is_some());
            rounds.push(takes);
        }
        Self { rounds }
    }

    /// Number of rounds.
    pub fn count(&self) -> usize {
        self.rounds.len()
    }

    /// Whether there is a round of two layers.
    pub fn has_pairs(&self) -> bool {
        self.rounds.iter().any(Option::is_some)
    }

    /// The rounds in order.
    ///
    /// # Panics
    /// If they are another program's.
    pub fn of<'a>(&'a self, layered: &'a Layered) -> impl Iterator<Item = Round<'a>> + Clone {
        let mut layers = layered.layers();
        self.rounds.iter().map(move |takes| {
            let mut next = || layers.next().expect("rounds have the program's layers");
            let first = next();
            let second = takes.as_ref().map(|takes| (next(), takes));
            Round { first, second }
        })
    }

    /// The most rows that are [overwritten](Takes::overwritten) in a round.
    pub fn overwritten(&self) -> usize {
        let pairs = self.rounds.iter().flatten();
        pairs
            .map(|takes| takes.overwritten.len())
            .max()
            .unwrap_or(0)
    }
}

/// Results of a layer whose sum a bit is, whatever else is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// No result.
    None,
    One(u32),
    /// Two results, in ascending order.
    Two(u32, u32),
    /// More results, or perhaps more.
    Many,
}

impl Part {
    /// Gives the results whose sum the sum of two bits is.
    pub(crate) fn xor(self, other: Self) -> Self {
        match (self, other) {
            (part, Self::None) | (Self::None, part) => part,
            (Self::Many, _) | (_, Self::Many) => Self::Many,
            (Self::One(a), Self::One(b)) if a != b => Self::Two(a.min(b), a.max(b)),
            (Self::One(one), Self::Two(a, b)) | (Self::Two(a, b), Self::One(one)) if one == a => {
                Self::One(b)
            }
            (Self::One(one), Self::Two(a, b)) | (Self::Two(a, b), Self::One(one)) if one == b => {
                Self::One(a)
            }
            (a, b) if a == b => Self::None,
            (Self::Two(a, b), Self::Two(c, d)) if a == c => Self::Two(b.min(d), b.max(d)),
            (Self::Two(a, b), Self::Two(c, d)) if b == d => Self::Two(a.min(c), a.max(c)),
            (Self::Two(a, b), Self::Two(c, d)) if b == c => Self::Two(a, d),
            (Self::Two(a, b), Self::Two(c, d)) if a == d => Self::Two(c, b),
            _ => Self::Many,
        }
    }

    /// Gives these results, unless there are many.
    pub(crate) fn few(self) -> Option<impl Iterator<Item = u32>> {
        let of = match self {
            Self::None => [None, None],
            Self::One(a) => [Some(a), None],
            Self::Two(a, b) => [Some(a), Some(b)],
            Self::Many => return None,
        };
        Some(of.into_iter().flatten())
    }
}

/// Results of a layer whose sum each row is.
struct Search {
    part: Vec<Part>,
    /// Rows that are part of what was looked at last.
    touched: Vec<u32>,
}

impl Search {
    fn new(rows: usize) -> Self {
        Self {
            part: vec![Part::None; rows],
            touched: Vec::new(),
        }
    }

    fn set(&mut self, row: u32, part: Part) {
        self.part[row as usize] = part;
        self.touched.push(row);
    }

    /// Gives the results that the second layer takes of the first, if they are few for each operand.
    fn takes(&mut self, first: Layer<'_>, second: Layer<'_>) -> Option<Takes> {
        for row in self.touched.drain(..) {
            self.part[row as usize] = Part::None;
        }
        for (place, and) in (0..).zip(first.ands) {
            self.set(and.dst, Part::One(place));
        }
        let results = self.touched.len();
        for &op in second.local {
            let (dst, part) = match op {
                LocalOp::Xor { dst, a, b } => {
                    let [a, b] = [a, b].map(|row| self.part[row as usize]);
                    (dst, a.xor(b))
                }
                LocalOp::Not { dst, a } => (dst, self.part[a as usize]),
                LocalOp::Const { dst, .. } => (dst, Part::None),
            };
            self.set(dst, part);
        }
        let mut operands = [Vec::new(), Vec::new()];
        for (place, and) in (0..).zip(second.ands) {
            for (takes, row) in operands.iter_mut().zip([and.a, and.b]) {
                let from = self.part[row as usize].few()?;
                takes.extend(from.map(|from| Take { and: place, from }));
            }
        }
        let (results, written) = self.touched.split_at(results);
        let mut overwritten = written.to_vec();
        overwritten.sort_unstable();
        overwritten.dedup();
        let mut results = results.to_vec();
        results.sort_unstable();
        overwritten.retain(|row| results.binary_search(row).is_err());
        Some(Takes::new(operands, overwritten))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sums_are_symmetric_differences() {
        let few = [0, 1, 2, 3].map(Part::One).into_iter();
        let two = (0..4).flat_map(|b| (0..b).map(move |a| Part::Two(a, b)));
        let all: Vec<Part> = few.chain(two).chain([Part::None]).collect();
        let set = |part: Part| part.few().map(BTreeSet::from_iter);
        for &a in &all {
            assert_eq!(a.xor(Part::Many), Part::Many);
            assert_eq!(Part::Many.xor(a), Part::Many.xor(Part::Many));
            for &b in &all {
                let sum = &set(a).unwrap() ^ &set(b).unwrap();
                let expected = (sum.len() <= 2).then_some(sum);
                assert_eq!(set(a.xor(b)), expected, "{a:?} ^ {b:?}");
                if let Part::Two(a, b) = a.xor(b) {
                    assert!(a < b);
                }
            }
        }
    }
}
