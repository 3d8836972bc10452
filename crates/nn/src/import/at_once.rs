//! Memory that the values of a graph take which are needed at the same time, when it is computed.

use madrigal_core::Budget;
use madrigal_core::budget::PER_BYTE;

use crate::error::{Fault, Problem};
use crate::graph::{Graph, ValueId};

/// Bytes that an element of a value takes: a share of 64 bits, and as much for what is made of it.
const ELEMENT: u64 = 16;

/// Bytes that an element of an input brings with it: a number of 64 bits.
const INPUT: u64 = 8;

/// Checks that what is needed at the same time takes no more than what the file has left, and [`PER_BYTE`] for each byte
/// of the inputs: whoever brings data of that size has memory of that size.
///
/// # Errors
/// The first node whose results do not fit, with [`Fault::Memory`].
pub(super) fn check(graph: &Graph) -> Result<(), Problem> {
    let bytes = |id: ValueId| (graph.value(id).ty.elements() as u64).saturating_mul(ELEMENT);
    let mut last = vec![None; graph.values().len()];
    for (place, node) in graph.nodes().iter().enumerate() {
        node.inputs
            .iter()
            .chain(&node.outputs)
            .for_each(|id| last[id.index()] = Some(place));
    }
    for (_, id) in graph.outputs() {
        last[id.index()] = None;
    }
    let inputs = || graph.inputs().iter().map(|&(_, id)| id);
    let limit = inputs().fold(graph.memory, |limit, id| {
        let brought = graph.value(id).ty.elements() as u64;
        limit.saturating_add(brought.saturating_mul(INPUT * PER_BYTE))
    });
    let budget = Budget::new(limit);
    // A shape of an input is bounded by the elements that it allows.
    let _ = budget.take(inputs().map(bytes).sum());
    for (place, node) in graph.nodes().iter().enumerate() {
        for &made in &node.outputs {
            budget.take(bytes(made)).map_err(|spent| Problem::Node {
                node: node.name.clone(),
                operator: node.operator.clone(),
                fault: Fault::Memory {
                    shape: graph.value(made).ty.shape.clone(),
                    spent,
                },
            })?;
        }
        let mut over: Vec<ValueId> = node.inputs.iter().chain(&node.outputs).copied().collect();
        over.sort_unstable();
        over.dedup();
        over.retain(|id| last[id.index()] == Some(place));
        let known = |id: &ValueId| graph.value(*id).constant.is_none();
        budget.give_back(over.into_iter().filter(known).map(bytes).sum());
    }
    Ok(())
}
