//! A program without calls: one list of gates, each with the protocol that does it.

use std::ops::Range;

use madrigal_core::budget::Budget;

use super::bundle::BitSharing;
use super::error::LinkError;
use super::link::{Linked, Target};
use super::module::{Gate, Input, Item, Module, Variable};

/// Operations of a node. Operands are nodes before it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the operands are in the variant's line")]
pub enum Op {
    /// A bit or a word that a party brings.
    Input,
    /// A public bit.
    Bit(bool),
    /// `a & b`
    And(u32, u32),
    /// `a | b`
    Or(u32, u32),
    /// `a ^ b`
    Xor(u32, u32),
    /// `!a`
    Not(u32),
    /// A bit of a word, 0 the lowest.
    Split { word: u32, bit: u8 },
    /// A public word.
    Word(u64),
    /// `a + b`
    Add(u32, u32),
    /// `a - b`
    Sub(u32, u32),
    /// `a * b`
    Mul(u32, u32),
    /// `-a`
    Neg(u32),
    /// The word of bits, the lowest first; they are in [`Flat::combined`].
    Combine(Range<u32>),
}

/// A bit or a word, modulo 2^width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Operation that computes it.
    pub op: Op,
    /// 1 for bits, else 8, 16, 32 or 64.
    pub width: u8,
    /// Sharing of bits in its module. Words are in protocol A in any case.
    pub sharing: BitSharing,
}

/// A program as one list of nodes.
#[derive(Debug, Clone)]
pub struct Flat {
    /// Each after its operands.
    pub nodes: Vec<Node>,
    /// Inputs of the program.
    pub inputs: Vec<Input>,
    /// Nodes of each input: those of its bits and words in order.
    pub input_nodes: Vec<Vec<u32>>,
    /// Outputs of the program.
    pub outputs: Vec<Variable>,
    /// Nodes of each output.
    pub output_nodes: Vec<Vec<u32>>,
    pub(super) operands: Vec<u32>,
    pub(super) budget: Budget,
}

impl Linked {
    /// Each call with gates of its own, and conversions where one side of a call has words and the other
    /// has bits; the bits of these are shared as where they go to.
    ///
    /// # Errors
    /// [`LinkError`]: bits at a call that make no word of a width that there is.
    pub fn flatten(&self) -> Result<Flat, LinkError> {
        let (main, sharing) = &self.modules[self.main];
        let mut flat = Flat {
            inputs: main.inputs().to_vec(),
            outputs: main.outputs().to_vec(),
            budget: self.budget.clone(),
            ..Flat::new()
        };
        for pins in &main.pins {
            let widths = main.widths[pins.start as usize..pins.end as usize].iter();
            let nodes = widths.map(|&width| flat.push(Op::Input, width, *sharing));
            let nodes = nodes.collect();
            flat.input_nodes.push(nodes);
        }
        let arguments = flat.input_nodes.clone();
        let outputs = self.instance(&mut flat, self.main, &arguments)?;
        // A word that is made of bits to be an output need not be made.
        let parts = |node: u32| match &flat.nodes[node as usize].op {
            Op::Combine(bits) => flat.combined(bits).to_vec(),
            _ => vec![node],
        };
        let outputs = outputs.into_iter();
        let outputs = outputs.map(|nodes| nodes.into_iter().flat_map(parts).collect());
        flat.output_nodes = outputs.collect();
        Ok(flat)
    }

    /// A module on these arguments, one for each input; its outputs.
    fn instance(
        &self,
        flat: &mut Flat,
        place: usize,
        arguments: &[Vec<u32>],
    ) -> Result<Vec<Vec<u32>>, LinkError> {
        let mut waiting = vec![self.called(flat, place, arguments)?];
        loop {
            let last = waiting.len() - 1;
            let called = &mut waiting[last];
            match called.run(flat)? {
                Some(call) => {
                    let target = &self.targets[called.place][call];
                    let given = called.arguments(call, target);
                    waiting.push(self.called(flat, target.module, &given)?);
                }
                None => {
                    let made = called.outputs();
                    waiting.pop();
                    let Some(caller) = waiting.last_mut() else {
                        return Ok(made);
                    };
                    let targets = &self.targets[caller.place];
                    caller.returned(flat, targets, &made)?;
                }
            }
        }
    }

    /// A module that was called with these arguments, and has not begun.
    fn called(
        &self,
        flat: &mut Flat,
        place: usize,
        arguments: &[Vec<u32>],
    ) -> Result<Called<'_>, LinkError> {
        let (module, sharing) = &self.modules[place];
        let mut called = Called {
            module,
            place,
            sharing: *sharing,
            nodes: vec![u32::MAX; module.widths.len()],
            next: 0,
        };
        for (pins, argument) in module.pins.iter().zip(arguments) {
            called.assign(flat, pins, argument)?;
        }
        Ok(called)
    }
}

/// A module while its gates and calls are put down, one after the other.
struct Called<'a> {
    module: &'a Module,
    place: usize,
    sharing: BitSharing,
    /// Nodes of each of its wires that are known so far.
    nodes: Vec<u32>,
    /// Number of its gates and calls that have begun.
    next: usize,
}

impl Called<'_> {
    /// Makes the error of a number of bits for which there is no word.
    fn word(&self) -> impl Fn(u32) -> LinkError {
        let file = self.module.file();
        move |bits| LinkError::Word {
            file: file.into(),
            bits,
        }
    }

    /// Nodes for these pins, in the pins' widths.
    fn assign(
        &mut self,
        flat: &mut Flat,
        pins: &Range<u32>,
        from: &[u32],
    ) -> Result<(), LinkError> {
        let pins = pins.start as usize..pins.end as usize;
        let widths = &self.module.widths[pins.clone()];
        let fit = flat.fit(from, widths, self.sharing);
        let fit = fit.map_err(self.word())?;
        self.nodes[pins].copy_from_slice(&fit);
        Ok(())
    }

    /// Gates up to the next call, whose number it gives; none at the module's end.
    fn run(&mut self, flat: &mut Flat) -> Result<Option<usize>, LinkError> {
        let module = self.module;
        while let Some(item) = module.order.get(self.next) {
            self.next += 1;
            let gate = match *item {
                Item::Call(call) => return Ok(Some(call as usize)),
                Item::Gate(gate) => gate as usize,
            };
            let first = module.first[gate] as usize;
            let at = |wire: &u32| self.nodes[*wire as usize];
            let op = match &module.gates()[gate] {
                Gate::And(a, b) => Op::And(at(a), at(b)),
                Gate::Or(a, b) => Op::Or(at(a), at(b)),
                Gate::Xor(a, b) => Op::Xor(at(a), at(b)),
                Gate::Not(a) => Op::Not(at(a)),
                Gate::One => Op::Bit(true),
                Gate::Add(a, b) => Op::Add(at(a), at(b)),
                Gate::Sub(a, b) => Op::Sub(at(a), at(b)),
                Gate::Mul(a, b) => Op::Mul(at(a), at(b)),
                Gate::Neg(a) => Op::Neg(at(a)),
                Gate::Constant { value, .. } => Op::Word(*value),
                Gate::Combine(bits) => {
                    let bits: Vec<u32> = bits.iter().map(at).collect();
                    let word = flat.combine(&bits, self.sharing);
                    self.nodes[first] = word.map_err(self.word())?;
                    continue;
                }
                Gate::Split(a) => {
                    let bits = flat.split(at(a), self.sharing);
                    self.nodes[first..first + bits.len()].copy_from_slice(&bits);
                    continue;
                }
            };
            self.nodes[first] = flat.push(op, module.widths[first], self.sharing);
        }
        Ok(None)
    }

    /// Gives the arguments of a call, one for each input of the callee.
    fn arguments(&self, call: usize, target: &Target) -> Vec<Vec<u32>> {
        let call = &self.module.calls()[call];
        let wires = |&argument: &usize| self.of(&call.from[argument]);
        target.arguments.iter().map(wires).collect()
    }

    /// The call that began last has come to these outputs.
    fn returned(
        &mut self,
        flat: &mut Flat,
        targets: &[Target],
        made: &[Vec<u32>],
    ) -> Result<(), LinkError> {
        let module = self.module;
        let Some(Item::Call(call)) = self.next.checked_sub(1).map(|last| module.order[last]) else {
            unreachable!("only calls return");
        };
        let call = call as usize;
        let returns = &targets[call].returns;
        for (pins, &output) in module.calls()[call].to.iter().zip(returns) {
            self.assign(flat, pins, &made[output])?;
        }
        Ok(())
    }

    fn outputs(&self) -> Vec<Vec<u32>> {
        self.module.from.iter().map(|from| self.of(from)).collect()
    }

    fn of(&self, wires: &[u32]) -> Vec<u32> {
        wires
            .iter()
            .map(|&wire| self.nodes[wire as usize])
            .collect()
    }
}

impl Flat {
    /// Budget for planning it, beyond what each of its nodes takes.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The bits of an [`Op::Combine`].
    pub fn combined(&self, bits: &Range<u32>) -> &[u32] {
        &self.operands[bits.start as usize..bits.end as usize]
    }

    pub(super) fn push(&mut self, op: Op, width: u8, sharing: BitSharing) -> u32 {
        // Fewer than the limit of wires, which was checked before.
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { op, width, sharing });
        node
    }

    /// The bits of a word; those that it was made of, if it was made of bits.
    pub(super) fn split(&mut self, word: u32, sharing: BitSharing) -> Vec<u32> {
        if let Op::Combine(bits) = &self.nodes[word as usize].op {
            return self.combined(bits).to_vec();
        }
        let width = self.nodes[word as usize].width;
        let bit = |bit| self.push(Op::Split { word, bit }, 1, sharing);
        (0..width).map(bit).collect()
    }

    /// The word of these bits; one bit is itself.
    pub(super) fn combine(&mut self, bits: &[u32], sharing: BitSharing) -> Result<u32, u32> {
        let width = match (bits, bits.len()) {
            (&[bit], _) => return Ok(bit),
            (_, 8 | 16 | 32 | 64) => bits.len() as u8,
            (_, bits) => return Err(bits as u32),
        };
        // The word whose bits these are need not be made again.
        let split = |(place, &bit): (usize, &u32)| match self.nodes[bit as usize].op {
            Op::Split { word, bit } if usize::from(bit) == place => Some(word),
            _ => None,
        };
        let mut words = bits.iter().enumerate().map(split);
        if let Some(Some(word)) = words.next()
            && self.nodes[word as usize].width == width
            && words.all(|other| other == Some(word))
        {
            return Ok(word);
        }
        let start = self.operands.len() as u32;
        self.operands.extend_from_slice(bits);
        let bits = start..self.operands.len() as u32;
        Ok(self.push(Op::Combine(bits), width, sharing))
    }

    /// Nodes of as many bits in other widths. The number of bits of a word that cannot be, if any.
    fn fit(&mut self, from: &[u32], widths: &[u8], sharing: BitSharing) -> Result<Vec<u32>, u32> {
        let own = from.iter().map(|&node| self.nodes[node as usize].width);
        if own.eq(widths.iter().copied()) {
            return Ok(from.to_vec());
        }
        let mut fit = Vec::with_capacity(widths.len());
        let mut from = from.iter();
        let mut bits: std::collections::VecDeque<u32> = Default::default();
        for &width in widths {
            let mut next = None;
            while bits.len() < usize::from(width) && next.is_none() {
                // Both sides have as many bits.
                let Some(&node) = from.next() else {
                    return Err(bits.len() as u32);
                };
                match self.nodes[node as usize].width {
                    1 => bits.push_back(node),
                    own if own == width && bits.is_empty() => next = Some(node),
                    _ => bits.extend(self.split(node, sharing)),
                }
            }
            fit.push(match next {
                Some(node) => node,
                None => {
                    let word: Vec<u32> = bits.drain(..usize::from(width)).collect();
                    self.combine(&word, sharing)?
                }
            });
        }
        Ok(fit)
    }

    /// The outputs' bits in the clear, a byte for each, from those of the inputs: what the program means.
    ///
    /// # Panics
    /// If there are not as many inputs, or bits in one of them.
    pub fn evaluate(&self, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        assert_eq!(inputs.len(), self.inputs.len(), "inputs");
        let mask = |width: u8| u64::MAX >> (64 - width);
        let mut values = vec![0u64; self.nodes.len()];
        for (nodes, bits) in self.input_nodes.iter().zip(inputs) {
            let mut bits = bits.iter().copied();
            for &node in nodes {
                let own = bits.by_ref().take(self.nodes[node as usize].width.into());
                let word = (0..).zip(own);
                values[node as usize] =
                    word.fold(0, |word, (place, bit)| word | u64::from(bit & 1) << place);
            }
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let of = |node: u32| values[node as usize];
            let value = match &node.op {
                Op::Input => values[at],
                Op::Bit(bit) => u64::from(*bit),
                Op::And(a, b) => of(*a) & of(*b),
                Op::Or(a, b) => of(*a) | of(*b),
                Op::Xor(a, b) => of(*a) ^ of(*b),
                Op::Not(a) => !of(*a),
                Op::Split { word, bit } => of(*word) >> bit & 1,
                Op::Word(value) => *value,
                Op::Add(a, b) => of(*a).wrapping_add(of(*b)),
                Op::Sub(a, b) => of(*a).wrapping_sub(of(*b)),
                Op::Mul(a, b) => of(*a).wrapping_mul(of(*b)),
                Op::Neg(a) => of(*a).wrapping_neg(),
                Op::Combine(bits) => {
                    let bits = (0..).zip(self.combined(bits));
                    bits.fold(0, |word, (place, &bit)| word | of(bit) << place)
                }
            };
            values[at] = value & mask(node.width);
        }
        let bits = |&node: &u32| {
            let value = values[node as usize];
            (0..self.nodes[node as usize].width).map(move |bit| (value >> bit & 1) as u8)
        };
        let outputs = self.output_nodes.iter();
        outputs
            .map(|nodes| nodes.iter().flat_map(bits).collect())
            .collect()
    }
}
