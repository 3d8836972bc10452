//! A circuit in chunks: what is garbled, sent and evaluated at a time.

use std::sync::Arc;

use madrigal_circuit::{And, Layered};
use madrigal_kernels::{LabelOps, LabelProgram};

use crate::shape::Shape;

/// A compiled circuit made ready for labels. One serves any number of blocks and both sides.
#[derive(Debug)]
pub struct Program<'p> {
    layered: &'p Layered,
    local: Arc<LabelProgram>,
}

impl<'p> Program<'p> {
    /// Takes a compiled circuit. Time and memory are linear in its local operations.
    pub fn new(layered: &'p Layered) -> Self {
        let local = layered.layers().flat_map(|layer| layer.local);
        let all = local.chain(layered.tail());
        Self {
            layered,
            local: Arc::new(LabelProgram::new(layered.rows(), all)),
        }
    }

    /// The same from a circuit and what [`local`](Self::local) gave of it, in no time.
    pub fn again(layered: &'p Layered, local: Arc<LabelProgram>) -> Self {
        Self { layered, local }
    }

    /// The circuit's local operations, ready for labels: to be kept beside the circuit.
    pub fn local(&self) -> Arc<LabelProgram> {
        Arc::clone(&self.local)
    }

    /// The circuit.
    pub fn layered(&self) -> &'p Layered {
        self.layered
    }

    /// Cuts the circuit into chunks whose tables have `bytes` bytes at most, but the ANDs of one piece at
    /// least. Both parties must cut alike.
    pub fn chunks(&self, shape: Shape, bytes: usize) -> impl Iterator<Item = Chunk<'_>> + Clone {
        // Whole pieces, whatever the lanes, so that cutting adds none.
        let unit = shape.gates_per_piece().unwrap_or(1);
        self.cut((bytes / shape.table_bytes(unit).max(1)).max(1) * unit)
    }

    /// Cuts the circuit into chunks of `most` ANDs at most.
    pub(crate) fn cut(&self, most: usize) -> impl Iterator<Item = Chunk<'_>> + Clone {
        let ends = self.layered.layers().scan(0, |end, layer| {
            *end += layer.local.len();
            Some(*end)
        });
        let layers = self
            .layered
            .layers()
            .zip(ends)
            .flat_map(move |(layer, end)| {
                let start = end - layer.local.len();
                let count = layer.ands.len().div_ceil(most);
                let parts = layer.ands.chunks(most).enumerate();
                parts.map(move |(i, ands)| Chunk {
                    local: self.local.range(if i == 0 { start..end } else { end..end }),
                    ands,
                    ends_layer: i + 1 == count,
                })
            });
        let (all, tail) = (self.layered.local_count(), self.layered.tail().len());
        let tail = Chunk {
            local: self.local.range(all - tail..all),
            ands: &[],
            ends_layer: false,
        };
        layers.chain(std::iter::once(tail))
    }
}

/// Local operations, then ANDs of one layer: all of them, or a part.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'p> {
    /// To be done in order, before the ANDs.
    pub local: LabelOps<'p>,
    /// ANDs; none in the last chunk of a circuit, which is its tail and has no table.
    pub ands: &'p [And],
    /// Whether these are the last ANDs of their layer. Only then do the layer's ANDs write their rows.
    pub ends_layer: bool,
}
