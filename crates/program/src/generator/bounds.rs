//! Ranges that values are taken to have, held against the numbers that come of operands at the ends of theirs.
//!
//! A range is sound if it holds for each operation, given ranges of its operands that hold: so each operation is
//! looked at by itself, on operands from ranges of all kinds, and then random programs as a whole.

mod trial;

use std::sync::Arc;

use super::random::Random;
use crate::array::{Array, Words};
use crate::computation::Computation;
use crate::element::Type;
use crate::error::Source;
use crate::function::{Function, Kind};
use crate::ir::{Binary, Each, Graph, Op, Reduction, TensorType, Unary, Value};
use crate::lower::{all, of_outputs, ranges_of};
use crate::shape::Shape;
use crate::simulate::{Inputs, evaluate, values};
use trial::{Trial, inside};

/// One operation at random, of operands in ranges at random.
///
/// # Errors
/// A number that is outside of what the range of the operation's result is taken to be.
///
/// # Panics
/// If this crate is wrong.
pub fn operation(seed: u64) -> Result<(), String> {
    Trial::new(seed).run()
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
        let x = graph.leaf(
            Op::Input(0),
            TensorType::new(from, shape.clone()),
            Source::here(),
        );
        let op = Op::Each(Each::new(Arc::new(function)));
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
                    let typed = TensorType::new(element, array.shape().clone());
                    graph.leaf(Op::Input(0), typed, Source::here())
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
