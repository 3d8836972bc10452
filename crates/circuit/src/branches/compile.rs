//! A circuit with branches compiled for bit-sliced evaluation, for protocols that can share the cost of
//! branches.

use std::ops::Range;

use madrigal_kernels::{And, LocalOp};

use super::Branching;
use super::levels::{DEAD, Layering, Levels};
use super::nodes::{Form, NodeKind, Nodes, ROOT, ZERO};
use crate::rows::Rows;

/// A program over an arena of [`Guarded::rows`] rows: load the inputs, do the layers, do the tail, take
/// the outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarded {
    form: Form,
    rows: u32,
    input_bits: usize,
    inputs: Vec<(u32, u32)>,
    outputs: Vec<u32>,
    guards: Vec<Guard>,
    conditionals: Vec<Conditional>,
    local: Vec<LocalOp>,
    ands: Vec<And>,
    groups: Vec<Group>,
    layers: Vec<Ends>,
}

/// Places where a layer ends in each list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Ends {
    local: usize,
    groups: usize,
    enter: Vec<u32>,
    exit: Vec<u32>,
}

/// A branch; the first one is what stands in no branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The conditional that it is a branch of. `None` for what is outside of all.
    pub conditional: Option<u32>,
    /// Number of the branch in the conditional.
    pub branch: u32,
    /// ANDs in it, but not in conditionals inside of it.
    pub ands: usize,
}

/// A conditional.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditional {
    /// The branch around it.
    pub parent: u32,
    /// Branches of the conditional.
    pub guards: Range<u32>,
    /// The rows of the bits that say which branch is active, when it is entered. In a gated branch the
    /// last bit is 0 where none is.
    pub code: Vec<u32>,
    /// Rows that are read when it is entered.
    pub inputs: Vec<u32>,
    /// The row that is to be 1 where a branch is active, for each branch that needs one.
    pub active: Vec<Option<u32>>,
    /// Inputs that each branch reads (places in `inputs`), and the rows that they go to.
    pub gated: Vec<Vec<(u32, u32)>>,
    /// The rows of each branch's outputs when it is left, where branches are not gated.
    pub outputs: Vec<Vec<u32>>,
    /// The rows that the active branch's outputs go to.
    pub chosen: Vec<u32>,
}

impl Conditional {
    /// Bits of the code.
    pub fn bits(&self) -> usize {
        self.code.len()
    }

    /// The code that makes a branch active.
    pub fn code_of(&self, branch: u32, form: Form) -> usize {
        let nested = form == Form::Gated && self.parent != ROOT;
        branch as usize | if nested { 1 << (self.bits() - 1) } else { 0 }
    }
}

/// ANDs of one branch in one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The branch.
    pub guard: u32,
    ands: Range<usize>,
}

/// One layer: local operations in order, then everything else at once: all is read before anything is
/// written.
#[derive(Debug, Clone, Copy)]
pub struct GuardedLayer<'a> {
    /// Local operations.
    pub local: &'a [LocalOp],
    /// Conditionals that are entered.
    pub enter: &'a [u32],
    /// ANDs, by branch in order.
    pub groups: &'a [Group],
    /// Conditionals that are left, where branches are not gated.
    pub exit: &'a [u32],
}

impl Guarded {
    /// Compiles. Time and memory are linear in wires and gates but for a logarithm.
    pub fn compile(branching: &Branching, form: Form) -> Self {
        Self::layered(branching, form, Layering::default())
    }

    /// Compiles with ANDs in other layers.
    pub fn layered(branching: &Branching, form: Form, layering: Layering) -> Self {
        let nodes = Nodes::of(branching, form);
        let levels = nodes.levels(layering);
        Emitter::new(&nodes, &levels).run()
    }

    /// Form of the values that inactive branches compute on.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Rows of the arena.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Bits of all input values together.
    pub fn input_bits(&self) -> usize {
        self.input_bits
    }

    /// The row that each input wire which is used goes to, by wire.
    pub fn inputs(&self) -> &[(u32, u32)] {
        &self.inputs
    }

    /// The row of each output bit once the tail is done.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// All branches, of all conditionals.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// All conditionals; those in a branch come after the one around it.
    pub fn conditionals(&self) -> &[Conditional] {
        &self.conditionals
    }

    /// Number of layers: rounds.
    pub fn depth(&self) -> usize {
        self.layers.len() - 1
    }

    /// ANDs in all branches together.
    pub fn and_count(&self) -> usize {
        self.ands.len()
    }

    /// Local operations.
    pub fn local_count(&self) -> usize {
        self.local.len()
    }

    /// The ANDs of a group, in the order of their shares.
    pub fn ands(&self, group: &Group) -> &[And] {
        &self.ands[group.ands.clone()]
    }

    /// The layers in order.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = GuardedLayer<'_>> + Clone {
        (0..self.depth()).map(|index| self.at(index))
    }

    /// The local operations after the last layer.
    pub fn tail(&self) -> &[LocalOp] {
        self.at(self.depth()).local
    }

    fn at(&self, index: usize) -> GuardedLayer<'_> {
        let none = Ends::default();
        let before = index
            .checked_sub(1)
            .map_or(&none, |before| &self.layers[before]);
        let this = &self.layers[index];
        GuardedLayer {
            local: &self.local[before.local..this.local],
            enter: &this.enter,
            groups: &self.groups[before.groups..this.groups],
            exit: &this.exit,
        }
    }

    /// Runs the program in the clear, as a protocol would run it on shares: a row for each input bit, one
    /// for each output bit.
    ///
    /// # Panics
    /// If there are not as many rows as input bits.
    pub fn interpret(&self, inputs: &Rows) -> Rows {
        assert_eq!(inputs.rows(), self.input_bits, "input rows");
        let mut arena = Rows::new(self.rows(), inputs.lanes());
        for &(wire, row) in &self.inputs {
            let wire = inputs.row(wire as usize);
            arena.row_mut(row as usize).copy_from_slice(wire);
        }
        let and = |a: &[u8], b: &[u8]| -> Vec<u8> { a.iter().zip(b).map(|(a, b)| a & b).collect() };
        let is = |arena: &Rows, conditional: &Conditional, branch: u32| {
            let code = conditional.code_of(branch, self.form);
            let mut active = vec![0xff; arena.stride()];
            for (bit, &row) in conditional.code.iter().enumerate() {
                let invert = if code >> bit & 1 == 1 { 0 } else { 0xff };
                for (active, value) in active.iter_mut().zip(arena.row(row as usize)) {
                    *active &= value ^ invert;
                }
            }
            active
        };
        // The activity of each branch stays true when the rows of the code have gone.
        let mut active: Vec<Vec<u8>> = vec![Vec::new(); self.guards.len()];
        for layer in self.layers() {
            arena.local(layer.local);
            let mut writes: Vec<(u32, Vec<u8>)> = Vec::new();
            for &conditional in layer.enter {
                let conditional = &self.conditionals[conditional as usize];
                for (branch, guard) in (0..).zip(conditional.guards.clone()) {
                    let is = is(&arena, conditional, branch);
                    for &(input, row) in &conditional.gated[branch as usize] {
                        let input = conditional.inputs[input as usize];
                        writes.push((row, and(arena.row(input as usize), &is)));
                    }
                    if let Some(row) = conditional.active[branch as usize] {
                        writes.push((row, is.clone()));
                    }
                    active[guard as usize] = is;
                }
            }
            for group in layer.groups {
                let ands = self.ands(group).iter();
                writes.extend(ands.map(|gate| (gate.dst, arena.product(gate.a, gate.b))));
            }
            for &conditional in layer.exit {
                let conditional = &self.conditionals[conditional as usize];
                for (bit, &row) in conditional.chosen.iter().enumerate() {
                    let mut chosen = vec![0; arena.stride()];
                    let branches = conditional.outputs.iter().zip(conditional.guards.clone());
                    for (outputs, guard) in branches {
                        let made = arena.row(outputs[bit] as usize);
                        let made = and(made, &active[guard as usize]);
                        let pairs = chosen.iter_mut().zip(made);
                        pairs.for_each(|(to, made)| *to ^= made);
                    }
                    writes.push((row, chosen));
                }
            }
            for (row, value) in writes {
                arena.row_mut(row as usize).copy_from_slice(&value);
            }
        }
        arena.local(self.tail());
        arena.outputs(&self.outputs)
    }
}

/// Hands rows out and takes them back.
struct Emitter<'a> {
    nodes: &'a Nodes,
    levels: &'a Levels,
    /// Reads that are still to come.
    uses: Vec<u32>,
    row: Vec<u32>,
    free: Vec<u32>,
    rows: u32,
    /// Inputs of each conditional that are read, and the nodes that read them.
    inputs: Vec<Vec<u32>>,
    /// Nodes that each conditional makes.
    makes: Vec<Vec<u32>>,
}

impl<'a> Emitter<'a> {
    fn new(nodes: &'a Nodes, levels: &'a Levels) -> Self {
        let count = nodes.nodes.len();
        let mut emitter = Self {
            nodes,
            levels,
            uses: vec![0; count],
            row: vec![u32::MAX; count],
            free: Vec::new(),
            rows: 0,
            inputs: vec![Vec::new(); nodes.choices.len()],
            makes: vec![Vec::new(); nodes.choices.len()],
        };
        for node in 0..count {
            if levels.layer[node] == DEAD {
                continue;
            }
            match nodes.nodes[node].kind {
                NodeKind::Zero | NodeKind::Input => {}
                NodeKind::Not(ZERO) => {}
                NodeKind::Not(a) => emitter.uses[a as usize] += 1,
                NodeKind::Xor(a, b) | NodeKind::And(a, b) => {
                    emitter.uses[a as usize] += 1;
                    emitter.uses[b as usize] += 1;
                }
                NodeKind::Active => {
                    let conditional = emitter.conditional(node);
                    emitter.makes[conditional].push(node as u32);
                }
                NodeKind::Gated(input) => {
                    let conditional = emitter.conditional(node);
                    emitter.makes[conditional].push(node as u32);
                    emitter.inputs[conditional].push(input);
                }
                NodeKind::Chosen(conditional, bit) => {
                    emitter.makes[conditional as usize].push(node as u32);
                    for outputs in &nodes.choices[conditional as usize].outputs {
                        emitter.uses[outputs[bit as usize] as usize] += 1;
                    }
                }
            }
        }
        for (conditional, inputs) in emitter.inputs.iter_mut().enumerate() {
            inputs.sort_unstable();
            inputs.dedup();
            if levels.enter[conditional] != DEAD {
                let choice = &nodes.choices[conditional];
                let reads = inputs.iter().map(|&input| choice.inputs[input as usize]);
                for node in reads.chain(choice.code.iter().copied()) {
                    emitter.uses[node as usize] += 1;
                }
            }
        }
        for &node in &nodes.outputs {
            emitter.uses[node as usize] += 1;
        }
        emitter
    }

    fn conditional(&self, node: usize) -> usize {
        self.nodes.guards[self.nodes.nodes[node].guard as usize].conditional as usize
    }

    fn take(&mut self, node: u32) -> u32 {
        let row = self.free.pop().unwrap_or_else(|| {
            self.rows += 1;
            self.rows - 1
        });
        self.row[node as usize] = row;
        row
    }

    /// The row of a node that is read once less.
    fn read(&mut self, node: u32, gone: &mut Vec<u32>) -> u32 {
        let row = self.row[node as usize];
        debug_assert_ne!(row, u32::MAX, "node {node} is there before it is read");
        let uses = &mut self.uses[node as usize];
        *uses -= 1;
        if *uses == 0 {
            gone.push(row);
        }
        row
    }

    fn run(mut self) -> Guarded {
        let nodes = self.nodes;
        let depth = self.levels.depth as usize;
        // Local nodes, and ANDs by branch, for each layer.
        let mut local_nodes: Vec<Vec<u32>> = vec![Vec::new(); depth + 1];
        let mut and_nodes: Vec<Vec<(u32, u32)>> = vec![Vec::new(); depth];
        let mut entries: Vec<Ends> = vec![Ends::default(); depth + 1];
        let mut inputs = Vec::new();
        for (node, made) in (0..).zip(&nodes.nodes) {
            let layer = self.levels.layer[node as usize];
            if layer == DEAD {
                continue;
            }
            match made.kind {
                NodeKind::Input => inputs.push((node - 1, self.take(node))),
                NodeKind::Zero | NodeKind::Not(_) | NodeKind::Xor(..) => {
                    if made.kind != NodeKind::Zero || self.uses[node as usize] > 0 {
                        local_nodes[layer as usize].push(node);
                    }
                }
                NodeKind::And(..) => and_nodes[layer as usize].push((made.guard, node)),
                NodeKind::Active | NodeKind::Gated(_) | NodeKind::Chosen(..) => {}
            }
        }
        for (list, exits) in [(&self.levels.enter, false), (&self.levels.exit, true)] {
            for (conditional, &layer) in (0..).zip(list) {
                if layer == DEAD {
                    continue;
                }
                let ends = &mut entries[layer as usize];
                if exits {
                    &mut ends.exit
                } else {
                    &mut ends.enter
                }
                .push(conditional);
            }
        }
        let mut guards: Vec<Guard> = nodes
            .guards
            .iter()
            .map(|guard| Guard {
                conditional: (guard.conditional != u32::MAX).then_some(guard.conditional),
                branch: guard.branch,
                ands: 0,
            })
            .collect();
        let mut conditionals: Vec<Conditional> = nodes
            .choices
            .iter()
            .map(|choice| Conditional {
                parent: choice.parent,
                guards: choice.guards.clone(),
                code: vec![0; choice.code.len()],
                inputs: Vec::new(),
                active: vec![None; choice.guards.len()],
                gated: vec![Vec::new(); choice.guards.len()],
                outputs: Vec::new(),
                chosen: Vec::new(),
            })
            .collect();
        let (mut local, mut ands, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        for layer in 0..=depth {
            for &node in &local_nodes[layer] {
                let mut gone = Vec::new();
                let op = match nodes.nodes[node as usize].kind {
                    NodeKind::Zero => LocalOp::Const {
                        dst: self.take(node),
                        bit: false,
                    },
                    NodeKind::Not(ZERO) => LocalOp::Const {
                        dst: self.take(node),
                        bit: true,
                    },
                    NodeKind::Not(a) => {
                        let dst = self.take(node);
                        let a = self.read(a, &mut gone);
                        LocalOp::Not { dst, a }
                    }
                    NodeKind::Xor(a, b) => {
                        let dst = self.take(node);
                        let (a, b) = (self.read(a, &mut gone), self.read(b, &mut gone));
                        LocalOp::Xor { dst, a, b }
                    }
                    _ => unreachable!("local operations alone"),
                };
                local.push(op);
                self.free.append(&mut gone);
            }
            let ends = &mut entries[layer];
            ends.local = local.len();
            let mut gone = Vec::new();
            for &conditional in &ends.enter {
                let (choice, entry) = (
                    &nodes.choices[conditional as usize],
                    &mut conditionals[conditional as usize],
                );
                for (row, &node) in entry.code.iter_mut().zip(&choice.code) {
                    *row = self.read(node, &mut gone);
                }
                for input in self.inputs[conditional as usize].clone() {
                    let row = self.read(choice.inputs[input as usize], &mut gone);
                    entry.inputs.push(row);
                }
            }
            for &conditional in &ends.exit {
                let makes = self.makes[conditional as usize].clone();
                let choice = &nodes.choices[conditional as usize];
                for outputs in &choice.outputs {
                    let rows = makes.iter().map(|&node| {
                        let NodeKind::Chosen(_, bit) = nodes.nodes[node as usize].kind else {
                            unreachable!("an exit makes what is chosen");
                        };
                        self.read(outputs[bit as usize], &mut gone)
                    });
                    let rows = rows.collect();
                    conditionals[conditional as usize].outputs.push(rows);
                }
            }
            let mut done = Vec::new();
            if layer < depth {
                and_nodes[layer].sort_unstable();
                for &(guard, node) in &and_nodes[layer] {
                    let NodeKind::And(a, b) = nodes.nodes[node as usize].kind else {
                        unreachable!("ANDs alone");
                    };
                    let (a, b) = (self.read(a, &mut gone), self.read(b, &mut gone));
                    done.push((guard, node, a, b));
                }
            }
            self.free.append(&mut gone);
            for (guard, node, a, b) in done {
                let dst = self.take(node);
                let at = ands.len();
                ands.push(And { dst, a, b });
                guards[guard as usize].ands += 1;
                let begins = entries[..layer].last().map_or(0, |before| before.groups);
                match groups[begins..].last_mut() {
                    Some(Group { guard: same, ands }) if *same == guard => ands.end = at + 1,
                    _ => groups.push(Group {
                        guard,
                        ands: at..at + 1,
                    }),
                }
            }
            for conditional in entries[layer].enter.clone() {
                for node in self.makes[conditional as usize].clone() {
                    let made = nodes.nodes[node as usize];
                    let branch = nodes.guards[made.guard as usize].branch as usize;
                    let entry = &mut conditionals[conditional as usize];
                    match made.kind {
                        NodeKind::Active => entry.active[branch] = Some(self.take(node)),
                        NodeKind::Gated(input) => {
                            let place = self.inputs[conditional as usize].binary_search(&input);
                            let place = place.expect("inputs that are read are listed") as u32;
                            entry.gated[branch].push((place, self.take(node)));
                        }
                        _ => {}
                    }
                }
            }
            for conditional in entries[layer].exit.clone() {
                for node in self.makes[conditional as usize].clone() {
                    let row = self.take(node);
                    conditionals[conditional as usize].chosen.push(row);
                }
            }
            entries[layer].groups = groups.len();
        }
        let outputs = nodes.outputs.iter().map(|&node| self.row[node as usize]);
        Guarded {
            form: nodes.form,
            rows: self.rows,
            input_bits: nodes.input_bits,
            inputs,
            outputs: outputs.collect(),
            guards,
            conditionals,
            local,
            ands,
            groups,
            layers: entries,
        }
    }
}
