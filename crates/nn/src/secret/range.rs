//! Where a number leaves its range on data that is there in the clear, with the weights: seen before anything is sent.

use std::collections::HashSet;

use madrigal_program::Type;

use super::Network;
use crate::error::EvaluateError;
use crate::graph::{Binary, Graph, Node, Op, Reduction, ValueId};
use crate::tensor::Tensor;

/// A node in which a number leaves its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Name of the node.
    pub node: String,
    /// Operator of the node.
    pub operator: String,
    /// The first such element of its result, by its places along the axes.
    pub place: Vec<usize>,
}

/// Number that stands for infinity in a model, as in masks: data does not lead to it.
const INFINITE: f64 = 1e30;

impl Network {
    /// The first node whose result leaves the range of numbers of this type on data, by the model in the clear: what a
    /// number there wraps around to has nothing to do with the model's. Sums within a node are not looked at.
    ///
    /// # Errors
    /// [`EvaluateError`]: data that does not fit the model.
    pub fn leaving(
        &self,
        graph: &Graph,
        number: Type,
        data: &[Tensor],
    ) -> Result<Option<Leaving>, EvaluateError> {
        let mut found = None;
        let mut masked = HashSet::new();
        let mut see = |of: &Graph, node: &Node, id: ValueId, tensor: &Tensor| {
            if found.is_some() || !of.value(id).ty.element.is_float() {
                return;
            }
            let more = self.more.get(&id).copied().unwrap_or(0);
            let limit = limit(number, number.fraction() + more);
            let is_masked = |id: &ValueId| {
                let constant = of.value(*id).constant.as_ref();
                let beyond = |one: &Tensor| one.to_f64().iter().any(|value| value.abs() >= limit);
                masked.contains(id) || constant.is_some_and(|one| beyond(one))
            };
            // Something else stands for what is beyond the result's numbers in the model itself.
            if passes_masks(&node.op) && node.inputs.iter().any(is_masked) {
                masked.insert(id);
                return;
            }
            let beyond = |value: &f64| (limit..INFINITE).contains(&value.abs());
            if let Some(at) = tensor.to_f64().iter().position(beyond) {
                found = Some(Leaving {
                    node: node.name.clone(),
                    operator: node.operator.clone(),
                    place: place(tensor.shape(), at),
                });
            }
        };
        graph.evaluate_with(data, &mut see)?;
        Ok(found)
    }
}

/// Whether a result may have the masks of its operands.
fn passes_masks(op: &Op) -> bool {
    match op {
        Op::Binary(binary) => matches!(
            binary,
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Min | Binary::Max
        ),
        Op::Reduce { by, .. } => matches!(by, Reduction::Max | Reduction::Min),
        Op::Select | Op::Clip { .. } | Op::Gather { .. } | Op::Reshape { .. } => true,
        Op::Transpose { .. } | Op::Slice { .. } | Op::Expand { .. } => true,
        Op::Pad { .. } | Op::Concat { .. } => true,
        _ => false,
    }
}

/// Gives the magnitude from which on numbers with `fraction` bits after the point are out of a type's range.
fn limit(number: Type, fraction: u32) -> f64 {
    2_f64.powi(number.bits() as i32 - 1 - fraction as i32)
}

/// An element's places along the axes.
pub fn place(shape: &[usize], at: usize) -> Vec<usize> {
    let mut rest = at;
    let mut places: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&length| {
            let place = rest % length.max(1);
            rest /= length.max(1);
            place
        })
        .collect();
    places.reverse();
    places
}
