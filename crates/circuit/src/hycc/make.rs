//! Programs that no compiler wrote, gate by gate.

use super::bundle::BitSharing;
use super::flat::{Flat, Op};
use super::module::{Input, Variable};
use super::types::Type;
use crate::netlist::{Logic, Netlist};

impl Flat {
    /// Adds an input: an array of `count` signed integers of `width` bits, which are words in protocol A. Gives their nodes.
    ///
    /// # Panics
    /// If there are no words of this width: it is 8, 16, 32 or 64.
    pub fn input(&mut self, name: &str, owner: u8, count: u32, width: u8) -> Vec<u32> {
        assert!(matches!(width, 8 | 16 | 32 | 64), "words of {width} bits");
        let nodes = (0..count).map(|_| self.push(Op::Input, width, BitSharing::Gmw));
        let nodes: Vec<u32> = nodes.collect();
        self.inputs.push(Input {
            name: name.to_owned(),
            owner,
            ty: array(count, width),
        });
        self.input_nodes.push(nodes.clone());
        nodes
    }

    /// `a + b` of two words of one width.
    pub fn sum(&mut self, a: u32, b: u32) -> u32 {
        let width = self.common_width(a, b);
        self.push(Op::Add(a, b), width, BitSharing::Gmw)
    }

    /// `a - b`, likewise.
    pub fn difference(&mut self, a: u32, b: u32) -> u32 {
        let width = self.common_width(a, b);
        self.push(Op::Sub(a, b), width, BitSharing::Gmw)
    }

    /// `a * b`, likewise.
    pub fn product(&mut self, a: u32, b: u32) -> u32 {
        let width = self.common_width(a, b);
        self.push(Op::Mul(a, b), width, BitSharing::Gmw)
    }

    /// Words through a Boolean circuit, an input of which is the bits of one word; its outputs as words.
    ///
    /// # Panics
    /// If the circuit has another number of inputs, or one of another width than its word; if an output is no word.
    pub fn through(&mut self, circuit: &Netlist, words: &[u32], sharing: BitSharing) -> Vec<u32> {
        let widths = words.iter().map(|&word| u32::from(self.width(word)));
        assert!(
            widths.eq(circuit.inputs().iter().copied()),
            "inputs of a circuit"
        );
        let inputs = words.iter().flat_map(|&word| self.split(word, sharing));
        let inputs = inputs.collect();
        let made = circuit.replay(inputs, u32::MAX, |gate| {
            let op = match gate {
                Logic::Xor(a, b) => Op::Xor(a, b),
                Logic::And(a, b) => Op::And(a, b),
                Logic::Or(a, b) => Op::Or(a, b),
                Logic::Not(a) => Op::Not(a),
                Logic::Constant(bit) => Op::Bit(bit),
            };
            self.push(op, 1, sharing)
        });
        let mut bits = &made[..];
        let words = circuit.outputs().iter().map(|&width| {
            let (own, rest) = bits.split_at(width as usize);
            bits = rest;
            let word = self.combine(own, sharing);
            word.unwrap_or_else(|width| panic!("an output of {width} bits is no word"))
        });
        words.collect()
    }

    /// An output: these words, as an array.
    ///
    /// # Panics
    /// If there are none, or if they differ in width.
    pub fn output(&mut self, name: &str, words: &[u32]) {
        let width = words.iter().map(|&word| self.width(word));
        let width = width.reduce(|a, b| {
            assert_eq!(a, b, "widths of an output's words");
            a
        });
        let ty = array(words.len() as u32, width.expect("words of an output"));
        let name = name.to_owned();
        self.outputs.push(Variable { name, ty });
        self.output_nodes.push(words.to_vec());
    }

    fn width(&self, node: u32) -> u8 {
        self.nodes[node as usize].width
    }

    fn common_width(&self, a: u32, b: u32) -> u8 {
        assert_eq!(self.width(a), self.width(b), "widths of two words");
        self.width(a)
    }
}

fn array(len: u32, width: u8) -> Type {
    let element = Type::Integer {
        bits: width.into(),
        signed: true,
    };
    Type::Array {
        len,
        element: Box::new(element),
    }
}
