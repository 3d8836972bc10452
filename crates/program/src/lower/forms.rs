//! Values in the forms that steps take: shared ring elements, shared bits, or public.

use std::collections::HashMap;

use madrigal_circuit::Goal;

use super::bits::BitOp;
use super::choose::{self, Wants};
use super::draft::{Circuits, Draft, Operand};
use super::steps::{Action, Body, Element, Held, Holding, Places, Slot};
use super::{Domain, Mix, Sharing};
use crate::computation::{InputPort, OutputPort};
use crate::element::Type;
use crate::error::{Fault, ProgramError, Source};
use crate::ir::{Graph, Node, Op, Unary, Value};
use crate::shape::{Shape, View};

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

/// Lowers one graph.
pub(super) struct Lowering<'a> {
    pub(super) graph: &'a Graph,
    pub(super) mix: Mix,
    pub(super) parties: usize,
    pub(super) ports: &'a [InputPort],
    pub(super) goal: Goal,
    pub(super) draft: Draft,
    pub(super) forms: Vec<Vec<Form>>,
    pub(super) wants: Vec<Vec<Wants>>,
    /// How many operands each value is, and which node takes it last.
    pub(super) uses: Vec<Vec<(u32, usize)>>,
    /// Numbers that add up to ring elements.
    splits: HashMap<(Slot, bool), Vec<Slot>>,
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
        ports: &'a [InputPort],
        goal: Goal,
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
            draft: Draft::default(),
            forms: outputs.map(|count| vec![Form::default(); count]).collect(),
            wants: choose::wants(graph, mix),
            uses,
            splits: HashMap::new(),
            at: Source::here(),
            operator: String::new(),
            converts: false,
        }
    }

    /// The steps of a whole program.
    pub(super) fn program(
        mut self,
        outputs: &[OutputPort],
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
            let held = Held {
                holding: Holding::Clear(port.to.clone()),
                ..self.draft.held(shared).clone()
            };
            let action = Action::Open(port.to.clone());
            results.push(self.action(action, &[shared], held));
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
            Op::View(_)
            | Op::Reshape(_)
            | Op::Pick { .. }
            | Op::Join(_)
            | Op::Row(_)
            | Op::Cast(_) => {
                let form = &mut self.forms[number][0];
                (form.lazy, form.explicit) = (true, explicit);
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
            _ => {
                let domain = self.choose(number, node, explicit);
                if domain == Domain::Ring && self.joins_sum(number, node) {
                    self.forms[number][0].lazy = true;
                    return Ok(());
                }
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
        let three = |sharing: Sharing| sharing == Sharing::Replicated;
        if three(wanted) != three(self.mix.bits()) {
            let mix = self.mix.to_string();
            return Err(self.fault(Fault::NotInMix { wanted, mix }));
        }
        Ok(Domain::of(wanted, self.mix))
    }

    fn choose(&self, number: usize, node: &Node, explicit: Option<Domain>) -> Domain {
        let ring_can = choose::ring_can(self.graph, node, self.mix);
        let has_ring = self.mix.arithmetic() != Sharing::Boolean;
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
            return Domain::Bits;
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

    fn form_mut(&mut self, value: Value) -> &mut Form {
        &mut self.forms[value.node as usize][value.output as usize]
    }

    pub(super) fn element(&self, value: Value) -> Type {
        self.graph.sort(value).element
    }

    pub(super) fn shape(&self, value: Value) -> &'a Shape {
        &self.graph.sort(value).shape
    }

    pub(super) fn len(&self, value: Value) -> usize {
        self.shape(value).elements()
    }

    pub(super) fn fault(&self, fault: Fault) -> ProgramError {
        ProgramError { at: self.at, fault }
    }

    /// Where a value is without a conversion.
    pub(super) fn native(&self, value: Value) -> Native {
        let form = self.form(value);
        if self.element(value).is_bool() {
            // Not in the ring, whatever it is made of.
            return match form.lazy {
                true => self.native_of_lazy(value),
                false => Native::Bits,
            };
        }
        match (form.ring, form.bits, form.lazy) {
            (Some(_), Some(_), _) => Native::Free,
            (_, _, true) => self.native_of_lazy(value),
            (Some(_), None, _) => Native::Ring,
            (None, Some(_), _) => Native::Bits,
            (None, None, _) => Native::Free, // public
        }
    }

    fn native_of_lazy(&self, value: Value) -> Native {
        let node = self.graph.maker(value);
        let natives = || node.inputs.iter().map(|&input| self.native(input));
        match &node.op {
            Op::Input(_) | Op::Constant(_) | Op::Counter => Native::Free,
            Op::Row(_) => self.native(node.inputs[0]),
            Op::Cast(element) => {
                let from = self.element(node.inputs[0]);
                match self.native(node.inputs[0]) {
                    // The bits above come from the highest one.
                    Native::Ring if element.bits() > from.bits() => Native::Bits,
                    native => native,
                }
            }
            Op::Binary(_) | Op::Unary(_) => Native::Ring, // a product that waits for its sum
            _ if natives().any(|native| native == Native::Bits) => Native::Bits,
            _ if natives().any(|native| native == Native::Ring) => Native::Ring,
            _ => Native::Free,
        }
    }

    /// The value as shared ring elements.
    pub(super) fn ring_slot(&mut self, value: Value) -> Result<Slot> {
        let form = self.form(value);
        if let Some(slot) = form.ring {
            return Ok(slot);
        }
        let slot = match self.graph.uniform(value) {
            Some(code) => self.filled(code, value, Domain::Ring),
            None if form.lazy => self.lazy_ring(value)?,
            None if form.public.is_some() => {
                let public = self.public_slot(value)?;
                self.share(public, Domain::Ring)
            }
            None => self.composed(value)?,
        };
        self.form_mut(value).ring = Some(slot);
        Ok(slot)
    }

    /// The value as shared bits, or the number that all elements are.
    pub(super) fn bits(&mut self, value: Value) -> Result<Operand> {
        match self.graph.uniform(value) {
            Some(code) => Ok(Operand::Uniform(code, self.element(value).bits())),
            None => self.bits_slot(value).map(Operand::Slot),
        }
    }

    /// The value as shared bits.
    pub(super) fn bits_slot(&mut self, value: Value) -> Result<Slot> {
        let form = self.form(value);
        if let Some(slot) = form.bits {
            return Ok(slot);
        }
        let slot = match self.graph.uniform(value) {
            Some(code) => self.filled(code, value, Domain::Bits),
            None if form.lazy && form.ring.is_none() => self.lazy_bits(value)?,
            None => {
                let ring = self.ring_slot(value)?;
                self.added_up(ring)?
            }
        };
        self.form_mut(value).bits = Some(slot);
        Ok(slot)
    }

    /// A value of bits as ring elements.
    fn composed(&mut self, value: Value) -> Result<Slot> {
        let bits = self.bits_slot(value)?;
        let element = self.element(value);
        self.compose(bits, element, element.is_signed())
    }

    /// Bits as ring elements of a type's width, the highest one as a sign where they are signed.
    pub(super) fn compose(&mut self, bits: Slot, to: Type, signed: bool) -> Result<Slot> {
        self.may_convert(Domain::Bits, Domain::Ring)?;
        let held = self.ring_of(to.bits(), self.draft.held(bits).len);
        // Of as many bits as the ring has the sign says nothing.
        let signed = signed && self.draft.held(bits).element.bits() < to.bits();
        Ok(self.action(Action::Compose { signed }, &[bits], held))
    }

    /// Ring elements as bits.
    fn added_up(&mut self, ring: Slot) -> Result<Slot> {
        let addends = self.addends(ring)?;
        let len = self.draft.held(ring).len;
        let operands = addends.into_iter().map(Operand::Slot).collect();
        Ok(self.bit_op(BitOp::AddUp, operands, len)[0])
    }

    /// Bits of the numbers that add up to ring elements.
    pub(super) fn addends(&mut self, ring: Slot) -> Result<Vec<Slot>> {
        self.split(ring, false)
    }

    /// The same, where all but the first may be negated.
    pub(super) fn split(&mut self, ring: Slot, negated: bool) -> Result<Vec<Slot>> {
        self.may_convert(Domain::Ring, Domain::Bits)?;
        if let Some(addends) = self.splits.get(&(ring, negated)) {
            return Ok(addends.clone());
        }
        let held = self.draft.held(ring);
        let count = match self.mix.bits() {
            Sharing::Replicated => 2,
            _ => self.parties,
        };
        let addend = self.bits_of(held.element.bits(), held.len);
        let split = Action::Split { negated };
        let operator = split.to_string();
        let first = self
            .draft
            .action(split, &[ring], vec![addend; count], &operator, self.at);
        let addends: Vec<_> = (0..count as u32)
            .map(|output| Slot { output, ..first })
            .collect();
        self.splits.insert((ring, negated), addends.clone());
        Ok(addends)
    }

    fn may_convert(&self, found: Domain, wanted: Domain) -> Result<()> {
        if !self.mix.is_manual() || self.converts {
            return Ok(());
        }
        Err(self.fault(Fault::Sharing {
            operator: self.operator.clone(),
            found: self.sharing(found),
            wanted: self.sharing(wanted),
        }))
    }

    fn lazy_ring(&mut self, value: Value) -> Result<Slot> {
        let node = self.graph.maker(value);
        let len = self.len(value);
        let to = self.element(value);
        match &node.op {
            Op::Input(number) => Ok(self.input(*number, Domain::Ring)),
            Op::Constant(_) | Op::Counter => {
                let public = self.public_slot(value)?;
                Ok(self.share(public, Domain::Ring))
            }
            Op::Cast(_) => {
                let from = self.element(node.inputs[0]);
                if to.bits() > from.bits() {
                    let bits = self.bits_slot(node.inputs[0])?;
                    return self.compose(bits, to, from.is_signed());
                }
                if self.native(node.inputs[0]) == Native::Bits {
                    return self.composed(value);
                }
                let ring = self.ring_slot(node.inputs[0])?;
                if to.bits() == from.bits() {
                    return Ok(ring);
                }
                let held = self.ring_of(to.bits(), len);
                Ok(self.action(Action::Narrow, &[ring], held))
            }
            Op::Binary(_) | Op::Unary(_) => self.on_ring(node),
            _ if self.native(value) == Native::Bits && len < self.len(node.inputs[0]) => {
                self.composed(value)
            }
            _ => self.moved(node, Domain::Ring),
        }
    }

    fn lazy_bits(&mut self, value: Value) -> Result<Slot> {
        let node = self.graph.maker(value);
        let len = self.len(value);
        match &node.op {
            Op::Input(number) => Ok(self.input(*number, Domain::Bits)),
            Op::Constant(_) | Op::Counter => {
                let public = self.public_bits(value)?;
                Ok(self.share(public, Domain::Bits))
            }
            Op::Cast(to) => {
                let from = self.element(node.inputs[0]);
                let narrows = to.bits() < from.bits() && !to.is_bool();
                if narrows && self.native(node.inputs[0]) == Native::Ring {
                    let ring = self.ring_slot(value)?;
                    return self.added_up(ring);
                }
                let bits = self.bits(node.inputs[0])?;
                match bits {
                    Operand::Slot(slot) if to.bits() == from.bits() => Ok(slot),
                    bits => Ok(self.bit_op(BitOp::Cast(from, *to), vec![bits], len)[0]),
                }
            }
            Op::Binary(_) | Op::Unary(_) => {
                let ring = self.ring_slot(value)?;
                self.added_up(ring)
            }
            _ if self.native(value) == Native::Ring && len < self.len(node.inputs[0]) => {
                let ring = self.ring_slot(value)?;
                self.added_up(ring)
            }
            _ => self.moved(node, Domain::Bits),
        }
    }

    /// What an operation that only moves elements makes of its operands in a domain.
    fn moved(&mut self, node: &Node, domain: Domain) -> Result<Slot> {
        let mut operands = Vec::new();
        let moves = match node.op {
            Op::Row(_) => &node.inputs[..1],
            _ => &node.inputs[..],
        };
        for &input in moves {
            operands.push(match domain {
                Domain::Ring => self.ring_slot(input)?,
                Domain::Bits => self.bits_slot(input)?,
            });
        }
        self.moved_slots(node, operands)
    }

    /// The same for operands that are there.
    fn moved_slots(&mut self, node: &Node, operands: Vec<Slot>) -> Result<Slot> {
        let first = operands[0];
        let from = self.shape(node.inputs[0]);
        match &node.op {
            Op::View(view) => Ok(self.gather(first, Places::View(view.clone()))),
            Op::Reshape(_) => Ok(first),
            Op::Pick { axis, places } => {
                let [before, length, after] = from.around(*axis);
                let places = places
                    .iter()
                    .flat_map(|place| place * after..(place + 1) * after);
                Ok(self.gather(
                    first,
                    Places::Rows {
                        rows: before,
                        from: length * after,
                        places: places.collect(),
                    },
                ))
            }
            Op::Join(axis) => {
                let [before, ..] = from.around(*axis);
                Ok(self.join(&operands, before))
            }
            Op::Row(axis) => {
                let sizes = from.around(*axis);
                let index = self.public_slot(node.inputs[1])?;
                let held = Held {
                    len: sizes[0] * sizes[2],
                    ..self.draft.held(first).clone()
                };
                Ok(self.action(Action::Row(sizes), &[first, index], held))
            }
            op => unreachable!("{op} does more than move elements"),
        }
    }

    /// Whether all parties know the value, in another way than that its elements are alike.
    pub(super) fn is_public(&self, value: Value) -> bool {
        let node = self.graph.maker(value);
        match &node.op {
            Op::Constant(_) | Op::Counter => true,
            Op::View(_) | Op::Reshape(_) | Op::Pick { .. } | Op::Join(_) => {
                node.inputs.iter().all(|&input| self.is_public(input))
            }
            _ => self.form(value).public.is_some(),
        }
    }

    /// A public value as ring elements.
    pub(super) fn public_slot(&mut self, value: Value) -> Result<Slot> {
        if let Some(slot) = self.form(value).public {
            return Ok(slot);
        }
        let node = self.graph.maker(value);
        let held = Held::public(Element::Ring(self.element(value).bits()), self.len(value));
        let slot = match &node.op {
            Op::Constant(array) => self.action(Action::Public(array.clone()), &[], held),
            Op::Counter => self.action(Action::Counter, &[], held),
            _ => {
                let mut operands = Vec::new();
                for &input in &node.inputs {
                    operands.push(self.public_slot(input)?);
                }
                self.moved_slots(node, operands)?
            }
        };
        self.form_mut(value).public = Some(slot);
        Ok(slot)
    }

    /// A constant or a counter as public bits.
    fn public_bits(&mut self, value: Value) -> Result<Slot> {
        let held = Held::public(Element::Bits(self.element(value).bits()), self.len(value));
        let action = match self.graph.constant(value) {
            Some(array) => Action::Public(array.clone()),
            None => Action::Counter,
        };
        Ok(self.action(action, &[], held))
    }

    fn input(&mut self, number: usize, domain: Domain) -> Slot {
        let port = &self.ports[number];
        let bits = port.sort.element.bits();
        let held = Held {
            holding: Holding::Clear(vec![port.owner]),
            element: match domain {
                Domain::Ring => Element::Ring(bits),
                Domain::Bits => Element::Bits(bits),
            },
            len: port.sort.shape.elements(),
        };
        let at = std::mem::replace(&mut self.at, port.at);
        let clear = self.action(Action::Input(number), &[], held);
        let shared = self.share(clear, domain);
        self.at = at;
        shared
    }

    /// A clear or public vector as a shared one.
    fn share(&mut self, clear: Slot, domain: Domain) -> Slot {
        let held = Held {
            holding: Holding::Shared(self.sharing(domain)),
            ..self.draft.held(clear).clone()
        };
        self.action(Action::Share, &[clear], held)
    }

    /// A vector of one number, in the shape and type of a value.
    fn filled(&mut self, code: u128, like: Value, domain: Domain) -> Slot {
        let (element, len) = (self.element(like), self.len(like));
        self.filled_with(code, element, len, domain)
    }

    pub(super) fn filled_with(
        &mut self,
        code: u128,
        element: Type,
        len: usize,
        domain: Domain,
    ) -> Slot {
        use crate::array::{Array, Words};
        let words = Words::collect(element, std::iter::once(code));
        let array = Array::new(element, Shape::of(vec![1]), words);
        let bits = element.bits();
        let element = match domain {
            Domain::Ring => Element::Ring(bits),
            Domain::Bits => Element::Bits(bits),
        };
        let one = self.action(Action::Public(array.into()), &[], Held::public(element, 1));
        let many = Shape::of(vec![len]);
        let view = View::broadcast(&Shape::of(vec![1]), &many);
        let shared = self.share(one, domain);
        self.gather(shared, Places::View(view))
    }

    /// The sharing that holds ring elements or bits.
    pub(super) fn sharing(&self, domain: Domain) -> Sharing {
        match (self.mix.bits(), domain) {
            (Sharing::Replicated, _) => Sharing::Replicated,
            (_, Domain::Ring) => Sharing::Arithmetic,
            (_, Domain::Bits) => Sharing::Boolean,
        }
    }

    pub(super) fn ring_of(&self, bits: u32, len: usize) -> Held {
        Held::shared(self.sharing(Domain::Ring), Element::Ring(bits), len)
    }

    pub(super) fn bits_of(&self, bits: u32, len: usize) -> Held {
        Held::shared(self.sharing(Domain::Bits), Element::Bits(bits), len)
    }

    /// A step with one result, in the words of the operation at hand.
    pub(super) fn action(&mut self, action: Action, inputs: &[Slot], output: Held) -> Slot {
        let operator = self.operator.clone();
        self.draft
            .action(action, inputs, vec![output], &operator, self.at)
    }

    pub(super) fn bit_op(&mut self, op: BitOp, inputs: Vec<Operand>, len: usize) -> Vec<Slot> {
        let sharing = self.sharing(Domain::Bits);
        self.draft.bits(op, inputs, sharing, len, self.at)
    }

    /// Elements of a vector, itself where they are all in order.
    pub(super) fn gather(&mut self, x: Slot, places: Places) -> Slot {
        let held = self.draft.held(x).clone();
        let len = places.len();
        match &places {
            Places::View(view) if len == held.len && view.is_prefix() => x,
            _ => self.action(Action::Gather(places), &[x], Held { len, ..held }),
        }
    }

    /// Vectors of so many rows, joined row by row.
    pub(super) fn join(&mut self, parts: &[Slot], rows: usize) -> Slot {
        if let [part] = parts {
            return *part;
        }
        let lens = parts.iter().map(|&part| self.draft.held(part).len);
        let len = lens.sum();
        let held = self.draft.held(parts[0]).clone();
        self.action(Action::Join { rows }, parts, Held { len, ..held })
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
