//! Conditionals on secrets as circuits with branches.
//!
//! A conditional of shape `[n]` is computed in n lanes, one for each element. In a branch a value that has
//! these axes in front, `[n, 8]` say, is 8 numbers in each lane; any other value is as many numbers as it
//! has elements, the same in all lanes. Operations that keep to their lane become a part of the branch's
//! circuit, and of others (matrix products, sorting, loops) there is no circuit with branches.

use std::collections::HashMap;
use std::sync::Arc;

use madrigal_circuit::branches::{Branching, Draft};
use madrigal_circuit::{Builder, Goal, Wire};

use super::circuits::BitOp;
use crate::array::{Array, Words};
use crate::element::Type;
use crate::ir::{Binary, Graph, Node, Op, Reduction, Value, elements_each};
use crate::shape::Shape;

/// The most numbers of a value in a lane.
pub(super) const MAX_NUMBERS: usize = 1 << 12;
/// About how many gates an operation of a branch has at most.
const MAX_GATES: usize = 1 << 22;
/// The most elements that are followed where they move in a branch.
const MAX_MOVED: usize = 1 << 26;

/// The branches of a conditional, and what they read.
pub(super) struct LaneCircuits {
    /// Source of the numbers of each input value of the circuits.
    pub(super) feeds: Vec<Feed>,
    /// Circuits of as many inputs and outputs each.
    pub(super) branches: Vec<Arc<Branching>>,
}

/// One number in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Feed {
    /// Number of the node's input.
    pub(super) input: usize,
    /// Place of the number in the first lane.
    pub(super) first: usize,
    /// Distance from there to the place in the next lane.
    pub(super) step: usize,
    /// Bits of the number.
    pub(super) bits: u32,
}

/// Numbers that a conditional's circuits read, by its inputs' types; nothing where an input is too large.
pub(super) fn feeds(branches: &[Arc<Graph>], shape: &Shape) -> Option<Vec<Feed>> {
    let mut used: HashMap<usize, (u32, &Shape)> = HashMap::new();
    for node in branches.iter().flat_map(|branch| branch.nodes()) {
        if let Op::Argument(number) = node.op {
            let typed = &node.outputs[0];
            used.insert(number, (typed.element.bits(), &typed.shape));
        }
    }
    let mut used: Vec<_> = used.into_iter().collect();
    used.sort_by_key(|&(number, _)| number);
    let mut feeds = Vec::new();
    for (input, (bits, of)) in used {
        let (count, step) = match elements_each(of, shape) {
            Some(each) => (each, each),
            None => (of.elements(), 0),
        };
        if count > MAX_NUMBERS {
            return None;
        }
        feeds.extend((0..count).map(|first| Feed {
            input,
            first,
            step,
            bits,
        }));
    }
    Some(feeds)
}

/// The circuits of a conditional, if there are such.
pub(super) fn circuits(node: &Node, goal: Goal) -> Option<LaneCircuits> {
    let Op::Choose(branches) = &node.op else {
        return None;
    };
    let shape = &node.outputs[0].shape;
    if shape.elements() == 0 || branches.len() < 2 {
        return None;
    }
    let feeds = feeds(branches, shape)?;
    if feeds.is_empty() {
        return None;
    }
    let branches = branches.iter();
    let branches = branches.map(|branch| Lane::new(branch, shape, &feeds, goal).run(branch));
    let branches: Option<Vec<_>> = branches.collect();
    Some(LaneCircuits {
        branches: branches?,
        feeds,
    })
}

/// The numbers of a value in each lane.
#[derive(Debug, Clone)]
enum LaneNumbers {
    /// Numbers that all parties know.
    Public(Vec<u128>),
    /// Wires of the circuit with branches.
    There(Vec<Vec<u32>>),
    /// Wires of the netlist that is being made.
    Built(Vec<Vec<Wire>>),
}

/// A branch being made.
struct Lane<'a> {
    /// Shape of the conditional.
    shape: &'a Shape,
    goal: Goal,
    draft: Draft,
    values: HashMap<Value, LaneNumbers>,
    /// The netlist being made, the wires that it reads, and what of these values it knows.
    builder: Builder,
    reads: Vec<u32>,
    known: HashMap<Value, Vec<Vec<Wire>>>,
    /// Values in the netlist that later ones may read.
    built: Vec<Value>,
    /// The last node that reads a value.
    last: HashMap<Value, usize>,
    /// First wire of each argument that is read.
    arguments: HashMap<usize, Vec<Vec<u32>>>,
}

impl<'a> Lane<'a> {
    fn new(graph: &Graph, shape: &'a Shape, feeds: &[Feed], goal: Goal) -> Self {
        let widths: Vec<u32> = feeds.iter().map(|feed| feed.bits).collect();
        let mut arguments: HashMap<usize, Vec<Vec<u32>>> = HashMap::new();
        let mut wire = 0;
        for feed in feeds {
            let wires = (wire..wire + feed.bits).collect();
            arguments.entry(feed.input).or_default().push(wires);
            wire += feed.bits;
        }
        let mut last = HashMap::new();
        for (number, node) in graph.nodes().iter().enumerate() {
            last.extend(node.inputs.iter().map(|&value| (value, number)));
        }
        last.extend(graph.results().iter().map(|&value| (value, usize::MAX)));
        Self {
            shape,
            goal,
            draft: Draft::new("branch", &widths),
            values: HashMap::new(),
            builder: Builder::new("part of a branch").with_goal(goal),
            reads: Vec::new(),
            known: HashMap::new(),
            built: Vec::new(),
            last,
            arguments,
        }
    }

    fn run(mut self, graph: &Graph) -> Option<Arc<Branching>> {
        for (number, node) in (0..).zip(graph.nodes()) {
            let value = Value {
                node: number,
                output: 0,
            };
            match &node.op {
                Op::Argument(argument) => {
                    let wires = self.arguments.get(argument)?.clone();
                    self.values.insert(value, LaneNumbers::There(wires));
                }
                Op::Constant(array) => {
                    let count = elements_each(array.shape(), self.shape);
                    let count = count.unwrap_or(array.shape().elements());
                    let codes = array.codes().take(count).collect();
                    self.values.insert(value, LaneNumbers::Public(codes));
                }
                Op::Choose(branches) => self.choice(graph, value, node, branches)?,
                _ => {
                    let made = self.operation(graph, node)?;
                    self.set(value, made);
                }
            }
        }
        let results = graph.results();
        for &result in results {
            if let LaneNumbers::Public(_) = self.values[&result] {
                let made = self.fetch(graph, result);
                self.set(result, made);
            }
        }
        self.flush(usize::MAX - 1)?;
        let mut outputs = Vec::new();
        for result in results {
            let LaneNumbers::There(wires) = &self.values[result] else {
                return None;
            };
            outputs.push(wires.first()?.clone());
        }
        let outputs: Vec<&[u32]> = outputs.iter().map(Vec::as_slice).collect();
        Some(Arc::new(self.draft.finish(&outputs).ok()?))
    }

    fn set(&mut self, value: Value, made: Vec<Vec<Wire>>) {
        self.known.insert(value, made.clone());
        self.values.insert(value, LaneNumbers::Built(made));
        self.built.push(value);
    }

    /// The numbers as wires of the netlist.
    fn fetch(&mut self, graph: &Graph, value: Value) -> Vec<Vec<Wire>> {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        let bits = graph.type_of(value).element.bits();
        let made = match self.values[&value].clone() {
            LaneNumbers::Public(codes) => codes
                .into_iter()
                .map(|code| self.builder.number(code, bits as usize))
                .collect(),
            LaneNumbers::There(wires) => {
                let mut made = Vec::new();
                for wires in wires {
                    self.reads.extend(&wires);
                    made.push(self.builder.input(bits));
                }
                made
            }
            LaneNumbers::Built(wires) => wires,
        };
        self.known.insert(value, made.clone());
        made
    }

    /// The netlist becomes a part of the branch, with what nodes after this one read.
    fn flush(&mut self, node: usize) -> Option<()> {
        let empty = Builder::new("part of a branch").with_goal(self.goal);
        let mut builder = std::mem::replace(&mut self.builder, empty);
        let reads = std::mem::take(&mut self.reads);
        self.known.clear();
        let last = &self.last;
        let read = |value: &Value| last.get(value).is_some_and(|&last| last >= node);
        let built: Vec<Value> = std::mem::take(&mut self.built);
        let built: Vec<Value> = built.into_iter().filter(read).collect();
        let mut widths = Vec::new();
        for value in &built {
            let LaneNumbers::Built(numbers) = &self.values[value] else {
                continue;
            };
            for number in numbers {
                builder.output(number);
            }
            widths.push(numbers.iter().map(Vec::len).collect::<Vec<_>>());
        }
        if built.is_empty() {
            return Some(());
        }
        let netlist = Arc::new(builder.finish());
        let wires = self.draft.circuit(netlist, &reads).ok()?;
        let mut wires = wires.into_iter();
        for (value, widths) in built.into_iter().zip(widths) {
            let numbers = widths
                .into_iter()
                .map(|width| wires.by_ref().take(width).collect());
            self.values
                .insert(value, LaneNumbers::There(numbers.collect()));
        }
        Some(())
    }

    /// A conditional in a branch.
    fn choice(
        &mut self,
        graph: &Graph,
        value: Value,
        node: &Node,
        branches: &[Arc<Graph>],
    ) -> Option<()> {
        let shape = &node.outputs[0].shape;
        if shape != self.shape || branches.len() < 2 {
            return None;
        }
        let number = value.node as usize;
        let feeds = feeds(branches, shape)?;
        let circuits = branches.iter();
        let circuits =
            circuits.map(|branch| Lane::new(branch, shape, &feeds, self.goal).run(branch));
        let circuits: Option<Vec<_>> = circuits.collect();
        let circuits = circuits?;
        // Values that the choice reads must be there.
        let index = self.fetch(graph, node.inputs[0]);
        let parts = BitOp::Index(branches.len()).build(&mut self.builder, &index);
        let place = |output: u32| Value {
            node: u32::MAX - value.node,
            output,
        };
        for (output, part) in (0..).zip(parts) {
            self.last.insert(place(output), number + 1);
            self.set(place(output), vec![part]);
        }
        for feed in &feeds {
            let input = node.inputs[feed.input];
            if let LaneNumbers::Public(_) = self.values[&input] {
                let made = self.fetch(graph, input);
                self.set(input, made);
            }
        }
        self.flush(number)?;
        let there = |values: &HashMap<Value, LaneNumbers>, value: Value| match &values[&value] {
            LaneNumbers::There(wires) => Some(wires.clone()),
            _ => None,
        };
        let index = there(&self.values, place(0))?.concat();
        let mut inputs = Vec::new();
        for feed in &feeds {
            let numbers = there(&self.values, node.inputs[feed.input])?;
            inputs.extend(numbers.get(feed.first)?);
        }
        let wires = self.draft.choice(&index, &inputs, circuits).ok()?;
        let mut wires = wires.into_iter();
        let beyond =
            BitOp::Index(branches.len()).widths(&[graph.type_of(node.inputs[0]).element.bits()]);
        for (output, typed) in (0..).zip(&node.outputs) {
            let value = Value { output, ..value };
            let number: Vec<u32> = wires.by_ref().take(typed.element.bits() as usize).collect();
            self.values.insert(value, LaneNumbers::There(vec![number]));
            if beyond.len() > 1 {
                let made = self.fetch(graph, value);
                let inside = match self.known.get(&place(1)) {
                    Some(inside) => inside[0][0],
                    None => {
                        let wire = there(&self.values, place(1))?.concat();
                        self.reads.extend(&wire);
                        let inside = self.builder.input(1);
                        self.known.insert(place(1), vec![inside.clone()]);
                        inside[0]
                    }
                };
                let masked = self.builder.mask(&made[0], inside);
                self.set(value, vec![masked]);
            }
        }
        Some(())
    }

    /// The numbers of an operation's result.
    fn operation(&mut self, graph: &Graph, node: &Node) -> Option<Vec<Vec<Wire>>> {
        let typed = &node.outputs[0];
        let (count, _) = count(&typed.shape, self.shape);
        if count > MAX_NUMBERS {
            return None;
        }
        let element = |at: usize| graph.type_of(node.inputs[at]).element;
        let op = match &node.op {
            Op::View(_) | Op::Reshape(_) | Op::Pick { .. } | Op::Join(_) => {
                return self.moved(graph, node);
            }
            Op::To(_) => return Some(self.fetch(graph, node.inputs[0])),
            Op::Reduce(reduction, axis) => {
                return self.reduced(graph, node.inputs[0], *reduction, *axis);
            }
            Op::Unary(unary) => BitOp::Unary(*unary, element(0)),
            Op::Binary(binary) => BitOp::Binary(*binary, element(0)),
            Op::Select => BitOp::Select,
            Op::Cast(to) => BitOp::Cast(element(0), *to),
            Op::Truncate { by, .. } => BitOp::Truncate(*by),
            // A value of a branch is one result.
            Op::Each(each) if node.outputs.len() == 1 => BitOp::of(each, node),
            _ => return None,
        };
        self.affordable(count, element(0))?;
        let operands: Vec<_> = node
            .inputs
            .iter()
            .map(|&input| self.fetch(graph, input))
            .collect();
        let each = |at: usize| {
            let inputs: Vec<Vec<Wire>> = operands.iter().map(|all| all[at].clone()).collect();
            op.build(&mut self.builder, &inputs).swap_remove(0)
        };
        Some((0..count).map(each).collect())
    }

    /// Checks that a circuit would not be too large.
    fn affordable(&self, count: usize, element: Type) -> Option<()> {
        let bits = element.bits() as usize;
        (count * bits * bits <= MAX_GATES).then_some(())
    }

    fn reduced(
        &mut self,
        graph: &Graph,
        value: Value,
        reduction: Reduction,
        axis: usize,
    ) -> Option<Vec<Vec<Wire>>> {
        let typed = graph.type_of(value);
        let [before, length, after] = around(&typed.shape, self.shape, axis)?;
        if length == 0 {
            return None;
        }
        self.affordable(before * length * after, typed.element)?;
        let numbers = self.fetch(graph, value);
        let element = typed.element;
        let two = |binary: Binary| BitOp::Binary(binary, element);
        let (op, all) = match reduction {
            Reduction::Sum => (BitOp::AddUp, true),
            Reduction::And => (BitOp::Fold(Binary::And), true),
            Reduction::Or => (BitOp::Fold(Binary::Or), true),
            Reduction::Xor => (two(Binary::Xor), false),
            Reduction::Product => (two(Binary::Mul), false),
            Reduction::Least => (two(Binary::Min), false),
            Reduction::Greatest => (two(Binary::Max), false),
        };
        let mut made = Vec::new();
        for mut level in groups(&numbers, [before, length, after])? {
            if all {
                level = op.build(&mut self.builder, &level);
            }
            while level.len() > 1 {
                let pairs = level.chunks(2);
                let pair = |pair: &[Vec<Wire>]| match pair {
                    [one] => one.clone(),
                    pair => op.build(&mut self.builder, pair).swap_remove(0),
                };
                level = pairs.map(pair).collect();
            }
            made.push(level.swap_remove(0));
        }
        Some(made)
    }

    /// The numbers of a value whose elements come from others'.
    fn moved(&mut self, graph: &Graph, node: &Node) -> Option<Vec<Vec<Wire>>> {
        let places = moved(graph, node, self.shape)?;
        let inputs: Vec<_> = node
            .inputs
            .iter()
            .map(|&input| self.fetch(graph, input))
            .collect();
        let places = places.into_iter();
        Some(
            places
                .map(|(input, at)| inputs[input][at].clone())
                .collect(),
        )
    }
}

/// The numbers along the middle one of three axes, for each place on the others.
pub(super) fn groups<T: Clone>(
    numbers: &[T],
    [before, length, after]: [usize; 3],
) -> Option<Vec<Vec<T>>> {
    let group = |at: usize| {
        let first = at / after * length * after + at % after;
        let places = (0..length).map(|step| numbers.get(first + step * after).cloned());
        places.collect()
    };
    (0..before * after).map(group).collect()
}

/// Number of a value's numbers in a lane of a conditional of shape `of`, and whether they are the
/// lane's own.
pub(super) fn count(shape: &Shape, of: &Shape) -> (usize, bool) {
    match elements_each(shape, of) {
        Some(each) => (each, true),
        None => (shape.elements(), false),
    }
}

/// The lengths of the axes before, of and after one of those in a lane that is made one element of. Not where of
/// numbers that all lanes have alike those would become that each lane has its own of.
pub(super) fn around(shape: &Shape, of: &Shape, axis: usize) -> Option<[usize; 3]> {
    let [before, length, after] = shape.around(axis);
    let (_, own) = count(shape, of);
    let mut left = shape.axes().to_vec();
    left.remove(axis);
    if of.elements() > 1 && !own && count(&Shape::of(left), of).1 {
        return None;
    }
    let lanes = if own { of.elements() } else { 1 };
    let inside = lanes == 1 || axis >= of.rank();
    inside.then(|| [before / lanes, length, after])
}

/// Follows elements that move: for each number in a lane of the result, the input and the number there that it
/// is, alike in all lanes.
pub(super) fn moved(graph: &Graph, node: &Node, of: &Shape) -> Option<Vec<(usize, usize)>> {
    let label = Type::unsigned(64);
    let mut labels = Vec::new();
    let mut ends = Vec::new();
    let mut from = 0;
    for &input in &node.inputs {
        let shape = graph.type_of(input).shape.clone();
        let elements = shape.elements();
        if from + elements > MAX_MOVED {
            return None;
        }
        let codes = (from..from + elements).map(|at| at as u128);
        let words = Words::collect(label, codes);
        labels.push(Array::new(label, shape.clone(), words));
        from += elements;
        ends.push((from, shape));
    }
    let labels: Vec<&Array> = labels.iter().collect();
    let typed = crate::tensor_type::TensorType::new(label, node.outputs[0].shape.clone());
    let made = crate::simulate::evaluate(&node.op, &labels, &[typed]).pop()?;
    let (count, own) = self::count(&node.outputs[0].shape, of);
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(count);
    for (at, code) in made.codes().enumerate() {
        let code = code as usize;
        let input = ends.iter().position(|(end, _)| code < *end)?;
        let (end, shape) = &ends[input];
        let element = code - (end - shape.elements());
        let (each, lanes) = self::count(shape, of);
        let place = match lanes {
            true if !own || element / each != at / count => return None,
            true => (input, element % each),
            false => (input, element),
        };
        match places.get(at % count) {
            Some(&known) if known != place => return None,
            Some(_) => {}
            None => places.push(place),
        }
    }
    Some(places)
}
