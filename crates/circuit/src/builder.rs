//! Netlists made by programs: gates that simplify themselves.

use std::collections::HashMap;
use std::ops::Not;

use crate::compile::Folding;
use crate::netlist::{Assembler, Format, Gate, Logic, MAX_WIRES, Netlist};

/// A wire of a [`Builder`]; of no use with another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wire(u32);

/// Goals of the builder's arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Goal {
    /// Fewest ANDs: fewer bytes, for many lanes or fast networks.
    #[default]
    Size,
    /// Fewest ANDs one after the other: fewer rounds, for few lanes on slow networks.
    Depth,
}

/// Ways to make a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Input,
    Constant(bool),
    Not(Wire),
    Xor(Wire, Wire),
    And(Wire, Wire),
    Or(Wire, Wire),
    /// One of the results of a circuit: the bit as the circuit makes it beside others, and the same bit by
    /// fewer ANDs where nothing needs the others, which have the same `last`. Which one it is, is decided at the
    /// end.
    Result {
        beside: Wire,
        alone: Wire,
        last: Wire,
    },
}

/// Makes a netlist gate by gate. Numbers are slices of wires, least significant bit first; the
/// methods on numbers are in [`crate::blocks`].
///
/// Gates simplify themselves: what follows from constants, from an operand that stands there twice,
/// or from a gate that was made before, makes no gate. Gates that no output needs are left out at the end.
///
/// ```
/// use madrigal_circuit::Builder;
/// let mut builder = Builder::new("add8");
/// let (a, b) = (builder.input(8), builder.input(8));
/// let sum = builder.add(&a, &b);
/// builder.output(&sum);
/// assert_eq!(builder.finish().stats().and, 7);
/// ```
///
/// # Panics
/// Operations on two numbers panic if their widths differ, all panic beyond 2^30 wires.
#[derive(Debug, Default)]
pub struct Builder {
    name: String,
    goal: Goal,
    nodes: Vec<Node>,
    /// ANDs on the longest way to each wire.
    depths: Vec<u32>,
    made: HashMap<Node, Wire, Folding>,
    /// Number of nodes each time that what was made was forgotten.
    forgotten: Vec<usize>,
    inputs: Vec<Vec<Wire>>,
    outputs: Vec<Vec<Wire>>,
}

impl Builder {
    /// An empty netlist; `name` is for messages.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Makes the same builder, whose arithmetic saves what `goal` says.
    #[must_use]
    pub fn with_goal(self, goal: Goal) -> Self {
        Self { goal, ..self }
    }

    /// Goal of the arithmetic.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// The next input value, `width` bits.
    pub fn input(&mut self, width: u32) -> Vec<Wire> {
        let wires: Vec<_> = (0..width).map(|_| self.push(Node::Input)).collect();
        self.inputs.push(wires.clone());
        wires
    }

    /// The next output value. Any wires will do: inputs, and the same one again.
    pub fn output(&mut self, bits: &[Wire]) {
        self.outputs.push(bits.to_vec());
    }

    /// A constant bit.
    pub fn constant(&mut self, bit: bool) -> Wire {
        self.node(Node::Constant(bit))
    }

    /// The bit that a wire always carries, if it is a constant.
    pub fn known(&self, wire: Wire) -> Option<bool> {
        match self.nodes[wire.0 as usize] {
            Node::Constant(bit) => Some(bit),
            _ => None,
        }
    }

    /// ANDs on the longest way from an input to this wire.
    pub fn depth(&self, wire: Wire) -> u32 {
        self.depths[wire.0 as usize]
    }

    /// Nodes so far, inputs and constants included.
    pub(crate) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Makes gates anew from now on, even if they were made before.
    pub(crate) fn forget(&mut self) {
        self.forgotten.push(self.nodes.len());
        self.made
            .retain(|node, _| matches!(node, Node::Constant(_)));
    }

    /// Gives a circuit's results, with the last one by itself too: `alone` is the same bit as the last of `beside`.
    pub(crate) fn results(&mut self, beside: &[Wire], alone: Wire) -> Vec<Wire> {
        let Some(&last) = beside.last() else {
            return Vec::new();
        };
        let result = |&beside: &Wire| {
            let alone = if beside == last { alone } else { beside };
            match self.known(beside) {
                Some(_) => beside,
                None => self.node(Node::Result {
                    beside,
                    alone,
                    last,
                }),
            }
        };
        beside.iter().map(result).collect()
    }

    /// `a ^ b`
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        // Inverters move behind XORs, where two of them meet and vanish.
        let ((a, a_inverted), (b, b_inverted)) = (self.bare(a), self.bare(b));
        let sum = match (self.known(a), self.known(b)) {
            // A constant that is bare is 0.
            (Some(_), _) => b,
            (_, Some(_)) => a,
            _ if a == b => self.constant(false),
            _ => self.node(Node::Xor(a.min(b), a.max(b))),
        };
        if a_inverted ^ b_inverted {
            self.not(sum)
        } else {
            sum
        }
    }

    /// `a & b`
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.known(a), self.known(b)) {
            (Some(false), _) | (_, Some(true)) => a,
            (_, Some(false)) | (Some(true), _) => b,
            _ if a == b => a,
            _ if self.not(a) == b => self.constant(false),
            _ => self.node(Node::And(a.min(b), a.max(b))),
        }
    }

    /// `a | b`; one AND.
    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.known(a), self.known(b)) {
            (Some(true), _) | (_, Some(false)) => a,
            (_, Some(true)) | (Some(false), _) => b,
            _ if a == b => a,
            _ if self.not(a) == b => self.constant(true),
            _ => self.node(Node::Or(a.min(b), a.max(b))),
        }
    }

    /// `!a`
    pub fn not(&mut self, a: Wire) -> Wire {
        match self.nodes[a.0 as usize] {
            Node::Constant(bit) => self.constant(bit.not()),
            Node::Not(a) => a,
            _ => self.node(Node::Not(a)),
        }
    }

    /// Says whether at least two of three are 1; one AND.
    pub fn majority(&mut self, a: Wire, b: Wire, c: Wire) -> Wire {
        let (ac, bc) = (self.xor(a, c), self.xor(b, c));
        let both = self.and(ac, bc);
        self.xor(both, c)
    }

    /// The outputs of a netlist on wires in the place of its inputs.
    ///
    /// # Panics
    /// If the widths are not those of the netlist's inputs.
    pub fn netlist(&mut self, netlist: &Netlist, inputs: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        let widths = inputs.iter().map(|input| input.len() as u32);
        assert!(
            widths.eq(netlist.inputs().iter().copied()),
            "a circuit with inputs of {:?} bits",
            netlist.inputs()
        );
        let mut made = self.replay(netlist, inputs.concat()).into_iter();
        let values = netlist.outputs().iter();
        let values = values.map(|&width| made.by_ref().take(width as usize).collect());
        values.collect()
    }

    /// Makes the gates of a netlist on wires in the place of its inputs; gives those of its outputs.
    pub(crate) fn replay(&mut self, netlist: &Netlist, inputs: Vec<Wire>) -> Vec<Wire> {
        let zero = self.constant(false);
        netlist.replay(inputs, zero, |gate| match gate {
            Logic::Xor(a, b) => self.xor(a, b),
            Logic::And(a, b) => self.and(a, b),
            Logic::Or(a, b) => self.or(a, b),
            Logic::Not(a) => self.not(a),
            Logic::Constant(bit) => self.constant(bit),
        })
    }

    /// The netlist. Inputs get the first wires and outputs the last ones, by way of a copy where an
    /// output is an input or stands there twice.
    pub fn finish(self) -> Netlist {
        self.decided().assemble()
    }

    fn assemble(self) -> Netlist {
        const NONE: u32 = u32::MAX;
        let alive = self.alive();
        let inputs: u32 = self.inputs.iter().map(|value| value.len() as u32).sum();
        let mut number = vec![NONE; self.nodes.len()];
        for (wire, at) in self.inputs.iter().flatten().zip(0..) {
            number[wire.0 as usize] = at;
        }
        let made = (0..self.nodes.len())
            .filter(|&node| alive[node] && self.nodes[node] != Node::Input)
            .count() as u32;
        // Outputs that are an input, or were an output before, are copies.
        let mut copies = Vec::new();
        let outputs: Vec<Wire> = self.outputs.iter().flatten().copied().collect();
        let repeated = {
            let mut taken = number.iter().map(|&at| at != NONE).collect::<Vec<_>>();
            let mut again = |wire: &Wire| std::mem::replace(&mut taken[wire.0 as usize], true);
            outputs.iter().map(&mut again).collect::<Vec<_>>()
        };
        let copied = repeated.iter().filter(|&&again| again).count() as u32;
        let wires = inputs + made + copied;
        let first = wires - outputs.len() as u32;
        for ((wire, again), at) in outputs.iter().zip(repeated).zip(first..) {
            if again {
                copies.push((*wire, at));
            } else {
                number[wire.0 as usize] = at;
            }
        }
        let between = number.iter_mut().zip(&alive);
        let between = between.filter(|(number, alive)| **alive && **number == NONE);
        for ((number, _), at) in between.zip(inputs..) {
            *number = at;
        }

        let widths = |values: &[Vec<Wire>]| values.iter().map(|value| value.len() as u32).collect();
        let valid = "the builder assigns each wire once, before it can be read";
        let (name, format) = (&self.name, Format::BristolFashion);
        let widths = (widths(&self.inputs), widths(&self.outputs));
        let mut assembler = Assembler::new(name, format, wires, widths.0, widths.1).expect(valid);
        let at = |wire: u32| number[wire as usize];
        for (out, node) in (0..).zip(&self.nodes) {
            let gate = match *node {
                _ if at(out) == NONE => continue,
                Node::Input => continue,
                Node::Constant(bit) => Gate::Const { bit, out },
                Node::Not(Wire(a)) => Gate::Inv { a, out },
                Node::Xor(Wire(a), Wire(b)) => Gate::Xor { a, b, out },
                Node::And(Wire(a), Wire(b)) => Gate::And { a, b, out },
                Node::Or(Wire(a), Wire(b)) => Gate::Or { a, b, out },
                Node::Result { .. } => unreachable!("they are decided"),
            };
            assembler.gate(gate.renumbered(at)).expect(valid);
        }
        for (Wire(a), out) in copies {
            let copy = Gate::Copy { a: at(a), out };
            assembler.gate(copy).expect(valid);
        }
        assembler.finish().expect(valid)
    }

    /// Makes the same gates again, with what it stands for in the place of each [`Node::Result`].
    fn decided(self) -> Self {
        let is_result = |node: &Node| matches!(node, Node::Result { .. });
        if !self.nodes.iter().any(is_result) {
            return self;
        }
        let mut needed = vec![0_u32; self.nodes.len()];
        for (node, alive) in self.nodes.iter().zip(self.alive()) {
            if let (Node::Result { last, .. }, true) = (node, alive) {
                needed[last.0 as usize] += 1;
            }
        }
        let mut again = Self::new(&self.name).with_goal(self.goal);
        let mut wires: Vec<Wire> = Vec::with_capacity(self.nodes.len());
        let mut forgotten = self.forgotten.iter().peekable();
        for (at, &node) in self.nodes.iter().enumerate() {
            while forgotten.next_if(|&&place| place == at).is_some() {
                again.forget();
            }
            let of = |wire: Wire| wires[wire.0 as usize];
            wires.push(match node {
                Node::Input => again.push(Node::Input),
                Node::Constant(bit) => again.constant(bit),
                Node::Not(a) => again.not(of(a)),
                Node::Xor(a, b) => again.xor(of(a), of(b)),
                Node::And(a, b) => again.and(of(a), of(b)),
                Node::Or(a, b) => again.or(of(a), of(b)),
                Node::Result {
                    beside,
                    alone,
                    last,
                } => match needed[last.0 as usize] {
                    0 | 1 => of(alone),
                    _ => of(beside),
                },
            });
        }
        let again_of = |values: Vec<Vec<Wire>>| -> Vec<Vec<Wire>> {
            let value = |value: Vec<Wire>| value.into_iter().map(|wire| wires[wire.0 as usize]);
            values
                .into_iter()
                .map(|wires| value(wires).collect())
                .collect()
        };
        again.inputs = again_of(self.inputs);
        again.outputs = again_of(self.outputs);
        again
    }

    /// Marks the nodes that an output needs; of a result that is not decided yet the nodes of `alone`.
    fn alive(&self) -> Vec<bool> {
        let mut alive = vec![false; self.nodes.len()];
        for wire in self.outputs.iter().flatten() {
            alive[wire.0 as usize] = true;
        }
        for node in (0..self.nodes.len())
            .rev()
            .filter(|&node| self.nodes[node] != Node::Input)
        {
            if !alive[node] {
                continue;
            }
            match self.nodes[node] {
                Node::Input | Node::Constant(_) => {}
                Node::Not(a) | Node::Result { alone: a, .. } => alive[a.0 as usize] = true,
                Node::Xor(a, b) | Node::And(a, b) | Node::Or(a, b) => {
                    alive[a.0 as usize] = true;
                    alive[b.0 as usize] = true;
                }
            }
        }
        alive
    }

    /// A wire without the inverter before it, and whether there was one; 0 for a constant.
    fn bare(&mut self, wire: Wire) -> (Wire, bool) {
        match self.nodes[wire.0 as usize] {
            Node::Not(a) => (a, true),
            Node::Constant(true) => (self.constant(false), true),
            _ => (wire, false),
        }
    }

    /// The wire of a gate, which is made unless it was made before.
    fn node(&mut self, node: Node) -> Wire {
        if let Some(&wire) = self.made.get(&node) {
            return wire;
        }
        let wire = self.push(node);
        self.made.insert(node, wire);
        wire
    }

    fn push(&mut self, node: Node) -> Wire {
        let wires = self.nodes.len() as u32;
        assert!(wires < MAX_WIRES, "a netlist has at most {MAX_WIRES} wires");
        let depth = match node {
            Node::Input | Node::Constant(_) => 0,
            Node::Not(a) => self.depth(a),
            Node::Xor(a, b) => self.depth(a).max(self.depth(b)),
            Node::And(a, b) | Node::Or(a, b) => self.depth(a).max(self.depth(b)) + 1,
            Node::Result { beside, .. } => self.depth(beside),
        };
        self.nodes.push(node);
        self.depths.push(depth);
        Wire(wires)
    }
}
