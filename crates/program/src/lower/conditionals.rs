//! Conditionals on secrets that are one operation.

use std::sync::Arc;

use madrigal_circuit::branches::{Draft, index_bits};
use madrigal_circuit::{Builder, Wire};
use madrigal_operations::Scheme;

use super::bits::BitOp;
use super::branches::circuits;
use super::draft::Operand;
use super::lowering::{Lowering, Result};
use super::steps::{Action, Places, Slot};
use super::{Domain, Way};
use crate::ir::Node;
use crate::shape::{Shape, View};

impl Lowering<'_> {
    /// The results of a conditional for which there are circuits.
    pub(super) fn branches(&mut self, node: &Node) -> Result<Vec<Slot>> {
        let made = circuits(node, self.goal).expect("others have become multiplexers");
        let lanes = node.outputs[0].shape.elements();
        let number = self.bits(node.inputs[0])?;
        let index = self.bit_op(BitOp::Index(made.branches.len()), vec![number], lanes);
        let mut operands = vec![index[0]];
        let mut widths = vec![index_bits(made.branches.len()) as u32];
        for feed in &made.feeds {
            let slot = self.bits_slot(node.inputs[feed.input])?;
            let view = View {
                shape: Shape::of(vec![lanes]),
                strides: vec![feed.step as isize],
                offset: feed.first,
            };
            operands.push(self.gather(slot, Places::View(view)));
            widths.push(feed.bits);
        }
        let (count, bits) = (made.branches.len(), widths[0]);
        let name = format!("choice among {count} branches");
        let mut draft = Draft::new(&name, &widths);
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
        let outputs = node.outputs.iter();
        let outputs = outputs.map(|typed| self.shared(Domain::Bits, typed.element.bits(), lanes));
        let outputs = outputs.collect();
        let action = Action::Branches(Arc::new(branching), Way::Shared(Scheme::Merged));
        let first = self
            .draft
            .action(action, &operands, outputs, &name, self.at);
        let mut results = Vec::new();
        for output in 0..node.outputs.len() as u32 {
            let mut slot = Slot { output, ..first };
            if let Some(&inside) = index.get(1) {
                let operands = vec![Operand::Slot(inside), Operand::Slot(slot)];
                slot = self.bit_op(BitOp::Mask, operands, lanes)[0];
            }
            results.push(slot);
        }
        Ok(results)
    }
}

/// The bits of the number of a branch, and, where a number has more bits than that and they can all be of
/// a branch, whether those above are 0.
pub(super) fn index(b: &mut Builder, branches: usize, number: &[Wire]) -> Vec<Vec<Wire>> {
    let named = index_bits(branches);
    let zero = b.constant(false);
    let mut low = number.to_vec();
    let high = low.split_off(named.min(low.len()));
    low.resize(named, zero);
    if high.is_empty() {
        return vec![low];
    }
    let beyond = b.any(&high);
    if branches.is_power_of_two() {
        return vec![low, vec![b.not(beyond)]];
    }
    // The greatest number of so many bits is that of no branch.
    let low = low.into_iter().map(|bit| b.or(bit, beyond)).collect();
    vec![low]
}

/// The widths of what [`index`] gives.
pub(super) fn index_widths(branches: usize, bits: u32) -> Vec<u32> {
    let named = index_bits(branches) as u32;
    match bits > named && branches.is_power_of_two() {
        true => vec![named, 1],
        false => vec![named],
    }
}
