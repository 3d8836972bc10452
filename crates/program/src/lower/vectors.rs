//! Steps that make vectors: inputs, public ones, and elements that move.

use super::bits::BitOp;
use super::draft::Operand;
use super::lowering::{Lowering, Result};
use super::steps::{Action, Element, Held, Holding, Places, Slot};
use super::{Domain, Sharing};
use crate::array::{Array, Words};
use crate::element::Type;
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
        let held = Held::public(Element::Ring(self.element(value).bits()), self.len(value));
        let slot = match &node.op {
            Op::Constant(array) => self.action(Action::Public(array.clone()), &[], held),
            Op::Counter => self.action(Action::Counter, &[], held),
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
        let held = Held::public(Element::Bits(self.element(value).bits()), self.len(value));
        let action = match self.graph.constant(value) {
            Some(array) => Action::Public(array.clone()),
            None => Action::Counter,
        };
        Ok(self.action(action, &[], held))
    }

    pub(super) fn input(&mut self, number: usize, domain: Domain) -> Slot {
        let port = &self.ports.inputs[number];
        let bits = port.sort.element.bits();
        let held = Held {
            holding: Holding::Clear(vec![port.owner]),
            element: match domain {
                Domain::Ring => Element::Ring(bits),
                Domain::Bits => Element::Bits(bits),
            },
            len: port.sort.shape.elements(),
        };
        let at = std::mem::replace(&mut self.at, port.at);
        let clear = self.action(Action::Input(number), &[], held);
        let shared = self.share(clear, domain);
        self.at = at;
        shared
    }

    /// A clear or public vector as a shared one.
    pub(super) fn share(&mut self, clear: Slot, domain: Domain) -> Slot {
        let held = Held {
            holding: Holding::Shared(self.sharing(domain)),
            ..self.draft.held(clear).clone()
        };
        self.action(Action::Share, &[clear], held)
    }

    /// A vector of one number, in the shape and type of a value.
    pub(super) fn filled(&mut self, code: u128, like: Value, domain: Domain) -> Slot {
        let (element, len) = (self.element(like), self.len(like));
        self.filled_with(code, element, len, domain)
    }

    pub(super) fn filled_with(
        &mut self,
        code: u128,
        element: Type,
        len: usize,
        domain: Domain,
    ) -> Slot {
        let words = Words::collect(element, std::iter::once(code));
        let array = Array::new(element, Shape::of(vec![1]), words);
        let bits = element.bits();
        let element = match domain {
            Domain::Ring => Element::Ring(bits),
            Domain::Bits => Element::Bits(bits),
        };
        let one = self.action(Action::Public(array.into()), &[], Held::public(element, 1));
        let many = Shape::of(vec![len]);
        let view = View::broadcast(&Shape::of(vec![1]), &many);
        let shared = self.share(one, domain);
        self.gather(shared, Places::View(view))
    }

    /// The sharing that holds ring elements or bits.
    pub(super) fn sharing(&self, domain: Domain) -> Sharing {
        match (self.mix.bits(), domain) {
            (Sharing::Replicated, _) => Sharing::Replicated,
            (_, Domain::Ring) => self.mix.ring(),
            (bits, Domain::Bits) => bits,
        }
    }

    pub(super) fn ring_of(&self, bits: u32, len: usize) -> Held {
        Held::shared(self.sharing(Domain::Ring), Element::Ring(bits), len)
    }

    pub(super) fn bits_of(&self, bits: u32, len: usize) -> Held {
        Held::shared(self.sharing(Domain::Bits), Element::Bits(bits), len)
    }

    /// A step with one result, in the words of the operation at hand.
    pub(super) fn action(&mut self, action: Action, inputs: &[Slot], output: Held) -> Slot {
        let operator = self.operator.clone();
        self.draft
            .action(action, inputs, vec![output], &operator, self.at)
    }

    pub(super) fn bit_op(&mut self, op: BitOp, inputs: Vec<Operand>, len: usize) -> Vec<Slot> {
        let sharing = self.sharing(Domain::Bits);
        self.draft.bits(op, inputs, sharing, len, self.at)
    }

    /// Elements of a vector, itself where they are all in order.
    pub(super) fn gather(&mut self, x: Slot, places: Places) -> Slot {
        let held = self.draft.held(x).clone();
        let len = places.len();
        match &places {
            Places::View(view) if len == held.len && view.is_prefix() => x,
            _ => self.action(Action::Gather(places), &[x], Held { len, ..held }),
        }
    }

    /// Vectors of so many rows, joined row by row.
    pub(super) fn join(&mut self, parts: &[Slot], rows: usize) -> Slot {
        if let [part] = parts {
            return *part;
        }
        let lens = parts.iter().map(|&part| self.draft.held(part).len);
        let len = lens.sum();
        let held = self.draft.held(parts[0]).clone();
        self.action(Action::Join { rows }, parts, Held { len, ..held })
    }
}
