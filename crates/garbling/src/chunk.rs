//! A circuit in chunks: what is garbled, sent and evaluated at a time.

use std::sync::Arc;

use madrigal_circuit::{And, Layered};
use madrigal_kernels::LabelOps;

use crate::fused::Fused;
use crate::shape::Shape;

/// A compiled circuit made ready for labels. One serves any number of blocks and both sides.
#[derive(Debug)]
pub struct Program<'p> {
    layered: &'p Layered,
    walk: Arc<Walk>,
}

/// Facts about a circuit that a walk over labels needs beside the circuit.
#[derive(Debug)]
pub struct Walk {
    local: Fused,
    /// Says for each AND whether no later one of its layer reads the row that it writes.
    at_once: Vec<bool>,
}

impl Walk {
    fn new(layered: &Layered) -> Self {
        Self {
            local: Fused::new(layered),
            at_once: at_once(layered),
        }
    }
}

fn at_once(layered: &Layered) -> Vec<bool> {
    // For each row the last layer, counted from 1, in which an AND behind the one at hand reads it.
    let mut read = vec![0; layered.rows()];
    let mut all = vec![false; layered.and_count()];
    let mut rest = &mut all[..];
    for (number, layer) in (1..).zip(layered.layers()) {
        let (flags, behind) = rest.split_at_mut(layer.ands.len());
        rest = behind;
        for (and, at_once) in layer.ands.iter().zip(flags).rev() {
            *at_once = read[and.dst as usize] != number;
            read[and.a as usize] = number;
            read[and.b as usize] = number;
        }
    }
    all
}

impl<'p> Program<'p> {
    /// Takes a compiled circuit. Time and memory are linear in its local operations.
    pub fn new(layered: &'p Layered) -> Self {
        Self {
            layered,
            walk: Arc::new(Walk::new(layered)),
        }
    }

    /// Makes the same program again from a circuit and the [`walk`](Self::walk) of it, in no time.
    pub fn again(layered: &'p Layered, walk: Arc<Walk>) -> Self {
        Self { layered, walk }
    }

    /// Gives the walk that was made of the circuit: to be kept beside it.
    pub fn walk(&self) -> Arc<Walk> {
        Arc::clone(&self.walk)
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
        let local = &self.walk.local;
        let ends = self.layered.layers().scan(0, |end, layer| {
            *end += layer.ands.len();
            Some(*end)
        });
        let layers = self.layered.layers().zip(ends).enumerate();
        let layers = layers.flat_map(move |(number, (layer, end))| {
            let at_once = &self.walk.at_once[end - layer.ands.len()..end];
            let count = layer.ands.len().div_ceil(most);
            let parts = layer.ands.chunks(most).zip(at_once.chunks(most));
            parts.enumerate().map(move |(i, (ands, at_once))| Chunk {
                local: local.layer((i == 0).then_some(number)),
                ands,
                at_once,
                ends_layer: i + 1 == count,
            })
        });
        let tail = Chunk {
            local: local.layer(Some(self.layered.depth())),
            ands: &[],
            at_once: &[],
            ends_layer: false,
        };
        layers.chain(std::iter::once(tail))
    }
}

/// Local operations, then ANDs of one layer: all of them, or a part.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'p> {
    /// Operations to be done in order, before the ANDs.
    pub local: LabelOps<'p>,
    /// ANDs; none in the last chunk of a circuit, which is its tail and has no table.
    pub ands: &'p [And],
    /// Says for each of them whether it may write its row at once: no later one of the layer reads it.
    pub at_once: &'p [bool],
    /// Whether these are the last ANDs of their layer. Only then may the layer's other ANDs write their rows.
    pub ends_layer: bool,
}
