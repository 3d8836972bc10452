//! Units: operations on bits that would be one circuit if nothing lay between, so that they had better be in one sharing.
//! The plan chooses a sharing for each of them, where a mix has several.

use std::collections::BTreeMap;

use madrigal_engine::Sharing;

use crate::error::Source;
use crate::ir::{Graph, Op, Value};

/// An operation of the program that computes on bits.
#[derive(Debug, Clone)]
pub(crate) struct OnBits {
    pub(super) number: usize,
    pub(super) sharing: Sharing,
    /// Whether the program says in which sharing, or no other can do it.
    pub(super) fixed: bool,
}

/// Operations on bits that are best done in one sharing.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// Their numbers in the graph.
    pub(crate) nodes: Vec<usize>,
    /// Their names.
    pub(crate) what: String,
    /// Line of the first one.
    pub(crate) at: Source,
    /// The sharing they are done in.
    pub(crate) sharing: Sharing,
    /// Whether the plan has no choice.
    pub(crate) fixed: bool,
}

/// The units of a graph, in the order of their first operations: operations on as many elements that take each other's results.
pub(super) fn units(graph: &Graph, on_bits: &[OnBits]) -> Vec<Unit> {
    let known: BTreeMap<usize, &OnBits> = on_bits.iter().map(|one| (one.number, one)).collect();
    let elements = |number: usize| graph.nodes()[number].outputs[0].shape.elements();
    let mut leaders: BTreeMap<usize, usize> = known.keys().map(|&at| (at, at)).collect();
    let leader = |leaders: &BTreeMap<usize, usize>, mut at: usize| {
        while leaders[&at] != at {
            at = leaders[&at];
        }
        at
    };
    for (&number, one) in &known {
        for &input in &graph.nodes()[number].inputs {
            let maker = moved_from(graph, input).node as usize;
            let joins = known.get(&maker).is_some_and(|other| {
                (other.sharing, other.fixed) == (one.sharing, one.fixed)
                    && elements(maker) == elements(number)
            });
            if joins {
                let [a, b] = [maker, number].map(|at| leader(&leaders, at));
                leaders.insert(a.max(b), a.min(b));
            }
        }
    }
    let mut units: BTreeMap<usize, Unit> = BTreeMap::new();
    for (&number, one) in &known {
        let node = &graph.nodes()[number];
        let unit = units
            .entry(leader(&leaders, number))
            .or_insert_with(|| Unit {
                nodes: Vec::new(),
                what: String::new(),
                at: node.at,
                sharing: one.sharing,
                fixed: one.fixed,
            });
        unit.nodes.push(number);
        let name = node.op.to_string();
        let known = unit.what.split(", ").any(|known| known == name);
        if !known && unit.nodes.len() <= NAMES {
            unit.what += if unit.what.is_empty() { "" } else { ", " };
            unit.what += &name;
        }
    }
    units.into_values().collect()
}

/// Operations that a unit's name names at most.
const NAMES: usize = 6;

/// The value that another one was before all of its elements took another shape or type.
fn moved_from(graph: &Graph, mut value: Value) -> Value {
    loop {
        let node = graph.maker(value);
        match node.op {
            Op::Reshape(_) | Op::Cast(_) => value = node.inputs[0],
            _ => return value,
        }
    }
}
