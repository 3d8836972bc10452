//! Comparisons of ring elements.

use madrigal_circuit::Goal;
use madrigal_operations::{Depth, DynOperation, Predicate};

use super::circuits::BitOp;
use super::domain::Domain;
use super::draft::{Operand, slots};
use super::state::{Lowering, Native, Result};
use super::steps::Slot;
use crate::ir::Value;

/// Makes a protocol's own test of ring elements.
type Tester = fn(Predicate, Depth) -> DynOperation;

impl Lowering<'_> {
    /// Whether two values are compared by what their shares add up to: of three sums, whose carries are
    /// computed side by side, rather than of two and then their difference.
    pub(super) fn by_shares(&self, a: Value, b: Value) -> bool {
        let sides = [a, b].map(|value| match self.graph.uniform(value) {
            Some(_) => None,
            None => Some(self.native(value)),
        });
        match sides {
            [Some(Native::Ring), None | Some(Native::Ring)] | [None, Some(Native::Ring)] => true,
            // Where an operand can be shared as bits just as well, the difference takes fewer ANDs, but later.
            [Some(Native::Ring), Some(Native::Free)] | [Some(Native::Free), Some(Native::Ring)] => {
                self.goal() == Goal::Depth
            }
            _ => false,
        }
    }

    /// Whether a < b, from the numbers that add up to them.
    pub(super) fn less_of_shares(&mut self, a: Value, b: Value) -> Result<Vec<Slot>> {
        let signed = self.element(a).is_signed();
        let len = self.len(a);
        let difference = self.difference(a, b)?;
        let difference = self.addends(difference)?;
        let count = difference.len();
        let mut operands = Vec::new();
        for value in [a, b] {
            match self.graph.uniform(value) {
                Some(code) => {
                    let bits = self.element(value).bits();
                    operands.push(Operand::Uniform(code, bits));
                    operands.extend(vec![Operand::Uniform(0, bits); count - 1]);
                }
                None => {
                    let ring = self.ring_slot(value)?;
                    operands.extend(self.addends(ring)?.into_iter().map(Operand::Slot));
                }
            }
        }
        operands.extend(difference.into_iter().map(Operand::Slot));
        Ok(self.bit_op(BitOp::LessOfSums { signed }, operands, len))
    }

    /// Whether elements of the values' rings are tested as they are: by a protocol for it, unless there are bits of them,
    /// of which a circuit takes no more.
    pub(super) fn tests(&self, a: Value, b: Value) -> Option<Tester> {
        let has_bits =
            |value: &Value| self.graph.uniform(*value).is_none() && self.form(*value).has_bits();
        let test = self.backend(Domain::Bits).bits().test;
        test.filter(|_| ![a, b].iter().any(has_bits))
    }

    pub(super) fn test(&mut self, test: Tester, predicate: Predicate, x: Slot) -> Result<Slot> {
        self.may_convert(Domain::Ring, Domain::Bits)?;
        let depth = match self.goal() {
            Goal::Size => Depth::Ripple,
            Goal::Depth => Depth::Tree,
        };
        if let Some(&known) = self.tested.get(&(x, predicate)) {
            return Ok(known);
        }
        let bit = self.operation(test(predicate, depth), &[x])?;
        self.tested.insert((x, predicate), bit);
        Ok(bit)
    }

    /// Whether ring elements are less than zero as signed numbers.
    pub(super) fn negative(&mut self, x: Slot) -> Result<Slot> {
        if let Some(test) = self.backend(Domain::Bits).bits().test {
            return self.test(test, Predicate::Negative, x);
        }
        let (bits, len) = (self.width(x), self.draft.sort(x).len);
        let addends = slots(&self.addends(x)?);
        let zeros = vec![Operand::Uniform(0, bits); addends.len()];
        let operands = [&addends[..], &zeros, &addends].concat();
        Ok(self.bit_op(BitOp::LessOfSums { signed: true }, operands, len)[0])
    }

    /// Whether a < b, from the signs of both and of their difference; that of a alone where b is zero.
    pub(super) fn less_of_signs(&mut self, test: Tester, a: Value, b: Value) -> Result<Vec<Slot>> {
        let (signed, len) = (self.element(a).is_signed(), self.len(a));
        let difference = self.difference(a, b)?;
        let difference = self.test(test, Predicate::Negative, difference)?;
        if signed && self.graph.uniform(b) == Some(0) {
            return Ok(vec![difference]);
        }
        let mut operands = Vec::new();
        for value in [a, b] {
            operands.push(match self.graph.uniform(value) {
                Some(code) => Operand::Uniform(code >> (self.element(value).bits() - 1), 1),
                None => {
                    let ring = self.ring_slot(value)?;
                    Operand::Slot(self.test(test, Predicate::Negative, ring)?)
                }
            });
        }
        operands.push(Operand::Slot(difference));
        Ok(self.bit_op(BitOp::LessOfSigns { signed }, operands, len))
    }

    /// `a - b` on ring elements, at least one of which is secret.
    pub(super) fn difference(&mut self, a: Value, b: Value) -> Result<Slot> {
        let mask = self.element(a).mask();
        match [a, b].map(|value| self.graph.uniform(value)) {
            [None, Some(0)] => self.ring_slot(a),
            [None, Some(code)] => {
                let x = self.ring_slot(a)?;
                Ok(self.linear(&[(x, 1)], code.wrapping_neg() & mask))
            }
            [Some(code), _] => {
                let y = self.ring_slot(b)?;
                Ok(self.linear(&[(y, mask)], code))
            }
            [None, None] => {
                let (x, y) = (self.ring_slot(a)?, self.ring_slot(b)?);
                Ok(self.linear(&[(x, 1), (y, mask)], 0))
            }
        }
    }
}
