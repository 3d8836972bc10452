//! The carries of a sum of two shared numbers a and b, on rows of bits: row i has bit i of every
//! element of a block. With t = a ^ b and carry c_0 = 0, c_{i+1} = a_i ^ t_i (a_i ^ c_i).
//!
//! A *ripple* does that bit by bit: one AND per bit and element, which is the least known, but a round
//! for each bit. A *tree* joins segments of bits by their generate and propagate bits, (g, p) of [lo,
//! hi) from those of [lo, mid) and [mid, hi): g = g_hi ^ p_hi g_lo, p = p_hi p_lo. For one carry or two it is
//! the network with the fewest ANDs in the fewest rounds (`madrigal_circuit::carry_network`): a round per doubling,
//! 2.1 to 2.5 ANDs per bit for one carry. For all of them it is Sklansky's: one round more, for the bits' own
//! g = a b, and l log l / 2 ANDs and more.

use std::collections::BTreeMap;

use bytes::Bytes;
use madrigal_circuit::{CarryBit, Passing, carry_network};
use madrigal_core::bits;
use madrigal_kernels as kernels;
use madrigal_net::Result;

use super::{BitShares, ReplicatedBits};
use madrigal_core::Zeroizing;

/// Ways in which an adder's carries are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// A round per bit and one AND per bit.
    Ripple,
    /// A round per doubling and 2.1 to 2.5 ANDs per bit, for one carry; more for all.
    Tree,
}

/// Elements from which on bandwidth and computing count for more than rounds: 64-bit ripples then send
/// 0.7 MB less than trees for each 64 Ki elements, which takes 0.7 ms at 8 Gb/s: 57 rounds of a
/// local network. Over slower networks with the same ratio of the two it is the same number.
const RIPPLE_FROM: usize = 1 << 16;

impl Depth {
    /// Gives the depth that suits a batch of `count` elements.
    pub fn of_batch(count: usize) -> Self {
        if count >= RIPPLE_FROM {
            Self::Ripple
        } else {
            Self::Tree
        }
    }
}

/// Two addends: the rows of t = a ^ b, and which components of a are those of t; the others are zero
/// in `zeros`. That is how x_0 + x_1 and x_2 are shared; or a's rows themselves.
pub(super) struct Addends {
    pub(super) t: [ComponentRows; 2],
    pub(super) a: Second,
    /// Elements of the block.
    pub(super) count: usize,
}

/// Rows of one component.
pub(super) enum ComponentRows {
    Own(Zeroizing<Vec<u8>>),
    /// Bits as they came from or go to another party.
    Message(Bytes),
}

impl std::ops::Deref for ComponentRows {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(rows) => rows,
            Self::Message(rows) => rows,
        }
    }
}

/// Second operand: where its rows are.
pub(super) enum Second {
    /// These components of t, else zeros.
    Of([bool; 2]),
    /// Rows by themselves.
    Rows(BitShares),
}

impl Addends {
    /// Bytes of a row.
    fn stride(&self) -> usize {
        bits::bytes_for(self.count)
    }

    /// t for one bit.
    pub(super) fn t(&self, row: usize) -> [&[u8]; 2] {
        let stride = self.stride();
        let part = |part: usize| &self.t[part][row * stride..][..stride];
        [part(0), part(1)]
    }

    /// The bits of the sum: t and, from bit 1 on, the carries.
    pub(super) fn sum(self, carries: &BitShares) -> BitShares {
        let stride = self.stride();
        let rows = self.t[0].len() / stride.max(1);
        let mut components = self.t.map(|part| match part {
            ComponentRows::Own(rows) => rows,
            ComponentRows::Message(rows) => Zeroizing::from(rows.to_vec()),
        });
        for (t, carries) in components.iter_mut().zip(&carries.components) {
            kernels::xor_into(&mut t[stride..], carries);
        }
        BitShares {
            components,
            rows,
            count: self.count,
        }
    }

    fn a<'a>(&'a self, row: usize, zeros: &'a [u8]) -> [&'a [u8]; 2] {
        match &self.a {
            Second::Rows(rows) => rows.row(row),
            Second::Of(same) => {
                let t = self.t(row);
                [0, 1].map(|part| if same[part] { t[part] } else { zeros })
            }
        }
    }
}

impl ReplicatedBits {
    /// The carries into the bits `targets`, ascending and from 1 on, a row for each.
    pub(super) async fn carries(
        &mut self,
        addends: &Addends,
        targets: &[usize],
        depth: Depth,
    ) -> Result<BitShares> {
        match depth {
            Depth::Ripple => self.ripple(addends, targets).await,
            Depth::Tree => self.tree(addends, targets).await,
        }
    }

    async fn ripple(&mut self, addends: &Addends, targets: &[usize]) -> Result<BitShares> {
        let stride = addends.stride();
        let zeros = vec![0; stride];
        let mut out = BitShares::zeros(targets.len(), addends.count);
        let mut wanted = targets.iter().enumerate().peekable();
        let last = targets.last().copied().unwrap_or(0);
        let mut carry = [Bytes::from(zeros.clone()), Bytes::from(zeros.clone())];
        for bit in 0..last {
            let mut z = self.zeros(stride);
            let c = carry.each_ref().map(|part| &part[..]);
            kernels::replicated_carry(addends.t(bit), addends.a(bit, &zeros), c, &mut z);
            carry = self.reshare(z).await?;
            if let Some((row, _)) = wanted.next_if(|(_, target)| **target == bit + 1) {
                for (out, carry) in out.components.iter_mut().zip(&carry) {
                    out[row * stride..][..stride].copy_from_slice(carry);
                }
            }
        }
        Ok(out)
    }

    async fn tree(&mut self, addends: &Addends, targets: &[usize]) -> Result<BitShares> {
        let plan = CarryTree::new(targets);
        let stride = addends.stride();
        let zeros = vec![0; stride];
        // The rows of a round are those of its message.
        let mut rounds: Vec<[Bytes; 2]> = Vec::with_capacity(plan.levels.len());
        fn row(rounds: &[[Bytes; 2]], at: Row, stride: usize) -> [&[u8]; 2] {
            let row = |part: usize| &rounds[at.round][part][at.place * stride..][..stride];
            [row(0), row(1)]
        }
        for (round, level) in plan.levels.iter().enumerate() {
            let mut z = self.zeros(level.len() * stride);
            for (place, and) in level.iter().enumerate() {
                let (before, z) = z.split_at_mut(place * stride);
                let z = &mut z[..stride];
                let passing = |passes: Pass| match passes {
                    Pass::Bit(bit) => addends.t(bit),
                    Pass::Row(at) => row(&rounds, at, stride),
                };
                match *and {
                    And::Carry { bit, below } => {
                        let below = below.map(|at| row(&rounds, at, stride));
                        let below = below.unwrap_or([&zeros, &zeros]);
                        kernels::replicated_carry(addends.t(bit), addends.a(bit, &zeros), below, z);
                    }
                    And::Join { own, passes, below } => {
                        kernels::replicated_and(passing(passes), row(&rounds, below, stride), z);
                        // Shares are linear, so that what is of this round too may be added before it is sent.
                        let own = match own.round == round {
                            true => &before[own.place * stride..][..stride],
                            false => row(&rounds, own, stride)[0],
                        };
                        kernels::xor_into(z, own);
                    }
                    And::Passing(upper, lower) => {
                        kernels::replicated_and(passing(upper), passing(lower), z);
                    }
                }
            }
            rounds.push(self.reshare(z).await?);
        }
        let mut out = BitShares::zeros(targets.len(), addends.count);
        for (to, &target) in targets.iter().enumerate() {
            let carry = row(&rounds, plan.carries[&target], stride);
            for (out, carry) in out.components.iter_mut().zip(carry) {
                out[to * stride..][..stride].copy_from_slice(carry);
            }
        }
        Ok(out)
    }
}

/// Number of rows of ANDs in each round.
pub(super) fn and_rows(targets: &[usize], depth: Depth) -> Vec<usize> {
    match depth {
        Depth::Ripple => vec![1; targets.last().copied().unwrap_or(0)],
        Depth::Tree => CarryTree::new(targets)
            .levels
            .iter()
            .map(Vec::len)
            .collect(),
    }
}

/// One of the rows that a round makes.
#[derive(Clone, Copy)]
struct Row {
    round: usize,
    place: usize,
}

/// Whether a segment passes a carry on: a single bit's t, or a row.
#[derive(Clone, Copy)]
enum Pass {
    Bit(usize),
    Row(Row),
}

/// Result of a row of ANDs.
#[derive(Clone, Copy)]
enum And {
    /// The carry of a bit above a carry, or above none.
    Carry { bit: usize, below: Option<Row> },
    /// The carry of a segment above another one: `own ^ passes & below`.
    Join { own: Row, passes: Pass, below: Row },
    /// Whether two segments pass a carry on, which both must.
    Passing(Pass, Pass),
}

/// A tree for some of the carries.
#[derive(Default)]
struct CarryTree {
    /// Levels by round.
    levels: Vec<Vec<And>>,
    /// The row of each carry.
    carries: BTreeMap<usize, Row>,
}

impl CarryTree {
    fn new(targets: &[usize]) -> Self {
        match targets.len() {
            1 | 2 => Self::of_few(targets),
            _ => Self::of_many(targets),
        }
    }

    fn push(&mut self, round: usize, and: And) -> Row {
        if self.levels.len() <= round {
            self.levels.resize_with(round + 1, Vec::new);
        }
        self.levels[round].push(and);
        let place = self.levels[round].len() - 1;
        Row { round, place }
    }

    /// Plans a few carries by the best network.
    fn of_few(targets: &[usize]) -> Self {
        let network = carry_network(targets);
        let mut plan = Self::default();
        let mut rows: Vec<Row> = Vec::with_capacity(network.steps.len());
        for step in &network.steps {
            let pass = |passes| match passes {
                Passing::Bit(bit) => Pass::Bit(bit),
                Passing::Step(step) => Pass::Row(rows[step]),
            };
            let and = match step.makes {
                CarryBit::Own(bit) => And::Carry { bit, below: None },
                CarryBit::Majority(bit, below) => {
                    let below = below.map(|step| rows[step]);
                    And::Carry { bit, below }
                }
                CarryBit::Carry { own, passes, below } => And::Join {
                    own: rows[own],
                    passes: pass(passes),
                    below: rows[below],
                },
                CarryBit::Passing(upper, lower) => And::Passing(pass(upper), pass(lower)),
            };
            rows.push(plan.push(step.layer as usize, and));
        }
        let carries = network.carries.iter().map(|&step| rows[step]);
        plan.carries = targets.iter().copied().zip(carries).collect();
        plan
    }

    /// Sklansky's tree, with the segments that several carries need made once.
    fn of_many(targets: &[usize]) -> Self {
        // Segments, each with whether its p is needed beside its g.
        let mut segments = BTreeMap::new();
        for &target in targets {
            require(&mut segments, (0, target), false);
        }
        let mut plan = Self::default();
        let mut order: Vec<_> = segments.into_iter().collect();
        order.sort_by_key(|((lo, hi), _)| (level(hi - lo), *lo, *hi));
        let mut rows: BTreeMap<(usize, usize), (Row, Pass)> = BTreeMap::new();
        for ((lo, hi), with_p) in order {
            let round = level(hi - lo);
            let made = if hi - lo == 1 {
                let bit = lo;
                let own = And::Carry { bit, below: None };
                (plan.push(round, own), Pass::Bit(bit))
            } else {
                let middle = middle(lo, hi);
                let (below, p_low) = rows[&(lo, middle)];
                let (own, passes) = rows[&(middle, hi)];
                let g = plan.push(round, And::Join { own, passes, below });
                let p = match with_p {
                    true => Pass::Row(plan.push(round, And::Passing(passes, p_low))),
                    false => Pass::Bit(lo), // which nobody asks for
                };
                (g, p)
            };
            rows.insert((lo, hi), made);
        }
        let carry = |&target: &usize| (target, rows[&(0, target)].0);
        plan.carries = targets.iter().map(carry).collect();
        plan
    }
}

/// The round, from 0, after which a segment of this length is there.
fn level(length: usize) -> usize {
    length.next_power_of_two().trailing_zeros() as usize
}

/// Gives the place where a segment is cut: its lower part is the largest power of two below its length.
fn middle(lo: usize, hi: usize) -> usize {
    lo + (hi - lo).next_power_of_two() / 2
}

fn require(segments: &mut BTreeMap<(usize, usize), bool>, (lo, hi): (usize, usize), with_p: bool) {
    let known = segments.get(&(lo, hi)).copied();
    if known == Some(true) || (known == Some(false) && !with_p) {
        return;
    }
    segments.insert((lo, hi), with_p);
    if hi - lo > 1 {
        let middle = middle(lo, hi);
        require(segments, (lo, middle), with_p);
        require(segments, (middle, hi), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_as_deep_and_large_as_declared() {
        let rows = and_rows(&[63], Depth::Tree);
        assert_eq!((rows.len(), rows.iter().sum()), (6, 151));
        let all: Vec<usize> = (1..64).collect();
        assert_eq!(and_rows(&all, Depth::Tree).len(), 7);
        assert_eq!(and_rows(&[7, 8], Depth::Ripple), vec![1; 8]);
        assert_eq!(and_rows(&[1], Depth::Tree), vec![1]);
    }
}
