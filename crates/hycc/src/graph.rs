//! A program's nodes become operations of the engine, stage by stage.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use madrigal_circuit::hycc::{Flat, Op};
use madrigal_circuit::{Builder, Wire};
use madrigal_core::Party;
use madrigal_core::budget::{Budget, Spent};
use madrigal_engine::{Element, Graph, GraphError, Sharing, Sort, Value, Width};
use madrigal_operations::{Backend, Circuit};

use crate::form::Form;
use crate::nodes::{Making, Place, netlist};
use crate::stages::{Group, Options, Protocol, Stages, operands};

/// Bytes for each bit that a circuit takes from another: of the circuit, and of what is noted of it.
const IMPORTED: u64 = 64;

/// Reasons why there are no operations.
#[derive(Debug)]
pub(crate) enum MakeError {
    Graph(GraphError),
    Memory(Spent),
}

impl From<GraphError> for MakeError {
    fn from(error: GraphError) -> Self {
        Self::Graph(error)
    }
}

impl From<Spent> for MakeError {
    fn from(spent: Spent) -> Self {
        Self::Memory(spent)
    }
}

/// A program for the engine.
#[derive(Debug, Clone)]
pub(crate) struct HybridGraph {
    pub(crate) graph: Graph,
    /// Nodes of each of the graph's inputs: words, or bits as planes.
    pub(crate) inputs: Vec<Vec<u32>>,
    /// Places of each output's nodes.
    pub(crate) outputs: Vec<Vec<Piece>>,
}

/// Places of an output's bit or word.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece {
    /// A value that follows from constants.
    Known { value: u64, width: u8 },
    /// A place in the graph's output of this number: a word, or, of bits, a plane.
    At {
        output: usize,
        place: usize,
        width: u8,
    },
}

/// Targets of a group's bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// Gates in this protocol, or words that it makes of bits.
    Gates(Protocol),
    /// Parties that get outputs: nothing else may be among the targets.
    Output,
}

/// Bits of a group that are needed elsewhere, as planes of one value.
#[derive(Default)]
struct Export {
    nodes: Vec<u32>,
    planes: HashMap<u32, usize>,
    value: Option<Value>,
}

pub(crate) struct Lowering<'a> {
    pub(crate) flat: &'a Flat,
    budget: Budget,
    options: &'a Options,
    pub(crate) stages: Stages,
    pub(crate) making: Making,
    pub(crate) inputs: Vec<Vec<u32>>,
    exports: BTreeMap<(Group, Target), Export>,
    words: HashMap<u32, Place>,
    /// Sums that are part of a single other one.
    pub(crate) forms: HashMap<u32, Form>,
    /// Number of times that a word is read; once more where that is not by a sum.
    pub(crate) uses: Vec<u8>,
}

impl<'a> Lowering<'a> {
    /// Begins a program, of `lanes` lanes.
    pub(crate) fn new(flat: &'a Flat, options: &'a Options, parties: usize, lanes: usize) -> Self {
        let stages = Stages::new(flat, options, parties);
        let mut lowering = Self {
            uses: vec![0; flat.nodes.len()],
            // A program may be planned several times, one after the other.
            budget: Budget::new(flat.budget().left()),
            flat,
            options,
            stages,
            making: Making {
                graph: Graph::new(parties),
                lanes,
                label: String::new(),
            },
            inputs: Vec::new(),
            exports: BTreeMap::new(),
            words: HashMap::new(),
            forms: HashMap::new(),
        };
        lowering.find_uses();
        lowering
    }
}

impl Lowering<'_> {
    /// Record of the protocol of words.
    pub(crate) fn rings(&self) -> &'static Backend {
        Backend::of(self.options.words)
    }

    pub(crate) fn known(&self, node: u32) -> Option<u64> {
        self.stages.known[node as usize]
    }

    pub(crate) fn width(&self, node: u32) -> u8 {
        self.flat.nodes[node as usize].width
    }

    /// Counts the reads of each node by its readers.
    fn find_uses(&mut self) {
        for at in 0..self.flat.nodes.len() {
            let Some(group) = self.stages.groups[at] else {
                continue;
            };
            for operand in operands(self.flat, &self.flat.nodes[at].op) {
                match group {
                    _ if self.known(operand).is_some() => {}
                    Group::Circuit { protocol, .. } if self.width(operand) == 1 => {
                        if self.stages.groups[operand as usize] != Some(group) {
                            self.export(operand, Target::Gates(protocol));
                        }
                    }
                    Group::Combine { protocol, .. } => {
                        self.export(operand, Target::Gates(protocol));
                    }
                    Group::Linear { .. } => self.count(operand, 1),
                    _ => self.count(operand, 2),
                }
            }
        }
        for node in self.flat.output_nodes.iter().flatten().copied() {
            match (self.known(node), self.width(node)) {
                (Some(_), _) => {}
                (None, 1) => self.export(node, Target::Output),
                _ => self.count(node, 2),
            }
        }
    }

    fn count(&mut self, node: u32, uses: u8) {
        let count = &mut self.uses[node as usize];
        *count = count.saturating_add(uses);
    }

    fn export(&mut self, node: u32, target: Target) {
        let group = self.stages.groups[node as usize].expect("what is read is made");
        let export = self.exports.entry((group, target)).or_default();
        export.planes.entry(node).or_insert_with(|| {
            export.nodes.push(node);
            export.nodes.len() - 1
        });
    }

    pub(crate) fn input(
        &mut self,
        group: Group,
        owner: u8,
        width: u8,
        nodes: Vec<u32>,
    ) -> Result<(), MakeError> {
        let (party, lanes) = (Party::new(owner.into()), self.making.lanes);
        let clear = Sharing::clear(&[party]);
        if width > 1 {
            let sort = Sort::new(clear, Element::Ring(ring(width)), nodes.len() * lanes);
            let value = self.making.graph.input(sort);
            let value = self.making.one(self.rings().share(clear), &[value])?;
            self.place(&nodes, value);
            self.inputs.push(nodes);
            return Ok(());
        }
        let value = self
            .making
            .graph
            .input(Sort::new(clear, Element::Bits(nodes.len()), lanes));
        let protocol = self.flat.nodes[nodes[0] as usize].sharing;
        let protocol = self.options.protocol(protocol, self.making.graph.parties());
        let share = protocol.backend().share(clear);
        let value = self.making.one(share, &[value])?;
        let mut builder = Builder::new("bits of inputs");
        let planes = builder.input(nodes.len() as u32);
        let wires = nodes.iter().copied().zip(planes).collect();
        self.inputs.push(nodes);
        self.finish(group, protocol, builder, &wires, &[value])
    }

    /// The words of a vector.
    pub(crate) fn place(&mut self, nodes: &[u32], value: Value) {
        let count = nodes.len();
        for (at, &node) in nodes.iter().enumerate() {
            self.words.insert(node, Place { value, at, count });
        }
    }

    pub(crate) fn gather(&mut self, nodes: impl Iterator<Item = u32>) -> Result<Value, MakeError> {
        let places: Vec<Place> = nodes.map(|node| self.words[&node]).collect();
        Ok(self.making.gather(&places)?)
    }

    /// Gates of one protocol that wait for nothing but each other.
    pub(crate) fn circuit(
        &mut self,
        group: Group,
        protocol: Protocol,
        nodes: &[u32],
    ) -> Result<(), MakeError> {
        let mut builder = Builder::new(&self.making.label).with_goal(protocol.goal());
        let mut wires: HashMap<u32, Wire> = HashMap::new();
        let (mut sources, mut split) = (BTreeSet::new(), BTreeMap::new());
        for &node in nodes {
            for operand in operands(self.flat, &self.flat.nodes[node as usize].op) {
                let made_by = self.stages.groups[operand as usize];
                match made_by {
                    _ if self.known(operand).is_some() || made_by == Some(group) => {}
                    _ if self.width(operand) > 1 => {
                        let words: &mut BTreeSet<u32> =
                            split.entry(self.width(operand)).or_default();
                        words.insert(operand);
                    }
                    Some(source) => drop(sources.insert(source)),
                    None => unreachable!("what is read is made, or known"),
                }
            }
        }
        let mut inputs = Vec::new();
        for source in sources {
            self.import((source, protocol), &mut builder, &mut wires, &mut inputs)?;
        }
        let mut words: HashMap<u32, Vec<Wire>> = HashMap::new();
        for (width, split) in split {
            let parties = self.making.graph.parties();
            let all = self.gather(split.iter().copied())?;
            let addends = protocol.backend().split(self.rings(), parties, false);
            let parts = self.making.chain(addends, &[all])?;
            for (at, &word) in split.iter().enumerate() {
                let mut numbers = Vec::with_capacity(parts.len());
                for &part in &parts {
                    inputs.push(self.making.part(part, at, split.len())?);
                    numbers.push(builder.input(width.into()));
                }
                words.insert(word, builder.add_all(&numbers));
            }
        }
        for &node in nodes {
            let known = &self.stages.known;
            let wire = |builder: &mut Builder, operand: &u32| match known[*operand as usize] {
                Some(bit) => builder.constant(bit == 1),
                None => wires[operand],
            };
            let made = match &self.flat.nodes[node as usize].op {
                Op::Not(a) => {
                    let a = wire(&mut builder, a);
                    builder.not(a)
                }
                Op::Split { word, bit } => words[word][usize::from(*bit)],
                Op::And(a, b) | Op::Or(a, b) | Op::Xor(a, b) => {
                    let (x, y) = (wire(&mut builder, a), wire(&mut builder, b));
                    match &self.flat.nodes[node as usize].op {
                        Op::And(..) => builder.and(x, y),
                        Op::Or(..) => builder.or(x, y),
                        _ => builder.xor(x, y),
                    }
                }
                _ => unreachable!("a circuit has gates of bits"),
            };
            wires.insert(node, made);
        }
        self.finish(group, protocol, builder, &wires, &inputs)
    }

    /// Bits that a group exports become inputs of a circuit: all of them, of which it may read one. In a program with
    /// many stages that is more than it has gates, so it counts by itself.
    fn import(
        &self,
        (source, protocol): (Group, Protocol),
        builder: &mut Builder,
        wires: &mut HashMap<u32, Wire>,
        inputs: &mut Vec<Value>,
    ) -> Result<(), MakeError> {
        let export = &self.exports[&(source, Target::Gates(protocol))];
        let planes = (export.nodes.len() as u64).saturating_mul(IMPORTED);
        self.budget.take(planes)?;
        inputs.push(export.value.expect("made in an earlier stage"));
        let planes = builder.input(export.nodes.len() as u32);
        wires.extend(export.nodes.iter().copied().zip(planes));
        Ok(())
    }

    /// The circuit of a group, and its bits where they are needed.
    fn finish(
        &mut self,
        group: Group,
        protocol: Protocol,
        mut builder: Builder,
        wires: &HashMap<u32, Wire>,
        inputs: &[Value],
    ) -> Result<(), MakeError> {
        let first = Target::Gates(Protocol::FIRST);
        let own = self.exports.range((group, first)..=(group, Target::Output));
        let targets: Vec<Target> = own.map(|((_, target), _)| *target).collect();
        for &target in &targets {
            let nodes = self.exports[&(group, target)].nodes.iter();
            let bits: Vec<Wire> = nodes.map(|node| wires[node]).collect();
            builder.output(&bits);
        }
        let circuit = Circuit::new(&builder.finish());
        let values = self.making.add(netlist(protocol, circuit), inputs)?;
        for (&target, value) in targets.iter().zip(values) {
            let value = match target {
                Target::Gates(other) => self.making.convert(value, protocol, other)?,
                Target::Output => value,
            };
            let export = self.exports.get_mut(&(group, target));
            export.expect("filtered above").value = Some(value);
        }
        Ok(())
    }

    /// Words of bits in a protocol.
    pub(crate) fn combine(
        &mut self,
        width: u8,
        protocol: Protocol,
        nodes: &[u32],
    ) -> Result<(), MakeError> {
        let bits = |node: u32| match &self.flat.nodes[node as usize].op {
            Op::Combine(bits) => self.flat.combined(bits),
            _ => unreachable!("a word of bits"),
        };
        let mut builder = Builder::new("bits of words");
        let mut wires: HashMap<u32, Wire> = HashMap::new();
        let mut inputs = Vec::new();
        let all = nodes.iter().flat_map(|&node| bits(node));
        let unknown = all.filter(|&&bit| self.known(bit).is_none());
        let sources: BTreeSet<Group> = unknown
            .filter_map(|&bit| self.stages.groups[bit as usize])
            .collect();
        for source in sources {
            self.import((source, protocol), &mut builder, &mut wires, &mut inputs)?;
        }
        for &node in nodes {
            let wire = |bit: &u32| match self.known(*bit) {
                Some(bit) => builder.constant(bit == 1),
                None => wires[bit],
            };
            let word: Vec<Wire> = bits(node).iter().map(wire).collect();
            builder.output(&word);
        }
        let circuit = Circuit::new(&builder.finish());
        let words = self.making.add(netlist(protocol, circuit), &inputs)?;
        let planes = self.making.joined(&words)?;
        let chain = self.rings().compose(protocol.backend(), ring(width), false);
        let value = self.making.chain(chain, &[planes])?[0];
        self.place(nodes, value);
        Ok(())
    }

    pub(crate) fn product(&mut self, _: u8, square: bool, nodes: &[u32]) -> Result<(), MakeError> {
        let factors = |node: &u32| match self.flat.nodes[*node as usize].op {
            Op::Mul(a, b) => (a, b),
            _ => unreachable!("a product"),
        };
        let (a, b): (Vec<u32>, Vec<u32>) = nodes.iter().map(factors).unzip();
        let a = self.gather(a.into_iter())?;
        let rings = self.rings().numbers().rings;
        let value = match square {
            true => self.making.one(rings.square(), &[a])?,
            false => {
                let b = self.gather(b.into_iter())?;
                self.making.one(rings.mul(), &[a, b])?
            }
        };
        self.place(nodes, value);
        Ok(())
    }

    /// Opens the outputs; where each of their bits and words is then.
    pub(crate) fn open(&mut self, to: &[Party]) -> Result<Vec<Vec<Piece>>, MakeError> {
        self.making.label = "outputs".into();
        let mut words: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for node in self.flat.output_nodes.iter().flatten().copied() {
            if self.width(node) > 1 && self.known(node).is_none() && seen.insert(node) {
                words.entry(self.width(node)).or_default().push(node);
            }
        }
        let mut places: HashMap<u32, (usize, usize)> = HashMap::new();
        let mut count = 0;
        for nodes in words.into_values() {
            let value = self.gather(nodes.iter().copied())?;
            let value = self.making.one(self.rings().edges.open(to), &[value])?;
            self.making.graph.output(value);
            let own = (0..).map(|place| (count, place));
            places.extend(nodes.into_iter().zip(own));
            count += 1;
        }
        // Bits of one protocol in one message.
        let mut bits: BTreeMap<Protocol, Vec<(Value, &Export)>> = BTreeMap::new();
        for ((group, target), export) in &self.exports {
            if *target == Target::Output {
                let protocol = match group {
                    Group::Circuit { protocol, .. } => *protocol,
                    _ => {
                        let sharing = self.flat.nodes[export.nodes[0] as usize].sharing;
                        self.options.protocol(sharing, self.making.graph.parties())
                    }
                };
                let value = export.value.expect("all groups are made");
                bits.entry(protocol).or_default().push((value, export));
            }
        }
        for (protocol, exports) in bits {
            let values: Vec<Value> = exports.iter().map(|(value, _)| *value).collect();
            let opened = self
                .making
                .add(protocol.backend().edges.open(to), &values)?;
            for (value, (_, export)) in opened.into_iter().zip(exports) {
                self.making.graph.output(value);
                let own = (0..).map(|plane| (count, plane));
                places.extend(export.nodes.iter().copied().zip(own));
                count += 1;
            }
        }
        let piece = |&node: &u32| {
            let width = self.width(node);
            match self.known(node) {
                Some(value) => Piece::Known { value, width },
                None => {
                    let (output, place) = places[&node];
                    Piece::At {
                        output,
                        place,
                        width,
                    }
                }
            }
        };
        let outputs = self.flat.output_nodes.iter();
        Ok(outputs
            .map(|nodes| nodes.iter().map(piece).collect())
            .collect())
    }
}

fn ring(width: u8) -> Width {
    let mut all = Width::ALL.into_iter();
    let found = all.find(|own| own.bits() == usize::from(width));
    found.expect("words have 8, 16, 32 or 64 bits")
}
