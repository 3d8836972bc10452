//! Operations that are left out of a program, or done once instead of twice.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Binary, Graph, Node, Op, TensorType, Unary, Value};
use crate::array::Array;
use crate::shape::{Shape, View};
use crate::simulate::evaluate;

impl Graph {
    /// Gives the results by fewer nodes: equal operations become one, public operands are computed with
    /// now, what has a cheaper equal is replaced, and what no result needs is left out. Which values the
    /// results take is the same for all inputs.
    pub(crate) fn optimised(&self) -> Graph {
        let mut simpler = Simpler::default();
        for result in self.walk(|node, inputs| simpler.node(node, inputs)) {
            simpler.graph.add_result(result);
        }
        simpler.graph.alive()
    }

    /// Drops nodes that no result needs.
    pub(crate) fn alive(&self) -> Graph {
        let mut needed = vec![false; self.nodes().len()];
        for result in self.results() {
            needed[result.node as usize] = true;
        }
        for (number, node) in self.nodes().iter().enumerate().rev() {
            if needed[number] {
                for input in &node.inputs {
                    needed[input.node as usize] = true;
                }
            }
        }
        let mut graph = Graph::default();
        let mut numbers = vec![0; self.nodes().len()];
        let moved = |numbers: &[u32], value: &Value| Value {
            node: numbers[value.node as usize],
            output: value.output,
        };
        for (number, node) in self
            .nodes()
            .iter()
            .enumerate()
            .filter(|(at, _)| needed[*at])
        {
            let inputs = node.inputs.iter().map(|value| moved(&numbers, value));
            let inputs = inputs.collect();
            let value = graph.push(node.op.clone(), inputs, node.outputs.clone(), node.at);
            numbers[number] = value.node;
        }
        for result in self.results() {
            graph.add_result(moved(&numbers, result));
        }
        graph
    }
}

/// Makes the simpler graph.
#[derive(Default)]
struct Simpler {
    graph: Graph,
    made: HashMap<(Op, Vec<Value>), Value>,
}

impl Simpler {
    /// The values that a node's outputs become.
    fn node(&mut self, node: &Node, mut inputs: Vec<Value>) -> Vec<Value> {
        if let Some(array) = self.folded(node, &inputs) {
            return vec![self.constant(array, node)];
        }
        let product = matches!(node.op, Op::MatMul | Op::Convolve(_));
        if product && self.graph.type_of(inputs[0]).shape.axes()[1..].contains(&0) {
            // Sums of nothing.
            return vec![self.filled(&node.outputs[0], 0, node)];
        }
        if let Some(value) = self.unneeded(node, &inputs) {
            return vec![value];
        }
        let mut op = self.cheaper(node, &mut inputs);
        if let Op::Repeat { body, carried, .. } | Op::Map { body, carried, .. } = &mut op {
            *body = Arc::new(self.with_constants(body, *carried, &inputs).optimised());
        }
        if let Op::Choose(branches) = &mut op {
            let bodies = branches.iter();
            let bodies = bodies.map(|body| self.with_constants(body, 1, &inputs).optimised());
            *branches = bodies.map(Arc::new).collect();
        }
        if op.commutes() {
            inputs.sort();
        }
        let first = self.add(op, inputs, node);
        first.outputs(node.outputs.len()).collect()
    }

    /// A loop's body that knows which of the loop's inputs are public: those that are the same each time.
    fn with_constants(&self, body: &Graph, carried: usize, inputs: &[Value]) -> Graph {
        let mut known = body.clone();
        for node in &mut known.nodes {
            if let Op::Argument(number) = node.op
                && number >= carried
                && let Some(array) = self.graph.constant(inputs[number])
            {
                node.op = Op::Constant(Arc::clone(array));
            }
        }
        known
    }

    fn add(&mut self, op: Op, inputs: Vec<Value>, node: &Node) -> Value {
        if op.shuffles() {
            return self.graph.push(op, inputs, node.outputs.clone(), node.at);
        }
        let key = (op, inputs);
        if let Some(&value) = self.made.get(&key) {
            return value;
        }
        let (op, inputs) = key.clone();
        let value = self.graph.push(op, inputs, node.outputs.clone(), node.at);
        self.made.insert(key, value);
        value
    }

    fn constant(&mut self, array: Array, node: &Node) -> Value {
        self.add(Op::Constant(Arc::new(array)), Vec::new(), node)
    }

    /// The result, if all operands are public and it is not much larger than they are.
    fn folded(&self, node: &Node, inputs: &[Value]) -> Option<Array> {
        let leaf = inputs.is_empty() || node.outputs.len() != 1;
        let more = matches!(
            node.op,
            Op::To(_)
                | Op::Shuffle
                | Op::Operation(_)
                | Op::Repeat { .. }
                | Op::Map { .. }
                | Op::Choose(_)
        );
        if leaf || more {
            return None;
        }
        let arrays: Option<Vec<&Array>> = inputs
            .iter()
            .map(|&value| self.graph.constant(value).map(Arc::as_ref))
            .collect();
        let arrays = arrays?;
        let elements: usize = arrays.iter().map(|array| array.shape().elements()).sum();
        if node.outputs[0].shape.elements() > elements {
            return None;
        }
        evaluate(&node.op, &arrays, &node.outputs).pop()
    }

    /// The operand that the result is.
    fn unneeded(&self, node: &Node, inputs: &[Value]) -> Option<Value> {
        let &first = inputs.first()?;
        let typed = self.graph.type_of(first);
        let whole = node.outputs[0] == *typed;
        let uniform = |at: usize| self.graph.uniform(inputs[at]);
        let gives_first = match &node.op {
            Op::View(view) => whole && view.is_prefix(),
            Op::Reshape(_) | Op::Cast(_) => whole,
            Op::Join(_) => inputs.len() == 1,
            Op::Truncate { by, .. } => *by == 0,
            Op::Unary(Unary::ShiftLeft(0) | Unary::ShiftRight(0) | Unary::RotateLeft(0)) => true,
            Op::Binary(Binary::Add | Binary::Sub | Binary::Or | Binary::Xor) => {
                uniform(1) == Some(0)
            }
            Op::Binary(Binary::Mul) => whole && uniform(1) == Some(1),
            Op::Binary(Binary::Div) => uniform(1) == Some(1 << typed.element.fraction()),
            Op::Binary(Binary::And) => uniform(1) == Some(typed.element.mask()),
            _ => false,
        };
        if gives_first {
            return Some(first);
        }
        let gives_second = match &node.op {
            Op::Binary(Binary::Add | Binary::Or | Binary::Xor) => uniform(0) == Some(0),
            Op::Binary(Binary::Mul) => {
                uniform(0) == Some(1) && node.outputs[0] == *self.graph.type_of(inputs[1])
            }
            Op::Binary(Binary::And) => uniform(0) == Some(typed.element.mask()),
            _ => false,
        };
        if gives_second {
            return Some(inputs[1]);
        }
        match &node.op {
            Op::Select if inputs[1] == inputs[2] => Some(inputs[1]),
            Op::Binary(Binary::And | Binary::Or | Binary::Min | Binary::Max)
                if inputs[0] == inputs[1] =>
            {
                Some(first)
            }
            _ => None,
        }
    }

    /// An operation with the same result, and its operands.
    fn cheaper(&mut self, node: &Node, inputs: &mut Vec<Value>) -> Op {
        let Op::Binary(binary) = node.op else {
            return node.op.clone();
        };
        if binary == Binary::Mul && inputs[0] == inputs[1] {
            inputs.pop();
            return Op::Unary(Unary::Square);
        }
        if binary == Binary::Mul && self.graph.uniform(inputs[0]).is_some() {
            inputs.swap(0, 1);
        }
        let Some(code) = self.graph.uniform(inputs[1]) else {
            return node.op.clone();
        };
        let element = self.graph.type_of(inputs[0]).element;
        let power = (code.is_power_of_two()).then(|| code.trailing_zeros());
        let op = match (binary, power) {
            // A shift does not move the point: the other factor is an integer where this one has one.
            (Binary::Mul, Some(by)) if node.outputs[0].element == element => {
                Op::Unary(Unary::ShiftLeft(by))
            }
            (Binary::Div, Some(by)) if !element.is_signed() => Op::Unary(Unary::ShiftRight(by)),
            (Binary::Rem, Some(by)) if !element.is_signed() => {
                let low = (1 << by) - 1;
                let typed = self.graph.type_of(inputs[0]).clone();
                inputs[1] = self.filled(&typed, low, node);
                return Op::Binary(Binary::And);
            }
            (Binary::ShiftLeft, _) => Op::Unary(Unary::ShiftLeft(amount(code))),
            (Binary::ShiftRight, _) => Op::Unary(Unary::ShiftRight(amount(code))),
            (Binary::RotateLeft, _) => {
                let by = code % u128::from(element.bits());
                Op::Unary(Unary::RotateLeft(by as u32))
            }
            _ => return node.op.clone(),
        };
        inputs.pop();
        op
    }

    /// A public tensor of one element repeated.
    fn filled(&mut self, typed: &TensorType, code: u128, node: &Node) -> Value {
        let one = Node {
            outputs: vec![TensorType::new(typed.element, Shape::scalar())],
            ..node.clone()
        };
        let one = self.constant(Array::one(typed.element, code), &one);
        let view = View::broadcast(&Shape::scalar(), &typed.shape);
        let node = Node {
            outputs: vec![typed.clone()],
            ..node.clone()
        };
        self.add(Op::View(view), vec![one], &node)
    }
}

impl Graph {
    /// The element that a public value consists of, if all are alike.
    pub(crate) fn uniform(&self, value: Value) -> Option<u128> {
        let mut node = self.maker(value);
        while let Op::View(_) | Op::Reshape(_) = &node.op {
            node = self.maker(node.inputs[0]);
        }
        match &node.op {
            Op::Constant(array) => array.uniform(),
            _ => None,
        }
    }
}

impl Op {
    /// Whether operands may change places.
    fn commutes(&self) -> bool {
        use Binary::{Add, And, Equal, Max, Min, Or, Xor};
        matches!(self, Op::Binary(Add | And | Or | Xor | Equal | Min | Max))
    }

    /// Whether it shuffles or draws: done twice it gives two orders, or numbers, that have nothing to do with each other, so that two must not
    /// become one.
    pub(super) fn shuffles(&self) -> bool {
        let inside = |body: &Arc<Graph>| body.nodes().iter().any(|node| node.op.shuffles());
        match self {
            Op::Shuffle | Op::Random(..) => true,
            Op::Repeat { body, .. } | Op::Map { body, .. } => inside(body),
            Op::Choose(branches) => branches.iter().any(inside),
            _ => false,
        }
    }
}

/// An amount of a shift, as large as can make a difference.
fn amount(code: u128) -> u32 {
    code.min(u128::BITS.into()) as u32
}
