//! A program as one list of gates, and what it means in the clear.

use std::ops::Range;

use madrigal_core::budget::Budget;

use super::bundle::BitSharing;
use super::module::{Input, Variable};
use crate::bristol::Limits;

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

impl Flat {
    /// A program without anything in it.
    pub fn new() -> Self {
        Self {
            nodes: Vec::new(),
            inputs: Vec::new(),
            input_nodes: Vec::new(),
            outputs: Vec::new(),
            output_nodes: Vec::new(),
            operands: Vec::new(),
            budget: Budget::new(Limits::default().bytes),
        }
    }

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
    pub(super) fn fit(
        &mut self,
        from: &[u32],
        widths: &[u8],
        sharing: BitSharing,
    ) -> Result<Vec<u32>, u32> {
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

impl Default for Flat {
    fn default() -> Self {
        Self::new()
    }
}
