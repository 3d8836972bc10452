//! Steps that make vectors: inputs, public ones, and elements that move.

use std::sync::Arc;

use madrigal_engine::{Element, Sharing, Sort, Width};
use madrigal_operations::{Backend, Chain, Concat, DynOperation, Layout, Public, Rearrange};

use super::Domain;
use super::bits::BitOp;
use super::draft::Operand;
use super::lowering::{Lowering, Result};
use super::steps::{Action, Places, Slot};
use crate::array::{Array, Words};
use crate::element::Type;
use crate::error::Fault;
use crate::ir::{Op, Value};
use crate::shape::{Shape, View};

impl Lowering<'_> {
    /// Whether all parties know the value, in another way than that its elements are alike.
    pub(super) fn is_public(&self, value: Value) -> bool {
        let node = self.graph.maker(value);
        match &node.op {
            Op::Constant(_) | Op::Counter => true,
            Op::View(_) | Op::Reshape(_) | Op::Pick { .. } | Op::Join(_) => {
                self.publics[value.node as usize]
            }
            _ => self.form(value).public.is_some(),
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
    pub(super) fn public_bits(&mut self, value: Value) -> Result<Slot> {
        let element = Domain::Bits.element(self.element(value).bits());
        let sort = Sort::new(Sharing::PUBLIC, element, self.len(value));
        match self.graph.constant(value) {
            Some(array) => self.public(array, sort),
            None => Ok(self.action(Action::Counter, &[], sort)),
        }
    }

    /// An array that is part of the program.
    fn public(&mut self, array: &Array, sort: Sort) -> Result<Slot> {
        let value = Public::new(crate::clear::shares(array, sort));
        self.operation(Arc::new(value), &[])
    }

    pub(super) fn input(&mut self, number: usize, domain: Domain) -> Slot {
        let port = &self.ports.inputs[number];
        let bits = port.tensor_type.element.bits();
        let (clear, len) = (
            Sharing::clear(&[port.owner]),
            port.tensor_type.shape.elements(),
        );
        let sort = Sort::new(clear, domain.element(bits), len);
        let at = std::mem::replace(&mut self.at, port.at);
        let clear = self.action(Action::Input(number), &[], sort);
        let shared = self.share(clear, domain);
        self.at = at;
        shared
    }

    /// A clear or public vector as a shared one.
    pub(super) fn share(&mut self, clear: Slot, domain: Domain) -> Slot {
        let sort = self.draft.sort(clear).shared(self.sharing(domain));
        self.action(Action::Share, &[clear], sort)
    }

    /// A vector of one number, in the shape and type of a value.
    pub(super) fn filled(&mut self, code: u128, like: Value, domain: Domain) -> Result<Slot> {
        let (element, len) = (self.element(like), self.len(like));
        self.filled_with(code, element, len, domain)
    }

    pub(super) fn filled_with(
        &mut self,
        code: u128,
        element: Type,
        len: usize,
        domain: Domain,
    ) -> Result<Slot> {
        let words = Words::collect(element, std::iter::once(code));
        let array = Array::new(element, Shape::of(vec![1]), words);
        let sort = Sort::new(Sharing::PUBLIC, domain.element(element.bits()), 1);
        let one = self.public(&array, sort)?;
        let many = Shape::of(vec![len]);
        let view = View::broadcast(&Shape::of(vec![1]), &many);
        let shared = self.share(one, domain);
        Ok(self.gather(shared, Places::View(view)))
    }

    /// The sharing that holds ring elements or bits.
    pub(super) fn sharing(&self, domain: Domain) -> Sharing {
        match domain {
            Domain::Ring => self.mix.ring(),
            Domain::Bits => self.mix.bits(),
        }
    }

    /// The record of the protocol that computes on ring elements or bits.
    pub(super) fn backend(&self, domain: Domain) -> &'static Backend {
        Backend::of(self.sharing(domain))
    }

    /// The sort of shared ring elements or bits.
    pub(super) fn shared(&self, domain: Domain, bits: u32, len: usize) -> Sort {
        Sort::new(self.sharing(domain), domain.element(bits), len)
    }

    /// An operation with one result, in the words of the operation at hand.
    pub(super) fn operation(&mut self, operation: DynOperation, inputs: &[Slot]) -> Result<Slot> {
        Ok(self.chain(vec![operation], inputs)?[0])
    }

    /// Operations that follow each other; gives the results of the last one, or the inputs where there is none.
    pub(super) fn chain(&mut self, chain: Chain, inputs: &[Slot]) -> Result<Vec<Slot>> {
        let mut slots = inputs.to_vec();
        for operation in chain {
            let sorts: Vec<Sort> = slots.iter().map(|&slot| self.draft.sort(slot)).collect();
            let outputs = operation.sorts(&sorts, self.parties);
            let outputs = outputs.map_err(|problem| {
                let operator = self.operator.clone();
                self.fault(Fault::Operation { operator, problem })
            })?;
            slots = self.actions(Action::Operation(operation), &slots, outputs);
        }
        Ok(slots)
    }

    /// A step with several results, in the words of the operation at hand.
    pub(super) fn actions(
        &mut self,
        action: Action,
        inputs: &[Slot],
        outputs: Vec<Sort>,
    ) -> Vec<Slot> {
        let count = outputs.len() as u32;
        let operator = self.operator.clone();
        let first = self
            .draft
            .action(action, inputs, outputs, &operator, self.at);
        (0..count).map(|output| Slot { output, ..first }).collect()
    }

    /// A step with one result, in the words of the operation at hand.
    pub(super) fn action(&mut self, action: Action, inputs: &[Slot], output: Sort) -> Slot {
        self.actions(action, inputs, vec![output])[0]
    }

    pub(super) fn bit_op(&mut self, op: BitOp, inputs: Vec<Operand>, len: usize) -> Vec<Slot> {
        let sharing = self.sharing(Domain::Bits);
        self.draft.bits(op, inputs, sharing, len, self.at)
    }

    /// Elements of a vector, itself where they are all in order.
    pub(super) fn gather(&mut self, x: Slot, places: Places) -> Slot {
        let sort = self.draft.sort(x);
        let len = places.len();
        match &places {
            Places::View(view) if len == sort.len && view.is_prefix() => x,
            _ => {
                let moved = Rearrange::new(layout(&places));
                self.action(Action::Move(Arc::new(moved)), &[x], sort.of_len(len))
            }
        }
    }

    /// Vectors of so many rows, joined row by row.
    pub(super) fn join(&mut self, parts: &[Slot], rows: usize) -> Slot {
        if let [part] = parts {
            return *part;
        }
        let lens = parts.iter().map(|&part| self.draft.sort(part).len);
        let sort = self.draft.sort(parts[0]).of_len(lens.sum());
        self.action(Action::Move(Arc::new(Concat { rows })), parts, sort)
    }
}

impl Domain {
    /// An element of so many bits.
    pub(super) fn element(self, bits: u32) -> Element {
        match self {
            Self::Ring => Element::Ring(width(bits)),
            Self::Bits => Element::Bits(bits as usize),
        }
    }
}

/// The ring of so many bits.
pub(super) fn width(bits: u32) -> Width {
    let found = Width::ALL
        .into_iter()
        .find(|width| width.bits() == bits as usize);
    found.expect("rings have 8, 16, 32, 64 or 128 bits")
}

/// Places as the engine has them.
fn layout(places: &Places) -> Layout {
    match places {
        Places::View(view) => Layout::Grid {
            start: view.offset,
            axes: (view.shape.axes().iter().copied())
                .zip(view.strides.iter().copied())
                .collect(),
        },
        Places::Rows { .. } => {
            let index =
                |at: usize| u32::try_from(at).expect("a shape has fewer than 2^32 elements");
            Layout::Picked(places.indices().into_iter().map(index).collect())
        }
    }
}
