//! Random circuits as both papers on branches generate them (Masked Triples 7.2).

use std::collections::HashSet;
use std::sync::Arc;

use madrigal_kernels::{Block, Prg};

use super::{BranchError, Branching, Draft, index_bits};
use crate::builder::{Builder, Wire};
use crate::netlist::Netlist;

/// Shape of a random branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Random {
    /// Input bits.
    pub inputs: u32,
    /// Output bits.
    pub outputs: u32,
    /// Layers of gates.
    pub layers: usize,
    /// ANDs, in all layers together.
    pub ands: usize,
    /// XORs, likewise, beside those that outputs are made by.
    pub xors: usize,
}

impl Random {
    /// The setting of the papers: 10 layers, 30,000 ANDs and as many XORs, 128 wires in and out.
    pub const PAPER: Self = Self {
        inputs: 128,
        outputs: 128,
        layers: 10,
        ands: 30_000,
        xors: 30_000,
    };

    /// A netlist. Each layer has a random number of gates, all ways to split them up being equally likely; each gate
    /// reads two different wires of layers before its own, and no two gates are the same: where a layer has
    /// more gates than there are pairs, a gate reads a wire and the sum of two. A wire that no gate reads goes into an output by XOR, so that every gate counts.
    ///
    /// # Errors
    /// [`RandomError`] if there are fewer different gates: too few inputs for the number of gates.
    pub fn netlist(&self, name: &str, seed: u64) -> Result<Netlist, RandomError> {
        let mut random = Numbers(Prg::new(Block::new(seed, 0x6272_616e)));
        let mut builder = Builder::new(name);
        let mut pool = builder.input(self.inputs);
        let mut unread: HashSet<Wire> = HashSet::new();
        let mut order = Vec::new();
        let ands = random.split(self.ands, self.layers);
        let xors = random.split(self.xors, self.layers);
        for (ands, xors) in ands.into_iter().zip(xors) {
            let mut made = Vec::new();
            let mut seen = HashSet::new();
            for gate in 0..ands + xors {
                let is_and = gate < ands;
                let mut tries = 0;
                let wire = loop {
                    tries += 1;
                    if pool.len() < 2 || tries > 10_000 {
                        return Err(RandomError(*self));
                    }
                    let [a, b, c] = [(); 3].map(|()| random.of(&pool));
                    if a == b {
                        continue;
                    }
                    // Where hardly a pair of wires is left: a wire and a sum, which need not be new.
                    let sum = if tries > 8 { builder.xor(b, c) } else { b };
                    let before = builder.size();
                    let wire = if is_and {
                        builder.and(a, sum)
                    } else {
                        builder.xor(a, sum)
                    };
                    // A gate that was there before, or that is none, does not count.
                    if builder.size() > before && seen.insert(wire) {
                        unread.remove(&a);
                        unread.remove(&b);
                        break wire;
                    }
                };
                made.push(wire);
            }
            unread.extend(&made);
            order.extend(&made);
            pool.extend(made);
        }
        let zero = builder.constant(false);
        let mut outputs = vec![zero; self.outputs as usize];
        for (index, output) in outputs.iter_mut().enumerate() {
            if let Some(&input) = pool.get(index) {
                *output = input;
            }
        }
        let left = order.into_iter().filter(|wire| unread.contains(wire));
        for (index, wire) in left.enumerate() {
            let output = index % outputs.len().max(1);
            if let Some(output) = outputs.get_mut(output) {
                *output = builder.xor(*output, wire);
            }
        }
        builder.output(&outputs);
        Ok(builder.finish())
    }

    /// A conditional of such branches, all different: its first value is the number of the active one.
    ///
    /// # Errors
    /// [`RandomError`] in the same cases as [`netlist`](Self::netlist); and if there can be no such conditional.
    pub fn conditional(&self, branches: usize, seed: u64) -> Result<Branching, RandomError> {
        let mut made = Vec::new();
        for branch in 0..branches {
            let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ branch as u64;
            let netlist = self.netlist(&format!("branch {branch}"), seed)?;
            made.push(Arc::new(Branching::netlist(Arc::new(netlist))));
        }
        let name = format!("random of {branches} branches, seed {seed}");
        Branching::conditional(&name, made).map_err(|_: BranchError| RandomError(*self))
    }
}

/// A circuit of a few small netlists and conditionals of up to 5 branches, nested up to `depth`: for tests of what
/// evaluates such circuits. All kinds of gates, constants and unused wires occur.
pub fn nested(seed: u64, inputs: u32, outputs: usize, depth: usize) -> Branching {
    let mut random = Numbers(Prg::new(Block::new(seed, 0x6e65_7374)));
    random.circuit(inputs.max(1), outputs, depth)
}

impl Numbers {
    fn circuit(&mut self, inputs: u32, outputs: usize, depth: usize) -> Branching {
        let mut draft = Draft::new("random", &[inputs]);
        let mut wires: Vec<u32> = (0..inputs).collect();
        for _ in 0..1 + self.below(3) {
            let made = if depth == 0 || self.below(2) == 0 {
                let width = 1 + self.below(6);
                let netlist = Arc::new(self.part(width as u32));
                draft.circuit(netlist, &self.some(&wires, width))
            } else {
                let count = 1 + self.below(5);
                let (width, made) = (1 + self.below(4), 1 + self.below(3));
                let branches: Vec<_> = (0..count)
                    .map(|_| Arc::new(self.circuit(width as u32, made, depth - 1)))
                    .collect();
                let index = self.some(&wires, index_bits(count));
                draft.choice(&index, &self.some(&wires, width), branches)
            };
            wires.extend(made.expect("wires and widths fit"));
        }
        let results = self.some(&wires, outputs);
        draft.finish(&[&results]).expect("its own wires")
    }

    fn some<T: Copy>(&mut self, list: &[T], count: usize) -> Vec<T> {
        (0..count).map(|_| self.of(list)).collect()
    }

    fn part(&mut self, width: u32) -> Netlist {
        let mut builder = Builder::new("part");
        let mut wires = builder.input(width);
        for _ in 0..self.below(12) {
            let (a, b) = (self.of(&wires), self.of(&wires));
            let wire = match self.below(6) {
                0 => builder.xor(a, b),
                1 => builder.or(a, b),
                2 => builder.not(a),
                3 if self.below(4) == 0 => builder.constant(true),
                _ => builder.and(a, b),
            };
            wires.push(wire);
        }
        let count = 1 + self.below(4);
        let outputs = self.some(&wires, count);
        builder.output(&outputs);
        builder.finish()
    }
}

/// There is no such circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no random circuit with {} inputs, {} ANDs and {} XORs in {} layers and so many branches: give it more inputs or layers, fewer gates, or 1 to 4096 branches",
    .0.inputs, .0.ands, .0.xors, .0.layers
)]
pub struct RandomError(Random);

/// Numbers below bounds, for circuits; not for secrets.
struct Numbers(Prg);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        ((u128::from(u64::from_le_bytes(bytes)) * bound as u128) >> 64) as usize
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Splits a number into a sum of `parts` numbers, all ways being equally likely: `parts - 1` bars among `number`
    /// balls.
    fn split(&mut self, number: usize, parts: usize) -> Vec<usize> {
        if parts == 0 {
            return Vec::new();
        }
        let places = number + parts - 1;
        let mut bars = HashSet::new();
        while bars.len() < parts - 1 {
            bars.insert(self.below(places));
        }
        let mut bars: Vec<usize> = bars.into_iter().collect();
        bars.sort_unstable();
        bars.push(places);
        let mut before = 0;
        let of = |bar: usize| {
            let part = bar - before;
            before = bar + 1;
            part
        };
        bars.into_iter().map(of).collect()
    }
}
