//! Choice of the domain of each operation: ring elements or bits.

use super::Mix;
use super::domain::Domain;
use super::formulas::{domains, is_on_rings};
use crate::ir::{Binary, Graph, Node, Op, Reduction, Rounding, Unary, Value};

/// Domains where the users of a value would have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wants {
    pub(super) ring: bool,
    pub(super) bits: bool,
}

impl Wants {
    fn one(domain: Domain) -> Self {
        Self {
            ring: domain == Domain::Ring,
            bits: domain == Domain::Bits,
        }
    }

    fn and(&mut self, other: Self) {
        self.ring |= other.ring;
        self.bits |= other.bits;
    }
}

/// Sums and products: what a ring does at little cost or none.
pub(super) fn is_arithmetic(op: &Op) -> bool {
    match op {
        Op::Unary(unary) => matches!(unary, Unary::Negate | Unary::Square),
        Op::Binary(binary) => matches!(binary, Binary::Add | Binary::Sub | Binary::Mul),
        Op::Reduce(reduction, _) => matches!(reduction, Reduction::Sum | Reduction::Product),
        Op::PrefixSums(_) | Op::MatMul | Op::Convolve(_) | Op::Truncate { .. } => true,
        _ => false,
    }
}

/// Whether an operation is done on ring elements and on bits alike, at no cost, or at one that depends on the operands.
pub(super) fn follows(op: &Op) -> bool {
    matches!(
        op,
        Op::View(_)
            | Op::Reshape(_)
            | Op::Pick { .. }
            | Op::Join(_)
            | Op::Row(_)
            | Op::Cast(_)
            | Op::Select
            | Op::Unary(Unary::ShiftLeft(_))
            | Op::LookUp
    )
}

/// Whether it can be done on ring elements.
pub(super) fn ring_can(graph: &Graph, node: &Node, mix: Mix) -> bool {
    let bool = node
        .inputs
        .iter()
        .any(|&input| graph.type_of(input).element.is_bool());
    match &node.op {
        Op::Select => !node.outputs[0].element.is_bool(),
        Op::LookUp => !node.outputs[0].element.is_bool(),
        Op::Unary(Unary::ShiftLeft(_)) => true,
        // Exactly, a ring of shares that add up cannot do it without bits.
        Op::Truncate { rounding, .. } => {
            let exact = mix.numbers().is_some_and(|numbers| numbers.exact_quotients);
            exact || *rounding == Rounding::Probabilistic
        }
        op => is_arithmetic(op) && !bool,
    }
}

/// Domains where the users of each value of a graph would have it; `rings` says whether conditionals are computed on ring
/// elements where they can be.
pub(super) fn wants(graph: &Graph, mix: Mix, rings: bool) -> Vec<Vec<Wants>> {
    let mut wants: Vec<Vec<Wants>> = graph
        .nodes()
        .iter()
        .map(|node| vec![Wants::default(); node.outputs.len()])
        .collect();
    for (number, node) in graph.nodes().iter().enumerate().rev() {
        let of_outputs = wants[number].clone();
        let of_inputs = of_inputs(graph, node, &of_outputs, (mix, rings));
        for (input, want) in node.inputs.iter().zip(of_inputs) {
            wants[input.node as usize][input.output as usize].and(want);
        }
    }
    wants
}

fn of_inputs(
    graph: &Graph,
    node: &Node,
    outputs: &[Wants],
    (mix, rings): (Mix, bool),
) -> Vec<Wants> {
    let bits = Wants::one(Domain::Bits);
    let inputs = node.inputs.len();
    let ring = mix.arithmetic_is_in_a_ring() && ring_can(graph, node, mix);
    match &node.op {
        Op::To(sharing) => vec![Wants::one(Domain::of(*sharing, mix)); inputs],
        Op::Cast(element) => {
            let from = graph.type_of(node.inputs[0]).element;
            let widens = element.bits() > from.bits();
            vec![if widens { bits } else { outputs[0] }]
        }
        Op::Select => {
            let branches = if outputs[0].ring && !outputs[0].bits {
                outputs[0]
            } else {
                bits
            };
            vec![bits, branches, branches]
        }
        Op::Unary(Unary::Abs) if outputs[0].ring && !outputs[0].bits && !mix.is_manual() => {
            vec![outputs[0]]
        }
        Op::LookUp => vec![if ring { outputs[0] } else { bits }, bits],
        Op::Row(_) => vec![outputs[0], Wants::default()],
        op if follows(op) => vec![outputs[0]; inputs],
        Op::Repeat { body, .. } | Op::Map { body, .. } => {
            let inner = self::wants(body, mix, rings);
            let mut found = vec![Wants::default(); inputs];
            for (node, wants) in body.nodes().iter().zip(&inner) {
                if let Op::Argument(number) = node.op {
                    found[number].and(wants[0]);
                }
            }
            found
        }
        Op::Operation(own) => {
            let takes = own.takes().iter();
            takes
                .map(|take| Wants::one(Domain::holding(take.1)))
                .collect()
        }
        Op::SortBy(keys) => {
            let mut wants = outputs.to_vec();
            wants[..keys.len()].fill(bits);
            wants
        }
        Op::Shuffle => outputs.to_vec(),
        Op::MoveRows => {
            // Words move by themselves in R; in B they are a part of each row's bits.
            let places = match mix.ring() == mix.bits() {
                true => Wants::one(Domain::Ring),
                false => bits,
            };
            [&[places], outputs].concat()
        }
        Op::Choose(_) if rings && is_on_rings(node, mix) => {
            domains(node).into_iter().map(Wants::one).collect()
        }
        Op::Choose(_) => vec![bits; inputs],
        _ if ring => vec![Wants::one(Domain::Ring); inputs],
        _ => vec![bits; inputs],
    }
}

/// The domain where a value will be that nothing has computed yet: a guess for the state of loops.
pub(super) fn guess(graph: &Graph, value: Value, mix: Mix, rings: bool) -> Domain {
    let node = graph.maker(value);
    let ring = mix.arithmetic_is_in_a_ring();
    match &node.op {
        _ if graph.type_of(value).element.is_bool() => Domain::Bits,
        Op::To(sharing) => Domain::of(*sharing, mix),
        Op::Select => guess(graph, node.inputs[1], mix, rings),
        Op::Cast(_) => {
            match graph.type_of(node.inputs[0]).element.bits() < graph.type_of(value).element.bits()
            {
                true => Domain::Bits,
                false => guess(graph, node.inputs[0], mix, rings),
            }
        }
        op if follows(op) => guess(graph, node.inputs[0], mix, rings),
        Op::SortBy(keys) if value.output as usize >= keys.len() => {
            guess(graph, node.inputs[value.output as usize], mix, rings)
        }
        Op::Shuffle => guess(graph, node.inputs[value.output as usize], mix, rings),
        Op::MoveRows => {
            let column = node.inputs[1 + value.output as usize];
            guess(graph, column, mix, rings)
        }
        Op::Repeat { body, .. } => guess(body, body.results()[value.output as usize], mix, rings),
        Op::Choose(_) if rings && is_on_rings(node, mix) => Domain::Ring,
        Op::Input(_) | Op::Constant(_) | Op::Argument(_) | Op::Counter if ring => Domain::Ring,
        _ if ring && ring_can(graph, node, mix) => Domain::Ring,
        _ => Domain::Bits,
    }
}
