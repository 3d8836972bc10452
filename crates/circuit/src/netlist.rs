//! A netlist as it stands in the file.

use std::ops::Range;

use madrigal_core::domains;
use sha2::{Digest, Sha256};

use crate::error::{GateError, HeaderError, WidthsError};

/// The most wires a netlist can have, so that a wire, its inverse and three wires per MAND lane all
/// fit 32-bit indices.
pub(crate) const MAX_WIRES: u32 = 1 << 30;

/// The file format a netlist came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// The old Bristol format: two inputs, one output; XOR, AND, INV (or NOT), OR.
    Bristol,
    /// Bristol Fashion: any number of values; XOR, AND, INV (or NOT), EQ, EQW, MAND, and OR as in the
    /// old format.
    BristolFashion,
}

impl Format {
    /// The format's name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bristol => "the old Bristol format",
            Self::BristolFashion => "Bristol Fashion",
        }
    }
}

/// One gate. Wires are numbers below [`Netlist::wires`]; `out` is the wire the gate assigns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(
    missing_docs,
    reason = "the fields are the wires named in the variant's line"
)]
pub enum Gate {
    /// `out = a ^ b`
    Xor { a: u32, b: u32, out: u32 },
    /// `out = a & b`
    And { a: u32, b: u32, out: u32 },
    /// `out = a | b`
    Or { a: u32, b: u32, out: u32 },
    /// `out = !a`, INV or NOT in files
    Inv { a: u32, out: u32 },
    /// `out = bit`, EQ in files
    Const { bit: bool, out: u32 },
    /// `out = a`, EQW in files
    Copy { a: u32, out: u32 },
    /// Several ANDs in one gate, see [`Netlist::mand`].
    Mand(MandGate),
}

impl Gate {
    /// Changes the numbers of all wires. Those of a [`Gate::Mand`] are not in the gate.
    pub(crate) fn renumber(&mut self, mut change: impl FnMut(&mut u32)) {
        match self {
            Self::Xor { a, b, out } | Self::And { a, b, out } | Self::Or { a, b, out } => {
                [a, b, out].into_iter().for_each(change);
            }
            Self::Inv { a, out } | Self::Copy { a, out } => [a, out].into_iter().for_each(change),
            Self::Const { out, .. } => change(out),
            Self::Mand(_) => {}
        }
    }

    /// Gives the same gate over wires of other numbers.
    pub(crate) fn renumbered(mut self, of: impl Fn(u32) -> u32) -> Self {
        self.renumber(|wire| *wire = of(*wire));
        self
    }
}

/// A MAND gate; [`Netlist::mand`] gives its wires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MandGate {
    at: u32,
    lanes: u32,
}

/// The wires of a MAND gate: `z[i] = x[i] & y[i]`, all three of the same length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mand<'a> {
    /// First operands.
    pub x: &'a [u32],
    /// Second operands.
    pub y: &'a [u32],
    /// Outputs.
    pub z: &'a [u32],
}

/// A Boolean circuit: gates in topological order over numbered wires.
///
/// The inputs are the first wires, value by value, the outputs the last ones, as in the Bristol
/// formats; bit `j` of a value is its `j`-th wire. Every wire is either an input or assigned by
/// exactly one gate, before it is read: the readers and [`crate::Builder`] see to that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Netlist {
    name: String,
    format: Format,
    wires: u32,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    gates: Vec<Gate>,
    mands: Vec<u32>,
}

/// A gate over values that stand for its operands.
#[derive(Clone, Copy)]
pub(crate) enum Logic<T> {
    Xor(T, T),
    And(T, T),
    Or(T, T),
    Not(T),
    Constant(bool),
}

impl Netlist {
    /// Goes through all gates with values in the place of wires: `inputs` has one for each input wire, and `make` gives
    /// the value of each gate. Gives the values of the output wires; `unset` is that of wires that have none yet.
    pub(crate) fn replay<T: Copy>(
        &self,
        inputs: Vec<T>,
        unset: T,
        mut make: impl FnMut(Logic<T>) -> T,
    ) -> Vec<T> {
        let mut wires = inputs;
        wires.resize(self.wires as usize, unset);
        for &gate in &self.gates {
            let of = |wire: u32| wires[wire as usize];
            let (made, out) = match gate {
                Gate::Xor { a, b, out } => (make(Logic::Xor(of(a), of(b))), out),
                Gate::And { a, b, out } => (make(Logic::And(of(a), of(b))), out),
                Gate::Or { a, b, out } => (make(Logic::Or(of(a), of(b))), out),
                Gate::Inv { a, out } => (make(Logic::Not(of(a))), out),
                Gate::Const { bit, out } => (make(Logic::Constant(bit)), out),
                Gate::Copy { a, out } => (of(a), out),
                Gate::Mand(gate) => {
                    let Mand { x, y, z } = self.mand(gate);
                    for ((&x, &y), &z) in x.iter().zip(y).zip(z) {
                        let (x, y) = (wires[x as usize], wires[y as usize]);
                        wires[z as usize] = make(Logic::And(x, y));
                    }
                    continue;
                }
            };
            wires[out as usize] = made;
        }
        let outputs = self.output_wires();
        outputs.map(|wire| wires[wire as usize]).collect()
    }

    /// The name its file or builder gave it; for messages only.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format of the file it came from (Bristol Fashion if it was built).
    pub fn format(&self) -> Format {
        self.format
    }

    /// Number of wires.
    pub fn wires(&self) -> u32 {
        self.wires
    }

    /// Widths of the input values in bits.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// Widths of the output values in bits.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Bits of all input values together: these are wires `0..input_bits`.
    pub fn input_bits(&self) -> u32 {
        self.inputs.iter().sum()
    }

    /// Bits of all output values together.
    pub fn output_bits(&self) -> u32 {
        self.outputs.iter().sum()
    }

    /// The wires of all output values, in order: the last ones.
    pub fn output_wires(&self) -> Range<u32> {
        self.wires - self.output_bits()..self.wires
    }

    /// Makes the same circuit with its input bits in values of these widths, in order: as where a file has the values of
    /// several parties as one.
    ///
    /// # Errors
    /// [`WidthsError`] if the widths have another sum than those of the circuit.
    pub fn with_inputs(mut self, widths: &[u32]) -> Result<Self, WidthsError> {
        let found = widths.iter().map(|&width| u64::from(width)).sum();
        let expected = u64::from(self.input_bits());
        if found != expected {
            return Err(WidthsError { expected, found });
        }
        self.inputs = widths.to_vec();
        Ok(self)
    }

    /// Makes the same circuit with its output bits in values of these widths, in order.
    ///
    /// # Errors
    /// [`WidthsError`] if the widths have another sum than those of the circuit.
    pub fn with_outputs(mut self, widths: &[u32]) -> Result<Self, WidthsError> {
        let found = widths.iter().map(|&width| u64::from(width)).sum();
        let expected = u64::from(self.output_bits());
        if found != expected {
            return Err(WidthsError { expected, found });
        }
        self.outputs = widths.to_vec();
        Ok(self)
    }

    /// The gates in topological order.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The wires of a MAND gate of this netlist.
    ///
    /// # Panics
    /// If the gate belongs to another netlist that has more of them.
    pub fn mand(&self, gate: MandGate) -> Mand<'_> {
        let lanes = gate.lanes as usize;
        let all = &self.mands[gate.at as usize..][..3 * lanes];
        Mand {
            x: &all[..lanes],
            y: &all[lanes..2 * lanes],
            z: &all[2 * lanes..],
        }
    }

    /// SHA-256 of what the netlist means: widths and gates, in order, but neither name nor format.
    /// Parties compare it (collision resistance is what counts) to know that they run the same one.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Words::new(domains::NETLIST);
        for widths in [&self.inputs, &self.outputs] {
            hash.put(&[widths.len() as u32]);
            hash.put(widths);
        }
        hash.put(&[self.wires, self.gates.len() as u32]);
        for &gate in &self.gates {
            match gate {
                Gate::Xor { a, b, out } => hash.put(&[0, a, b, out]),
                Gate::And { a, b, out } => hash.put(&[1, a, b, out]),
                Gate::Or { a, b, out } => hash.put(&[2, a, b, out]),
                Gate::Inv { a, out } => hash.put(&[3, a, out]),
                Gate::Const { bit, out } => hash.put(&[4, u32::from(bit), out]),
                Gate::Copy { a, out } => hash.put(&[5, a, out]),
                Gate::Mand(gate) => {
                    hash.put(&[6, gate.lanes]);
                    hash.put(&self.mands[gate.at as usize..][..3 * gate.lanes as usize]);
                }
            }
        }
        hash.finish()
    }
}

/// Hashes 32-bit words, little endian, through a buffer: feeding SHA-256 four bytes at a time costs
/// more than hashing them.
pub(crate) struct Words {
    hash: Sha256,
    buffer: Vec<u8>,
}

impl Words {
    /// `domain` keeps digests of different things apart.
    pub(crate) fn new(domain: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update((domain.len() as u32).to_le_bytes());
        hash.update(domain);
        Self {
            hash,
            buffer: Vec::with_capacity(1 << 12),
        }
    }

    pub(crate) fn put(&mut self, words: &[u32]) {
        for word in words {
            self.buffer.extend_from_slice(&word.to_le_bytes());
            if self.buffer.len() >= 1 << 12 {
                self.hash.update(&self.buffer);
                self.buffer.clear();
            }
        }
    }

    pub(crate) fn finish(mut self) -> [u8; 32] {
        self.hash.update(&self.buffer);
        self.hash.finalize().into()
    }
}

/// Input bits that a text may announce however short it is: compiled, they take a few megabytes.
const FREE_INPUTS: usize = 1 << 17;

/// Builds a netlist gate by gate and checks each one.
pub(crate) struct Assembler {
    netlist: Netlist,
    input_bits: u32,
    /// Bits that say which of the wires above the inputs are assigned; grows with the highest one.
    assigned: Vec<u64>,
    driven: u32,
    /// Wires between two gates that are one in the file. They are numbered from the file's wires on, until
    /// [`finish`](Self::finish) puts them before the outputs.
    inner: u32,
}

impl Assembler {
    /// `wires` must be at most [`MAX_WIRES`]: the callers see to that.
    pub(crate) fn new(
        name: &str,
        format: Format,
        wires: u32,
        inputs: Vec<u32>,
        outputs: Vec<u32>,
    ) -> Result<Self, HeaderError> {
        let total = |widths: &[u32]| widths.iter().map(|&w| u64::from(w)).sum::<u64>();
        let (input_bits, output_bits) = (total(&inputs), total(&outputs));
        if input_bits > u64::from(wires) {
            return Err(HeaderError::InputsExceedWires {
                inputs: input_bits,
                wires: wires.into(),
            });
        }
        if output_bits > u64::from(wires) {
            return Err(HeaderError::OutputsExceedWires {
                outputs: output_bits,
                wires: wires.into(),
            });
        }
        let netlist = Netlist {
            name: name.into(),
            format,
            wires,
            inputs,
            outputs,
            gates: Vec::new(),
            mands: Vec::new(),
        };
        Ok(Self {
            netlist,
            input_bits: input_bits as u32,
            assigned: Vec::new(),
            driven: input_bits as u32,
            inner: 0,
        })
    }

    /// Adds a gate. A [`Gate::Mand`] comes through [`Assembler::mand`] only.
    pub(crate) fn gate(&mut self, gate: Gate) -> Result<(), GateError> {
        self.drive(&gate)?;
        self.netlist.gates.push(gate);
        Ok(())
    }

    /// Reads a gate's operands and assigns its output, which is the result.
    fn drive(&mut self, gate: &Gate) -> Result<u32, GateError> {
        let out = match *gate {
            Gate::Xor { a, b, out } | Gate::And { a, b, out } | Gate::Or { a, b, out } => {
                self.read(a)?;
                self.read(b)?;
                out
            }
            Gate::Inv { a, out } | Gate::Copy { a, out } => {
                self.read(a)?;
                out
            }
            Gate::Const { out, .. } => out,
            Gate::Mand(_) => unreachable!("its wires live in the netlist: `mand` is the way in"),
        };
        self.assign(out)?;
        Ok(out)
    }

    /// Adds a gate of two operands whose output is inverted: the gate makes a wire of its own, and its output is the
    /// inverse of that.
    pub(crate) fn inverted(&mut self, mut gate: Gate) -> Result<(), GateError> {
        let inner = self.netlist.wires.saturating_add(self.inner);
        if inner >= MAX_WIRES {
            return Err(GateError::Wires { limit: MAX_WIRES });
        }
        let out = self.drive(&gate)?;
        if let Gate::Xor { out, .. } | Gate::And { out, .. } | Gate::Or { out, .. } = &mut gate {
            *out = inner;
        }
        self.inner += 1;
        let inverse = Gate::Inv { a: inner, out };
        self.netlist.gates.extend([gate, inverse]);
        Ok(())
    }

    /// Adds a MAND gate over `3 * lanes` wires: first operands, second operands, outputs.
    pub(crate) fn mand(&mut self, wires: &[u32]) -> Result<(), GateError> {
        let lanes = wires.len() / 3;
        for &wire in &wires[..2 * lanes] {
            self.read(wire)?;
        }
        for &wire in &wires[2 * lanes..] {
            self.assign(wire)?;
        }
        let at = self.netlist.mands.len() as u32;
        self.netlist.mands.extend_from_slice(wires);
        self.netlist.gates.push(Gate::Mand(MandGate {
            at,
            lanes: lanes as u32,
        }));
        Ok(())
    }

    /// Refuses wires that a text of this many bytes cannot assign, and inputs of which it can read few, before anything
    /// grows with them.
    pub(crate) fn expect_text(&self, bytes: usize) -> Result<(), HeaderError> {
        if self.input_bits as usize > bytes.max(FREE_INPUTS) {
            return Err(HeaderError::Unread {
                inputs: self.input_bits,
                bytes,
                free: FREE_INPUTS,
            });
        }
        let wires = self.netlist.wires;
        if (wires - self.input_bits) as usize > bytes {
            return Err(HeaderError::TooShort {
                wires,
                inputs: self.input_bits,
                bytes,
            });
        }
        Ok(())
    }

    /// Every wire must have been driven by now.
    pub(crate) fn finish(self) -> Result<Netlist, HeaderError> {
        if self.driven != self.netlist.wires {
            let words = self.assigned.iter().take_while(|&&word| word == u64::MAX);
            let full = words.count();
            let rest = self.assigned.get(full);
            let bits = rest.map_or(0, |word| word.trailing_ones());
            let wire = self.input_bits + 64 * full as u32 + bits;
            let is_output = self.netlist.output_wires().contains(&wire);
            return Err(HeaderError::Unassigned {
                what: if is_output { "output wire" } else { "wire" },
                wire,
                wires: self.netlist.wires,
                driven: self.driven,
            });
        }
        match self.inner {
            0 => Ok(self.netlist),
            inner => with_inner(self.netlist, inner),
        }
    }

    /// Gives the place, above the inputs, of a wire that is none of these.
    fn above(&self, wire: u32) -> Result<usize, GateError> {
        let wires = self.netlist.wires;
        match wire < wires {
            true => Ok((wire - self.input_bits) as usize),
            false => Err(GateError::Range { wire, wires }),
        }
    }

    fn read(&self, wire: u32) -> Result<(), GateError> {
        if wire < self.input_bits {
            return Ok(());
        }
        let at = self.above(wire)?;
        match self.assigned.get(at / 64) {
            Some(word) if word >> (at % 64) & 1 == 1 => Ok(()),
            _ => Err(GateError::Undefined { wire }),
        }
    }

    fn assign(&mut self, wire: u32) -> Result<(), GateError> {
        if wire < self.input_bits {
            return Err(GateError::AssignsInput {
                wire,
                inputs: self.input_bits,
            });
        }
        let at = self.above(wire)?;
        if self.assigned.len() <= at / 64 {
            self.assigned.resize(at / 64 + 1, 0);
        }
        let (word, bit) = (&mut self.assigned[at / 64], 1 << (at % 64));
        if *word & bit != 0 {
            return Err(GateError::Reassigned { wire });
        }
        *word |= bit;
        self.driven += 1;
        Ok(())
    }
}

/// Renumbers the `inner` wires behind all others to stand before the outputs, which are then the last wires again.
fn with_inner(mut netlist: Netlist, inner: u32) -> Result<Netlist, HeaderError> {
    let (wires, outputs) = (netlist.wires, netlist.output_wires());
    if outputs.start < netlist.input_bits() {
        // Outputs that are inputs stay where they are, and the outputs are copies.
        let total = u64::from(wires) + u64::from(inner) + u64::from(netlist.output_bits());
        if total > u64::from(MAX_WIRES) {
            return Err(HeaderError::Limit {
                what: "wires",
                found: total,
                limit: MAX_WIRES.into(),
            });
        }
        let copies = outputs.zip(wires + inner..);
        let copies = copies.map(|(a, out)| Gate::Copy { a, out });
        netlist.gates.extend(copies);
        netlist.wires = total as u32;
        return Ok(netlist);
    }
    let renumber = |wire: &mut u32| match *wire {
        own if own >= wires => *wire = own - wires + outputs.start,
        output if output >= outputs.start => *wire = output + inner,
        _ => {}
    };
    for gate in &mut netlist.gates {
        gate.renumber(renumber);
    }
    netlist.mands.iter_mut().for_each(renumber);
    // Below the limit: each inner wire was.
    netlist.wires = wires + inner;
    Ok(netlist)
}
