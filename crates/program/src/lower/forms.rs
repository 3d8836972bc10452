//! Values in the forms that steps take: shared ring elements, shared bits.

use std::sync::Arc;

use madrigal_engine::{Sharing, Sort};
use madrigal_operations::{Backend, Narrow, Row};

use super::circuits::BitOp;
use super::domain::{Domain, width};
use super::draft::Operand;
use super::state::{Lowering, Native, Result};
use super::steps::{Action, Places, Slot};
use crate::element::Type;
use crate::error::Fault;
use crate::ir::{Node, Op, Value};

impl Lowering<'_> {
    /// The value as shared ring elements or shared bits.
    pub(super) fn slot(&mut self, value: Value, domain: Domain) -> Result<Slot> {
        match domain {
            Domain::Ring => self.ring_slot(value),
            Domain::Bits => self.bits_slot(value),
        }
    }

    /// The value as shared ring elements.
    pub(super) fn ring_slot(&mut self, value: Value) -> Result<Slot> {
        let form = self.form(value);
        if let Some(slot) = form.ring {
            return Ok(slot);
        }
        let slot = match self.graph.uniform(value) {
            Some(code) => self.filled(code, value, Domain::Ring)?,
            None if form.lazy => self.lazy_ring(value)?,
            None if form.public.is_some() => {
                let public = self.public_slot(value)?;
                self.share(public, Domain::Ring)
            }
            None => self.composed(value)?,
        };
        self.form_mut(value).ring = Some(slot);
        Ok(slot)
    }

    /// The value as shared bits, or the number that all elements are.
    pub(super) fn bits(&mut self, value: Value) -> Result<Operand> {
        match self.graph.uniform(value) {
            Some(code) => Ok(Operand::Uniform(code, self.element(value).bits())),
            None => self.bits_slot(value).map(Operand::Slot),
        }
    }

    /// The value as shared bits.
    pub(super) fn bits_slot(&mut self, value: Value) -> Result<Slot> {
        let form = self.form(value);
        let mut held = form.bits.into_iter().flatten();
        if let Some(slot) = held.find(|&slot| self.draft.sort(slot).sharing == self.here) {
            return Ok(slot);
        }
        let fresh = form.lazy && (!form.has_bits() || self.is_leaf(value));
        let slot = match (self.graph.uniform(value), form.bits[0]) {
            (Some(code), _) => self.filled(code, value, Domain::Bits)?,
            (None, _) if fresh && form.ring.is_none() => self.lazy_bits(value)?,
            (None, Some(there)) => self.brought(there)?,
            (None, None) => {
                let ring = self.ring_slot(value)?;
                self.added_up(ring)?
            }
        };
        self.form_mut(value).set(Domain::Bits, slot);
        Ok(slot)
    }

    /// A value of bits as ring elements.
    fn composed(&mut self, value: Value) -> Result<Slot> {
        let element = self.element(value);
        let bits = self.where_held(value, |lowering| lowering.bits_slot(value))?;
        self.compose(bits, element, element.is_signed())
    }

    /// Bits as ring elements of a type's width, the highest one as a sign where they are signed.
    pub(super) fn compose(&mut self, bits: Slot, to: Type, signed: bool) -> Result<Slot> {
        self.may_convert(Domain::Bits, Domain::Ring)?;
        // A sign says nothing if there are as many bits as the ring has.
        let signed = signed && self.width(bits) < to.bits();
        let from = Backend::of(self.draft.sort(bits).sharing);
        let ring = self.backend(Domain::Ring);
        let chain = ring.compose(from, width(to.bits()), signed);
        Ok(self.chain(chain, &[bits])?[0])
    }

    /// Ring elements as bits.
    fn added_up(&mut self, ring: Slot) -> Result<Slot> {
        let addends = self.addends(ring)?;
        let len = self.draft.sort(ring).len;
        let operands = addends.into_iter().map(Operand::Slot).collect();
        Ok(self.bit_op(BitOp::AddUp, operands, len)[0])
    }

    /// Bits of the numbers that add up to ring elements.
    pub(super) fn addends(&mut self, ring: Slot) -> Result<Vec<Slot>> {
        self.split(ring, false)
    }

    /// Bits of the numbers that add up to ring elements; all but the first may be negated.
    pub(super) fn split(&mut self, ring: Slot, negated: bool) -> Result<Vec<Slot>> {
        self.may_convert(Domain::Ring, Domain::Bits)?;
        if let Some(addends) = self.splits.get(&(ring, negated, self.here)) {
            return Ok(addends.clone());
        }
        let from = Backend::of(self.draft.sort(ring).sharing);
        let chain = self
            .backend(Domain::Bits)
            .split(from, self.parties, negated);
        let operator = std::mem::replace(&mut self.operator, "split".into());
        let addends = self.chain(chain, &[ring]);
        self.operator = operator;
        let addends = addends?;
        self.splits
            .insert((ring, negated, self.here), addends.clone());
        Ok(addends)
    }

    pub(super) fn may_convert(&self, found: Domain, wanted: Domain) -> Result<()> {
        if !self.mix.is_manual() || self.converts {
            return Ok(());
        }
        Err(self.fault(Fault::Sharing {
            operator: self.operator.as_str().into(),
            found: self.sharing(found),
            wanted: self.sharing(wanted),
        }))
    }

    fn lazy_ring(&mut self, value: Value) -> Result<Slot> {
        let node = self.graph.maker(value);
        let len = self.len(value);
        let to = self.element(value);
        match &node.op {
            Op::Input(number) => Ok(self.input(*number, Domain::Ring)),
            Op::Constant(_) | Op::Counter => {
                let public = self.public_slot(value)?;
                Ok(self.share(public, Domain::Ring))
            }
            Op::Cast(_) => {
                let from = self.element(node.inputs[0]);
                if to.bits() > from.bits() {
                    let bits = self.bits_slot(node.inputs[0])?;
                    return self.compose(bits, to, from.is_signed());
                }
                if self.native(node.inputs[0]) == Native::Bits {
                    return self.composed(value);
                }
                let ring = self.ring_slot(node.inputs[0])?;
                if to.bits() == from.bits() {
                    return Ok(ring);
                }
                let sort = self.shared(Domain::Ring, to.bits(), len);
                let narrow = Arc::new(Narrow::new(width(to.bits())));
                Ok(self.action(Action::Move(narrow), &[ring], sort))
            }
            Op::Binary(_) | Op::Unary(_) => self.ring_product(&node.inputs),
            _ if self.native(value) == Native::Bits && len < self.len(node.inputs[0]) => {
                self.composed(value)
            }
            _ => self.moved(node, Domain::Ring),
        }
    }

    fn lazy_bits(&mut self, value: Value) -> Result<Slot> {
        let node = self.graph.maker(value);
        let len = self.len(value);
        if let Some(there) = self.held_in(value).filter(|&there| there != self.here) {
            // An operation that moves elements may leave some out: it is done where they are.
            let slot = self.within(there, |lowering| lowering.bits_slot(value))?;
            return self.brought(slot);
        }
        match &node.op {
            Op::Input(number) => Ok(self.input(*number, Domain::Bits)),
            Op::Constant(_) | Op::Counter => {
                let public = self.public_bits(value)?;
                Ok(self.share(public, Domain::Bits))
            }
            Op::Cast(to) => {
                let from = self.element(node.inputs[0]);
                let narrows = to.bits() < from.bits() && !to.is_bool();
                if narrows && self.native(node.inputs[0]) == Native::Ring {
                    let ring = self.ring_slot(value)?;
                    return self.added_up(ring);
                }
                let bits = self.bits(node.inputs[0])?;
                match bits {
                    Operand::Slot(slot) if to.bits() == from.bits() => Ok(slot),
                    bits => Ok(self.bit_op(BitOp::Cast(from, *to), vec![bits], len)[0]),
                }
            }
            Op::Binary(_) | Op::Unary(_) => {
                let ring = self.ring_slot(value)?;
                self.added_up(ring)
            }
            _ if self.native(value) == Native::Ring && len < self.len(node.inputs[0]) => {
                let ring = self.ring_slot(value)?;
                self.added_up(ring)
            }
            _ => self.moved(node, Domain::Bits),
        }
    }

    /// Carries out an operation that only moves elements in a domain.
    fn moved(&mut self, node: &Node, domain: Domain) -> Result<Slot> {
        let mut operands = Vec::new();
        let moves = match node.op {
            Op::Row(_) => &node.inputs[..1],
            _ => &node.inputs[..],
        };
        for &input in moves {
            operands.push(self.slot(input, domain)?);
        }
        self.moved_slots(node, operands)
    }

    /// Carries out an operation that only moves elements on operands that are there.
    pub(super) fn moved_slots(&mut self, node: &Node, operands: Vec<Slot>) -> Result<Slot> {
        let first = operands[0];
        let from = self.shape(node.inputs[0]);
        match &node.op {
            Op::View(view) => Ok(self.gather(first, Places::View(view.clone()))),
            Op::Reshape(_) => Ok(first),
            Op::Pick { axis, places } => Ok(self.rows(first, from.around(*axis), places)),
            Op::Join(axis) => {
                let [before, ..] = from.around(*axis);
                Ok(self.join(&operands, before))
            }
            Op::Row(axis) => {
                let [_, count, inner] = from.around(*axis);
                let index = self.public_slot(node.inputs[1])?;
                self.operation(Arc::new(Row { count, inner }), &[first, index])
            }
            op => unreachable!("{op} does more than move elements"),
        }
    }

    /// A public value as ring elements.
    pub(super) fn public_slot(&mut self, value: Value) -> Result<Slot> {
        if let Some(slot) = self.form(value).public {
            return Ok(slot);
        }
        let node = self.graph.maker(value);
        let element = Domain::Ring.element(self.element(value).bits());
        let sort = Sort::new(Sharing::PUBLIC, element, self.len(value));
        let slot = match &node.op {
            Op::Constant(array) => self.public(array, sort)?,
            Op::Counter => self.action(Action::Counter, &[], sort),
            _ => {
                let mut operands = Vec::new();
                for &input in &node.inputs {
                    operands.push(self.public_slot(input)?);
                }
                self.moved_slots(node, operands)?
            }
        };
        self.form_mut(value).public = Some(slot);
        Ok(slot)
    }

    /// A constant or a counter as public bits.
    fn public_bits(&mut self, value: Value) -> Result<Slot> {
        let element = Domain::Bits.element(self.element(value).bits());
        let sort = Sort::new(Sharing::PUBLIC, element, self.len(value));
        match self.graph.constant(value) {
            Some(array) => self.public(array, sort),
            None => Ok(self.action(Action::Counter, &[], sort)),
        }
    }

    /// The one-hot codes of a value's places, of `entries` bits each, side by side.
    pub(super) fn one_hot(&mut self, places: Value, entries: usize) -> Result<Slot> {
        let count = self.len(places);
        let place = self.bits(places)?;
        let hot = self.bit_op(BitOp::OneHot(entries), vec![place], count);
        Ok(self.join(&hot, count))
    }

    /// The product of two values, or the square of one.
    pub(super) fn ring_product(&mut self, factors: &[Value]) -> Result<Slot> {
        let (a, b) = match *factors {
            [a, b] if self.is_public(a) => (b, a),
            [a, b] => (a, b),
            _ => {
                let x = self.ring_slot(factors[0])?;
                return self.operation(self.rings().square(), &[x]);
            }
        };
        for (secret, public) in [(factors[0], factors[1]), (factors[1], factors[0])] {
            if let Some(code) = self.graph.uniform(public) {
                let x = self.ring_slot(secret)?;
                return Ok(self.linear(&[(x, code)], 0));
            }
        }
        let x = self.ring_slot(a)?;
        let y = self.public_or_ring(b)?;
        let public = self.draft.sort(y).sharing.is_public(self.parties);
        let operation = match public {
            true => self.rings().mul_public(),
            false => self.rings().mul(),
        };
        self.operation(operation, &[x, y])
    }

    /// The value as ring elements, public if it is.
    pub(super) fn public_or_ring(&mut self, value: Value) -> Result<Slot> {
        match self.is_public(value) {
            true => self.public_slot(value),
            false => self.ring_slot(value),
        }
    }
}
