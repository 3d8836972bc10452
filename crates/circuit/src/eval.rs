//! The oracle: gate after gate, in the clear.

use crate::error::ShapeError;
use crate::netlist::{Gate, Netlist};
use crate::rows::Rows;

impl Netlist {
    /// Evaluates every gate in the clear, in file order, on all lanes at once. Takes one row per
    /// input bit and gives one per output bit. Its memory is one row per wire: it is here to compare
    /// with, not to be fast.
    ///
    /// # Errors
    /// If `inputs` does not have [`Netlist::input_bits`] rows.
    pub fn evaluate(&self, inputs: &Rows) -> Result<Rows, ShapeError> {
        let expected = self.input_bits() as usize;
        if inputs.rows() != expected {
            return Err(ShapeError {
                expected,
                found: inputs.rows(),
            });
        }
        let mut wires = Rows::new(self.wires() as usize, inputs.lanes());
        for wire in 0..expected {
            wires.row_mut(wire).copy_from_slice(inputs.row(wire));
        }
        for &gate in self.gates() {
            match gate {
                Gate::Xor { a, b, out } => wires.apply(out, a, b, |a, b| a ^ b),
                Gate::And { a, b, out } => wires.apply(out, a, b, |a, b| a & b),
                Gate::Or { a, b, out } => wires.apply(out, a, b, |a, b| a | b),
                Gate::Inv { a, out } => wires.apply(out, a, a, |a, _| !a),
                Gate::Const { bit, out } => {
                    wires.row_mut(out as usize).fill(if bit { 0xff } else { 0 })
                }
                Gate::Copy { a, out } => wires.apply(out, a, a, |a, _| a),
                Gate::Mand(gate) => {
                    let mand = self.mand(gate);
                    for ((&a, &b), &out) in mand.x.iter().zip(mand.y).zip(mand.z) {
                        wires.apply(out, a, b, |a, b| a & b);
                    }
                }
            }
        }
        let mut outputs = Rows::new(self.output_bits() as usize, inputs.lanes());
        for (row, wire) in self.output_wires().enumerate() {
            outputs
                .row_mut(row)
                .copy_from_slice(wires.row(wire as usize));
        }
        outputs.clear_padding();
        Ok(outputs)
    }
}

impl Rows {
    /// `out = f(a, b)` on whole rows, any of which may be the same.
    pub(crate) fn apply(&mut self, out: u32, a: u32, b: u32, f: impl Fn(u8, u8) -> u8) {
        let stride = self.stride();
        let [out, a, b] = [out, a, b].map(|row| row as usize * stride);
        let bytes = self.as_bytes_mut();
        for i in 0..stride {
            bytes[out + i] = f(bytes[a + i], bytes[b + i]);
        }
    }
}
