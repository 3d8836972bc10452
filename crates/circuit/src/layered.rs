//! A netlist compiled for bit-sliced evaluation: layers of local operations and of ANDs.

use std::ops::Range;
use std::sync::Arc;

use madrigal_core::domains;

use crate::error::ShapeError;
use crate::netlist::Words;
use crate::rows::Rows;

pub use madrigal_kernels::{And, LocalOp};

/// One layer: first the local operations in order, then all ANDs in one interactive step.
///
/// All ANDs read their operands before any of them writes: a `dst` may be an operand's row, of the
/// same AND or another one of the layer; of a later one only where no other row was free. No two ANDs of a layer have
/// the same `dst`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer<'a> {
    /// Local operations, to be done in order.
    pub local: &'a [LocalOp],
    /// ANDs, at least one; their order is the order of their shares in the layer's message.
    pub ands: &'a [And],
}

/// A program over an arena of [`Layered::rows`] rows: load the inputs, do the layers, do the tail, take
/// the outputs.
///
/// Rows are reused as soon as nothing will read them. Gates that reach no output are gone, and so are
/// copies, constants inside the netlist and double inversions; equal files give equal programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layered {
    pub(crate) rows: u32,
    pub(crate) input_bits: u32,
    pub(crate) inputs: Vec<u32>,
    pub(crate) outputs: Vec<u32>,
    /// Shared with [`Sums`](crate::Sums) that are the ANDs.
    pub(crate) local: Arc<Vec<LocalOp>>,
    pub(crate) ands: Vec<And>,
    /// Ends of each layer in `local` and `ands`.
    pub(crate) ends: Vec<(u32, u32)>,
}

impl Layered {
    /// Rows of the arena: the most that are alive at once.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Bits of all input values together: the rows that [`Layered::interpret`] takes.
    pub fn input_bits(&self) -> usize {
        self.input_bits as usize
    }

    /// The input wires that are used, ascending: wire `inputs()[r]` is to be loaded into row `r`.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// The row of each output bit once the tail is done; a row may stand there more than once.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Number of layers, that is of interactive steps where each takes one.
    pub fn depth(&self) -> usize {
        self.ends.len()
    }

    /// ANDs of all layers.
    pub fn and_count(&self) -> usize {
        self.ands.len()
    }

    /// ANDs of the largest layer.
    pub fn widest_layer(&self) -> usize {
        self.layers()
            .map(|layer| layer.ands.len())
            .max()
            .unwrap_or(0)
    }

    /// Local operations of all layers and the tail.
    pub fn local_count(&self) -> usize {
        self.local.len()
    }

    /// The layers in order.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = Layer<'_>> + Clone {
        (0..self.ends.len()).map(|index| self.at(index))
    }

    /// One layer, or `None` beyond [`Layered::depth`].
    pub fn layer(&self, index: usize) -> Option<Layer<'_>> {
        (index < self.ends.len()).then(|| self.at(index))
    }

    /// The local operations after the last layer.
    pub fn tail(&self) -> &[LocalOp] {
        &self.local[self.starts(self.ends.len()).0..]
    }

    /// SHA-256 of the program, for parties that want to know that they also agree on the order of the
    /// ANDs (collision resistance is what counts).
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Words::new(domains::LAYERED);
        hash.put(&[self.rows, self.input_bits]);
        for list in [&self.inputs, &self.outputs] {
            hash.put(&[list.len() as u32]);
            hash.put(list);
        }
        hash.put(&[self.ends.len() as u32]);
        for layer in self.layers() {
            hash.local(layer.local);
            hash.put(&[layer.ands.len() as u32]);
            layer
                .ands
                .iter()
                .for_each(|and| hash.put(&[and.dst, and.a, and.b]));
        }
        hash.local(self.tail());
        hash.finish()
    }

    /// Runs the program in the clear, as a protocol would run it on shares. Takes one row per input
    /// bit and gives one per output bit.
    ///
    /// # Errors
    /// [`ShapeError`] if `inputs` does not have [`Layered::input_bits`] rows.
    pub fn interpret(&self, inputs: &Rows) -> Result<Rows, ShapeError> {
        let mut arena = Rows::arena(self.rows(), self.input_bits(), &self.inputs, inputs)?;
        let mut results = Rows::new(self.widest_layer(), inputs.lanes());
        for layer in self.layers() {
            arena.local(layer.local);
            for (row, and) in layer.ands.iter().enumerate() {
                let operands = arena
                    .row(and.a as usize)
                    .iter()
                    .zip(arena.row(and.b as usize));
                results
                    .row_mut(row)
                    .iter_mut()
                    .zip(operands)
                    .for_each(|(to, (a, b))| *to = a & b);
            }
            for (row, and) in layer.ands.iter().enumerate() {
                arena
                    .row_mut(and.dst as usize)
                    .copy_from_slice(results.row(row));
            }
        }
        arena.local(self.tail());
        Ok(arena.outputs(&self.outputs))
    }

    fn at(&self, index: usize) -> Layer<'_> {
        let ((local, and), (local_end, and_end)) = (self.starts(index), self.starts(index + 1));
        let (local, ands): (Range<_>, Range<_>) = (local..local_end, and..and_end);
        Layer {
            local: &self.local[local],
            ands: &self.ands[ands],
        }
    }

    fn starts(&self, index: usize) -> (usize, usize) {
        let (local, and) = if index == 0 {
            (0, 0)
        } else {
            self.ends[index - 1]
        };
        (local as usize, and as usize)
    }
}

impl Words {
    pub(crate) fn local(&mut self, ops: &[LocalOp]) {
        self.put(&[ops.len() as u32]);
        for &op in ops {
            match op {
                LocalOp::Xor { dst, a, b } => self.put(&[0, dst, a, b]),
                LocalOp::Not { dst, a } => self.put(&[1, dst, a]),
                LocalOp::Const { dst, bit } => self.put(&[2, dst, bit.into()]),
            }
        }
    }
}

impl Rows {
    /// Makes `rows` rows, with the input wires of a program in the first ones.
    pub(crate) fn arena(
        rows: usize,
        input_bits: usize,
        wires: &[u32],
        inputs: &Self,
    ) -> Result<Self, ShapeError> {
        if inputs.rows() != input_bits {
            return Err(ShapeError {
                expected: input_bits,
                found: inputs.rows(),
            });
        }
        let mut arena = Self::new(rows, inputs.lanes());
        for (row, &wire) in wires.iter().enumerate() {
            let wire = inputs.row(wire as usize);
            arena.row_mut(row).copy_from_slice(wire);
        }
        Ok(arena)
    }

    /// A copy of these rows.
    pub(crate) fn outputs(&self, rows: &[u32]) -> Self {
        let mut outputs = Self::new(rows.len(), self.lanes());
        for (to, &row) in rows.iter().enumerate() {
            outputs.row_mut(to).copy_from_slice(self.row(row as usize));
        }
        outputs.clear_padding();
        outputs
    }

    pub(crate) fn local(&mut self, ops: &[LocalOp]) {
        for &op in ops {
            match op {
                LocalOp::Xor { dst, a, b } => self.apply(dst, a, b, |a, b| a ^ b),
                LocalOp::Not { dst, a } => self.apply(dst, a, a, |a, _| !a),
                LocalOp::Const { dst, bit } => {
                    self.row_mut(dst as usize).fill(if bit { 0xff } else { 0 })
                }
            }
        }
    }
}
