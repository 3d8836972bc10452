//! A circuit in chunks: what is garbled, sent and evaluated at a time.

use madrigal_circuit::{And, Layered, LocalOp};

use crate::shape::Shape;

/// Local operations, then ANDs of one layer: all of them, or a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'p> {
    /// To be done in order, before the ANDs.
    pub local: &'p [LocalOp],
    /// ANDs; none in the last chunk of a circuit, which is its tail and has no table.
    pub ands: &'p [And],
    /// Whether these are the last ANDs of their layer. Only then do the layer's ANDs write their rows.
    pub ends_layer: bool,
}

/// Cuts a circuit into chunks whose tables have `bytes` bytes at most, but the ANDs of one piece at least.
/// Both parties must cut alike.
pub fn chunks(
    program: &Layered,
    shape: Shape,
    bytes: usize,
) -> impl Iterator<Item = Chunk<'_>> + Clone {
    // Whole pieces, whatever the lanes, so that cutting adds none.
    let unit = shape.gates_per_piece().unwrap_or(1);
    let most = (bytes / shape.table_bytes(unit).max(1)).max(1) * unit;
    let layers = program.layers().flat_map(move |layer| {
        let count = layer.ands.len().div_ceil(most);
        let parts = layer.ands.chunks(most).enumerate();
        parts.map(move |(i, ands)| Chunk {
            local: if i == 0 { layer.local } else { &[] },
            ands,
            ends_layer: i + 1 == count,
        })
    });
    let tail = Chunk {
        local: program.tail(),
        ands: &[],
        ends_layer: false,
    };
    layers.chain(std::iter::once(tail))
}
