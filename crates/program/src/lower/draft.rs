//! Steps before circuits are made: operators on bits stand there one by one, and neighbours become one
//! circuit.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::sync::Arc;

use madrigal_circuit::{Builder, Goal, Netlist, Wire};

use madrigal_engine::{Element, Sharing, Sort};

use super::circuits::BitOp;
use super::steps::{Action, Body, Slot, Step};
use crate::error::Source;

/// Action of a step of a draft.
#[derive(Debug, Clone)]
pub(super) enum DraftAction {
    /// It is a step already.
    Action(Action),
    /// It becomes a part of a circuit.
    Bits(BitOp),
}

/// Operand of a step of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    /// A vector.
    Slot(Slot),
    /// A number, of a circuit, that is the same for each element, and its bits.
    Uniform(u128, u32),
}

#[derive(Debug, Clone)]
struct DraftNode {
    action: DraftAction,
    inputs: Vec<Operand>,
    outputs: Vec<Sort>,
    label: String,
    at: Source,
}

impl DraftNode {
    fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.inputs.iter().filter_map(|input| match input {
            Operand::Slot(slot) => Some(*slot),
            Operand::Uniform(..) => None,
        })
    }
}

/// Steps in a possible order.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    nodes: Vec<DraftNode>,
}

impl Draft {
    /// Adds a step; gives its first result.
    pub(super) fn action(
        &mut self,
        action: Action,
        inputs: &[Slot],
        outputs: Vec<Sort>,
        label: &str,
        at: Source,
    ) -> Slot {
        let inputs = inputs.iter().map(|&slot| Operand::Slot(slot)).collect();
        self.push(
            DraftAction::Action(action),
            inputs,
            outputs,
            label.into(),
            at,
        )
    }

    /// Adds an operator on bits of `len` elements; gives its results.
    pub(super) fn bits(
        &mut self,
        op: BitOp,
        inputs: Vec<Operand>,
        sharing: Sharing,
        len: usize,
        at: Source,
    ) -> Vec<Slot> {
        let width = |input: &Operand| match input {
            Operand::Slot(slot) => self.sort(*slot).element.bits() as u32,
            Operand::Uniform(_, bits) => *bits,
        };
        let widths: Vec<u32> = inputs.iter().map(width).collect();
        let outputs = op.widths(&widths).into_iter();
        let outputs = outputs.map(|bits| Sort::new(sharing, Element::Bits(bits as usize), len));
        let outputs: Vec<_> = outputs.collect();
        let (count, label) = (outputs.len() as u32, op.name());
        let first = self.push(DraftAction::Bits(op), inputs, outputs, label, at);
        (0..count).map(|output| Slot { output, ..first }).collect()
    }

    /// The sort of a slot.
    pub(super) fn sort(&self, slot: Slot) -> Sort {
        self.nodes[slot.step as usize].outputs[slot.output as usize]
    }

    fn push(
        &mut self,
        action: DraftAction,
        inputs: Vec<Operand>,
        outputs: Vec<Sort>,
        label: String,
        at: Source,
    ) -> Slot {
        let step = self.nodes.len() as u32;
        self.nodes.push(DraftNode {
            action,
            inputs,
            outputs,
            label,
            at,
        });
        Slot { step, output: 0 }
    }

    /// The steps that `results` need, with circuits that save what `goal` says of their sharing.
    pub(super) fn finish(
        mut self,
        results: &[Slot],
        goal: &dyn Fn(Sharing) -> Goal,
        circuits: &mut KnownCircuits,
    ) -> Body {
        self.merge_linear(results);
        let alive = self.alive(results);
        let units = self.units(&alive);
        let exported = self.exported(&units, results);
        let mut body = Body::default();
        let mut moved: HashMap<Slot, Slot> = HashMap::new();
        for unit in self.ordered(units) {
            let step = body.steps.len() as u32;
            match &self.nodes[unit[0]].action {
                DraftAction::Action(action) => {
                    let node = &self.nodes[unit[0]];
                    for output in 0..node.outputs.len() as u32 {
                        let from = slot(unit[0], output);
                        moved.insert(from, Slot { step, output });
                    }
                    body.steps.push(Step {
                        action: action.clone(),
                        inputs: node.slots().map(|slot| moved[&slot]).collect(),
                        outputs: node.outputs.clone(),
                        label: node.label.clone(),
                        at: node.at,
                    });
                }
                DraftAction::Bits(_) => {
                    let goal = goal(self.nodes[unit[0]].outputs[0].sharing);
                    let made = self.circuit(&unit, &exported, goal, circuits);
                    for (output, &from) in (0..).zip(&made.outputs) {
                        moved.insert(from, Slot { step, output });
                    }
                    let outputs = made.outputs.iter().map(|&slot| self.sort(slot));
                    body.steps.push(Step {
                        action: Action::Circuit(made.netlist),
                        inputs: made.inputs.iter().map(|slot| moved[slot]).collect(),
                        outputs: outputs.collect(),
                        label: made.label,
                        at: self.nodes[unit[unit.len() - 1]].at,
                    });
                }
            }
        }
        body.results = results.iter().map(|slot| moved[slot]).collect();
        body
    }

    /// Takes linear combinations that are of use to another one alone into that one.
    fn merge_linear(&mut self, results: &[Slot]) {
        let alive = self.alive(results);
        let mut uses: HashMap<Slot, usize> = HashMap::new();
        let living = self.nodes.iter().zip(&alive).filter(|(_, alive)| **alive);
        let taken = living.flat_map(|(node, _)| node.slots());
        for slot in taken.chain(results.iter().copied()) {
            *uses.entry(slot).or_default() += 1;
        }
        for number in (0..self.nodes.len()).filter(|&at| alive[at]) {
            let DraftAction::Action(Action::Linear { factors, constant }) =
                &self.nodes[number].action
            else {
                continue;
            };
            let (mut constant, mut terms) = (*constant, BTreeMap::<Slot, u128>::new());
            for (slot, &factor) in self.nodes[number].slots().zip(factors) {
                let inner = match &self.nodes[slot.step as usize] {
                    node if uses[&slot] == 1 => match &node.action {
                        DraftAction::Action(Action::Linear { factors, constant }) => {
                            Some((node, factors, constant))
                        }
                        _ => None,
                    },
                    _ => None,
                };
                let mut put = |slot: Slot, factor: u128| {
                    let sum = terms.entry(slot).or_default();
                    *sum = sum.wrapping_add(factor);
                };
                match inner {
                    Some((node, factors, more)) => {
                        constant = constant.wrapping_add(more.wrapping_mul(factor));
                        let inner = node.slots().zip(factors);
                        inner.for_each(|(slot, more)| put(slot, more.wrapping_mul(factor)));
                    }
                    None => put(slot, factor),
                }
            }
            let node = &mut self.nodes[number];
            let mask = u128::MAX >> (128 - node.outputs[0].element.bits());
            node.inputs = terms.keys().map(|&slot| Operand::Slot(slot)).collect();
            node.action = DraftAction::Action(Action::Linear {
                factors: terms.into_values().map(|factor| factor & mask).collect(),
                constant: constant & mask,
            });
        }
    }

    /// Whether the results need each node.
    fn alive(&self, results: &[Slot]) -> Vec<bool> {
        let mut alive = vec![false; self.nodes.len()];
        results
            .iter()
            .for_each(|slot| alive[slot.step as usize] = true);
        for (number, node) in self.nodes.iter().enumerate().rev() {
            if alive[number] {
                node.slots()
                    .for_each(|slot| alive[slot.step as usize] = true);
            }
        }
        alive
    }

    /// Groups nodes into units that become one step each: single nodes, or operators on bits that follow each other.
    ///
    /// Each node has a stage, one more than that of what it takes, except where both are operators on bits
    /// of one length, in one sharing: these share a stage where nothing else lies between. A way out of such a group and
    /// back would have to come back at a later stage, so that groups need each other in no circle.
    fn units(&self, alive: &[bool]) -> Vec<Vec<usize>> {
        let mut stages = vec![0_u32; self.nodes.len()];
        let mut leaders: Vec<usize> = (0..self.nodes.len()).collect();
        fn leader(leaders: &mut [usize], mut at: usize) -> usize {
            while leaders[at] != at {
                leaders[at] = leaders[leaders[at]];
                at = leaders[at];
            }
            at
        }
        for (number, node) in self.nodes.iter().enumerate().filter(|(at, _)| alive[*at]) {
            let fuses = |maker: &DraftNode| {
                let bits = |node: &DraftNode| matches!(node.action, DraftAction::Bits(_));
                let alike = |a: &Sort, b: &Sort| (a.len, a.sharing) == (b.len, b.sharing);
                bits(node) && bits(maker) && alike(&maker.outputs[0], &node.outputs[0])
            };
            let makers: Vec<usize> = node.slots().map(|slot| slot.step as usize).collect();
            let stage = makers
                .iter()
                .map(|&at| stages[at] + u32::from(!fuses(&self.nodes[at])));
            stages[number] = stage.max().unwrap_or(0);
            for at in makers {
                if fuses(&self.nodes[at]) && stages[at] == stages[number] {
                    let (a, b) = (leader(&mut leaders, at), leader(&mut leaders, number));
                    leaders[a.max(b)] = a.min(b);
                }
            }
        }
        let mut units: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for number in (0..self.nodes.len()).filter(|&at| alive[at]) {
            let first = leader(&mut leaders, number);
            units.entry(first).or_default().push(number);
        }
        units.into_values().collect()
    }

    /// The units, each after those it takes something of, otherwise as they were asked for.
    fn ordered(&self, units: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let mut unit_of = vec![usize::MAX; self.nodes.len()];
        for (unit, nodes) in units.iter().enumerate() {
            nodes.iter().for_each(|&node| unit_of[node] = unit);
        }
        let mut users: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); units.len()];
        let mut waits = vec![0_usize; units.len()];
        for (unit, nodes) in units.iter().enumerate() {
            let slots = nodes.iter().flat_map(|&node| self.nodes[node].slots());
            let makers: BTreeSet<usize> = slots.map(|slot| unit_of[slot.step as usize]).collect();
            for maker in makers.into_iter().filter(|&maker| maker != unit) {
                users[maker].insert(unit);
                waits[unit] += 1;
            }
        }
        let last = |unit: usize| units[unit].last().copied();
        let ready = (0..units.len()).filter(|&unit| waits[unit] == 0);
        let mut ready: BinaryHeap<_> = ready.map(|unit| Reverse((last(unit), unit))).collect();
        let mut order = Vec::with_capacity(units.len());
        while let Some(Reverse((_, unit))) = ready.pop() {
            order.push(units[unit].clone());
            for &user in &users[unit] {
                waits[user] -= 1;
                if waits[user] == 0 {
                    ready.push(Reverse((last(user), user)));
                }
            }
        }
        order
    }

    /// Values that are taken by another unit than their own, or are results.
    fn exported(&self, units: &[Vec<usize>], results: &[Slot]) -> BTreeSet<Slot> {
        let mut exported: BTreeSet<Slot> = results.iter().copied().collect();
        for unit in units {
            for &node in unit {
                let slots = self.nodes[node].slots();
                let foreign =
                    slots.filter(|slot| unit.binary_search(&(slot.step as usize)).is_err());
                exported.extend(foreign);
            }
        }
        exported
    }

    /// The circuit of operators that belong together.
    fn circuit(
        &self,
        unit: &[usize],
        exported: &BTreeSet<Slot>,
        goal: Goal,
        circuits: &mut KnownCircuits,
    ) -> FusedCircuit {
        let mut label = String::new();
        let mut names = Vec::new();
        for &node in unit {
            let name = &self.nodes[node].label;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for (at, name) in names.iter().take(NAMES).enumerate() {
            label += if at > 0 { ", " } else { "" };
            label += name;
        }
        if names.len() > NAMES {
            label += ", ...";
        }
        let mut builder = Builder::new(&label).with_goal(goal);
        let mut wires: BTreeMap<Slot, Vec<Wire>> = BTreeMap::new();
        let mut inputs = Vec::new();
        for &node in unit {
            let DraftAction::Bits(op) = &self.nodes[node].action else {
                unreachable!("only operators on bits become one circuit")
            };
            let mut operands = Vec::new();
            for &input in &self.nodes[node].inputs {
                operands.push(match input {
                    Operand::Uniform(code, bits) => builder.number(code, bits as usize),
                    Operand::Slot(slot) => wires
                        .entry(slot)
                        .or_insert_with(|| {
                            inputs.push(slot);
                            builder.input(self.sort(slot).element.bits() as u32)
                        })
                        .clone(),
                });
            }
            let made = op.build(&mut builder, &operands);
            for (output, bits) in (0..).zip(made) {
                wires.insert(slot(node, output), bits);
            }
        }
        let mut outputs = Vec::new();
        for &node in unit {
            let results =
                (0..self.nodes[node].outputs.len() as u32).map(|output| slot(node, output));
            outputs.extend(results.filter(|slot| exported.contains(slot)));
        }
        for output in &outputs {
            builder.output(&wires[output]);
        }
        FusedCircuit {
            netlist: circuits.one(builder.finish()),
            inputs,
            outputs,
            label,
        }
    }
}

/// Operators that a circuit's label names.
const NAMES: usize = 4;

fn slot(node: usize, output: u32) -> Slot {
    Slot {
        step: node as u32,
        output,
    }
}

struct FusedCircuit {
    netlist: Arc<Netlist>,
    inputs: Vec<Slot>,
    outputs: Vec<Slot>,
    label: String,
}

/// Circuits that were made, so that equal ones are one.
#[derive(Debug, Default)]
pub(super) struct KnownCircuits(HashMap<[u8; 32], Arc<Netlist>>);

impl KnownCircuits {
    fn one(&mut self, netlist: Netlist) -> Arc<Netlist> {
        let made = self.0.entry(netlist.digest());
        Arc::clone(made.or_insert_with(|| Arc::new(netlist)))
    }
}

/// Vectors as operands.
pub(super) fn slots(slots: &[Slot]) -> Vec<Operand> {
    slots.iter().map(|&slot| Operand::Slot(slot)).collect()
}
