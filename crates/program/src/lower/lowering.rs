//! Which steps each operation becomes, and where: on ring elements or on bits.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use madrigal_circuit::Goal;
use madrigal_engine::Sharing;
use madrigal_operations::{Backend, Predicate};

use super::choose::{self, Wants};
use super::draft::{Circuits, Draft};
use super::ranges::Ranges;
use super::steps::{Body, Slot};
use super::{Domain, Mix};
use crate::computation::KeptPort;
use crate::element::Type;
use crate::error::{Fault, ProgramError, Source};
use crate::ir::{Graph, Node, Op, OwnOperation, Unary, Value};
use crate::ports::{InputPort, OutputPort};
use crate::shape::Shape;
use crate::stages::Cell;

pub(super) type Result<T> = std::result::Result<T, ProgramError>;

/// The vectors that a value is there as.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Form {
    pub(super) ring: Option<Slot>,
    pub(super) bits: Option<Slot>,
    /// A ring element that all know.
    pub(super) public: Option<Slot>,
    /// Whether it is made of its operands when it is asked for, in the form it is asked for.
    pub(super) lazy: bool,
    /// Where the program says that it is.
    pub(super) explicit: Option<Domain>,
}

/// Where a value is without a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Native {
    Ring,
    Bits,
    /// In either, as it is wanted.
    Free,
}

/// How many values that are made when they are asked for may be made of each other, one by one. A model may have
/// thousands of nodes that move elements in a row: without an end, making the last one would need as deep a stack, and
/// looking where it is would go through all of them for each of them.
const DEEPEST: u32 = 64;

/// What comes into a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports<'a> {
    pub(super) inputs: &'a [InputPort],
    /// Of earlier stages.
    pub(super) taken: &'a [KeptPort],
}

/// Lowers one graph.
pub(super) struct Lowering<'a> {
    pub(super) graph: &'a Graph,
    pub(super) mix: Mix,
    pub(super) parties: usize,
    pub(super) ports: Ports<'a>,
    pub(super) goal: Goal,
    /// Whether conditionals are computed on ring elements where they can be.
    pub(super) rings: bool,
    pub(super) draft: Draft,
    pub(super) forms: Vec<Vec<Form>>,
    pub(super) wants: Vec<Vec<Wants>>,
    /// How many values that are made when they are asked for each node's result is made of, one of the other.
    depths: Vec<u32>,
    /// Of elements moved: whether all parties know them.
    pub(super) publics: Vec<bool>,
    /// How many operands each value is, and which node takes it last.
    pub(super) uses: Vec<Vec<(u32, usize)>>,
    /// Numbers that add up to ring elements.
    pub(super) splits: HashMap<(Slot, bool), Vec<Slot>>,
    /// What is known of ring elements.
    pub(super) tested: HashMap<(Slot, Predicate), Slot>,
    /// Found when a quotient asks for them.
    pub(super) ranges: OnceCell<Ranges>,
    /// The operation at hand: its place, its words, and whether it is a conversion itself.
    pub(super) at: Source,
    pub(super) operator: String,
    pub(super) converts: bool,
}

impl<'a> Lowering<'a> {
    #[track_caller]
    pub(super) fn new(
        graph: &'a Graph,
        mix: Mix,
        parties: usize,
        ports: Ports<'a>,
        (goal, rings): (Goal, bool),
    ) -> Self {
        let mut uses: Vec<Vec<(u32, usize)>> = Vec::new();
        for (number, node) in graph.nodes().iter().enumerate() {
            uses.push(vec![(0, 0); node.outputs.len()]);
            for input in &node.inputs {
                let used = &mut uses[input.node as usize][input.output as usize];
                *used = (used.0 + 1, number);
            }
        }
        for result in graph.results() {
            uses[result.node as usize][result.output as usize].0 += 1;
        }
        let outputs = graph.nodes().iter().map(|node| node.outputs.len());
        Self {
            graph,
            mix,
            parties,
            ports,
            goal,
            rings,
            draft: Draft::default(),
            forms: outputs.map(|count| vec![Form::default(); count]).collect(),
            wants: choose::wants(graph, mix, rings),
            depths: vec![0; graph.nodes().len()],
            publics: vec![false; graph.nodes().len()],
            uses,
            splits: HashMap::new(),
            tested: HashMap::new(),
            ranges: OnceCell::new(),
            at: Source::here(),
            operator: String::new(),
            converts: false,
        }
    }

    /// The steps of a whole program.
    pub(super) fn program(
        mut self,
        outputs: &[OutputPort],
        kept: &[Arc<Cell>],
        circuits: &mut Circuits,
    ) -> Result<Body> {
        self.nodes(circuits)?;
        let mut results = Vec::new();
        for (port, &value) in outputs.iter().zip(self.graph.results()) {
            self.at = port.at;
            self.operator = "an opening".into();
            let shared = match self.native(value) {
                Native::Bits => self.bits_slot(value)?,
                Native::Free if self.element(value).is_bool() => self.bits_slot(value)?,
                _ => self.ring_slot(value)?,
            };
            let backend = Backend::of(self.draft.sort(shared).sharing);
            results.push(self.operation(backend.edges.open(&port.to), &[shared])?);
        }
        for (cell, &value) in kept.iter().zip(&self.graph.results()[outputs.len()..]) {
            self.at = cell.at;
            results.push(self.keep(value)?);
        }
        Ok(self.draft.finish(&results, self.goal, circuits))
    }

    /// All nodes in order.
    pub(super) fn nodes(&mut self, circuits: &mut Circuits) -> Result<()> {
        for (number, node) in self.graph.nodes().iter().enumerate() {
            self.at = node.at;
            self.operator = node.op.to_string();
            self.converts = false;
            self.node(number, node, circuits)?;
        }
        Ok(())
    }

    fn node(&mut self, number: usize, node: &'a Node, circuits: &mut Circuits) -> Result<()> {
        let explicit = self.explicit(node);
        match &node.op {
            Op::Argument(_) => return Ok(()), // its form is there
            Op::Input(_) | Op::Constant(_) | Op::Counter => self.forms[number][0].lazy = true,
            &Op::Kept(place) => self.take(number, place)?,
            Op::View(_)
            | Op::Reshape(_)
            | Op::Pick { .. }
            | Op::Join(_)
            | Op::Row(_)
            | Op::Cast(_) => {
                let form = &mut self.forms[number][0];
                (form.lazy, form.explicit) = (true, explicit);
                let moves = !matches!(node.op, Op::Row(_) | Op::Cast(_));
                self.publics[number] = moves && node.inputs.iter().all(|&one| self.is_public(one));
                if self.deeper(number, node) > DEEPEST {
                    self.settle(number)?;
                }
            }
            Op::To(sharing) => {
                let domain = self.wanted(*sharing)?;
                self.converts = true;
                match domain {
                    _ if node.outputs[0].element.is_bool() => {
                        self.forms[number][0].bits = Some(self.bits_slot(node.inputs[0])?);
                    }
                    Domain::Ring => {
                        self.forms[number][0].ring = Some(self.ring_slot(node.inputs[0])?);
                    }
                    Domain::Bits => {
                        self.forms[number][0].bits = Some(self.bits_slot(node.inputs[0])?);
                    }
                }
                self.forms[number][0].explicit = Some(domain);
            }
            Op::Repeat {
                count,
                carried,
                body,
            } => self.repeat(number, node, *count, *carried, body, circuits)?,
            Op::Operation(own) => self.own_operation(number, node, own)?,
            Op::Choose(_) => {
                if let Some(slots) = self.ring_branches(node)? {
                    for (form, slot) in self.forms[number].iter_mut().zip(slots) {
                        form.ring = Some(slot);
                    }
                    return Ok(());
                }
                for (output, slot) in self.branches(node)?.into_iter().enumerate() {
                    self.forms[number][output].bits = Some(slot);
                }
            }
            _ => {
                let domain = self.choose(number, node, explicit);
                if domain == Domain::Ring
                    && self.joins_sum(number, node)
                    && self.deeper(number, node) <= DEEPEST
                {
                    self.forms[number][0].lazy = true;
                    return Ok(());
                }
                self.depths[number] = 0;
                let made = match domain {
                    Domain::Ring => vec![self.on_ring(node)?],
                    Domain::Bits => self.on_bits(node)?,
                };
                for (form, slot) in self.forms[number].iter_mut().zip(made) {
                    match domain {
                        Domain::Ring => form.ring = Some(slot),
                        Domain::Bits => form.bits = Some(slot),
                    }
                    form.explicit = explicit.filter(|&explicit| explicit == domain);
                }
            }
        }
        Ok(())
    }

    /// An operation of the author's, on values in the sharings that it takes.
    fn own_operation(&mut self, number: usize, node: &Node, own: &OwnOperation) -> Result<()> {
        let mut operands = Vec::new();
        for (&input, &(wanted, element)) in node.inputs.iter().zip(own.takes()) {
            let domain = Domain::holding(element);
            self.in_mix(wanted, domain)?;
            operands.push(match domain {
                Domain::Ring => self.ring_slot(input)?,
                Domain::Bits => self.bits_slot(input)?,
            });
        }
        let made = self.chain(vec![Arc::clone(own.operation())], &operands)?;
        for (output, slot) in made.into_iter().enumerate() {
            let sort = self.draft.sort(slot);
            let domain = Domain::holding(sort.element);
            self.in_mix(sort.sharing, domain)?;
            let form = &mut self.forms[number][output];
            match domain {
                Domain::Ring => form.ring = Some(slot),
                Domain::Bits => form.bits = Some(slot),
            }
        }
        Ok(())
    }

    /// Checks that a sharing is the one in which the mix has ring elements or bits.
    fn in_mix(&self, wanted: Sharing, domain: Domain) -> Result<()> {
        if wanted == self.sharing(domain) {
            return Ok(());
        }
        let mix = self.mix.to_string();
        Err(self.fault(Fault::NotInMix { wanted, mix }))
    }

    /// One more than the depth of a node's operands, which is its own depth if it is made when it is asked for.
    fn deeper(&mut self, number: usize, node: &Node) -> u32 {
        let inputs = node.inputs.iter();
        let depth = inputs.map(|input| self.depths[input.node as usize]).max();
        self.depths[number] = depth.unwrap_or(0) + 1;
        self.depths[number]
    }

    /// Makes a value now that would be made when it is asked for, where it is without a conversion.
    fn settle(&mut self, number: usize) -> Result<()> {
        let value = Value {
            node: number as u32,
            output: 0,
        };
        let wants = self.wants[number][0];
        let ring = match self.native(value) {
            _ if self.element(value).is_bool() => false,
            Native::Ring => true,
            Native::Bits => false,
            Native::Free => wants.ring && !wants.bits && self.mix.arithmetic_is_in_a_ring(),
        };
        if self.is_public(value) {
            self.public_slot(value)?;
        }
        match ring {
            true => self.ring_slot(value)?,
            false => self.bits_slot(value)?,
        };
        self.forms[number][0].lazy = false;
        self.depths[number] = 0;
        Ok(())
    }

    /// Where the program says that an operation's operands are, if it says so and they agree.
    fn explicit(&self, node: &Node) -> Option<Domain> {
        let mut said = node
            .inputs
            .iter()
            .filter_map(|&value| self.form(value).explicit);
        let first = said.next()?;
        said.all(|other| other == first).then_some(first)
    }

    /// What a sharing that the program asks for holds.
    fn wanted(&self, wanted: Sharing) -> Result<Domain> {
        let own = match Backend::of(wanted).numbers.is_some() {
            true => self.mix.ring(),
            false => self.mix.bits(),
        };
        if wanted != own {
            let mix = self.mix.to_string();
            return Err(self.fault(Fault::NotInMix { wanted, mix }));
        }
        Ok(Domain::of(wanted, self.mix))
    }

    fn choose(&self, number: usize, node: &Node, explicit: Option<Domain>) -> Domain {
        let ring_can = choose::ring_can(self.graph, node, self.mix);
        let has_ring = self.mix.arithmetic_is_in_a_ring();
        let natives: Vec<Native> = node
            .inputs
            .iter()
            .map(|&value| self.native(value))
            .collect();
        let (in_bits, in_ring) = (
            natives.contains(&Native::Bits),
            natives.contains(&Native::Ring),
        );
        match explicit {
            Some(Domain::Bits) => return Domain::Bits,
            Some(Domain::Ring) if ring_can => return Domain::Ring,
            _ => {}
        }
        let wants = self.wants[number][0];
        let follow = |operands: &[Native]| {
            let (bits, ring) = (
                operands.contains(&Native::Bits),
                operands.contains(&Native::Ring),
            );
            match (bits, ring) {
                (true, _) => Domain::Bits,
                (_, true) => Domain::Ring,
                _ if wants.ring && !wants.bits && has_ring => Domain::Ring,
                _ => Domain::Bits,
            }
        };
        if !ring_can {
            // Where nothing is computed on bits before or after, two carries and a bit are enough, or a sign.
            let alone = wants.ring && !wants.bits && natives == [Native::Ring];
            let cheaper = match node.op {
                Op::Truncate { by, .. } => {
                    self.sums_of_two() && (1..self.element(node.inputs[0]).bits()).contains(&by)
                }
                Op::Unary(Unary::Abs) => !self.mix.is_manual(),
                _ => false,
            };
            return match alone && cheaper {
                true => Domain::Ring,
                false => Domain::Bits,
            };
        }
        match &node.op {
            Op::Select => follow(&natives[1..]),
            Op::LookUp => match self.graph.constant(node.inputs[0]) {
                Some(_) => Domain::Bits,
                None => follow(&natives[..1]),
            },
            op if choose::follows(op) => follow(&natives),
            _ if self.mix.is_manual() && in_bits != in_ring => follow(&natives),
            _ if !has_ring => Domain::Bits,
            op if in_bits && !in_ring && !wants.ring && is_sum(op) => {
                let here = |&value: &Value| {
                    self.native(value) == Native::Bits || self.graph.uniform(value).is_some()
                };
                match node.inputs.iter().all(here) {
                    true => Domain::Bits,
                    false => Domain::Ring,
                }
            }
            _ => Domain::Ring,
        }
    }

    pub(super) fn form(&self, value: Value) -> Form {
        self.forms[value.node as usize][value.output as usize]
    }

    pub(super) fn form_mut(&mut self, value: Value) -> &mut Form {
        &mut self.forms[value.node as usize][value.output as usize]
    }

    pub(super) fn element(&self, value: Value) -> Type {
        self.graph.type_of(value).element
    }

    pub(super) fn shape(&self, value: Value) -> &'a Shape {
        &self.graph.type_of(value).shape
    }

    pub(super) fn len(&self, value: Value) -> usize {
        self.shape(value).elements()
    }

    pub(super) fn fault(&self, fault: Fault) -> ProgramError {
        ProgramError { at: self.at, fault }
    }

    /// Where a value is without a conversion.
    pub(super) fn native(&self, value: Value) -> Native {
        self.native_with(value, &mut HashMap::new())
    }

    /// The same. Values that are made of their operands share these with each other, through many of them on the
    /// way: each is looked at once.
    fn native_with(&self, value: Value, seen: &mut HashMap<Value, Native>) -> Native {
        let form = self.form(value);
        if form.lazy {
            let boolean = self.element(value).is_bool();
            if !boolean && form.ring.is_some() && form.bits.is_some() {
                return Native::Free;
            }
            if let Some(&known) = seen.get(&value) {
                return known;
            }
            let native = self.native_of_lazy(value, seen);
            seen.insert(value, native);
            return native;
        }
        match (form.ring, form.bits) {
            // Not in the ring, whatever it is made of.
            _ if self.element(value).is_bool() => Native::Bits,
            (Some(_), Some(_)) => Native::Free,
            (Some(_), None) => Native::Ring,
            (None, Some(_)) => Native::Bits,
            (None, None) => Native::Free, // public
        }
    }

    fn native_of_lazy(&self, value: Value, seen: &mut HashMap<Value, Native>) -> Native {
        let node = self.graph.maker(value);
        match &node.op {
            Op::Input(_) | Op::Constant(_) | Op::Counter => Native::Free,
            Op::Row(_) => self.native_with(node.inputs[0], seen),
            Op::Cast(element) => {
                let from = self.element(node.inputs[0]);
                match self.native_with(node.inputs[0], seen) {
                    // The bits above come from the highest one.
                    Native::Ring if element.bits() > from.bits() => Native::Bits,
                    native => native,
                }
            }
            Op::Binary(_) | Op::Unary(_) => Native::Ring, // a product that waits for its sum
            _ => {
                let mut found = Native::Free;
                for &input in &node.inputs {
                    match self.native_with(input, seen) {
                        Native::Bits => return Native::Bits,
                        Native::Ring => found = Native::Ring,
                        Native::Free => {}
                    }
                }
                found
            }
        }
    }
}

/// Sums, which cost on bits what a comparison does.
fn is_sum(op: &Op) -> bool {
    use crate::ir::Binary;
    matches!(
        op,
        Op::Unary(Unary::Negate) | Op::Binary(Binary::Add | Binary::Sub)
    )
}
