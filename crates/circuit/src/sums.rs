//! A netlist compiled for protocols that pay for sums of products rather than for products.

use std::sync::Arc;

use madrigal_core::domains;

use crate::error::ShapeError;
use crate::layered::LocalOp;
use crate::netlist::Words;
use crate::rows::Rows;

pub use madrigal_kernels::SumStep;

/// One layer: first the local operations in order, then the sums in one interactive step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumLayer<'a> {
    /// Local operations, to be done in order.
    pub local: &'a [LocalOp],
    /// Steps that make the sums, in order. All steps read rows before any sum is written to one; once a step adds to a sum,
    /// all earlier sums are complete.
    pub steps: &'a [SumStep],
    /// The row of each sum, at least one; their order is their order in the layer's message.
    pub sums: &'a [u32],
}

/// The computation of a [`Layered`](crate::Layered) program with sums of products where that has ANDs.
///
/// In replicated sharing a product of shares is at first additively shared, without a message, and only making it a
/// replicated one takes some: so products are added before, and what is sent is one bit for each sum that anything
/// else depends on. An S-box of AES with 32 ANDs has 17 of them. (Dot products, Araki et al., CCS 2016, section 2; the
/// S-box, Chida et al., WAHC 2018.)
///
/// The sums are chosen by a smallest cut in each layer between its products and what reads them, as they are added
/// up there; where that saves little, the sums are the products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    pub(crate) rows: u32,
    pub(crate) kept: u32,
    pub(crate) input_bits: u32,
    pub(crate) inputs: Vec<u32>,
    pub(crate) outputs: Vec<u32>,
    pub(crate) local: Arc<Vec<LocalOp>>,
    pub(crate) steps: Vec<SumStep>,
    pub(crate) sums: Vec<u32>,
    /// Ends of each layer in `local`, `steps` and `sums`.
    pub(crate) ends: Vec<[u32; 3]>,
}

impl Sums {
    /// Rows of the arena: the most that are alive at once.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Rows of one component that are kept beside them within a layer.
    pub fn kept(&self) -> usize {
        self.kept as usize
    }

    /// The input wires that are used, ascending: wire `inputs()[r]` is to be loaded into row `r`.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// The row of each output bit once the tail is done; a row may stand there more than once.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Number of layers.
    pub fn depth(&self) -> usize {
        self.ends.len()
    }

    /// Sums of all layers.
    pub fn sum_count(&self) -> usize {
        self.sums.len()
    }

    /// Local operations of all layers and the tail.
    pub fn local_count(&self) -> usize {
        self.local.len()
    }

    /// Steps of all layers.
    pub fn step_count(&self) -> usize {
        self.steps.len()
    }

    /// The layers in order.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = SumLayer<'_>> + Clone {
        (0..self.ends.len()).map(|index| {
            let (starts, ends) = (self.starts(index), self.starts(index + 1));
            SumLayer {
                local: &self.local[starts[0]..ends[0]],
                steps: &self.steps[starts[1]..ends[1]],
                sums: &self.sums[starts[2]..ends[2]],
            }
        })
    }

    /// The local operations after the last layer.
    pub fn tail(&self) -> &[LocalOp] {
        &self.local[self.starts(self.ends.len())[0]..]
    }

    fn starts(&self, index: usize) -> [usize; 3] {
        match index {
            0 => [0; 3],
            _ => self.ends[index - 1].map(|end| end as usize),
        }
    }

    /// SHA-256 of the program, for parties that want to know that they also agree on the order of the sums (collision
    /// resistance is what counts).
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Words::new(domains::SUMS);
        hash.put(&[self.rows, self.kept, self.input_bits]);
        for list in [&self.inputs, &self.outputs, &self.sums] {
            hash.put(&[list.len() as u32]);
            hash.put(list);
        }
        hash.local(&self.local);
        hash.put(&[self.steps.len() as u32]);
        for &step in &self.steps {
            match step {
                SumStep::Multiply { to, a, b } => hash.put(&[0, to, a, b]),
                SumStep::Keep { to, a, b } => hash.put(&[1, to, a, b]),
                SumStep::Add { to, a, b } => hash.put(&[2, to, a, b]),
                SumStep::Xor { to, a, b } => hash.put(&[3, to, a, b]),
                SumStep::Give { to, a } => hash.put(&[4, to, a]),
                SumStep::GiveXor { to, a, b } => hash.put(&[5, to, a, b]),
            }
        }
        hash.put(&[self.ends.len() as u32]);
        self.ends.iter().for_each(|ends| hash.put(ends));
        hash.finish()
    }

    /// Runs the program in the clear, as a protocol would run it on shares. Takes one row per input bit and gives one
    /// per output bit.
    ///
    /// # Errors
    /// [`ShapeError`] if `inputs` has not as many rows as there are input bits.
    pub fn interpret(&self, inputs: &Rows) -> Result<Rows, ShapeError> {
        let input_bits = self.input_bits as usize;
        let mut arena = Rows::arena(self.rows(), input_bits, &self.inputs, inputs)?;
        let mut kept = Rows::new(self.kept(), inputs.lanes());
        for layer in self.layers() {
            arena.local(layer.local);
            let mut sums = Rows::new(layer.sums.len(), inputs.lanes());
            for &step in layer.steps {
                match step {
                    SumStep::Multiply { to, a, b } => sums.add(to, &arena.product(a, b)),
                    SumStep::Keep { to, a, b } => {
                        let product = arena.product(a, b);
                        kept.row_mut(to as usize).copy_from_slice(&product);
                    }
                    SumStep::Add { to, a, b } => kept.add(to, &arena.product(a, b)),
                    SumStep::Xor { to, a, b } => kept.apply(to, a, b, |a, b| a ^ b),
                    SumStep::Give { to, a } => sums.add(to, kept.row(a as usize)),
                    SumStep::GiveXor { to, a, b } => {
                        sums.add(to, kept.row(a as usize));
                        sums.add(to, kept.row(b as usize));
                    }
                }
            }
            for (sum, &row) in layer.sums.iter().enumerate() {
                arena.row_mut(row as usize).copy_from_slice(sums.row(sum));
            }
        }
        arena.local(self.tail());
        Ok(arena.outputs(&self.outputs))
    }
}

impl Rows {
    /// Gives the AND of two rows.
    pub(crate) fn product(&self, a: u32, b: u32) -> Vec<u8> {
        let (a, b) = (self.row(a as usize), self.row(b as usize));
        a.iter().zip(b).map(|(a, b)| a & b).collect()
    }

    fn add(&mut self, to: u32, row: &[u8]) {
        let to = self.row_mut(to as usize).iter_mut();
        to.zip(row).for_each(|(to, row)| *to ^= row);
    }
}
