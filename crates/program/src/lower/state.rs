//! State of values while a graph is lowered.

use std::cell::OnceCell;
use std::collections::HashMap;

use madrigal_engine::Sharing;
use madrigal_operations::Predicate;

use super::Mix;
use super::choose::{self, Wants};
use super::domain::Domain;
use super::draft::Draft;
use super::manner::Manner;
use super::ranges::Ranges;
use super::steps::Slot;
use super::units::OnBits;
use crate::computation::KeptPort;
use crate::element::Type;
use crate::error::{Fault, ProgramError, Source};
use crate::ir::{Graph, Op, Value};
use crate::ports::InputPort;
use crate::shape::Shape;

pub(super) type Result<T> = std::result::Result<T, ProgramError>;

/// The vectors that a value is there as.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Form {
    pub(super) ring: Option<Slot>,
    /// Shared bits, once in each sharing that they are there in: that in which they were first comes first.
    pub(super) bits: [Option<Slot>; SHARINGS],
    /// A ring element that all know.
    pub(super) public: Option<Slot>,
    /// Whether it is made of its operands when it is asked for, in the form it is asked for.
    pub(super) lazy: bool,
    /// The sharing in which the program says that the value is.
    pub(super) explicit: Option<Sharing>,
}

/// The most sharings of bits that a mix has.
const SHARINGS: usize = 3;

/// The domain where a value is without a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Native {
    Ring,
    Bits,
    /// Either, as it is wanted.
    Free,
}

/// Values that come into a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports<'a> {
    pub(super) inputs: &'a [InputPort],
    /// Values of earlier stages.
    pub(super) taken: &'a [KeptPort],
}

impl Native {
    /// Ring elements where the value is there as such, else bits.
    pub(super) fn domain(self) -> Domain {
        match self {
            Self::Ring => Domain::Ring,
            Self::Bits | Self::Free => Domain::Bits,
        }
    }
}

/// Lowers one graph.
pub(super) struct Lowering<'a> {
    pub(super) graph: &'a Graph,
    pub(super) mix: Mix,
    pub(super) parties: usize,
    pub(super) ports: Ports<'a>,
    pub(super) manner: Manner,
    /// The sharing of bits where neither the program nor the plan says another.
    pub(super) home: Sharing,
    /// The sharing of bits of the operation at hand.
    pub(super) here: Sharing,
    /// The number of the operation at hand.
    pub(super) number: usize,
    /// Whether the operation at hand can be in no other sharing.
    pub(super) fixed: bool,
    /// Operations that compute on bits, in order.
    pub(super) on_bits: Vec<OnBits>,
    pub(super) draft: Draft,
    pub(super) forms: Vec<Vec<Form>>,
    pub(super) wants: Vec<Vec<Wants>>,
    /// Length of the chain of values that are made when they are asked for, one of the other, up to each node's result.
    pub(super) depths: Vec<u32>,
    /// Whether all parties know each node's result, of nodes that move elements.
    pub(super) publics: Vec<bool>,
    /// Number of times that each value is an operand, and the node that takes it last.
    pub(super) uses: Vec<Vec<(u32, usize)>>,
    /// Numbers that add up to ring elements.
    pub(super) splits: HashMap<(Slot, bool, Sharing), Vec<Slot>>,
    /// Bits that tests of ring elements gave.
    pub(super) tested: HashMap<(Slot, Predicate), Slot>,
    /// Found when a quotient asks for them.
    pub(super) ranges: OnceCell<Ranges>,
    /// The operation at hand: its place, its words, and whether it is a conversion itself.
    pub(super) at: Source,
    pub(super) operator: String,
    pub(super) converts: bool,
    /// Bits of the program's requirements, known to all, once these are lowered.
    pub(super) conditions: Vec<Slot>,
}

impl Form {
    /// The vector of ring elements or of bits.
    pub(super) fn set(&mut self, domain: Domain, slot: Slot) {
        match domain {
            Domain::Ring => self.ring = Some(slot),
            Domain::Bits => {
                let free = self.bits.iter_mut().find(|held| held.is_none());
                *free.expect("bits are held once in each sharing") = Some(slot);
            }
        }
    }

    /// Whether there are bits of the value in any sharing.
    pub(super) fn has_bits(&self) -> bool {
        self.bits[0].is_some()
    }
}

impl<'a> Lowering<'a> {
    #[track_caller]
    pub(super) fn new(
        graph: &'a Graph,
        mix: Mix,
        parties: usize,
        ports: Ports<'a>,
        manner: Manner,
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
            home: manner.home.unwrap_or(mix.bits()),
            here: manner.home.unwrap_or(mix.bits()),
            number: 0,
            fixed: false,
            on_bits: Vec::new(),
            wants: choose::wants(graph, mix, manner.kept.rings()),
            manner,
            draft: Draft::default(),
            forms: outputs.map(|count| vec![Form::default(); count]).collect(),
            depths: vec![0; graph.nodes().len()],
            publics: vec![false; graph.nodes().len()],
            uses,
            splits: HashMap::new(),
            tested: HashMap::new(),
            ranges: OnceCell::new(),
            at: Source::here(),
            operator: String::new(),
            converts: false,
            conditions: Vec::new(),
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

    /// The domain where a value is without a conversion.
    pub(super) fn native(&self, value: Value) -> Native {
        self.native_with(value, &mut HashMap::new())
    }

    /// Finds where a value is. Values that are made of their operands share these with each other, through many of them on the
    /// way: each is looked at once.
    fn native_with(&self, value: Value, seen: &mut HashMap<Value, Native>) -> Native {
        let form = self.form(value);
        if form.lazy {
            let boolean = self.element(value).is_bool();
            if !boolean && form.ring.is_some() && form.has_bits() {
                return Native::Free;
            }
            if let Some(&known) = seen.get(&value) {
                return known;
            }
            let native = self.native_of_lazy(value, seen);
            seen.insert(value, native);
            return native;
        }
        match (form.ring, form.bits[0]) {
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

    /// Whether all parties know the value, in another way than that its elements are alike.
    pub(super) fn is_public(&self, value: Value) -> bool {
        let node = self.graph.maker(value);
        match &node.op {
            Op::Constant(_) | Op::Counter => true,
            Op::View(_) | Op::Reshape(_) | Op::Pick { .. } | Op::Join(_) => {
                self.publics[value.node as usize]
            }
            _ => self.form(value).public.is_some(),
        }
    }
}
