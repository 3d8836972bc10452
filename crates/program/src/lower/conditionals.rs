//! Conditionals on secrets that are one operation.

use std::sync::Arc;

use madrigal_circuit::branches::{Draft, index_bits};
use madrigal_operations::{Gated, Scheme};

use super::branches::{Feed, circuits};
use super::circuits::BitOp;
use super::domain::Domain;
use super::draft::Operand;
use super::formulas::{RingBranches, formulas};
use super::state::{Lowering, Result};
use super::steps::{Action, Slot};
use super::ways::Way;
use crate::ir::Node;

impl Lowering<'_> {
    /// The results of a conditional for which there are circuits.
    pub(super) fn branches(&mut self, node: &Node) -> Result<Vec<Slot>> {
        let made = circuits(node, self.goal()).expect("others have become multiplexers");
        let count = made.branches.len();
        let index = self.index(node, count)?;
        let mut operands = vec![index[0]];
        operands.extend(self.fed(node, &made.feeds, Domain::Bits)?);
        let bits = index_bits(count) as u32;
        let fed = made.feeds.iter().map(|feed| feed.bits);
        let widths: Vec<u32> = std::iter::once(bits).chain(fed).collect();
        let mut draft = Draft::new(&name(count), &widths);
        let inputs: Vec<u32> = (bits..widths.iter().sum()).collect();
        let index_wires: Vec<u32> = (0..bits).collect();
        let wires = draft.choice(&index_wires, &inputs, made.branches);
        let wires = wires.expect("branches of as many inputs and outputs");
        let mut rest = &wires[..];
        let mut values = Vec::new();
        for typed in &node.outputs {
            let (value, after) = rest.split_at(typed.element.bits() as usize);
            values.push(value);
            rest = after;
        }
        let branching = draft.finish(&values).expect("wires of its own");
        let action = Action::Branches(Arc::new(branching), Way::Shared(Scheme::Merged));
        let chosen = self.choice(node, action, &operands, Domain::Bits, count);
        let Some(&inside) = index.get(1) else {
            return Ok(chosen);
        };
        let lanes = node.outputs[0].shape.elements();
        let mask = |slot: Slot| {
            let operands = vec![Operand::Slot(inside), Operand::Slot(slot)];
            self.bit_op(BitOp::Mask, operands, lanes)[0]
        };
        Ok(chosen.into_iter().map(mask).collect())
    }

    /// The results of a conditional that is computed on ring elements, if it is.
    pub(super) fn ring_branches(&mut self, node: &Node) -> Result<Option<Vec<Slot>>> {
        let made = self
            .manner
            .kept
            .rings()
            .then(|| formulas(node, self.mix))
            .flatten();
        let Some(RingBranches { feeds, formulas }) = made else {
            return Ok(None);
        };
        let count = formulas.branches().len();
        let index = self.index(node, count)?;
        let fed = self.fed(node, &feeds, Domain::Ring)?;
        let kept = self.backend(Domain::Bits).to_kept();
        let mut operands = self.chain(kept, &index[..1])?;
        operands.extend(fed);
        let action = Action::Formulas(Arc::new(formulas), Gated::Triples);
        let mut chosen = self.choice(node, action, &operands, Domain::Ring, count);
        if let Some(&inside) = index.get(1) {
            for slot in &mut chosen {
                *slot = self.bit_times(inside, *slot)?;
            }
        }
        Ok(Some(chosen))
    }

    /// The number of the branch, and, where it may name none, whether it names one.
    fn index(&mut self, node: &Node, branches: usize) -> Result<Vec<Slot>> {
        let number = self.bits(node.inputs[0])?;
        let lanes = node.outputs[0].shape.elements();
        Ok(self.bit_op(BitOp::Index(branches), vec![number], lanes))
    }

    /// Gathers what branches read, each as a number in each lane.
    fn fed(&mut self, node: &Node, feeds: &[Feed], domain: Domain) -> Result<Vec<Slot>> {
        let lanes = node.outputs[0].shape.elements();
        let mut fed = Vec::new();
        for feed in feeds {
            let slot = self.slot(node.inputs[feed.input], domain)?;
            fed.push(self.strided(slot, [lanes], [feed.step], feed.first));
        }
        Ok(fed)
    }

    /// The results of all branches in one step.
    fn choice(
        &mut self,
        node: &Node,
        action: Action,
        operands: &[Slot],
        domain: Domain,
        branches: usize,
    ) -> Vec<Slot> {
        let outputs = node.outputs.iter();
        let outputs = outputs
            .map(|typed| self.shared(domain, typed.element.bits(), typed.shape.elements()))
            .collect();
        let operator = std::mem::replace(&mut self.operator, name(branches));
        let slots = self.actions(action, operands, outputs);
        self.operator = operator;
        slots
    }
}

fn name(branches: usize) -> String {
    format!("choice among {branches} branches")
}
