//! Secret branches in the clear.

use super::checks::{self, Overflow};
use crate::array::Array;
use crate::ir::{Node, Op, TensorType};
use crate::shape::Shape;

/// Elements in which the branch that is being computed is active.
#[derive(Debug, Clone)]
pub(super) struct Active {
    pub(super) shape: Shape,
    pub(super) elements: Vec<bool>,
}

impl Active {
    /// Elements in which a branch is active that stands in another one.
    pub(super) fn inside(self, outer: Option<&Self>) -> Self {
        match outer {
            Some(outer) if outer.shape == self.shape => Self {
                elements: (self.elements.iter().zip(&outer.elements))
                    .map(|(inner, outer)| *inner && *outer)
                    .collect(),
                shape: self.shape,
            },
            _ => self,
        }
    }

    /// Finds what goes wrong in an operation where the branch is active. Of a branch that is active in some
    /// elements only, operations are looked at that treat each of these by itself.
    pub(super) fn overflow(&self, node: &Node, inputs: &[&Array]) -> Option<Overflow> {
        if self.elements.iter().all(|&active| active) {
            return checks::overflow(node, inputs);
        }
        let rank = self.shape.rank();
        let op = match &node.op {
            Op::Unary(_) | Op::Binary(_) | Op::Cast(_) => node.op.clone(),
            Op::Reduce(reduction, axis) if *axis >= rank => Op::Reduce(*reduction, axis - rank + 1),
            Op::PrefixSums(axis) if *axis >= rank => Op::PrefixSums(axis - rank + 1),
            _ => return None,
        };
        let places: Vec<usize> = (0..self.elements.len())
            .filter(|&at| self.elements[at])
            .collect();
        let rest = |shape: &Shape| {
            let rest = shape.axes().strip_prefix(self.shape.axes())?;
            let few = Shape::of([&[places.len()], rest].concat());
            Some((rest.iter().product::<usize>(), few))
        };
        let mut few = Vec::new();
        for input in inputs {
            let (size, shape) = rest(input.shape())?;
            let picked = places.iter().flat_map(|at| at * size..(at + 1) * size);
            let words = input.words().pick(picked);
            few.push(Array::new(input.element(), shape, words));
        }
        let typed = &node.outputs[0];
        let (size, shape) = rest(&typed.shape)?;
        let node = Node {
            op,
            outputs: vec![TensorType::new(typed.element, shape)],
            ..node.clone()
        };
        let found = checks::overflow(&node, &few.iter().collect::<Vec<_>>())?;
        let place = places[found.place / size] * size + found.place % size;
        Some(Overflow { place, ..found })
    }
}
