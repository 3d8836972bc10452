//! Ranges of the values of a graph, whatever the inputs are.
//!
//! All codes of a type may come in, sums and products wrap around, and what probabilistic rounding gives can be any
//! number: so a bound is one of the type's unless what made the value says more, and nothing is assumed that an
//! input could break. It is what a quotient between two parties takes fewer carries for (`Lowering::quotient`).

use std::ops::RangeInclusive;

use crate::element::Type;
use crate::ir::{Binary, Graph, Node, Op, Reduction, Rounding, TensorType, Unary, Value};

/// The least and the greatest number that a value can be, without the point; `None` if not all of its type are `i128`.
pub(crate) type Range = Option<(i128, i128)>;

/// Elements of a public tensor that are looked at: of larger ones nothing is known.
const MOST: usize = 1 << 20;

/// The ranges of all values of a graph.
pub(super) struct Ranges(Vec<Vec<Range>>);

impl Ranges {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut found = Self(Vec::with_capacity(graph.nodes().len()));
        for node in graph.nodes() {
            let of_inputs: Vec<_> = node.inputs.iter().map(|&input| found.of(input)).collect();
            found.0.push(of_outputs(graph, node, &of_inputs));
        }
        found
    }

    pub(super) fn of(&self, value: Value) -> Range {
        self.0[value.node as usize][value.output as usize]
    }
}

/// The ranges of all values of a graph.
pub(crate) fn ranges_of(graph: &Graph) -> Vec<Vec<Range>> {
    Ranges::new(graph).0
}

/// The ranges of a node's results, where its operands lie in these.
pub(crate) fn of_outputs(graph: &Graph, node: &Node, inputs: &[Range]) -> Vec<Range> {
    let own = of_node(graph, node, inputs);
    let outputs = node.outputs.iter().enumerate();
    let fit =
        |(at, typed): (usize, &TensorType)| within(typed.element, own.get(at).copied().flatten());
    outputs.map(fit).collect()
}

/// All numbers of a type.
pub(crate) fn all(element: Type) -> Range {
    match (element.is_signed(), element.bits()) {
        (true, bits) => Some((i128::MIN >> (128 - bits), i128::MAX >> (128 - bits))),
        (false, bits @ 0..128) => Some((0, (1 << bits) - 1)),
        _ => None,
    }
}

/// A range, if all of it is in the type: else something may have wrapped around.
fn within(element: Type, range: Range) -> Range {
    let all = all(element);
    match (range, all) {
        (Some((low, high)), Some((least, greatest))) if least <= low && high <= greatest => range,
        _ => all,
    }
}

fn union(a: Range, b: Range) -> Range {
    let ((a, b), (c, d)) = (a?, b?);
    Some((a.min(c), b.max(d)))
}

fn product(a: Range, b: Range) -> Range {
    let ((a, b), (c, d)) = (a?, b?);
    let ends = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.checked_mul(y));
    let [first, ..] = ends;
    ends.iter().try_fold((first?, first?), |(low, high), end| {
        Some((low.min((*end)?), high.max((*end)?)))
    })
}

/// The sum of any number of them in a range of numbers.
fn sums(range: Range, counts: RangeInclusive<usize>) -> Range {
    let count = |count: &usize| i128::try_from(*count).ok();
    product(range, Some((count(counts.start())?, count(counts.end())?)))
}

fn of_node(graph: &Graph, node: &Node, inputs: &[Range]) -> Vec<Range> {
    let input = |at: usize| inputs[at];
    let one = |range: Range| vec![range];
    match &node.op {
        Op::Constant(array) if array.shape().elements() <= MOST => {
            let codes = array.codes().map(|code| array.element().extend(code));
            one(codes.fold(None, |range, number| {
                let own = Some((number, number));
                if range.is_none() {
                    own
                } else {
                    union(range, own)
                }
            }))
        }
        Op::View(_) | Op::Reshape(_) | Op::Pick { .. } | Op::Row(_) | Op::To(_) | Op::Cast(_) => {
            one(input(0))
        }
        Op::Join(_) => one(inputs.iter().copied().reduce(union).flatten()),
        Op::Select if is_positive_part(graph, node) => one(input(2).map(|(_, high)| {
            // Nothing but zeros where there is no positive number.
            (0, high.max(0))
        })),
        Op::Select => one(union(input(1), input(2))),
        Op::LookUp => one(union(input(0), Some((0, 0)))),
        Op::Unary(unary) => one(of_unary(*unary, input(0))),
        Op::Binary(binary) => one(of_binary(*binary, input(0), input(1))),
        Op::Truncate {
            by,
            rounding: Rounding::Exact,
        } => one(input(0).map(|(low, high)| {
            let by = (*by).min(127);
            (low >> by, high >> by)
        })),
        Op::Reduce(reduction, axis) => {
            let [_, length, _] = graph.type_of(node.inputs[0]).shape.around(*axis);
            one(match reduction {
                Reduction::Sum => sums(input(0), length..=length),
                Reduction::Least | Reduction::Greatest if length > 0 => input(0),
                _ => None,
            })
        }
        Op::PrefixSums(axis) => {
            let [_, length, _] = graph.type_of(node.inputs[0]).shape.around(*axis);
            one(sums(input(0), 1..=length.max(1)))
        }
        Op::Find(..) => one(input(0)),
        Op::Sort { .. } | Op::SortBy(_) | Op::Shuffle => inputs.to_vec(),
        Op::Numbered(count) => one(Some((0, (*count as i128 - 1).max(0)))),
        Op::MoveRows => inputs[1..].to_vec(),
        Op::MatMul => {
            let length = graph.type_of(node.inputs[0]).shape.axes()[2];
            one(sums(product(input(0), input(1)), length..=length))
        }
        Op::Convolve(_) => {
            // Beside an image there are zeros.
            let filters = graph.type_of(node.inputs[0]).shape.axes();
            let length = filters.iter().skip(1).product();
            one(sums(product(input(0), input(1)), 0..=length))
        }
        Op::Each(each) => one(each.operation().range()),
        _ => Vec::new(),
    }
}

/// Whether a choice is `max(x, 0)`, written as 0 where x < 0, else x.
fn is_positive_part(graph: &Graph, node: &Node) -> bool {
    let [condition, yes, no] = node.inputs[..] else {
        return false;
    };
    let less = graph.maker(condition);
    let zero = |value: Value| graph.uniform(value) == Some(0);
    let compared = matches!(less.op, Op::Binary(Binary::Less)) && less.inputs[0] == no;
    compared && zero(yes) && zero(less.inputs[1]) && graph.type_of(no).element.is_signed()
}

fn of_unary(unary: Unary, x: Range) -> Range {
    let (low, high) = x?;
    match unary {
        Unary::Negate => Some((high.checked_neg()?, low.checked_neg()?)),
        Unary::Square => {
            let (_, square) = product(x, x)?;
            let least = if low <= 0 && 0 <= high {
                0
            } else {
                low.abs().min(high.abs()).pow(2)
            };
            Some((least, square))
        }
        Unary::Abs => {
            let [a, b] = [low.checked_abs()?, high.checked_abs()?];
            let least = if low <= 0 && 0 <= high { 0 } else { a.min(b) };
            Some((least, a.max(b)))
        }
        Unary::ShiftLeft(by @ 0..127) => product(x, Some((1 << by, 1 << by))),
        Unary::ShiftRight(by) => Some((low >> by.min(127), high >> by.min(127))),
        _ => None,
    }
}

fn of_binary(binary: Binary, a: Range, b: Range) -> Range {
    let ((low_a, high_a), (low_b, high_b)) = (a?, b?);
    match binary {
        Binary::Add => Some((low_a.checked_add(low_b)?, high_a.checked_add(high_b)?)),
        Binary::Sub => Some((low_a.checked_sub(high_b)?, high_a.checked_sub(low_b)?)),
        Binary::Mul => product(a, b),
        Binary::Min => Some((low_a.min(low_b), high_a.min(high_b))),
        Binary::Max => Some((low_a.max(low_b), high_a.max(high_b))),
        _ => None,
    }
}
