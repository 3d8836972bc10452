//! What is taken to be known of values' ranges, held against the numbers that come of operands at the ends of theirs.
//!
//! A range is sound if it holds for each operation, given ranges of its operands that hold: so each operation is
//! looked at by itself, on operands from ranges of all kinds, and then random programs as a whole.

use std::sync::Arc;

use madrigal_core::Convolution;

use super::random::Random;
use crate::array::{Array, Words};
use crate::computation::Computation;
use crate::element::Type;
use crate::error::Source;
use crate::function::{Function, Kind};
use crate::ir::{Binary, Extreme, Graph, Node, Op, Reduction, Rounding, Sort, Unary, Value};
use crate::lower::{Range, all, of_outputs, ranges_of};
use crate::shape::{Shape, View};
use crate::simulate::{Inputs, evaluate, values};

/// Operands are drawn so often for one operation.
const DRAWS: usize = 6;

/// One operation at random, of operands in ranges at random.
///
/// # Errors
/// A number that is outside of what the range of the operation's result is taken to be.
///
/// # Panics
/// If this crate is wrong.
pub fn operation(seed: u64) -> Result<(), String> {
    let mut trial = Trial {
        random: Random(seed),
        graph: Graph::default(),
        between: Vec::new(),
    };
    let (op, operands) = trial.operation();
    let made = trial.graph.add(op, operands, Source::here());
    let made = made.expect("operands that fit");
    trial.holds(made)
}

/// All functions of one number, of numbers of a type: all that a type of 16 bits has, and those around the powers of
/// two, at the ends and at random of others.
///
/// # Errors
/// A result that is outside of what the function's range is taken to be; a range that is far wider than the results of
/// tanh, erf or ln.
pub fn functions(element: Type, seed: u64) -> Result<(), String> {
    for kind in KINDS {
        let Some(function) = Function::new(kind, element) else {
            continue;
        };
        let (from, to) = (function.from(), function.to());
        let mut random = Random(seed);
        let mut codes: Vec<u128> = match from.bits() {
            ..=16 => (0..=from.mask()).collect(),
            bits => {
                let at_random = (0..4_000).map(|_| random.word() >> random.below(128));
                let powers = (0..bits).flat_map(|power| {
                    let power = 1_u128 << power;
                    [power - 1, power, power + 1]
                });
                at_random.chain(powers).collect()
            }
        };
        let negatives: Vec<u128> = codes.iter().map(|code| code.wrapping_neg()).collect();
        codes.extend(negatives);
        codes.iter_mut().for_each(|code| *code &= from.mask());
        let mut graph = Graph::default();
        let shape = Shape::of(vec![codes.len()]);
        let x = graph.leaf(Op::Input(0), Sort::new(from, shape.clone()), Source::here());
        let op = Op::Function(Arc::new(function));
        let y = graph.add(op, vec![x], Source::here());
        let y = y.expect("operands that fit");
        let node = graph.maker(y);
        let range = of_outputs(&graph, node, &[all(from)])[0];
        let array = Array::new(from, shape, Words::collect(from, codes.into_iter()));
        let results = evaluate(&node.op, &[&array], &node.outputs);
        inside(&results[0], range).map_err(|what| format!("{kind} of {from}: {what}"))?;
        // Where one more than what the function has is in the type, the range says so.
        let most = match kind {
            Kind::Tanh | Kind::Erf => 2,
            Kind::Log => 128,
            _ => continue,
        };
        let most = (1_i128 << from.fraction()).checked_mul(most);
        if let Some(most) = most.filter(|&most| all(to).is_some_and(|(_, end)| most < end)) {
            let near = range.is_some_and(|(low, high)| -most <= low && high <= most);
            if !near {
                return Err(format!("{kind} of {from} is taken to lie in {range:?}"));
            }
        }
    }
    Ok(())
}

/// All values of a program, loops and branches as wholes.
///
/// # Errors
/// A number that is outside of what the value's range is taken to be.
///
/// # Panics
/// If the inputs are not those that the program asks for.
pub fn program(program: &Computation, inputs: &Inputs) -> Result<(), String> {
    let mut graph = program.graph().without_maps().optimised();
    let outputs = graph.nodes().iter().map(|node| node.outputs.len() as u32);
    let all: Vec<Value> = (0..)
        .zip(outputs)
        .flat_map(|(node, outputs)| (0..outputs).map(move |output| Value { node, output }))
        .collect();
    (graph, _) = graph.without_results();
    all.iter().for_each(|&value| graph.add_result(value));
    let found = values(program, &graph, inputs).expect("inputs as declared");
    let ranges = ranges_of(&graph);
    for (&value, found) in all.iter().zip(&found) {
        let range = ranges[value.node as usize][value.output as usize];
        inside(found, range).map_err(|what| {
            let op = &graph.maker(value).op;
            format!(
                "node {}, {op}: {what}\n{}",
                value.node,
                graph.describe().join("\n")
            )
        })?;
    }
    Ok(())
}

/// Operations whose ranges are the least that hold, on all numbers of ranges between -4 and 4.
///
/// # Errors
/// One that is not.
///
/// # Panics
/// If this crate is wrong.
pub fn narrow() -> Result<(), String> {
    let element = Type::signed(8);
    let ends = || (-4..=4_i128).flat_map(|low| (low..=4).map(move |high| (low, high)));
    let unary = [
        Unary::Negate,
        Unary::Square,
        Unary::Abs,
        Unary::ShiftLeft(2),
        Unary::ShiftRight(1),
    ];
    let unary = unary.map(|unary| (Op::Unary(unary), 1));
    let sums = [
        (Op::Reduce(Reduction::Sum, 1), 1),
        (Op::Reduce(Reduction::Least, 1), 1),
        (Op::Cast(Type::signed(16)), 1),
    ];
    let binary = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Min,
        Binary::Max,
    ];
    let binary = binary.map(|binary| (Op::Binary(binary), 2));
    for (op, operands) in unary.into_iter().chain(sums).chain(binary) {
        for first in ends() {
            for second in ends().take(if operands == 2 { usize::MAX } else { 1 }) {
                let second = if operands == 2 { second } else { first };
                // All pairs of numbers, each pair a row.
                let pairs =
                    (first.0..=first.1).flat_map(|a| (second.0..=second.1).map(move |b| [a, b]));
                let pairs: Vec<[i128; 2]> = pairs.collect();
                let array = |codes: Vec<i128>, axes: Vec<usize>| {
                    let codes = codes.into_iter().map(|code| code as u128 & element.mask());
                    Array::new(element, Shape::of(axes), Words::collect(element, codes))
                };
                let columns = [0, 1].map(|at| pairs.iter().map(|pair| pair[at]).collect());
                let operands: Vec<Array> = match operands {
                    2 => columns
                        .map(|column| array(column, vec![pairs.len()]))
                        .into(),
                    _ => vec![array(pairs.concat(), vec![pairs.len(), 2])],
                };
                let mut graph = Graph::default();
                let values = operands.iter().map(|array| {
                    let sort = Sort::new(element, array.shape().clone());
                    graph.leaf(Op::Input(0), sort, Source::here())
                });
                let values = values.collect();
                let made = graph.add(op.clone(), values, Source::here());
                let node = graph.maker(made.expect("operands that fit"));
                let range = of_outputs(&graph, node, &[Some(first), Some(second)])[0];
                let operands: Vec<&Array> = operands.iter().collect();
                let results = evaluate(&node.op, &operands, &node.outputs);
                let numbers = || {
                    results[0]
                        .codes()
                        .map(|code| results[0].element().extend(code))
                };
                let least = (numbers().min().zip(numbers().max())).expect("a range has a number");
                if range != Some(least) {
                    return Err(format!(
                        "{op} of {first:?} and {second:?}: {range:?}, not {least:?}"
                    ));
                }
            }
        }
    }
    Ok(())
}

const KINDS: [Kind; 16] = [
    Kind::Sigmoid,
    Kind::Tanh,
    Kind::Erf,
    Kind::BelowGelu,
    Kind::BelowTanhGelu,
    Kind::BelowSilu,
    Kind::AboveSoftplus,
    Kind::Decay,
    Kind::Exp,
    Kind::Log,
    Kind::Reciprocal,
    Kind::PositiveReciprocal,
    Kind::Root,
    Kind::InverseRoot,
    Kind::FineInverseRoot,
    Kind::Inverse,
];

/// Whether all numbers of a tensor lie in a range.
fn inside(array: &Array, range: Range) -> Result<(), String> {
    let element = array.element();
    let Some((low, high)) = range else {
        return match all(element) {
            None => Ok(()),
            Some(_) => Err(format!("nothing is known of {element}")),
        };
    };
    let mut numbers = array.codes().map(|code| element.extend(code));
    match numbers.find(|number| !(low..=high).contains(number)) {
        Some(number) => Err(format!("{number} of {element} is not in {low}..={high}")),
        None => Ok(()),
    }
}

/// An operation being made.
struct Trial {
    random: Random,
    graph: Graph,
    /// Of each leaf the codes that it lies between.
    between: Vec<[u128; 2]>,
}

impl Trial {
    /// A leaf whose numbers lie between two of its type's, at the ends, around 0, or anywhere.
    fn leaf(&mut self, element: Type, axes: &[usize]) -> Value {
        let least = element.least();
        let mut end = || {
            let power = 1_u128 << self.random.below(element.bits() as usize);
            let codes = [
                least,
                least.wrapping_sub(1),
                0,
                1,
                u128::MAX,
                power,
                power - 1,
                power.wrapping_neg(),
                self.random.word(),
                self.random.word() >> self.random.below(128),
            ];
            self.random.one_of(&codes) & element.mask()
        };
        let mut ends = [end(), end()];
        ends.sort_by_key(|code| code ^ least);
        self.between.push(ends);
        let sort = Sort::new(element, Shape::of(axes.to_vec()));
        let number = self.between.len() - 1;
        self.graph.leaf(Op::Input(number), sort, Source::here())
    }

    /// Numbers of a leaf: one end, the other, some of both, or any between them.
    fn draw(&mut self, sort: &Sort, [low, high]: [u128; 2], turn: usize) -> Array {
        let (element, least) = (sort.element, sort.element.least());
        let from = low ^ least;
        let span = (high ^ least) - from;
        let codes = (0..sort.shape.elements()).map(|_| match turn {
            0 => low,
            1 => high,
            2 => self.random.one_of(&[low, high]),
            _ => {
                let more = match span.checked_add(1) {
                    Some(count) => self.random.word() % count,
                    None => self.random.word(),
                };
                (from + more) ^ least
            }
        });
        let codes: Vec<u128> = codes.collect();
        Array::new(
            element,
            sort.shape.clone(),
            Words::collect(element, codes.into_iter()),
        )
    }

    /// Whether a node's results, and those of all nodes before it, lie in their ranges.
    fn holds(&mut self, made: Value) -> Result<(), String> {
        let nodes: Vec<Node> = self.graph.nodes()[..=made.node as usize].to_vec();
        let mut ranges: Vec<Vec<Range>> = Vec::new();
        for node in &nodes {
            ranges.push(match node.op {
                Op::Input(number) => {
                    let element = node.outputs[0].element;
                    let ends = self.between[number].map(|code| element.extend(code));
                    vec![all(element).map(|_| (ends[0], ends[1]))]
                }
                _ => {
                    let of = |value: &Value| ranges[value.node as usize][value.output as usize];
                    let inputs: Vec<Range> = node.inputs.iter().map(of).collect();
                    of_outputs(&self.graph, node, &inputs)
                }
            });
        }
        for turn in 0..DRAWS {
            let mut values: Vec<Vec<Array>> = Vec::new();
            for (node, ranges) in nodes.iter().zip(&ranges) {
                let found = match &node.op {
                    Op::Input(number) => {
                        vec![self.draw(&node.outputs[0], self.between[*number], turn)]
                    }
                    Op::Constant(array) => vec![array.as_ref().clone()],
                    op => {
                        let of =
                            |value: &Value| &values[value.node as usize][value.output as usize];
                        let inputs: Vec<&Array> = node.inputs.iter().map(of).collect();
                        evaluate(op, &inputs, &node.outputs)
                    }
                };
                for (found, range) in found.iter().zip(ranges) {
                    inside(found, *range).map_err(|what| {
                        format!("{}: {what}\n{}", node.op, self.graph.describe().join("\n"))
                    })?;
                }
                values.push(found);
            }
        }
        Ok(())
    }

    /// A type, with bits after the point where it may have any: as many as two factors have together.
    fn element(&mut self) -> Type {
        let bits = self.random.one_of(&[8, 16, 32, 64, 128]);
        let fixed = Type::fixed(bits, 1 + self.random.below(bits as usize - 2) as u32);
        match (self.random.below(3), fixed) {
            (0, _) => Type::unsigned(bits),
            (1, Some(fixed)) => match self.random.yes() {
                true => fixed.moved(fixed.fraction().into()).unwrap_or(fixed),
                false => fixed,
            },
            _ => Type::signed(bits),
        }
    }

    fn integer(&mut self) -> Type {
        self.element().integer()
    }

    /// Of a type with bits after the point.
    fn fixed(&mut self) -> Type {
        loop {
            let element = self.element();
            if element.fraction() > 0 {
                return element;
            }
        }
    }

    fn bit(&mut self, axes: &[usize]) -> Value {
        self.leaf(Type::BOOL, axes)
    }

    /// An operation with operands.
    fn operation(&mut self) -> (Op, Vec<Value>) {
        let element = self.element();
        let length = 1 + self.random.below(4);
        let axes = [2, length, 3];
        let axis = self.random.below(3);
        match self.random.below(19) {
            0 => {
                let from = Shape::of(vec![length]);
                let view = match self.random.yes() {
                    true => View::broadcast(&from, &Shape::of(vec![3, length])),
                    false => View {
                        strides: vec![-1],
                        offset: length - 1,
                        ..View::whole(&from)
                    },
                };
                (Op::View(view), vec![self.leaf(element, &[length])])
            }
            1 => {
                let x = self.leaf(element, &axes);
                let places = (0..3).map(|_| self.random.below(axes[axis])).collect();
                let reshaped = Op::Reshape(Shape::of(vec![6, length]));
                let op = match self.random.yes() {
                    true => Op::Pick { axis, places },
                    false => reshaped,
                };
                (op, vec![x])
            }
            2 => {
                let parts = (0..2 + self.random.below(2)).map(|_| self.leaf(element, &axes));
                (Op::Join(axis), parts.collect())
            }
            3 => {
                let x = self.leaf(element, &axes);
                let place = self.leaf(Type::PLACE, &[]);
                self.between[1] = [0, 0];
                (Op::Row(axis), vec![x, place])
            }
            4 => self.unary(&axes),
            5..8 => self.binary(&axes),
            8 => {
                let operands = [
                    self.bit(&axes),
                    self.leaf(element, &axes),
                    self.leaf(element, &axes),
                ];
                (Op::Select, operands.into())
            }
            9 => self.positive_part(&axes),
            10 => {
                let to = self.element();
                let to = self.random.one_of(&[to, to, to, Type::BOOL]);
                let from = self.random.one_of(&[element, element, element, Type::BOOL]);
                (Op::Cast(to), vec![self.leaf(from, &axes)])
            }
            11 => {
                let element = self.fixed();
                let by = self.random.below(element.fraction() as usize + 1) as u32;
                let rounding = self
                    .random
                    .one_of(&[Rounding::Exact, Rounding::Probabilistic]);
                (
                    Op::Truncate { by, rounding },
                    vec![self.leaf(element, &axes)],
                )
            }
            12 => {
                use Reduction::{And, Greatest, Least, Or, Product, Sum, Xor};
                let reduction = self
                    .random
                    .one_of(&[Sum, Sum, Product, Least, Greatest, And, Or, Xor]);
                let element = match reduction {
                    Sum | Least | Greatest => element,
                    _ => element.integer(),
                };
                let mut axes = axes;
                if matches!(reduction, Sum | Product) && self.random.below(6) == 0 {
                    axes[axis] = 0;
                }
                (Op::Reduce(reduction, axis), vec![self.leaf(element, &axes)])
            }
            13 => {
                let extreme = self.random.one_of(&[Extreme::Least, Extreme::Greatest]);
                (Op::Find(extreme, axis), vec![self.leaf(element, &axes)])
            }
            14 => (Op::PrefixSums(axis), vec![self.leaf(element, &axes)]),
            15 => {
                let axes = [2, length];
                let along = self.element();
                let operands = vec![self.leaf(element, &axes), self.leaf(along, &axes)];
                let op = Op::Sort {
                    descending: self.random.yes(),
                    keep: self.random.below(length + 1),
                };
                (op, operands)
            }
            16 => {
                let inner = self.random.below(5);
                let [a, b] = [[2, 3, inner], [2, inner, 2]];
                (
                    Op::MatMul,
                    vec![self.leaf(element, &a), self.leaf(element, &b)],
                )
            }
            17 => self.convolution(element),
            _ => {
                let places = self.random.one_of(&[8, 16, 32, 64, 128]);
                let table = self.leaf(element, &[2, length, 3]);
                let places = self.leaf(Type::unsigned(places), &[2, 4]);
                self.between[1] = [0, self.random.below(6) as u128];
                (Op::LookUp, vec![table, places])
            }
        }
    }

    fn unary(&mut self, axes: &[usize]) -> (Op, Vec<Value>) {
        use Unary::{
            Abs, CountOnes, LeadingZeros, Negate, Not, Root, RotateLeft, ShiftLeft, ShiftRight,
            Square,
        };
        let by = self.random.below(140) as u32;
        let unary = self.random.one_of(&[
            Negate,
            Not,
            Abs,
            Square,
            Root,
            CountOnes,
            LeadingZeros,
            ShiftLeft(by % 7),
            ShiftLeft(by),
            ShiftRight(by % 7),
            ShiftRight(by),
            RotateLeft(by),
        ]);
        let element = match unary {
            Not | CountOnes | LeadingZeros | RotateLeft(_) => self.integer(),
            Root => Type::unsigned(self.element().bits()),
            Abs => {
                let bits = self.element().bits();
                let fixed = Type::fixed(bits, 3);
                self.random
                    .one_of(&[Type::signed(bits), fixed.unwrap_or(Type::signed(bits))])
            }
            _ => self.element(),
        };
        (Op::Unary(unary), vec![self.leaf(element, axes)])
    }

    fn binary(&mut self, axes: &[usize]) -> (Op, Vec<Value>) {
        use Binary::{
            Add, And, Div, Equal, Less, Max, Min, Mul, Or, Rem, RotateLeft, ShiftLeft, ShiftRight,
            Sub, Xor,
        };
        let binary = self.random.one_of(&[
            Add, Add, Sub, Sub, Mul, Mul, Mul, Div, Rem, And, Or, Xor, Equal, Less, Min, Max,
            ShiftLeft, ShiftRight, RotateLeft,
        ]);
        let [first, second] = match binary {
            ShiftLeft | ShiftRight | RotateLeft => {
                let bits = self.element().bits();
                [self.integer(), Type::unsigned(bits)]
            }
            Rem | And | Or | Xor => [self.integer(); 2],
            // A divisor has its point where its type has it.
            Div => [self.element(); 2].map(|element| match element.fraction() < element.bits() {
                true => element,
                false => element.integer(),
            }),
            _ => [self.element(); 2],
        };
        let operands = vec![self.leaf(first, axes), self.leaf(second, axes)];
        if let ShiftLeft | ShiftRight | RotateLeft = binary {
            self.between[1] = [0, self.random.below(140) as u128 & second.mask()];
        }
        (Op::Binary(binary), operands)
    }

    /// `max(x, 0)` as a comparison and a choice, and what looks like it and is not.
    fn positive_part(&mut self, axes: &[usize]) -> (Op, Vec<Value>) {
        let at = Source::here();
        let element = self.element();
        let [x, other] = [self.leaf(element, axes), self.leaf(element, axes)];
        let codes = Words::collect(element, std::iter::once(0));
        let zero = self
            .graph
            .add_constant(Array::new(element, Shape::scalar(), codes), at);
        let view = View::broadcast(&Shape::scalar(), &Shape::of(axes.to_vec()));
        let zero = self.graph.add(Op::View(view), vec![zero], at);
        let zero = zero.expect("operands that fit");
        let mut compared = vec![x, zero];
        if self.random.below(4) == 0 {
            compared.reverse();
        }
        let less = self.graph.add(Op::Binary(Binary::Less), compared, at);
        let less = less.expect("operands that fit");
        let operands = match self.random.below(6) {
            0 => [less, x, zero],
            1 => [less, zero, other],
            2 => [less, other, x],
            _ => [less, zero, x],
        };
        (Op::Select, operands.into())
    }

    fn convolution(&mut self, element: Type) -> (Op, Vec<Value>) {
        let groups = 1 + self.random.below(2);
        let channels = groups * (1 + self.random.below(2));
        let filters = groups * (1 + self.random.below(2));
        let mut two = |most: usize| [self.random.below(most), self.random.below(most)];
        let padding = [two(3), two(3)];
        let convolution = Convolution {
            images: 2,
            groups,
            stride: two(2).map(|step| step + 1),
            dilation: two(2).map(|step| step + 1),
            padding,
            ..Convolution::new(channels, [4, 5], filters, two(2).map(|size| size + 1))
        };
        let [rows, columns] = convolution.filter;
        let operands = vec![
            self.leaf(element, &[filters, channels / groups, rows, columns]),
            self.leaf(element, &[2, channels, 4, 5]),
        ];
        (Op::Convolve(convolution), operands)
    }
}
