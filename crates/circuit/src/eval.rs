//! The oracle: gate after gate, in the clear.

use crate::error::ShapeError;
use crate::netlist::{Gate, Netlist};
use crate::rows::Rows;

/// Lanes that are evaluated at once.
const BLOCK: usize = 1 << 12;

impl Netlist {
    /// Evaluates every gate in the clear, in file order. Takes one row per input bit and gives one per
    /// output bit. Its memory is one row of at most 4096 lanes per wire, beside inputs and
    /// outputs: it is here to compare with, not to be fast.
    ///
    /// # Errors
    /// [`ShapeError`] if `inputs` does not have [`Netlist::input_bits`] rows.
    pub fn evaluate(&self, inputs: &Rows) -> Result<Rows, ShapeError> {
        let expected = self.input_bits() as usize;
        if inputs.rows() != expected {
            return Err(ShapeError {
                expected,
                found: inputs.rows(),
            });
        }
        let lanes = inputs.lanes();
        let mut outputs = Rows::new(self.output_bits() as usize, lanes);
        let mut wires = Rows::new(self.wires() as usize, lanes.min(BLOCK));
        for start in (0..lanes).step_by(BLOCK) {
            // Blocks begin at whole words; the last one may have fewer than the rest.
            let bytes = Rows::stride_for(BLOCK.min(lanes - start));
            let place = start / 8..start / 8 + bytes;
            for wire in 0..expected {
                let row = &inputs.row(wire)[place.clone()];
                wires.row_mut(wire)[..bytes].copy_from_slice(row);
            }
            self.evaluate_block(&mut wires);
            for (row, wire) in self.output_wires().enumerate() {
                let value = &wires.row(wire as usize)[..bytes];
                outputs.row_mut(row)[place.clone()].copy_from_slice(value);
            }
        }
        outputs.clear_padding();
        Ok(outputs)
    }

    /// All gates, on rows whose inputs are there.
    fn evaluate_block(&self, wires: &mut Rows) {
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
