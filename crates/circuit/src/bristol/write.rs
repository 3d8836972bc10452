//! Writers, and how the old format says what only the new one has words for.

use std::io::Write as _;

use crate::error::WriteError;
use crate::netlist::{Format, Gate, MAX_WIRES, Netlist};

impl Netlist {
    /// The netlist as a text of the format it came in: reading it back gives the same netlist.
    ///
    /// # Errors
    /// [`WriteError`] as for [`Netlist::write_as`]; none for a netlist that was read.
    pub fn write(&self) -> Result<Vec<u8>, WriteError> {
        self.write_as(self.format())
    }

    /// The netlist as a text of the given format.
    ///
    /// Bristol Fashion expresses every netlist. The old format has neither constants, copies nor
    /// MAND: a constant becomes `x XOR x` of the first input wire (and its INV), a copy two INV,
    /// a MAND its ANDs; the wires are then renumbered so that the outputs stay the last ones. A
    /// second input value of width 0 is not told from none there.
    ///
    /// # Errors
    /// [`WriteError`]: for the old format: more than two input values, an output count other than one, a
    /// constant without any input wire.
    pub fn write_as(&self, format: Format) -> Result<Vec<u8>, WriteError> {
        let mut text = Vec::with_capacity(20 * self.gates().len() + 64);
        match format {
            Format::BristolFashion => {
                put(&mut text, &[self.gates().len() as u32, self.wires()], "");
                for widths in [self.inputs(), self.outputs()] {
                    let mut line = vec![widths.len() as u32];
                    line.extend_from_slice(widths);
                    put(&mut text, &line, "");
                }
                text.push(b'\n');
                self.gates()
                    .iter()
                    .for_each(|&gate| self.put_gate(&mut text, gate));
            }
            Format::Bristol => {
                let inputs = match *self.inputs() {
                    [] => [0, 0],
                    [first] => [first, 0],
                    [first, second] => [first, second],
                    _ => {
                        return Err(WriteError::Inputs {
                            found: self.inputs().len(),
                        });
                    }
                };
                let [output] = *self.outputs() else {
                    return Err(WriteError::Outputs {
                        found: self.outputs().len(),
                    });
                };
                let old = OldGates::of(self)?;
                put(&mut text, &[old.gates.len() as u32, old.wires], "");
                put(&mut text, &[inputs[0], inputs[1], output], "");
                text.push(b'\n');
                old.gates
                    .iter()
                    .for_each(|&gate| self.put_gate(&mut text, gate));
            }
        }
        Ok(text)
    }

    fn put_gate(&self, text: &mut Vec<u8>, gate: Gate) {
        match gate {
            Gate::Xor { a, b, out } => put(text, &[2, 1, a, b, out], "XOR"),
            Gate::And { a, b, out } => put(text, &[2, 1, a, b, out], "AND"),
            Gate::Or { a, b, out } => put(text, &[2, 1, a, b, out], "OR"),
            Gate::Inv { a, out } => put(text, &[1, 1, a, out], "INV"),
            Gate::Const { bit, out } => put(text, &[1, 1, bit.into(), out], "EQ"),
            Gate::Copy { a, out } => put(text, &[1, 1, a, out], "EQW"),
            Gate::Mand(gate) => {
                let mand = self.mand(gate);
                let mut line = vec![2 * mand.z.len() as u32, mand.z.len() as u32];
                [mand.x, mand.y, mand.z]
                    .iter()
                    .for_each(|wires| line.extend_from_slice(wires));
                put(text, &line, "MAND");
            }
        }
    }
}

/// One line: numbers, then a word.
fn put(text: &mut Vec<u8>, numbers: &[u32], word: &str) {
    for (i, number) in numbers.iter().enumerate() {
        // Writing to a vector cannot fail.
        let _ = write!(text, "{}{number}", if i == 0 { "" } else { " " });
    }
    if !word.is_empty() {
        text.push(b' ');
        text.extend_from_slice(word.as_bytes());
    }
    text.push(b'\n');
}

/// Gates of the old format alone, over renumbered wires.
struct OldGates {
    gates: Vec<Gate>,
    wires: u32,
}

impl OldGates {
    fn of(netlist: &Netlist) -> Result<Self, WriteError> {
        // Each copy and each constant 1 needs one wire more, just below the outputs.
        let extra = netlist
            .gates()
            .iter()
            .filter(|g| matches!(g, Gate::Copy { .. } | Gate::Const { bit: true, .. }));
        let extra = extra.count() as u64;
        let wires = u64::from(netlist.wires()) + extra;
        if wires > u64::from(MAX_WIRES) {
            return Err(WriteError::TooLarge { limit: MAX_WIRES });
        }
        let outputs = netlist.output_wires();
        if extra > 0 && outputs.start < netlist.input_bits() {
            return Err(WriteError::InputIsOutput);
        }
        let first = outputs.start;
        let at = |wire: u32| {
            if wire < first {
                wire
            } else {
                wire + extra as u32
            }
        };
        let mut spare = first..first + extra as u32;
        let mut gates = Vec::with_capacity(netlist.gates().len());
        for &gate in netlist.gates() {
            match gate {
                Gate::Mand(gate) => {
                    let mand = netlist.mand(gate);
                    let lanes = mand.x.iter().zip(mand.y).zip(mand.z);
                    let ands = lanes.map(|((&a, &b), &out)| Gate::And { a, b, out });
                    gates.extend(ands.map(|and| and.renumbered(at)));
                }
                Gate::Const { bit, out } => {
                    if netlist.input_bits() == 0 {
                        return Err(WriteError::Constant);
                    }
                    let (a, b, out) = (0, 0, at(out));
                    match spare_if(bit, &mut spare) {
                        Some(zero) => {
                            gates.push(Gate::Xor { a, b, out: zero });
                            gates.push(Gate::Inv { a: zero, out });
                        }
                        None => gates.push(Gate::Xor { a, b, out }),
                    }
                }
                Gate::Copy { a, out } => {
                    if let Some(inverse) = spare.next() {
                        let (a, out) = (at(a), at(out));
                        gates.push(Gate::Inv { a, out: inverse });
                        gates.push(Gate::Inv { a: inverse, out });
                    }
                }
                _ => gates.push(gate.renumbered(at)),
            }
        }
        Ok(Self {
            gates,
            wires: wires as u32,
        })
    }
}

fn spare_if(needed: bool, spare: &mut impl Iterator<Item = u32>) -> Option<u32> {
    if needed { spare.next() } else { None }
}
