//! The best of the elements along an axis: tournaments, whose groups are as large as the line wants them.
//!
//! In pairs, a tournament takes the fewest ANDs: a comparison and a choice for each element, level after level. On a line
//! where rounds dominate, more elements meet at once: all of a group are compared with each other, the one that wins against
//! all others is found by a tree of ANDs, and its number and place are the XOR of what is left of all after a mask. A level
//! then takes a comparison, the tree and the mask, however large the group is. [`levels`] says which groups take
//! least, where a round is worth some number of ANDs.
//!
//! Elements that are shared in a ring are compared by the signs of their differences in the first level, while they become
//! bits: neither waits for the other.

use std::collections::HashMap;

use madrigal_circuit::{Builder, Goal};
use madrigal_engine::{Sharing, Sort};

use super::circuits::{BitOp, less};
use super::domain::Domain;
use super::draft::slots;
use super::state::{Lowering, Native, Result};
use super::steps::Slot;
use crate::array::{Array, Words};
use crate::element::Type;
use crate::ir::{Binary, Extreme, Graph, Node, Op, Unary, Value};
use crate::shape::Shape;

/// The largest group: of as many, each element is compared with 31 others.
const LARGEST: usize = 32;

/// Elements that are still in a tournament.
#[derive(Clone, Copy)]
struct Entrants {
    /// Their numbers, as bits.
    numbers: Slot,
    /// Their places, where these are asked for.
    places: Option<Slot>,
    /// Their numbers as ring elements, as long as these are there.
    ring: Option<Slot>,
    /// The axes: those before the tournament's one, it, and those after it.
    sizes: [usize; 3],
}

/// Some of the places of an axis, as groups of neighbours.
#[derive(Clone, Copy)]
struct Groups {
    first: usize,
    size: usize,
    count: usize,
}

impl Groups {
    /// The place of a member, counted from 0, of each group.
    fn members(self, member: usize) -> impl Iterator<Item = usize> {
        (0..self.count).map(move |group| self.first + group * self.size + member)
    }

    /// All pairs of members of a group, the one that stands first first.
    fn pairs(self) -> impl Iterator<Item = [usize; 2]> {
        (0..self.size).flat_map(move |a| (a + 1..self.size).map(move |b| [a, b]))
    }
}

impl Lowering<'_> {
    /// Whether elements along an axis meet in groups, and not pair by pair.
    pub(super) fn in_groups(&self, value: Value, axis: usize) -> bool {
        let layered = self.backend(Domain::Bits).bits().layered;
        layered && self.manner.round > 0 && self.shape(value).around(axis)[1] > 1
    }

    /// The extreme along an axis, and its place in [`Type::PLACE`] where that is asked for: elements meet in groups.
    pub(super) fn best(
        &mut self,
        value: Value,
        extreme: Extreme,
        axis: usize,
        with_place: bool,
    ) -> Result<Vec<Slot>> {
        let element = self.element(value);
        let sizes = self.shape(value).around(axis);
        let [before, length, after] = sizes;
        let ring = match self.native(value) {
            Native::Ring => Some(self.ring_slot(value)?),
            Native::Bits | Native::Free => None,
        };
        let numbers = self.bits_slot(value)?;
        let places = match with_place {
            true => Some(self.places(sizes)?),
            false => None,
        };
        let mut left = Entrants {
            numbers,
            places,
            ring,
            sizes,
        };
        let worth = (self.manner.round, (before * after) as u128);
        for size in levels(element, self.goal(), length, worth) {
            left = self.level(&left, extreme, element, size)?;
        }
        let mut made = vec![left.numbers];
        if let Some(places) = left.places {
            let resize = BitOp::Resize(Type::PLACE.bits());
            made.extend(self.bit_op(resize, slots(&[places]), before * after));
        }
        Ok(made)
    }

    /// The places 0, 1, ... along the middle one of three axes, in as many bits as the last one has.
    fn places(&mut self, sizes: [usize; 3]) -> Result<Slot> {
        let [before, length, after] = sizes;
        let bits = usize::BITS - (length - 1).leading_zeros();
        let len = sizes.iter().product();
        let places = (0..before).flat_map(|_| (0..length).flat_map(|at| vec![at as u128; after]));
        let words = Words::collect(Type::PLACE, places);
        let array = Array::new(Type::PLACE, Shape::of(vec![len]), words);
        let sort = Sort::new(Sharing::PUBLIC, Domain::Bits.element(bits), len);
        let public = self.public(&array, sort)?;
        Ok(self.share(public, Domain::Bits))
    }

    /// One level: the winners of groups of `size`, and that of the smaller group at the end.
    fn level(
        &mut self,
        left: &Entrants,
        extreme: Extreme,
        element: Type,
        size: usize,
    ) -> Result<Entrants> {
        let [before, length, after] = left.sizes;
        let (count, rest) = (length / size, length % size);
        let groups = [(0, size, count), (length - rest, rest, 1)];
        let mut won: Vec<[Option<Slot>; 2]> = Vec::new();
        for (first, size, count) in groups {
            let groups = Groups { first, size, count };
            match size {
                0 => {}
                1 => {
                    let mut one = |slot| self.rows(slot, left.sizes, &[first]);
                    won.push([Some(one(left.numbers)), left.places.map(one)]);
                }
                _ => {
                    let wins = self.wins(left, extreme, element, groups)?;
                    let numbers = self.winners(left.numbers, wins, left.sizes, groups)?;
                    let places = match left.places {
                        Some(places) => Some(self.winners(places, wins, left.sizes, groups)?),
                        None => None,
                    };
                    won.push([Some(numbers), places]);
                }
            }
        }
        let [numbers, places] = [0, 1].map(|which| {
            let parts: Option<Vec<Slot>> = won.iter().map(|one| one[which]).collect();
            parts.map(|parts| self.join(&parts, before))
        });
        Ok(Entrants {
            numbers: numbers.expect("every group has a winner"),
            places,
            ring: None,
            sizes: [before, count + usize::from(rest > 0), after],
        })
    }

    /// For each member of each group, whether it wins: bits along the axes `[before, members, groups, after]`; of groups of two,
    /// whether the second member does, `[before, groups, after]`.
    fn wins(
        &mut self,
        left: &Entrants,
        extreme: Extreme,
        element: Type,
        groups: Groups,
    ) -> Result<Slot> {
        let [before, _, after] = left.sizes;
        let Groups { size, count, .. } = groups;
        let pairs: Vec<[usize; 2]> = groups.pairs().collect();
        let met = pairs.len() * count;
        let later = self.later_wins(left, extreme, element, groups, &pairs)?;
        if size == 2 {
            return Ok(later);
        }
        let len = before * met * after;
        let not = BitOp::Unary(Unary::Not, Type::BOOL);
        let earlier = self.bit_op(not, slots(&[later]), len)[0];
        let both = self.join(&[later, earlier], before);
        // Against each other member, each member's result.
        let mut results = Vec::with_capacity(size * (size - 1) * count);
        for member in 0..size {
            for other in (0..size).filter(|&other| other != member) {
                let [a, b] = [member.min(other), member.max(other)];
                let pair = pairs.binary_search(&[a, b]).expect("all pairs are there");
                let first = pair * count + if member == b { 0 } else { met };
                results.extend(first..first + count);
            }
        }
        let results = self.rows(both, [before, 2 * met, after], &results);
        let axes = [before * size, size - 1, count * after];
        self.tree(results, axes, size, |lowering, parts, len| {
            let all = BitOp::Fold(Binary::And);
            Ok(lowering.bit_op(all, slots(parts), len)[0])
        })
    }

    /// Tells of each pair in each group whether the member that stands later is the better one: bits along the axes
    /// `[before, pairs, groups, after]`.
    fn later_wins(
        &mut self,
        left: &Entrants,
        extreme: Extreme,
        element: Type,
        groups: Groups,
        pairs: &[[usize; 2]],
    ) -> Result<Slot> {
        let [before, _, after] = left.sizes;
        let side = |which: usize| -> Vec<usize> {
            let members = pairs.iter().map(|pair| pair[which]);
            members.flat_map(|member| groups.members(member)).collect()
        };
        // The one that must be less for the later one to win, then the other.
        let sides = match extreme {
            Extreme::Least => [side(1), side(0)],
            Extreme::Greatest => [side(0), side(1)],
        };
        let len = before * sides[0].len() * after;
        let mut both = |slot| [0, 1].map(|which: usize| self.rows(slot, left.sizes, &sides[which]));
        let Some(ring) = left.ring else {
            let numbers = both(left.numbers);
            let less = BitOp::Binary(Binary::Less, element);
            return Ok(self.bit_op(less, slots(&numbers), len)[0]);
        };
        let [x, y] = both(ring);
        let signs = self.signs(left.numbers);
        let [x_sign, y_sign] =
            [0, 1].map(|which: usize| self.rows(signs, left.sizes, &sides[which]));
        let difference = self.linear(&[(x, 1), (y, element.mask())], 0);
        let negative = self.negative(difference)?;
        let less = BitOp::LessOfSigns {
            signed: element.is_signed(),
        };
        Ok(self.bit_op(less, slots(&[x_sign, y_sign, negative]), len)[0])
    }

    /// The highest bits of numbers.
    fn signs(&mut self, numbers: Slot) -> Slot {
        let (bits, len) = (self.width(numbers), self.draft.sort(numbers).len);
        let shift = BitOp::Unary(Unary::ShiftRight(bits - 1), Type::unsigned(bits));
        let shifted = self.bit_op(shift, slots(&[numbers]), len);
        self.bit_op(BitOp::Resize(1), slots(&shifted), len)[0]
    }

    /// Values that the winner of each group has.
    fn winners(
        &mut self,
        values: Slot,
        wins: Slot,
        sizes: [usize; 3],
        groups: Groups,
    ) -> Result<Slot> {
        let [before, _, after] = sizes;
        let Groups { size, count, .. } = groups;
        let of_members = |members: std::ops::Range<usize>| -> Vec<usize> {
            members.flat_map(|member| groups.members(member)).collect()
        };
        if size == 2 {
            let [second, first] =
                [1, 0].map(|member| self.rows(values, sizes, &of_members(member..member + 1)));
            let operands = slots(&[wins, second, first]);
            return Ok(self.bit_op(BitOp::Select, operands, before * count * after)[0]);
        }
        let values = self.rows(values, sizes, &of_members(0..size));
        let operands = slots(&[wins, values]);
        let masked = self.bit_op(BitOp::Mask, operands, before * size * count * after)[0];
        self.sums(masked, [before, size, count * after], false)
    }
}

/// The sizes of the groups of each level of a tournament of `length` elements that take least: ANDs, and rounds that are worth
/// `round` ANDs each, where as many as `lanes` tournaments go on side by side.
fn levels(element: Type, goal: Goal, length: usize, (round, lanes): (u64, u128)) -> Vec<usize> {
    let bits = element.bits();
    let mut builder = Builder::new("a comparison").with_goal(goal);
    let [x, y] = [(); 2].map(|()| builder.input(bits));
    let comparison = less(&mut builder, element, &x, &y);
    builder.output(&[comparison]);
    let comparison = builder.finish().stats();
    let ands = |members: usize| -> u128 {
        let pairs = members * members.saturating_sub(1) / 2;
        let rest = match members {
            0 | 1 => 0,
            2 => bits as usize,
            _ => members * (members - 2 + bits as usize),
        };
        (pairs as u64 * (comparison.and + comparison.or)) as u128 + rest as u128
    };
    // The cost of later levels depends on the number of elements that they begin with alone.
    type Known = HashMap<usize, (u128, usize)>;
    fn least(left: usize, level: &dyn Fn(usize, usize) -> u128, known: &mut Known) -> u128 {
        if left < 2 {
            return 0;
        }
        if let Some(known) = known.get(&left) {
            return known.0;
        }
        let sizes = 2..=left.min(LARGEST);
        let all = sizes.map(|size| {
            let after = least(left.div_ceil(size), level, known);
            (level(left, size) + after, size)
        });
        let best = all.min().expect("two elements can meet");
        known.insert(left, best);
        best.0
    }
    let level = |left: usize, size: usize| {
        let (count, rest) = (left / size, left % size);
        let tree = usize::BITS - (size - 1).saturating_sub(1).leading_zeros();
        let layers = u128::from(comparison.and_depth) + u128::from(tree) + 1;
        (count as u128 * ands(size) + ands(rest)) * lanes + layers * u128::from(round)
    };
    let mut known = Known::new();
    least(length, &level, &mut known);
    let mut sizes = Vec::new();
    let mut left = length;
    while left > 1 {
        let size = known[&left].1;
        sizes.push(size);
        left = left.div_ceil(size);
    }
    sizes
}

impl Graph {
    /// Whether elements meet in a tournament anywhere.
    pub(crate) fn has_tournaments(&self) -> bool {
        self.nodes().iter().any(|node| match &node.op {
            Op::Find(_, axis) => self.meet(node, *axis),
            Op::Reduce(reduction, axis) => reduction.extreme().is_some() && self.meet(node, *axis),
            Op::Repeat { body, .. } | Op::Map { body, .. } => body.has_tournaments(),
            Op::Choose(branches) => branches.iter().any(|branch| branch.has_tournaments()),
            _ => false,
        })
    }

    fn meet(&self, node: &Node, axis: usize) -> bool {
        self.type_of(node.inputs[0]).shape.around(axis)[1] > 1
    }
}
