//! A circuit with branches as one graph of nodes, each in the branch that it belongs to.

use std::collections::HashMap;

use super::{Branching, Step};
use crate::compile::Folding;
use crate::netlist::{Logic, Netlist};

/// The circuit outside of all branches.
pub(super) const ROOT: u32 = 0;
/// The node that is 0.
pub(super) const ZERO: u32 = 0;

/// Form of the values of a branch where it is not active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// All 0: inputs are multiplied by a bit that is 1 where the branch is active, which is also what
    /// inverts (MOTIF 5.2). ANDs of several branches can then be done as one, and what branches
    /// give is the XOR of their outputs.
    Gated,
    /// Anything: what it gives is multiplexed (Masked Triples).
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NodeKind {
    Zero,
    Input,
    Not(u32),
    Xor(u32, u32),
    And(u32, u32),
    /// 1 where this branch is active.
    Active,
    /// An input of the conditional, where this branch is active, else 0.
    Gated(u32),
    /// An output of the conditional.
    Chosen(u32, u32),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// The branch that it is in.
    pub(super) guard: u32,
}

/// A branch of a conditional.
#[derive(Debug, Clone, Copy)]
pub(super) struct GuardNode {
    pub(super) conditional: u32,
    pub(super) branch: u32,
}

pub(super) struct Choice {
    /// The branch that it stands in.
    pub(super) parent: u32,
    /// Branches of the conditional.
    pub(super) guards: std::ops::Range<u32>,
    /// The bits that say which branch is active.
    pub(super) code: Vec<u32>,
    pub(super) inputs: Vec<u32>,
    /// Outputs of each branch, where branches are not gated.
    pub(super) outputs: Vec<Vec<u32>>,
}

/// Nodes in topological order.
pub(super) struct Nodes {
    pub(super) form: Form,
    pub(super) nodes: Vec<Node>,
    pub(super) guards: Vec<GuardNode>,
    pub(super) choices: Vec<Choice>,
    pub(super) input_bits: usize,
    pub(super) outputs: Vec<u32>,
    /// Nodes that are made already, by the branches around the place that we are at, from the outside in. The list goes with
    /// its branch, so that it stays in the cache.
    made: Vec<MadeNodes>,
}

/// Nodes of one branch by what they are, so that the same is not made twice.
#[derive(Default)]
struct MadeNodes {
    active: Option<u32>,
    nots: HashMap<u32, u32, Folding>,
    xors: HashMap<u64, u32, Folding>,
    ands: HashMap<u64, u32, Folding>,
}

impl Nodes {
    pub(super) fn of(branching: &Branching, form: Form) -> Self {
        let input_bits = branching.input_bits();
        let node = |kind| Node { kind, guard: ROOT };
        let mut nodes = vec![node(NodeKind::Zero)];
        nodes.extend((0..input_bits).map(|_| node(NodeKind::Input)));
        let mut all = Self {
            form,
            nodes,
            guards: vec![GuardNode {
                conditional: u32::MAX,
                branch: 0,
            }],
            choices: Vec::new(),
            input_bits,
            outputs: Vec::new(),
            made: vec![MadeNodes::default()],
        };
        let inputs = (1..=input_bits as u32).collect();
        all.outputs = all.add(branching, ROOT, inputs);
        all
    }

    fn add(&mut self, branching: &Branching, guard: u32, inputs: Vec<u32>) -> Vec<u32> {
        let mut wires = inputs;
        for step in branching.steps() {
            let of = |list: &[u32]| -> Vec<u32> {
                list.iter().map(|&wire| wires[wire as usize]).collect()
            };
            let made = match step {
                Step::Circuit { netlist, inputs } => {
                    let given = of(inputs);
                    self.netlist(netlist, guard, given)
                }
                Step::Choice {
                    inputs, branches, ..
                } if branches.len() == 1 => {
                    let given = of(inputs);
                    self.add(&branches[0], guard, given)
                }
                Step::Choice {
                    index,
                    inputs,
                    branches,
                } => {
                    let (index, given) = (of(index), of(inputs));
                    self.choice(index, given, branches, guard)
                }
            };
            wires.extend(made);
        }
        let of = |&wire: &u32| wires[wire as usize];
        branching.results().iter().map(of).collect()
    }

    fn choice(
        &mut self,
        mut code: Vec<u32>,
        inputs: Vec<u32>,
        branches: &[std::sync::Arc<Branching>],
        parent: u32,
    ) -> Vec<u32> {
        let gated = self.form == Form::Gated;
        if gated && parent != ROOT {
            // Where the branch around it is not active, none of these shall be.
            code.push(self.active(parent));
        }
        let conditional = self.choices.len() as u32;
        let first = self.guards.len() as u32;
        let guards = first..first + branches.len() as u32;
        self.guards
            .extend((0..branches.len() as u32).map(|branch| GuardNode {
                conditional,
                branch,
            }));
        self.choices.push(Choice {
            parent,
            guards: guards.clone(),
            code,
            inputs: inputs.clone(),
            outputs: Vec::new(),
        });
        let mut outputs: Vec<Vec<u32>> = Vec::new();
        for (branch, guard) in branches.iter().zip(guards) {
            self.made.push(MadeNodes::default());
            let given = if gated {
                (0..inputs.len() as u32)
                    .map(|input| self.node(guard, NodeKind::Gated(input)))
                    .collect()
            } else {
                inputs.clone()
            };
            outputs.push(self.add(branch, guard, given));
            self.made.pop();
        }
        let width = outputs[0].len();
        if gated {
            // All but one are 0.
            return (0..width)
                .map(|bit| {
                    outputs
                        .iter()
                        .fold(ZERO, |sum, made| self.xor(parent, sum, made[bit]))
                })
                .collect();
        }
        self.choices[conditional as usize].outputs = outputs;
        (0..width as u32)
            .map(|bit| self.node(parent, NodeKind::Chosen(conditional, bit)))
            .collect()
    }

    fn netlist(&mut self, netlist: &Netlist, guard: u32, inputs: Vec<u32>) -> Vec<u32> {
        netlist.replay(inputs, ZERO, |gate| match gate {
            Logic::Xor(a, b) => self.xor(guard, a, b),
            Logic::And(a, b) => self.and(guard, a, b),
            Logic::Or(a, b) => {
                let (both, either) = (self.and(guard, a, b), self.xor(guard, a, b));
                self.xor(guard, both, either)
            }
            Logic::Not(a) => {
                let one = self.one(guard);
                self.xor(guard, a, one)
            }
            Logic::Constant(true) => self.one(guard),
            Logic::Constant(false) => ZERO,
        })
    }

    /// Gives the node of 1: where branches are gated, 1 in the active one alone.
    fn one(&mut self, guard: u32) -> u32 {
        if self.form == Form::Gated && guard != ROOT {
            self.active(guard)
        } else {
            self.node(ROOT, NodeKind::Not(ZERO))
        }
    }

    fn active(&mut self, guard: u32) -> u32 {
        self.node(guard, NodeKind::Active)
    }

    fn kind(&self, node: u32) -> NodeKind {
        self.nodes[node as usize].kind
    }

    fn xor(&mut self, guard: u32, a: u32, b: u32) -> u32 {
        if a == b {
            return ZERO;
        }
        if a == ZERO {
            return b;
        }
        if b == ZERO {
            return a;
        }
        for (one, other) in [(a, b), (b, a)] {
            if self.kind(one) == NodeKind::Not(ZERO) {
                return self.not(guard, other);
            }
            if let NodeKind::Not(inner) = self.kind(one) {
                let sum = self.xor(guard, inner, other);
                return self.not(guard, sum);
            }
            // Two inversions of a gated value.
            if let NodeKind::Xor(x, y) = self.kind(one) {
                if y == other && self.kind(y) == NodeKind::Active {
                    return x;
                }
                if x == other && self.kind(x) == NodeKind::Active {
                    return y;
                }
            }
        }
        self.node(guard, NodeKind::Xor(a.min(b), a.max(b)))
    }

    fn not(&mut self, guard: u32, a: u32) -> u32 {
        match self.kind(a) {
            NodeKind::Not(inner) => inner,
            _ => self.node(guard, NodeKind::Not(a)),
        }
    }

    fn and(&mut self, guard: u32, a: u32, b: u32) -> u32 {
        let one = NodeKind::Not(ZERO);
        if a == ZERO || b == ZERO {
            return ZERO;
        }
        if a == b || self.kind(a) == one {
            return b;
        }
        if self.kind(b) == one {
            return a;
        }
        if self.kind(a) == NodeKind::Not(b) || self.kind(b) == NodeKind::Not(a) {
            return ZERO;
        }
        // All values of a gated branch are 0 where it is not active. The bit that says that a branch inside of it
        // is active is a value like others: it may have been chosen as an output.
        let always = |node: u32| {
            let node = self.nodes[node as usize];
            node.kind == NodeKind::Active && node.guard == guard
        };
        if always(a) {
            return b;
        }
        if always(b) {
            return a;
        }
        self.node(guard, NodeKind::And(a.min(b), a.max(b)))
    }

    /// The node of this kind, made if it is not there.
    fn node(&mut self, guard: u32, kind: NodeKind) -> u32 {
        // Where branches are gated, nothing in two of them has the same operands. Else the same sum in two branches is
        // one node; an AND belongs to its branch's triples.
        let shared =
            self.form == Form::Free && matches!(kind, NodeKind::Xor(..) | NodeKind::Not(_));
        let at = if shared { 0 } else { self.made.len() - 1 };
        let made = &mut self.made[at];
        let pair = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
        let next = self.nodes.len() as u32;
        let node = match kind {
            NodeKind::Active => *made.active.get_or_insert(next),
            NodeKind::Not(a) => *made.nots.entry(a).or_insert(next),
            NodeKind::Xor(a, b) => *made.xors.entry(pair(a, b)).or_insert(next),
            NodeKind::And(a, b) => *made.ands.entry(pair(a, b)).or_insert(next),
            // Those are made once.
            NodeKind::Zero | NodeKind::Input | NodeKind::Gated(_) | NodeKind::Chosen(..) => next,
        };
        if node == next {
            self.nodes.push(Node { kind, guard });
        }
        node
    }
}
