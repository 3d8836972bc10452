//! Counts the work of a graph in the clear.

use super::{Binary, Graph, Node, Op, Type};

/// Sizes of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Floats among the constants that are read.
    pub parameters: u64,
    /// Multiplications of numbers in products, matrices and convolutions.
    pub multiplications: u64,
    /// About how many elementary steps an evaluation takes.
    pub steps: u64,
}

impl Graph {
    /// Sizes of the graph.
    pub fn count(&self) -> Count {
        let constants = self.constants();
        let floats = constants.iter().filter(|(_, t)| t.element().is_float());
        let nodes = self.nodes.iter();
        let all = |sum: fn(&Graph, &Node) -> u64| {
            let each = nodes.clone().map(move |node| sum(self, node));
            each.fold(0, u64::saturating_add)
        };
        Count {
            parameters: floats.map(|(_, tensor)| tensor.len() as u64).sum(),
            multiplications: all(Graph::multiplications),
            steps: all(|graph, node| {
                let (inputs, output) = graph.types(node);
                work(&node.op, &inputs, output)
            }),
        }
    }

    /// Multiplications of one node of this graph.
    pub fn multiplications(&self, node: &Node) -> u64 {
        let (inputs, output) = self.types(node);
        match node.op {
            Op::MatMul | Op::Conv { .. } | Op::ConvTranspose { .. } => {
                work(&node.op, &inputs, output)
            }
            Op::Binary(Binary::Mul | Binary::Div | Binary::Pow) => output.elements() as u64,
            _ => 0,
        }
    }
}

impl Graph {
    fn types(&self, node: &Node) -> (Vec<&Type>, &Type) {
        let inputs = node.inputs.iter().map(|&id| &self.value(id).ty);
        (inputs.collect(), &self.value(node.outputs[0]).ty)
    }
}

/// About how many elementary steps an operator takes.
pub(crate) fn work(op: &Op, inputs: &[&Type], output: &Type) -> u64 {
    let made = output.elements() as u64;
    let each: u64 = match op {
        Op::MatMul => inputs[0].shape.last().copied().unwrap_or(1) as u64,
        Op::Conv { .. } => inputs[1].shape[1..].iter().product::<usize>() as u64,
        Op::ConvTranspose { .. } => {
            let read = inputs[0].elements() as u64;
            let kernel = inputs[1].shape[1..].iter().product::<usize>() as u64;
            return read.saturating_mul(kernel);
        }
        Op::MaxPool(window) | Op::AveragePool { window, .. } => window
            .kernel
            .iter()
            .fold(1u64, |product, &size| product.saturating_mul(size as u64)),
        _ => return made.max(inputs.iter().map(|ty| ty.elements() as u64).sum()),
    };
    made.saturating_mul(each.max(1))
}
