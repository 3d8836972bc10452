//! Conditionals on secrets whose branches are sums and products of ring elements.
//!
//! Each element of the condition is a lane, as with circuits (`branches.rs`), and a value of a branch is some
//! numbers in each lane.

use std::collections::HashMap;

use madrigal_engine::{Sharing, Width};
use madrigal_operations::{Formula, Formulas};

use super::Mix;
use super::branches::{Feed, MAX_NUMBERS, around, count, feeds, groups, moved};
use super::domain::Domain;
use crate::ir::{Binary, Graph, Node, Op, Reduction, Unary, Value};
use crate::shape::Shape;

/// The most sums and products of all branches.
const MAX_STEPS: usize = 1 << 18;

/// The branches of a conditional, and what they read.
pub(super) struct RingBranches {
    /// Source of the numbers of each input of the branches.
    pub(super) feeds: Vec<Feed>,
    pub(super) formulas: Formulas,
}

/// Whether a conditional's branches are computed on ring elements in a mix.
pub(super) fn is_on_rings(node: &Node, mix: Mix) -> bool {
    formulas(node, mix).is_some()
}

/// The branches of a conditional, if they are such.
pub(super) fn formulas(node: &Node, mix: Mix) -> Option<RingBranches> {
    let Op::Choose(branches) = &node.op else {
        return None;
    };
    // Bits become the number of the active branch as they become kept: in B, without a message.
    let numbers = mix.numbers()?;
    if !numbers.branches || !numbers.with.contains(&mix.bits()) {
        return None;
    }
    let shape = &node.outputs[0].shape;
    if shape.elements() == 0 || branches.len() < 2 {
        return None;
    }
    let bits = node.outputs[0].element.bits();
    let width = Width::ALL
        .into_iter()
        .find(|width| width.bits() == bits as usize)?;
    let feeds = feeds(branches, shape)?;
    let alike = feeds.iter().all(|feed| feed.bits == bits)
        && node
            .outputs
            .iter()
            .all(|typed| typed.element.bits() == bits);
    if feeds.is_empty() || !alike {
        return None;
    }
    let branches = branches.iter();
    let branches =
        branches.map(|branch| RingLane::new(&feeds, shape, bits, mix.arithmetic()).run(branch));
    let branches: Option<Vec<Formula>> = branches.collect();
    let branches = branches?;
    let steps: usize = branches.iter().map(|branch| branch.steps().len()).sum();
    (steps <= MAX_STEPS).then(|| RingBranches {
        formulas: Formulas::new(width, branches),
        feeds,
    })
}

/// A number in each lane.
#[derive(Debug, Clone, Copy)]
enum Number {
    /// One number for all lanes, which all parties know.
    Public(u128),
    /// A value of the formula.
    Made(u32),
}

/// A branch being made.
struct RingLane<'a> {
    /// Shape of the conditional.
    shape: &'a Shape,
    bits: u32,
    /// The sharing that the numbers are in anyway.
    ring: Sharing,
    formula: Formula,
    values: HashMap<Value, Vec<Number>>,
    /// Numbers of each argument.
    arguments: HashMap<usize, Vec<Number>>,
}

impl<'a> RingLane<'a> {
    fn new(feeds: &[Feed], shape: &'a Shape, bits: u32, ring: Sharing) -> Self {
        let mut arguments: HashMap<usize, Vec<Number>> = HashMap::new();
        for (place, feed) in (0..).zip(feeds) {
            let numbers = arguments.entry(feed.input).or_default();
            numbers.push(Number::Made(place));
        }
        Self {
            shape,
            bits,
            ring,
            formula: Formula::new(feeds.len() as u32),
            values: HashMap::new(),
            arguments,
        }
    }

    fn run(mut self, graph: &Graph) -> Option<Formula> {
        for (number, node) in (0..).zip(graph.nodes()) {
            let numbers = self.node(graph, node)?;
            if numbers.len() > MAX_NUMBERS || self.formula.steps().len() > MAX_STEPS {
                return None;
            }
            let value = Value {
                node: number,
                output: 0,
            };
            self.values.insert(value, numbers);
        }
        for result in graph.results() {
            let number = *self.values[result].first()?;
            let value = match number {
                Number::Made(value) => value,
                Number::Public(code) => self.formula.linear(Vec::new(), code),
            };
            self.formula.output(value);
        }
        Some(self.formula)
    }

    fn node(&mut self, graph: &Graph, node: &Node) -> Option<Vec<Number>> {
        let typed = &node.outputs[0];
        if typed.element.bits() != self.bits || count(&typed.shape, self.shape).0 > MAX_NUMBERS {
            return None;
        }
        let of = |at: usize| Some(self.values.get(node.inputs.get(at)?)?.clone());
        Some(match &node.op {
            Op::Argument(argument) => self.arguments.get(argument)?.clone(),
            Op::Constant(array) => {
                let (count, _) = count(array.shape(), self.shape);
                array.codes().take(count).map(Number::Public).collect()
            }
            Op::View(_) | Op::Reshape(_) | Op::Pick { .. } | Op::Join(_) => {
                let places = moved(graph, node, self.shape)?;
                let number = |(input, at): (usize, usize)| {
                    let numbers = self.values.get(&node.inputs[input])?;
                    numbers.get(at).copied()
                };
                let numbers: Option<Vec<Number>> = places.into_iter().map(number).collect();
                numbers?
            }
            // Casts between types of one width, and conversions to where a value is anyway, change nothing.
            Op::Cast(_) if graph.type_of(node.inputs[0]).element.bits() == self.bits => of(0)?,
            &Op::To(sharing) if sharing == self.ring => of(0)?,
            Op::Unary(Unary::Negate) => self.each(&of(0)?, |lane, x| lane.scaled(x, u128::MAX)),
            Op::Unary(Unary::ShiftLeft(by)) => {
                let factor = 1_u128.checked_shl(*by).unwrap_or(0);
                self.each(&of(0)?, |lane, x| lane.scaled(x, factor))
            }
            Op::Unary(Unary::Square) => self.each(&of(0)?, |lane, x| lane.product(x, x)),
            Op::Binary(binary @ (Binary::Add | Binary::Sub | Binary::Mul)) => {
                let pairs = of(0)?.into_iter().zip(of(1)?);
                pairs
                    .map(|(x, y)| match binary {
                        Binary::Add => self.sum(&[(x, 1), (y, 1)]),
                        Binary::Sub => self.sum(&[(x, 1), (y, u128::MAX)]),
                        _ => self.product(x, y),
                    })
                    .collect()
            }
            Op::Reduce(reduction @ (Reduction::Sum | Reduction::Product), axis) => {
                let shape = &graph.type_of(node.inputs[0]).shape;
                let groups = groups(&of(0)?, around(shape, self.shape, *axis)?)?;
                let mut made = Vec::with_capacity(groups.len());
                for group in groups {
                    made.push(match reduction {
                        Reduction::Sum => {
                            let terms: Vec<_> = group.into_iter().map(|x| (x, 1)).collect();
                            self.sum(&terms)
                        }
                        _ => self.product_of(group),
                    });
                }
                made
            }
            _ => return None,
        })
    }

    fn each(
        &mut self,
        numbers: &[Number],
        make: impl Fn(&mut Self, Number) -> Number,
    ) -> Vec<Number> {
        numbers.iter().map(|&number| make(self, number)).collect()
    }

    fn sum(&mut self, numbers: &[(Number, u128)]) -> Number {
        let (mut terms, mut constant) = (Vec::new(), 0_u128);
        for &(number, factor) in numbers {
            match number {
                Number::Public(code) => constant = constant.wrapping_add(code.wrapping_mul(factor)),
                Number::Made(value) => terms.push((value, factor)),
            }
        }
        match (&terms[..], constant) {
            ([], _) => Number::Public(constant),
            (&[(value, 1)], 0) => Number::Made(value),
            _ => Number::Made(self.formula.linear(terms, constant)),
        }
    }

    fn scaled(&mut self, x: Number, factor: u128) -> Number {
        self.sum(&[(x, factor)])
    }

    fn product(&mut self, x: Number, y: Number) -> Number {
        match (x, y) {
            (Number::Made(x), Number::Made(y)) => Number::Made(self.formula.product(x, y)),
            (Number::Public(factor), other) | (other, Number::Public(factor)) => {
                self.scaled(other, factor)
            }
        }
    }

    /// Multiplies numbers in pairs, so that few products are one after the other.
    fn product_of(&mut self, mut numbers: Vec<Number>) -> Number {
        while numbers.len() > 1 {
            let pairs = numbers.chunks(2);
            let pair = |pair: &[Number]| match pair {
                &[x, y] => self.product(x, y),
                _ => pair[0],
            };
            numbers = pairs.map(pair).collect();
        }
        numbers.pop().unwrap_or(Number::Public(1))
    }
}

/// Domains where the inputs of a conditional on ring elements are wanted: its number as bits.
pub(super) fn domains(node: &Node) -> Vec<Domain> {
    let mut domains = vec![Domain::Ring; node.inputs.len()];
    domains[0] = Domain::Bits;
    domains
}
