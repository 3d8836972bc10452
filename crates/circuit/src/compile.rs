//! From a netlist to a layered program.
//!
//! 1. [`Graph`]: wires become literals (a node, perhaps inverted), which makes copies, double
//!    inversions and constants disappear; OR becomes an inverted AND of inverses.
//! 2. Uses are counted from the outputs, so that dead nodes are never emitted.
//! 3. [`Emitter`]: each AND runs no later than its depth from the outputs allows, so there are as many
//!    layers as the AND depth; it runs earlier if that frees a row. A local operation runs as soon
//!    as it frees a row, or else when something needs it. Rows are handed out as values come alive and
//!    come back with their last use.
//!
//! What the order is worth, in rows: SHA-256 1184 (2191 with every AND as early as possible), a 64-bit
//! product 375 (2080; 436 with local operations only when something needs them), AES-128 912 in any
//! order.

use std::cmp::Ordering;

use crate::layered::{And, Layered, LocalOp};
use crate::netlist::{Gate, Netlist};
use crate::rounds::Part;

impl Layered {
    /// Compiles a netlist. Time and memory are linear in its gates and wires.
    pub fn compile(netlist: &Netlist) -> Self {
        let graph = Graph::of(netlist);
        let emitter = Emitter::new(&graph);
        let (deadline, layers) = graph.deadlines(&emitter.uses);
        let due = emitter.by_layer(&deadline, layers);
        emitter.run(due)
    }

    /// The same computation for [rounds of two layers](crate::Rounds::of_two): each AND runs as early as it can, in the first
    /// layer of a round or in the second one, so that few layers have operands of several results of the layer
    /// before. There are more rows, and more layers than the AND depth where that saves rounds.
    pub fn in_pairs(&self) -> Self {
        let graph = Graph::again(self);
        let mut emitter = Emitter::new(&graph);
        emitter.ahead = false;
        let (layer, layers) = graph.halves_of_rounds(&emitter.uses);
        let due = emitter.by_layer(&layer, layers);
        emitter.run(due.into_iter().filter(|ands| !ands.is_empty()).collect())
    }
}

/// A node, perhaps inverted: `2 * node + inverted`. Node 0 is the constant 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Lit(u32);

impl Lit {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);

    fn of(node: usize) -> Self {
        Self(2 * node as u32)
    }

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }

    fn inverted(self) -> bool {
        self.0 & 1 == 1
    }

    fn node(self) -> usize {
        (self.0 / 2) as usize
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Clone, Copy)]
enum Node {
    /// The constant 0 or an input.
    Leaf,
    Xor(Lit, Lit),
    And(Lit, Lit),
}

/// Nodes in topological order: the constant, the inputs, then the gates that are left.
struct Graph {
    nodes: Vec<Node>,
    input_bits: usize,
    outputs: Vec<Lit>,
}

impl Graph {
    fn of(netlist: &Netlist) -> Self {
        let input_bits = netlist.input_bits() as usize;
        let mut graph = Self {
            nodes: vec![Node::Leaf; 1 + input_bits],
            input_bits,
            outputs: Vec::new(),
        };
        graph.nodes.reserve(netlist.gates().len());
        let mut wires = vec![Lit::ZERO; netlist.wires() as usize];
        for (wire, lit) in wires[..input_bits].iter_mut().enumerate() {
            *lit = Lit::of(1 + wire);
        }
        for &gate in netlist.gates() {
            match gate {
                Gate::Xor { a, b, out } => {
                    wires[out as usize] = graph.xor(wires[a as usize], wires[b as usize])
                }
                Gate::And { a, b, out } => {
                    wires[out as usize] = graph.and(wires[a as usize], wires[b as usize])
                }
                Gate::Or { a, b, out } => {
                    wires[out as usize] = graph
                        .and(wires[a as usize].not(), wires[b as usize].not())
                        .not();
                }
                Gate::Inv { a, out } => wires[out as usize] = wires[a as usize].not(),
                Gate::Const { bit, out } => {
                    wires[out as usize] = if bit { Lit::ONE } else { Lit::ZERO }
                }
                Gate::Copy { a, out } => wires[out as usize] = wires[a as usize],
                Gate::Mand(gate) => {
                    let mand = netlist.mand(gate);
                    for ((&a, &b), &z) in mand.x.iter().zip(mand.y).zip(mand.z) {
                        wires[z as usize] = graph.and(wires[a as usize], wires[b as usize]);
                    }
                }
            }
        }
        graph.outputs = netlist
            .output_wires()
            .map(|wire| wires[wire as usize])
            .collect();
        graph
    }

    /// Of what has been compiled.
    fn again(program: &Layered) -> Self {
        let mut graph = Self {
            nodes: vec![Node::Leaf; 1 + program.input_bits()],
            input_bits: program.input_bits(),
            outputs: Vec::new(),
        };
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

    fn local(&mut self, ops: &[LocalOp], rows: &mut [Lit]) {
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

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        if a.node() == 0 {
            return Lit(b.0 ^ a.0);
        }
        if b.node() == 0 {
            return Lit(a.0 ^ b.0);
        }
        if a.node() == b.node() {
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

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        if a == Lit::ZERO || b == Lit::ZERO || a == b.not() {
            return Lit::ZERO;
        }
        if a == Lit::ONE || a == b {
            return b;
        }
        if b == Lit::ONE {
            return a;
        }
        self.push(Node::And(a, b))
    }

    fn push(&mut self, node: Node) -> Lit {
        self.nodes.push(node);
        Lit::of(self.nodes.len() - 1)
    }

    /// How often each literal is read by what reaches an output.
    fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; 2 * self.nodes.len()];
        self.outputs.iter().for_each(|lit| uses[lit.index()] += 1);
        for (node, &kind) in self.nodes.iter().enumerate().skip(1).rev() {
            let lit = Lit::of(node);
            if uses[lit.not().index()] > 0 {
                uses[lit.index()] += 1;
            }
            if let (Node::Xor(a, b) | Node::And(a, b), 1..) = (kind, uses[lit.index()]) {
                uses[a.index()] += 1;
                uses[b.index()] += 1;
            }
        }
        uses
    }

    /// The last layer in which each AND may run for the program to have as few layers as possible, and
    /// the number of layers. Meaningless for other and for dead nodes.
    fn deadlines(&self, uses: &[u32]) -> (Vec<u32>, u32) {
        let mut depth = vec![0u32; self.nodes.len()];
        for (node, &kind) in self.nodes.iter().enumerate() {
            depth[node] = match kind {
                Node::Leaf => 0,
                Node::Xor(a, b) => depth[a.node()].max(depth[b.node()]),
                Node::And(a, b) => depth[a.node()].max(depth[b.node()]) + 1,
            };
        }
        let layers = self
            .outputs
            .iter()
            .map(|lit| depth[lit.node()])
            .max()
            .unwrap_or(0);
        // From here on: the layer before which the node must be there.
        let mut needed = depth;
        needed.fill(layers);
        for (node, &kind) in self.nodes.iter().enumerate().rev() {
            if uses[Lit::of(node).index()] == 0 {
                continue;
            }
            let (a, b, before) = match kind {
                Node::Leaf => continue,
                Node::Xor(a, b) => (a, b, needed[node]),
                Node::And(a, b) => {
                    needed[node] -= 1;
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

/// When a node is there, in rounds of two layers.
#[derive(Debug, Clone, Copy)]
struct There {
    /// After so many rounds.
    round: u32,
    /// Of which ANDs of the first layer of the last of these it is a sum, if it is nothing else but what was there
    /// before.
    of: Part,
}

impl Graph {
    /// The layer in which each AND runs, two layers to a round, for as few rounds as can be, and the number of layers.
    /// Meaningless for other and for dead nodes.
    ///
    /// Each runs as early as it can, which is never worse for what reads it: what is there after a round can be read
    /// in both layers of the next one. Where nobody reads it so soon, it runs in the first layer of the next round
    /// rather than in the second one, for fewer products of masks.
    fn halves_of_rounds(&self, uses: &[u32]) -> (Vec<u32>, u32) {
        const START: There = There {
            round: 0,
            of: Part::Many,
        };
        let mut there = vec![START; self.nodes.len()];
        let mut second = vec![false; self.nodes.len()];
        for (node, &kind) in self.nodes.iter().enumerate() {
            there[node] = match kind {
                Node::Leaf => START,
                Node::Xor(a, b) => {
                    let [a, b] = [a, b].map(|lit| there[lit.node()]);
                    match a.round.cmp(&b.round) {
                        Ordering::Less => b,
                        Ordering::Greater => a,
                        Ordering::Equal => There {
                            of: a.of.xor(b.of),
                            ..a
                        },
                    }
                }
                Node::And(a, b) => {
                    let operands = [a, b].map(|lit| there[lit.node()]);
                    let round = operands[0].round.max(operands[1].round);
                    let few = |of: &There| of.round < round || of.of != Part::Many;
                    second[node] = round > 0 && operands.iter().all(few);
                    match second[node] {
                        true => There {
                            round,
                            of: Part::Many,
                        },
                        false => There {
                            round: round + 1,
                            of: Part::One(node as u32),
                        },
                    }
                }
            };
        }
        let last = |lit: &Lit| there[lit.node()].round;
        let rounds = self.outputs.iter().map(last).max().unwrap_or(0);
        // From here on: after how many rounds each must be there.
        let mut needed = vec![rounds; self.nodes.len()];
        let mut layer = vec![0; self.nodes.len()];
        for (node, &kind) in self.nodes.iter().enumerate().rev() {
            if uses[Lit::of(node).index()] == 0 {
                continue;
            }
            let (a, b, before) = match kind {
                Node::Leaf => continue,
                Node::Xor(a, b) => (a, b, needed[node]),
                Node::And(a, b) => {
                    let mut round = there[node].round;
                    if second[node] && needed[node] > round {
                        (round, second[node]) = (round + 1, false);
                    }
                    layer[node] = 2 * (round - 1) + u32::from(second[node]);
                    (a, b, round - 1)
                }
            };
            for operand in [a.node(), b.node()] {
                needed[operand] = needed[operand].min(before);
            }
        }
        (layer, 2 * rounds)
    }
}

const NONE: u32 = u32::MAX;

/// Who reads each literal: `of[starts[lit]..starts[lit + 1]]`. A reader is named by the literal it makes.
struct Readers {
    starts: Vec<u32>,
    of: Vec<Lit>,
}

impl Readers {
    fn new(graph: &Graph, uses: &[u32]) -> Self {
        let each = |f: &mut dyn FnMut(Lit, Lit)| {
            for (node, &kind) in graph.nodes.iter().enumerate().skip(1) {
                let lit = Lit::of(node);
                if let (Node::Xor(a, b) | Node::And(a, b), 1..) = (kind, uses[lit.index()]) {
                    f(a, lit);
                    f(b, lit);
                }
                if uses[lit.not().index()] > 0 {
                    f(lit, lit.not());
                }
            }
        };
        let mut starts = vec![0; uses.len() + 1];
        each(&mut |read, _| starts[read.index() + 1] += 1);
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut of = vec![Lit::ZERO; starts[uses.len()] as usize];
        let mut next = starts.clone();
        each(&mut |read, reader| {
            of[next[read.index()] as usize] = reader;
            next[read.index()] += 1;
        });
        Self { starts, of }
    }

    fn of(&self, lit: Lit) -> std::ops::Range<usize> {
        self.starts[lit.index()] as usize..self.starts[lit.index() + 1] as usize
    }
}

struct Emitter<'a> {
    graph: &'a Graph,
    readers: Readers,
    /// Reads still to come, per literal.
    uses: Vec<u32>,
    /// The row of each literal that is there.
    row: Vec<u32>,
    free: Vec<u32>,
    /// Literals that came or have one read left: their readers may have become worth emitting.
    events: Vec<Lit>,
    /// ANDs that an event pointed to.
    candidates: Vec<Lit>,
    /// Whether they run ahead of their layer.
    ahead: bool,
    program: Layered,
}

impl<'a> Emitter<'a> {
    fn new(graph: &'a Graph) -> Self {
        let uses = graph.uses();
        let program = Layered {
            rows: 0,
            input_bits: graph.input_bits as u32,
            inputs: Vec::new(),
            outputs: Vec::new(),
            local: Vec::new(),
            ands: Vec::new(),
            ends: Vec::new(),
        };
        let readers = Readers::new(graph, &uses);
        let row = vec![NONE; uses.len()];
        Self {
            graph,
            readers,
            uses,
            row,
            free: Vec::new(),
            events: Vec::new(),
            candidates: Vec::new(),
            ahead: true,
            program,
        }
    }

    /// `due`: the ANDs of each layer.
    fn run(mut self, due: Vec<Vec<Lit>>) -> Layered {
        for wire in 0..self.graph.input_bits {
            let lit = Lit::of(1 + wire);
            if self.uses[lit.index()] > 0 {
                self.come(lit);
                self.program.inputs.push(wire as u32);
            }
        }
        for due in due {
            self.settle();
            self.layer(due);
        }
        self.settle();
        let graph = self.graph;
        for &lit in &graph.outputs {
            self.make(lit);
            self.program.outputs.push(self.row[lit.index()]);
        }
        self.program
    }

    /// The live ANDs of each layer, in node order.
    fn by_layer(&self, layer: &[u32], layers: u32) -> Vec<Vec<Lit>> {
        let mut due = vec![Vec::new(); layers as usize];
        for (node, &kind) in self.graph.nodes.iter().enumerate() {
            let lit = Lit::of(node);
            if let (Node::And(..), 1..) = (kind, self.uses[lit.index()]) {
                due[layer[node] as usize].push(lit);
            }
        }
        due
    }

    /// One layer: the ANDs that are due and have not run, and those that free a row by running now.
    fn layer(&mut self, mut ands: Vec<Lit>) {
        ands.retain(|&lit| self.row[lit.index()] == NONE);
        for &lit in &ands {
            let (a, b) = self.operands(lit);
            self.make(a);
            self.make(b);
        }
        self.settle();
        for lit in std::mem::take(&mut self.candidates) {
            let (a, b) = self.operands(lit);
            let there = |lit: Lit| self.row[lit.index()] != NONE;
            if self.ahead
                && there(a)
                && there(b)
                && !there(lit)
                && (self.uses[a.index()] == 1 || self.uses[b.index()] == 1)
            {
                ands.push(lit);
            }
        }
        ands.sort_unstable();
        ands.dedup();
        let first = self.program.ands.len();
        for &lit in &ands {
            let (a, b) = self.operands(lit);
            self.program.ands.push(And {
                dst: NONE,
                a: self.row[a.index()],
                b: self.row[b.index()],
            });
        }
        // In order, each with a row that nobody reads any more if there is one: then its result need not wait until
        // all of the layer have read. What is left takes rows of those behind it, so that no row more is used.
        let mut rows = Vec::with_capacity(ands.len());
        for &lit in &ands {
            let (a, b) = self.operands(lit);
            self.read(a);
            self.read(b);
            rows.push(self.free.pop());
        }
        self.program
            .ends
            .push((self.program.local.len() as u32, (first + ands.len()) as u32));
        for (i, (&lit, row)) in ands.iter().zip(rows).enumerate() {
            let row = row.unwrap_or_else(|| self.fresh_row());
            self.program.ands[first + i].dst = row;
            self.arrive(lit, row);
        }
    }

    fn operands(&self, lit: Lit) -> (Lit, Lit) {
        match self.graph.nodes[lit.node()] {
            Node::Xor(a, b) | Node::And(a, b) => (a, b),
            Node::Leaf => (lit, lit),
        }
    }

    /// Emits what a literal needs and the literal itself. All ANDs below it have run.
    fn make(&mut self, lit: Lit) {
        let mut open = vec![lit];
        while let Some(&lit) = open.last() {
            let missing = |lit: Lit| self.row[lit.index()] == NONE;
            if !missing(lit) {
                open.pop();
            } else if lit.node() == 0 {
                let dst = self.come(lit);
                self.program.local.push(LocalOp::Const {
                    dst,
                    bit: lit.inverted(),
                });
            } else if lit.inverted() {
                if missing(lit.not()) {
                    open.push(lit.not())
                } else {
                    self.emit(lit)
                }
            } else {
                let (a, b) = self.operands(lit);
                if missing(a) {
                    open.push(a);
                } else if missing(b) {
                    open.push(b);
                } else {
                    self.emit(lit);
                }
            }
        }
    }

    /// Emits the XOR or NOT that makes a literal; what it reads is there.
    fn emit(&mut self, lit: Lit) {
        if lit.inverted() {
            let a = self.row[lit.not().index()];
            self.read(lit.not());
            let dst = self.come(lit);
            self.program.local.push(LocalOp::Not { dst, a });
        } else {
            let (a, b) = self.operands(lit);
            let rows = (self.row[a.index()], self.row[b.index()]);
            self.read(a);
            self.read(b);
            let dst = self.come(lit);
            let (a, b) = if dst == rows.1 {
                (rows.1, rows.0)
            } else {
                rows
            };
            self.program.local.push(LocalOp::Xor { dst, a, b });
        }
    }

    /// Emits local operations for as long as one frees at least the row it takes.
    fn settle(&mut self) {
        while let Some(lit) = self.events.pop() {
            for at in self.readers.of(lit) {
                let reader = self.readers.of[at];
                if self.row[reader.index()] != NONE {
                    continue;
                }
                let there = |lit: Lit| self.row[lit.index()] != NONE;
                let last = |lit: Lit| self.uses[lit.index()] == 1;
                if reader.inverted() {
                    if there(lit) && last(lit) {
                        self.emit(reader);
                    }
                    continue;
                }
                let (a, b) = self.operands(reader);
                if there(a) && there(b) && (last(a) || last(b)) {
                    match self.graph.nodes[reader.node()] {
                        Node::And(..) => self.candidates.push(reader),
                        _ => self.emit(reader),
                    }
                }
            }
        }
    }

    /// A literal comes alive: it gets a row.
    fn come(&mut self, lit: Lit) -> u32 {
        let row = self.fresh_row();
        self.arrive(lit, row);
        row
    }

    /// A row that is free, or one more.
    fn fresh_row(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.program.rows += 1;
            self.program.rows - 1
        })
    }

    fn arrive(&mut self, lit: Lit, row: u32) {
        self.row[lit.index()] = row;
        self.events.push(lit);
    }

    /// One read of a literal is done; the last one gives its row back.
    fn read(&mut self, lit: Lit) {
        let uses = &mut self.uses[lit.index()];
        *uses -= 1;
        match *uses {
            0 => self.free.push(self.row[lit.index()]),
            1 => self.events.push(lit),
            _ => {}
        }
    }
}
