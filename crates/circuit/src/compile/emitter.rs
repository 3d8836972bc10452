//! Chooses the rows that values lie in, and when each operation is done.

use std::sync::Arc;

use super::graph::{Lit, LogicGraph, Node};
use crate::layered::{And, Layered, LocalOp};

const NONE: u32 = u32::MAX;

/// Readers of each literal: `of[starts[lit]..starts[lit + 1]]`. A reader is named by the literal it makes.
struct Readers {
    starts: Vec<u32>,
    of: Vec<Lit>,
}

impl Readers {
    fn new(graph: &LogicGraph, uses: &[u32]) -> Self {
        let each = |f: &mut dyn FnMut(Lit, Lit)| {
            for (node, &kind) in graph.nodes.iter().enumerate().skip(1) {
                let lit = Lit::of(node);
                if let (Node::Xor(a, b) | Node::And(a, b) | Node::Product(a, b), 1..) =
                    (kind, uses[lit.index()])
                {
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

pub(super) struct Emitter<'a> {
    graph: &'a LogicGraph,
    readers: Readers,
    /// Reads still to come, per literal.
    pub(super) uses: Vec<u32>,
    /// The row of each literal that is there.
    row: Vec<u32>,
    free: Vec<u32>,
    /// Literals that came or have one read left: their readers may have become worth emitting.
    events: Vec<Lit>,
    /// ANDs that an event pointed to.
    candidates: Vec<Lit>,
    /// Whether local operations run ahead of their layer.
    pub(super) ahead: bool,
    local: Vec<LocalOp>,
    /// Program as far as it is there, but for the local operations.
    program: Layered,
}

/// Result of a layer.
pub(super) struct EmittedLayer {
    /// Local operations until then.
    pub(super) local: u32,
    pub(super) ands: Vec<And>,
    /// The rows of the operands of each product.
    pub(super) products: Vec<[u32; 2]>,
    /// The row of each sum.
    pub(super) sums: Vec<u32>,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(graph: &'a LogicGraph) -> Self {
        let uses = graph.uses();
        let program = Layered {
            rows: 0,
            input_bits: graph.input_bits as u32,
            inputs: Vec::new(),
            outputs: Vec::new(),
            local: Arc::default(),
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
            local: Vec::new(),
            program,
        }
    }

    /// `due`: the ANDs of each layer.
    pub(super) fn run(mut self, due: Vec<Vec<Lit>>) -> Layered {
        self.load();
        for due in due {
            let done = self.layer(due, &[], &[]);
            self.program.ands.extend(done.ands);
            let ands = self.program.ands.len() as u32;
            self.program.ends.push((done.local, ands));
        }
        self.finish()
    }

    /// Gives inputs their rows.
    pub(super) fn load(&mut self) {
        for wire in 0..self.graph.input_bits {
            let lit = Lit::of(1 + wire);
            if self.uses[lit.index()] > 0 {
                self.come(lit);
                self.program.inputs.push(wire as u32);
            }
        }
    }

    /// Emits the rest after the last layer.
    pub(super) fn finish(mut self) -> Layered {
        self.settle();
        let graph = self.graph;
        for &lit in &graph.outputs {
            self.make(lit);
            self.program.outputs.push(self.row[lit.index()]);
        }
        self.local.shrink_to_fit();
        self.program.local = Arc::new(self.local);
        self.program
    }

    /// The live ANDs of each layer, in node order.
    pub(super) fn by_layer(&self, layer: &[u32], layers: u32) -> Vec<Vec<Lit>> {
        let mut due = vec![Vec::new(); layers as usize];
        for (node, &kind) in self.graph.nodes.iter().enumerate() {
            let lit = Lit::of(node);
            if let (Node::And(..), 1..) = (kind, self.uses[lit.index()]) {
                due[layer[node] as usize].push(lit);
            }
        }
        due
    }

    /// One layer: the ANDs that are due and have not run, and those that free a row by running now; the products that
    /// are due, and the sums of them.
    pub(super) fn layer(
        &mut self,
        mut ands: Vec<Lit>,
        products: &[Lit],
        sums: &[Lit],
    ) -> EmittedLayer {
        self.settle();
        ands.retain(|&lit| self.row[lit.index()] == NONE && self.uses[lit.index()] > 0);
        for &lit in ands.iter().chain(products) {
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
        let rows = |lit: &Lit| {
            let (a, b) = self.operands(*lit);
            [a, b].map(|lit| self.row[lit.index()])
        };
        let operands: Vec<[u32; 2]> = ands.iter().map(rows).collect();
        let products_of: Vec<[u32; 2]> = products.iter().map(rows).collect();
        // In order, each with a row that nobody reads any more if there is one: then its result need not wait until
        // all of the layer have read. The rest takes rows of those behind it, so that no row more is used.
        let mut free = Vec::with_capacity(ands.len());
        for &lit in &ands {
            let (a, b) = self.operands(lit);
            self.read(a);
            self.read(b);
            free.push(self.free.pop());
        }
        for &lit in products {
            let (a, b) = self.operands(lit);
            self.read(a);
            self.read(b);
        }
        let local = self.local.len() as u32;
        let mut done = Vec::with_capacity(ands.len());
        for ((&lit, [a, b]), row) in ands.iter().zip(operands).zip(free) {
            let dst = row.unwrap_or_else(|| self.fresh_row());
            done.push(And { dst, a, b });
            self.arrive(lit, dst);
        }
        let rows: Vec<u32> = sums.iter().map(|&lit| self.come(lit)).collect();
        // Rows of sums that nothing reads are freed, once all have theirs.
        let unread = sums.iter().zip(&rows);
        let unread = unread.filter(|(lit, _)| self.uses[lit.index()] == 0);
        self.free.extend(unread.map(|(_, &row)| row));
        EmittedLayer {
            local,
            ands: done,
            products: products_of,
            sums: rows,
        }
    }

    fn operands(&self, lit: Lit) -> (Lit, Lit) {
        match self.graph.nodes[lit.node()] {
            Node::Xor(a, b) | Node::And(a, b) | Node::Product(a, b) => (a, b),
            Node::Leaf | Node::Sum => (lit, lit),
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
                self.local.push(LocalOp::Const {
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
            self.local.push(LocalOp::Not { dst, a });
        } else {
            let Node::Xor(a, b) = self.graph.nodes[lit.node()] else {
                unreachable!("ANDs and sums run in their layers, before what reads them");
            };
            let rows = (self.row[a.index()], self.row[b.index()]);
            self.read(a);
            self.read(b);
            let dst = self.come(lit);
            let (a, b) = if dst == rows.1 {
                (rows.1, rows.0)
            } else {
                rows
            };
            self.local.push(LocalOp::Xor { dst, a, b });
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
                        Node::Product(..) => {}
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
