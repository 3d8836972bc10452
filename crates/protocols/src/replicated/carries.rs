//! The carries of a sum of two shared numbers a and b, on rows of bits: row i has bit i of every
//! element of a block. With t = a ^ b and carry c_0 = 0, c_{i+1} = a_i ^ t_i (a_i ^ c_i).
//!
//! A *ripple* does that bit by bit: one AND per bit and element, which is the least known, but a round
//! for each bit. A *tree* joins segments of bits by their generate and propagate bits, (g, p) of [lo,
//! hi) from those of [lo, mid) and [mid, hi): g = g_hi ^ p_hi g_lo, p = p_hi p_lo. One round for the
//! bits' own g = a b and one per doubling, at up to three ANDs per bit for one carry (l log l / 2 and
//! more for all of them).

use std::collections::BTreeMap;

use bytes::Bytes;
use madrigal_core::bits;
use madrigal_kernels as kernels;
use madrigal_net::Result;

use super::{BitShares, ReplicatedBits};
use madrigal_core::Zeroizing;

/// How an adder's carries are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// A round per bit and one AND per bit.
    Ripple,
    /// A round per doubling and about three ANDs per bit, for one carry; more for all.
    Tree,
}

/// Elements from which on bandwidth and computing count for more than rounds: 64-bit ripples then send
/// 1 MB less than trees for each 64 Ki elements, which takes a millisecond at 8 Gb/s: 64 rounds of a
/// local network. Over slower networks with the same ratio of the two it is the same number.
const RIPPLE_FROM: usize = 1 << 16;

impl Depth {
    /// What suits a batch of `count` elements.
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
    pub(super) t: [Part; 2],
    pub(super) a: Second,
    /// Elements of the block.
    pub(super) count: usize,
}

/// Rows of one component.
pub(super) enum Part {
    Own(Zeroizing<Vec<u8>>),
    /// As they came from or go to another party.
    Message(Bytes),
}

impl std::ops::Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(rows) => rows,
            Self::Message(rows) => rows,
        }
    }
}

/// Where the rows of a are.
pub(super) enum Second {
    /// Those components of t, else zeros.
    Of([bool; 2]),
    /// By themselves.
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
            Part::Own(rows) => rows,
            Part::Message(rows) => Zeroizing::from(rows.to_vec()),
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
        let plan = Plan::new(targets);
        let stride = addends.stride();
        let zeros = vec![0; stride];
        let mut nodes = BitShares::zeros(plan.rows, addends.count);
        for level in &plan.levels {
            let string = || Zeroizing::<Vec<u8>>::zeros(level.len() * stride);
            let (mut x, mut y) = ([string(), string()], [string(), string()]);
            for (i, and) in level.iter().enumerate() {
                let [left, right] = match and.of {
                    // g = a (a ^ t) = a ^ a t.
                    Operands::Bit(bit) => [addends.t(bit), addends.a(bit, &zeros)],
                    Operands::Nodes(left, right) => [left, right].map(|place| match place {
                        Place::Bit(bit) => addends.t(bit),
                        Place::Node(row) => nodes.row(row),
                    }),
                };
                for part in 0..2 {
                    x[part][i * stride..][..stride].copy_from_slice(left[part]);
                    y[part][i * stride..][..stride].copy_from_slice(right[part]);
                }
            }
            let [x, y] = [&x, &y].map(|string| string.each_ref().map(|part| part.as_slice()));
            let z = self.and(x, y, level.len() * stride * 8).await?;
            for (i, and) in level.iter().enumerate() {
                for (part, z) in z.iter().enumerate() {
                    // What a row is made of lies before it.
                    let (before, row) = nodes.components[part].split_at_mut(and.to * stride);
                    let row = &mut row[..stride];
                    row.copy_from_slice(&z[i * stride..][..stride]);
                    match and.plus {
                        Some(Place::Bit(bit)) => {
                            kernels::xor_into(row, addends.a(bit, &zeros)[part]);
                        }
                        Some(Place::Node(other)) => {
                            kernels::xor_into(row, &before[other * stride..][..stride]);
                        }
                        None => {}
                    }
                }
            }
        }
        let mut out = BitShares::zeros(targets.len(), addends.count);
        for (row, &target) in targets.iter().enumerate() {
            for (part, from) in nodes.row(plan.carries[&target]).into_iter().enumerate() {
                out.components[part][row * stride..][..stride].copy_from_slice(from);
            }
        }
        Ok(out)
    }
}

/// How many rows of ANDs each round takes.
pub(super) fn and_rows(targets: &[usize], depth: Depth) -> Vec<usize> {
    match depth {
        Depth::Ripple => vec![1; targets.last().copied().unwrap_or(0)],
        Depth::Tree => Plan::new(targets).levels.iter().map(Vec::len).collect(),
    }
}

/// Where a row is: the p of a single bit, which is its t; or a row of its own.
#[derive(Clone, Copy)]
enum Place {
    Bit(usize),
    Node(usize),
}

enum Operands {
    /// t and a of a bit.
    Bit(usize),
    Nodes(Place, Place),
}

/// One row of ANDs of a tree: the product of its operands, and one more row (for a bit: a's), to the
/// row `to`.
struct And {
    of: Operands,
    plus: Option<Place>,
    to: usize,
}

/// A tree for some of the carries; segments that several of them need are made once.
struct Plan {
    /// By round.
    levels: Vec<Vec<And>>,
    rows: usize,
    /// The row of each carry.
    carries: BTreeMap<usize, usize>,
}

impl Plan {
    fn new(targets: &[usize]) -> Self {
        // Of each segment, whether its p is needed beside its g.
        let mut segments = BTreeMap::new();
        for &target in targets {
            require(&mut segments, (0, target), false);
        }
        let mut plan = Self {
            levels: Vec::new(),
            rows: 0,
            carries: BTreeMap::new(),
        };
        let mut order: Vec<_> = segments.into_iter().collect();
        order.sort_by_key(|((lo, hi), _)| (level(hi - lo), *lo, *hi));
        let mut places: BTreeMap<(usize, usize), (usize, Place)> = BTreeMap::new();
        for ((lo, hi), with_p) in order {
            let level = level(hi - lo);
            if plan.levels.len() <= level {
                plan.levels.resize_with(level + 1, Vec::new);
            }
            let g = plan.rows;
            plan.rows += 1;
            let mut p = Place::Bit(lo);
            if hi - lo == 1 {
                plan.levels[0].push(And {
                    of: Operands::Bit(lo),
                    plus: Some(Place::Bit(lo)),
                    to: g,
                });
            } else {
                let middle = middle(lo, hi);
                let (g_low, p_low) = places[&(lo, middle)];
                let (g_high, p_high) = places[&(middle, hi)];
                plan.levels[level].push(And {
                    of: Operands::Nodes(p_high, Place::Node(g_low)),
                    plus: Some(Place::Node(g_high)),
                    to: g,
                });
                if with_p {
                    p = Place::Node(plan.rows);
                    plan.levels[level].push(And {
                        of: Operands::Nodes(p_high, p_low),
                        plus: None,
                        to: plan.rows,
                    });
                    plan.rows += 1;
                }
            }
            places.insert((lo, hi), (g, p));
        }
        for &target in targets {
            plan.carries.insert(target, places[&(0, target)].0);
        }
        plan
    }
}

/// The round, from 0, after which a segment of this length is there.
fn level(length: usize) -> usize {
    length.next_power_of_two().trailing_zeros() as usize
}

/// Where a segment is cut: its lower part is the largest power of two below its length.
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
        // One carry over 63 bits: 63 generate bits, and 62 joints of which all but those at the bottom
        // need p too.
        let rows = and_rows(&[63], Depth::Tree);
        assert_eq!(rows.len(), 7);
        assert!(rows.iter().sum::<usize>() <= 63 + 2 * 62);
        let all: Vec<usize> = (1..64).collect();
        assert_eq!(and_rows(&all, Depth::Tree).len(), 7);
        assert_eq!(and_rows(&[7, 8], Depth::Ripple), vec![1; 8]);
        assert_eq!(and_rows(&[1], Depth::Tree), vec![1]);
    }
}
