//! Graph of what a netlist computes, without names for wires.

use std::collections::HashMap;

use super::hash::Folding;
use crate::layered::{Layered, LocalOp};
use crate::netlist::{Logic, Netlist};

/// A node, perhaps inverted: `2 * node + inverted`. Node 0 is the constant 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lit(pub(super) u32);

impl Lit {
    pub(super) const ZERO: Self = Self(0);
    pub(super) const ONE: Self = Self(1);

    pub(super) fn of(node: usize) -> Self {
        Self(2 * node as u32)
    }

    pub(super) fn not(self) -> Self {
        Self(self.0 ^ 1)
    }

    pub(super) fn inverted(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) fn node(self) -> usize {
        (self.0 / 2) as usize
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Node {
    /// The constant 0 or an input.
    Leaf,
    Xor(Lit, Lit),
    And(Lit, Lit),
    /// A product of which nothing but sums are made.
    Product(Lit, Lit),
    /// A sum of such.
    Sum,
}

/// Gates by their operands.
#[derive(Default)]
struct Distinct {
    /// XORs of operands that are not inverted.
    xors: HashMap<u64, Lit, Folding>,
    ands: HashMap<u64, Lit, Folding>,
}

/// Two operands, in whichever order.
fn pair(a: Lit, b: Lit) -> u64 {
    u64::from(a.max(b).0) << 32 | u64::from(a.min(b).0)
}

/// Nodes in topological order: the constant, the inputs, then the gates that are left.
pub(super) struct LogicGraph {
    pub(super) nodes: Vec<Node>,
    pub(super) input_bits: usize,
    pub(super) outputs: Vec<Lit>,
    /// Gates by their operands, where no two gates are to be the same.
    distinct: Option<Distinct>,
}

impl LogicGraph {
    /// Makes a graph without gates or outputs.
    pub(super) fn with_inputs(input_bits: usize) -> Self {
        Self {
            nodes: vec![Node::Leaf; 1 + input_bits],
            input_bits,
            outputs: Vec::new(),
            distinct: None,
        }
    }

    /// Makes the graph forget which gates are there.
    pub(super) fn forgetting(mut self) -> Self {
        self.distinct = None;
        self
    }

    /// Has the graph make no gate that is there, from here on.
    pub(super) fn distinct(mut self) -> Self {
        self.distinct = Some(Distinct::default());
        self
    }

    pub(super) fn of(netlist: &Netlist) -> Self {
        let input_bits = netlist.input_bits() as usize;
        let mut graph = Self::with_inputs(input_bits);
        graph.nodes.reserve(netlist.gates().len());
        let inputs = (1..=input_bits).map(Lit::of).collect();
        graph.outputs = netlist.replay(inputs, Lit::ZERO, |gate| match gate {
            Logic::Xor(a, b) => graph.xor(a, b),
            Logic::And(a, b) => graph.and(a, b),
            Logic::Or(a, b) => graph.and(a.not(), b.not()).not(),
            Logic::Not(a) => a.not(),
            Logic::Constant(true) => Lit::ONE,
            Logic::Constant(false) => Lit::ZERO,
        });
        graph
    }

    /// Makes the graph of a program that has been compiled.
    pub(super) fn again(program: &Layered) -> Self {
        Self::with_inputs(program.input_bits()).take(program)
    }

    /// Makes the graph of a program without gates that are there already.
    pub(super) fn distinct_of(program: &Layered) -> Self {
        let graph = Self::with_inputs(program.input_bits());
        graph.distinct().take(program).forgetting()
    }

    fn take(self, program: &Layered) -> Self {
        let mut graph = self;
        graph
            .nodes
            .reserve_exact(program.local_count() + program.and_count());
        let mut rows = vec![Lit::ZERO; program.rows()];
        for (row, &wire) in rows.iter_mut().zip(program.inputs()) {
            *row = Lit::of(1 + wire as usize);
        }
        for layer in program.layers() {
            graph.local(layer.local, &mut rows);
            let operands = layer.ands.iter().map(|and| [and.a, and.b]);
            let operands = operands.map(|pair| pair.map(|row| rows[row as usize]));
            let made: Vec<Lit> = operands.map(|[a, b]| graph.and(a, b)).collect();
            for (and, lit) in layer.ands.iter().zip(made) {
                rows[and.dst as usize] = lit;
            }
        }
        graph.local(program.tail(), &mut rows);
        let outputs = program.outputs().iter();
        graph.outputs = outputs.map(|&row| rows[row as usize]).collect();
        graph
    }

    pub(super) fn local(&mut self, ops: &[LocalOp], rows: &mut [Lit]) {
        for &op in ops {
            let (dst, lit) = match op {
                LocalOp::Xor { dst, a, b } => (dst, self.xor(rows[a as usize], rows[b as usize])),
                LocalOp::Not { dst, a } => (dst, rows[a as usize].not()),
                LocalOp::Const { dst, bit: false } => (dst, Lit::ZERO),
                LocalOp::Const { dst, bit: true } => (dst, Lit::ONE),
            };
            rows[dst as usize] = lit;
        }
    }

    pub(super) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let trivial = a.node() == 0 || b.node() == 0 || a.node() == b.node();
        let Some(Distinct { xors, .. }) = self.distinct.as_ref().filter(|_| !trivial) else {
            return self.xor_anew(a, b);
        };
        let [plain_a, plain_b] = [a, b].map(|lit| Lit(lit.0 & !1));
        let (key, flip) = (pair(plain_a, plain_b), (a.0 ^ b.0) & 1);
        if let Some(made) = xors.get(&key) {
            return Lit(made.0 ^ flip);
        }
        let made = self.xor_anew(a, b);
        if let Some(Distinct { xors, .. }) = &mut self.distinct {
            xors.insert(key, Lit(made.0 ^ flip));
        }
        made
    }

    /// Adds a XOR, though such a gate may be there already.
    pub(super) fn xor_anew(&mut self, a: Lit, b: Lit) -> Lit {
        if a.node() == 0 || b.node() == 0 || a.node() == b.node() {
            return Lit(a.0 ^ b.0);
        }
        // Two inversions cancel. One stays with its operand: carried to the result, it would often
        // have to be made good for several readers instead of one (SHA-256: 13 % more local
        // operations).
        if a.inverted() && b.inverted() {
            self.push(Node::Xor(a.not(), b.not()))
        } else {
            self.push(Node::Xor(a, b))
        }
    }

    pub(super) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        if a == Lit::ZERO || b == Lit::ZERO || a == b.not() {
            return Lit::ZERO;
        }
        if a == Lit::ONE || a == b {
            return b;
        }
        if b == Lit::ONE {
            return a;
        }
        let there = self.distinct.as_ref();
        let there = there.and_then(|gates| gates.ands.get(&pair(a, b)));
        if let Some(&made) = there {
            return made;
        }
        let made = self.push(Node::And(a, b));
        if let Some(Distinct { ands, .. }) = &mut self.distinct {
            ands.insert(pair(a, b), made);
        }
        made
    }

    pub(super) fn push(&mut self, node: Node) -> Lit {
        self.nodes.push(node);
        Lit::of(self.nodes.len() - 1)
    }

    /// Counts how often each literal is read by what reaches an output or a sum.
    pub(super) fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; 2 * self.nodes.len()];
        self.outputs.iter().for_each(|lit| uses[lit.index()] += 1);
        for (node, &kind) in self.nodes.iter().enumerate().skip(1).rev() {
            let lit = Lit::of(node);
            if uses[lit.not().index()] > 0 {
                uses[lit.index()] += 1;
            }
            if let Node::Product(..) = kind {
                uses[lit.index()] = 1;
            }
            if let (Node::Xor(a, b) | Node::And(a, b) | Node::Product(a, b), 1..) =
                (kind, uses[lit.index()])
            {
                uses[a.index()] += 1;
                uses[b.index()] += 1;
            }
        }
        uses
    }

    /// Counts the layers below each node, with its own if it is an AND.
    pub(super) fn depths(&self) -> Vec<u32> {
        let mut depth = vec![0u32; self.nodes.len()];
        for (node, &kind) in self.nodes.iter().enumerate() {
            depth[node] = match kind {
                Node::Leaf | Node::Product(..) | Node::Sum => 0,
                Node::Xor(a, b) => depth[a.node()].max(depth[b.node()]),
                Node::And(a, b) => depth[a.node()].max(depth[b.node()]) + 1,
            };
        }
        depth
    }

    /// The last layer in which each AND may run for the program to have as few layers as possible, and
    /// the number of layers. Meaningless for other and for dead nodes.
    pub(super) fn deadlines(&self, uses: &[u32]) -> (Vec<u32>, u32) {
        self.deadlines_within(uses, &self.depths(), |_| u32::MAX)
    }

    /// Gives deadlines where an AND is to run in layer `latest` of its node at the latest, which is no earlier than its
    /// operands allow. `depth`: [`depths`](Self::depths).
    pub(super) fn deadlines_within(
        &self,
        uses: &[u32],
        depth: &[u32],
        latest: impl Fn(usize) -> u32,
    ) -> (Vec<u32>, u32) {
        let layers = self
            .outputs
            .iter()
            .map(|lit| depth[lit.node()])
            .max()
            .unwrap_or(0);
        // From here on: the layer before which the node must be there.
        let mut needed = vec![layers; self.nodes.len()];
        for (node, &kind) in self.nodes.iter().enumerate().rev() {
            if uses[Lit::of(node).index()] == 0 {
                continue;
            }
            let (a, b, before) = match kind {
                Node::Leaf | Node::Product(..) | Node::Sum => continue,
                Node::Xor(a, b) => (a, b, needed[node]),
                Node::And(a, b) => {
                    needed[node] = (needed[node] - 1).min(latest(node));
                    debug_assert!(needed[node] + 1 >= depth[node], "operands come later");
                    (a, b, needed[node])
                }
            };
            for operand in [a.node(), b.node()] {
                needed[operand] = needed[operand].min(before);
            }
        }
        (needed, layers)
    }
}
