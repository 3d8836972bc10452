//! The sharing of bits that each operation is done in, where a mix has several.
//!
//! A value may be there as bits in several sharings, once in each. An operation is done in the one that its operands are in
//! because the program says so ([`Secret::to`](crate::Secret::to)), else in the one that the plan has chosen for it, else in that of the mix.
//! Operands in another sharing are brought there: through the form in which both sharings keep bits.
//! Operators of one sharing that follow each other become one circuit, those of different sharings do not.

use std::collections::HashMap;

use madrigal_circuit::Goal;
use madrigal_engine::Sharing;
use madrigal_operations::Backend;

use super::Mix;
use super::domain::Domain;
use super::manner::Manner;
use super::state::Lowering;
use super::units::OnBits;
use crate::ir::{Node, Op, Value};

impl Manner {
    /// The goal of circuits in a sharing: where layers take no rounds and other circuits of the program do, few ANDs.
    pub(super) fn goal_in(&self, mix: Mix, sharing: Sharing) -> Goal {
        match mix.has_several() && !Backend::of(sharing).bits().layered {
            true => Goal::Size,
            false => self.goal,
        }
    }
}

impl Lowering<'_> {
    /// The goal of circuits of the operation at hand.
    pub(super) fn goal(&self) -> Goal {
        self.manner.goal_in(self.mix, self.here)
    }

    /// The sharing of bits that an operation is done in, and whether nothing else can be.
    pub(super) fn place(
        &self,
        number: usize,
        node: &Node,
        explicit: Option<Sharing>,
    ) -> (Sharing, bool) {
        if !self.mix.has_several() {
            return (self.home, true);
        }
        if let (Op::Choose(_), Some(able)) = (&node.op, self.mix.with_branches()) {
            return (able, true);
        }
        if let (Op::Shuffle | Op::MoveRows, Some(able)) =
            (&node.op, self.mix.with_shuffles(self.parties))
        {
            return (able, true);
        }
        if let (Op::Random(..), Some(able)) = (&node.op, self.mix.with_joint_bits()) {
            return (able, true);
        }
        let said = explicit.filter(|&sharing| Domain::of(sharing, self.mix) == Domain::Bits);
        if let Some(said) = said {
            return (said, true);
        }
        let Some(held) = &self.manner.held else {
            return (self.home, false);
        };
        let follows = || node.inputs.iter().find_map(|&input| self.held_in(input));
        let chosen = held[number].or_else(follows);
        (chosen.unwrap_or(self.home), false)
    }

    /// Notes that the operation at hand computes on bits.
    pub(super) fn note_bits(&mut self) {
        let (number, sharing) = (self.number, self.here);
        match self.on_bits.last() {
            Some(last) if last.number == number => {}
            // Openings are no operations.
            _ if number == self.graph.nodes().len() => {}
            _ => self.on_bits.push(OnBits {
                number,
                sharing,
                fixed: self.fixed,
            }),
        }
    }

    /// Whether a value comes into the graph, or is known to all: it is shared in any sharing alike.
    pub(super) fn is_leaf(&self, value: Value) -> bool {
        let op = &self.graph.maker(value).op;
        matches!(op, Op::Input(_) | Op::Constant(_) | Op::Counter)
    }

    /// The sharing that a value's bits are in, the one of the operation at hand if they are in several; nothing if there are
    /// no bits of it.
    pub(super) fn held_in(&self, value: Value) -> Option<Sharing> {
        match self.mix.has_several() {
            true => self.held_with(value, &mut HashMap::new()),
            false => Some(self.home),
        }
    }

    fn held_with(
        &self,
        value: Value,
        seen: &mut HashMap<Value, Option<Sharing>>,
    ) -> Option<Sharing> {
        let form = self.form(value);
        let slots = form.bits.into_iter().flatten();
        let mut held = slots.map(|slot| self.draft.sort(slot).sharing);
        if let Some(first) = held.next() {
            let here = first == self.here || held.any(|sharing| sharing == self.here);
            return Some(if here { self.here } else { first });
        }
        if !form.lazy || form.ring.is_some() || self.is_leaf(value) {
            return None;
        }
        if let Some(&known) = seen.get(&value) {
            return known;
        }
        let inputs = self.graph.maker(value).inputs.iter();
        let found = inputs
            .filter_map(|&input| self.held_with(input, seen))
            .collect::<Vec<_>>();
        // Where operands are in several, one of them has to be brought elsewhere anyway.
        let first = found.first().copied();
        let held = match found.contains(&self.here) {
            true => Some(self.here),
            false => first,
        };
        seen.insert(value, held);
        held
    }

    /// Does something in a sharing of bits.
    pub(super) fn within<T>(&mut self, sharing: Sharing, make: impl FnOnce(&mut Self) -> T) -> T {
        let here = std::mem::replace(&mut self.here, sharing);
        let made = make(self);
        self.here = here;
        made
    }

    /// Does something in the sharing that a value's bits are in.
    pub(super) fn where_held<T>(&mut self, value: Value, make: impl FnOnce(&mut Self) -> T) -> T {
        let there = self.held_in(value).unwrap_or(self.here);
        self.within(there, make)
    }
}
