//! Choice of steps for each operation, and of where they are done: on ring elements or on bits.

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_engine::{Sharing, Sort};
use madrigal_operations::Backend;

use super::choose;
use super::domain::Domain;
use super::draft::KnownCircuits;
use super::state::{Lowering, Native, Result};
use super::steps::{Action, Body, Slot};
use super::units::{Unit, units};
use super::{Manner, Mix};
use crate::computation::Computation;
use crate::error::{Fault, Words as Listed};
use crate::ir::{Binary, Graph, Node, Op, OwnOperation, Unary, Value};

/// Values that may be made of each other, one by one, when they are asked for. A model may have
/// thousands of nodes that move elements in a row: without an end, making the last one would need as deep a stack, and
/// looking where it is would go through all of them for each of them.
const DEEPEST: u32 = 64;

impl<'a> Lowering<'a> {
    /// The steps of a whole program, and its operations on bits.
    pub(super) fn program(
        mut self,
        program: &Computation,
        circuits: &mut KnownCircuits,
    ) -> Result<(Body, Vec<Unit>)> {
        self.nodes(circuits)?;
        self.number = self.graph.nodes().len();
        let (outputs, requirements) = (program.outputs(), program.requirements());
        let (opened, others) = self.graph.results().split_at(outputs.len());
        let (required, kept) = others.split_at(requirements.len());
        let all: Vec<Party> = Party::all(self.parties).collect();
        let mut conditions = Vec::new();
        for (requirement, &value) in requirements.iter().zip(required) {
            self.at = requirement.at;
            self.operator = "a requirement".into();
            self.here = self.held_in(value).unwrap_or(self.home);
            conditions.push(self.opened(value, &all)?);
        }
        self.conditions = conditions;
        let mut results = Vec::new();
        for (port, &value) in outputs.iter().zip(opened) {
            self.at = port.at;
            self.operator = "an opening".into();
            self.here = self.held_in(value).unwrap_or(self.home);
            let parties = port.parties();
            if !parties.is_empty() {
                results.push(self.opened(value, &parties)?);
            }
            if port.clients().next().is_some() {
                results.push(self.handed_out(value)?);
            }
        }
        results.extend(&self.conditions);
        for (cell, &value) in program.kept_values().iter().zip(kept) {
            self.at = cell.at;
            results.push(self.keep(value)?);
        }
        let (mix, manner) = (self.mix, self.manner);
        let goal = |sharing| manner.goal_in(mix, sharing);
        let units = units(self.graph, &self.on_bits);
        Ok((self.draft.finish(&results, &goal, circuits), units))
    }

    /// A value that parties learn.
    fn opened(&mut self, value: Value, to: &[Party]) -> Result<Slot> {
        let domain = match self.native(value) {
            Native::Free if !self.element(value).is_bool() => Domain::Ring,
            native => native.domain(),
        };
        let shared = self.slot(value, domain)?;
        let backend = Backend::of(self.draft.sort(shared).sharing);
        self.ending(backend.edges.open(to), shared)
    }

    /// Lowers all nodes in order.
    fn nodes(&mut self, circuits: &mut KnownCircuits) -> Result<()> {
        for (number, node) in self.graph.nodes().iter().enumerate() {
            self.at = node.at;
            self.operator = node.op.to_string();
            self.converts = false;
            self.node(number, node, circuits)?;
        }
        Ok(())
    }

    fn node(&mut self, number: usize, node: &'a Node, circuits: &mut KnownCircuits) -> Result<()> {
        let explicit = self.explicit(node);
        self.number = number;
        (self.here, self.fixed) = self.place(number, node, explicit);
        let said = explicit.map(|sharing| Domain::of(sharing, self.mix));
        match &node.op {
            Op::Argument(_) => return Ok(()), // its form is there
            &Op::Input(place) if self.ports.inputs[place].owner.client().is_some() => {
                self.dealt(number, place)?;
            }
            Op::Input(_) | Op::Constant(_) | Op::Counter => self.forms[number][0].lazy = true,
            &Op::Kept(place) => self.take(number, place)?,
            Op::View(_)
            | Op::Reshape(_)
            | Op::Pick { .. }
            | Op::Join(_)
            | Op::Row(_)
            | Op::Cast(_) => {
                let form = &mut self.forms[number][0];
                (form.lazy, form.explicit) = (true, explicit);
                let moves = !matches!(node.op, Op::Row(_) | Op::Cast(_));
                self.publics[number] = moves && node.inputs.iter().all(|&one| self.is_public(one));
                if self.deeper(number, node) > DEEPEST {
                    self.settle(number)?;
                }
            }
            Op::To(sharing) => {
                let domain = self.wanted(*sharing)?;
                self.converts = true;
                if domain == Domain::Bits && self.mix.has_several() {
                    (self.here, self.fixed) = (*sharing, true);
                }
                let held = match node.outputs[0].element.is_bool() {
                    true => Domain::Bits,
                    false => domain,
                };
                let slot = self.slot(node.inputs[0], held)?;
                let form = &mut self.forms[number][0];
                form.set(held, slot);
                form.explicit = Some(*sharing);
            }
            &Op::Repeat {
                count,
                carried,
                ref body,
            } => self.repeat(number, node, (count, carried), body, circuits)?,
            Op::Operation(own) => self.own_operation(number, node, own)?,
            Op::SortBy(keys) => self.sort_by(number, node, keys)?,
            Op::Shuffle => self.shuffle(number, node)?,
            Op::Random(..) => self.random(number, node)?,
            Op::MoveRows => self.move_rows(number, node)?,
            Op::Choose(_) => {
                let (domain, slots) = match self.ring_branches(node)? {
                    Some(slots) => (Domain::Ring, slots),
                    None => (Domain::Bits, self.branches(node)?),
                };
                for (form, slot) in self.forms[number].iter_mut().zip(slots) {
                    form.set(domain, slot);
                }
            }
            _ => {
                let domain = self.choose(number, node, said);
                if domain == Domain::Ring
                    && self.joins_sum(number, node)
                    && self.deeper(number, node) <= DEEPEST
                {
                    self.forms[number][0].lazy = true;
                    return Ok(());
                }
                self.depths[number] = 0;
                let made = match domain {
                    Domain::Ring => vec![self.on_ring(node)?],
                    Domain::Bits => self.on_bits(node)?,
                };
                for (form, slot) in self.forms[number].iter_mut().zip(made) {
                    form.set(domain, slot);
                    form.explicit = explicit.filter(|_| said == Some(domain));
                }
            }
        }
        Ok(())
    }

    /// Lowers random bits, which the parties draw together in a sharing of bits that can.
    fn random(&mut self, number: usize, node: &Node) -> Result<()> {
        let joint = self.backend(Domain::Bits).bits().joint;
        let joint = joint.ok_or_else(|| {
            self.fault(Fault::NoJointBits {
                mix: self.mix.to_string(),
                have: Listed(Mix::that_draw()),
            })
        })?;
        let typed = &node.outputs[0];
        let drawn = joint(typed.element.bits() as usize, typed.shape.elements());
        self.note_bits();
        let drawn = self.operation(drawn, &[])?;
        self.forms[number][0].set(Domain::Bits, drawn);
        Ok(())
    }

    /// An operation of the author's, on values in the sharings that it takes.
    fn own_operation(&mut self, number: usize, node: &Node, own: &OwnOperation) -> Result<()> {
        let mut operands = Vec::new();
        for (&input, &(wanted, element)) in node.inputs.iter().zip(own.takes()) {
            let domain = Domain::holding(element);
            self.in_mix(wanted, domain)?;
            let here = if domain == Domain::Bits {
                wanted
            } else {
                self.here
            };
            operands.push(self.within(here, |lowering| lowering.slot(input, domain))?);
        }
        let made = self.chain(vec![Arc::clone(own.operation())], &operands)?;
        for (output, slot) in made.into_iter().enumerate() {
            let sort = self.draft.sort(slot);
            let domain = Domain::holding(sort.element);
            self.in_mix(sort.sharing, domain)?;
            self.forms[number][output].set(domain, slot);
        }
        Ok(())
    }

    /// Checks that a sharing is one in which the mix has ring elements or bits.
    fn in_mix(&self, wanted: Sharing, domain: Domain) -> Result<()> {
        let there = match domain {
            Domain::Ring => wanted == self.mix.ring(),
            Domain::Bits => self.mix.all_bits().any(|bits| bits == wanted),
        };
        if there {
            return Ok(());
        }
        let mix = self.mix.to_string();
        Err(self.fault(Fault::NotInMix { wanted, mix }))
    }

    /// One more than the depth of a node's operands, which is its own depth if it is made when it is asked for.
    fn deeper(&mut self, number: usize, node: &Node) -> u32 {
        let inputs = node.inputs.iter();
        let depth = inputs.map(|input| self.depths[input.node as usize]).max();
        self.depths[number] = depth.unwrap_or(0) + 1;
        self.depths[number]
    }

    /// Makes a value now that would be made when it is asked for, where it is without a conversion.
    fn settle(&mut self, number: usize) -> Result<()> {
        let node = number as u32;
        let value = Value { node, output: 0 };
        self.here = self.held_in(value).unwrap_or(self.here);
        let wants = self.wants[number][0];
        let ring = wants.ring && !wants.bits && self.mix.arithmetic_is_in_a_ring();
        let domain = match self.native(value) {
            Native::Ring if !self.element(value).is_bool() => Domain::Ring,
            Native::Free if !self.element(value).is_bool() && ring => Domain::Ring,
            _ => Domain::Bits,
        };
        if self.is_public(value) {
            self.public_slot(value)?;
        }
        self.slot(value, domain)?;
        self.forms[number][0].lazy = false;
        self.depths[number] = 0;
        Ok(())
    }

    /// The sharing in which the program says that an operation's operands are, if it says so and they agree.
    fn explicit(&self, node: &Node) -> Option<Sharing> {
        let mut said = node
            .inputs
            .iter()
            .filter_map(|&value| self.form(value).explicit);
        let first = said.next()?;
        said.all(|other| other == first).then_some(first)
    }

    /// The domain of a sharing that the program asks for.
    fn wanted(&self, wanted: Sharing) -> Result<Domain> {
        let holds = match Backend::of(wanted).numbers.is_some() {
            true => Domain::Ring,
            false => Domain::Bits,
        };
        self.in_mix(wanted, holds)?;
        Ok(Domain::of(wanted, self.mix))
    }

    fn choose(&self, number: usize, node: &Node, explicit: Option<Domain>) -> Domain {
        let ring_can = choose::ring_can(self.graph, node, self.mix);
        let has_ring = self.mix.arithmetic_is_in_a_ring();
        let inputs = node.inputs.iter();
        let natives: Vec<Native> = inputs.map(|&value| self.native(value)).collect();
        let [in_bits, in_ring] = [Native::Bits, Native::Ring].map(|one| natives.contains(&one));
        match explicit {
            Some(Domain::Bits) => return Domain::Bits,
            Some(Domain::Ring) if ring_can => return Domain::Ring,
            _ => {}
        }
        let wants = self.wants[number][0];
        let follow = |operands: &[Native]| match () {
            () if operands.contains(&Native::Bits) => Domain::Bits,
            () if operands.contains(&Native::Ring) => Domain::Ring,
            () if wants.ring && !wants.bits && has_ring => Domain::Ring,
            () => Domain::Bits,
        };
        if !ring_can {
            // Where nothing is computed on bits before or after, two carries and a bit are enough, or a sign.
            let alone = wants.ring && !wants.bits && natives == [Native::Ring];
            let cheaper = match node.op {
                Op::Truncate { by, .. } => {
                    self.sums_of_two() && (1..self.element(node.inputs[0]).bits()).contains(&by)
                }
                Op::Unary(Unary::Abs) => !self.mix.is_manual(),
                _ => false,
            };
            return match alone && cheaper {
                true => Domain::Ring,
                false => Domain::Bits,
            };
        }
        match &node.op {
            Op::Select => follow(&natives[1..]),
            Op::LookUp => match self.graph.constant(node.inputs[0]) {
                Some(_) => Domain::Bits,
                None => follow(&natives[..1]),
            },
            op if choose::follows(op) => follow(&natives),
            _ if self.mix.is_manual() && in_bits != in_ring => follow(&natives),
            _ if !has_ring => Domain::Bits,
            op if in_bits && !in_ring && !wants.ring && is_sum(op) => {
                let here = |&value: &Value| {
                    self.native(value) == Native::Bits || self.graph.uniform(value).is_some()
                };
                match node.inputs.iter().all(here) {
                    true => Domain::Bits,
                    false => Domain::Ring,
                }
            }
            _ => Domain::Ring,
        }
    }

    /// Lowers a loop. Its state is where the body's results are likely to be; what else it takes goes in in each
    /// form that the body wants.
    fn repeat(
        &mut self,
        number: usize,
        node: &Node,
        (count, carried): (usize, usize),
        body: &Graph,
        circuits: &mut KnownCircuits,
    ) -> Result<()> {
        let results = body.results();
        let state =
            |part: usize| choose::guess(body, results[part], self.mix, self.manner.kept.rings());
        let states: Vec<Domain> = (0..carried).map(state).collect();
        let manner = Manner {
            home: Some(self.here),
            held: None,
            ..self.manner.clone()
        };
        let mut inner = Lowering::new(body, self.mix, self.parties, self.ports, manner);
        // The state comes first, each part once.
        let parts = states.iter().map(|&domain| Passing::Shared(domain));
        let mut operands: Vec<(usize, Passing)> = parts.enumerate().collect();
        for (leaf, wants) in body.nodes().iter().zip(&inner.wants) {
            let Op::Argument(argument) = leaf.op else {
                continue;
            };
            if argument < carried {
                continue;
            }
            let (outer, wants) = (node.inputs[argument], wants[0]);
            if self.is_public(outer) {
                operands.push((argument, Passing::Public));
                if self.graph.uniform(outer).is_none() && !wants.ring && !wants.bits {
                    continue;
                }
            }
            let bool = self.element(outer).is_bool();
            if bool || wants.bits || !wants.ring {
                operands.push((argument, Passing::Shared(Domain::Bits)));
            }
            if !bool && wants.ring {
                operands.push((argument, Passing::Shared(Domain::Ring)));
            }
        }
        let mut slots: Vec<Slot> = Vec::new();
        for (place, (argument, passing)) in operands.into_iter().enumerate() {
            let outer = node.inputs[argument];
            let slot = match passing {
                Passing::Public => self.public_slot(outer)?,
                Passing::Shared(domain) => self.slot(outer, domain)?,
            };
            slots.push(slot);
            inner.set_argument(argument, place, passing, self.draft.sort(slot));
        }
        inner.nodes(circuits)?;
        let mut after = Vec::new();
        for (&result, &domain) in results.iter().zip(&states) {
            inner.at = self.at;
            inner.operator = self.operator.clone();
            inner.here = inner.home;
            after.push(inner.slot(result, domain)?);
        }
        let outputs = after.iter().map(|&slot| inner.draft.sort(slot)).collect();
        if !inner.on_bits.is_empty() {
            self.note_bits();
        }
        let goal = |sharing| self.manner.goal_in(self.mix, sharing);
        let body = Arc::new(inner.draft.finish(&after, &goal, circuits));
        let slots = self.actions(Action::Repeat { count, body }, &slots, outputs);
        for ((form, slot), domain) in self.forms[number].iter_mut().zip(slots).zip(states) {
            form.set(domain, slot);
        }
        Ok(())
    }

    /// Gives each use of an argument its form.
    fn set_argument(&mut self, argument: usize, place: usize, passing: Passing, sort: Sort) {
        let argument = Op::Argument(argument);
        self.operator = argument.to_string();
        let slot = self.action(Action::Argument(place), &[], sort);
        for (leaf, forms) in self.graph.nodes().iter().zip(&mut self.forms) {
            match passing {
                _ if leaf.op != argument => {}
                Passing::Public => forms[0].public = Some(slot),
                Passing::Shared(domain) => forms[0].set(domain, slot),
            }
        }
    }
}

/// How an operand goes into the body of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passing {
    Public,
    Shared(Domain),
}

/// Sums, which cost on bits what a comparison does.
fn is_sum(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(Unary::Negate) | Op::Binary(Binary::Add | Binary::Sub)
    )
}
