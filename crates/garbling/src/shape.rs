//! The shape of a piece of work, and what it costs: both parties compute it alike.

use madrigal_circuit::Layered;
use madrigal_kernels::{ANDS_PER_KEY, Scheme};

/// Fewer lanes than this, and several gates of a layer share a piece; from here on a gate has its own.
const WIDE: usize = 8;

/// Labels of an arena that stay near a core: 1 MiB. AES-128, 912 rows, is garbled and evaluated at 227 and
/// 235 million ANDs per second in blocks of 16 lanes, 268 and 339 in blocks of 64, and no faster in
/// larger ones (Zen 5, 1 MiB of second-level cache).
const LABELS_IN_CACHE: usize = 1 << 16;

/// Blocks of fewer lanes spend their time on finding rows, and more lanes than these gain nothing.
const LANES_OF_A_BLOCK: core::ops::RangeInclusive<usize> = 32..=128;

/// A block of lanes that goes through a circuit.
///
/// The ANDs are cut into *pieces*, each of which has a key of the hash and a part of the table: with 8
/// lanes or more, up to 64 lanes of one gate; with fewer, the lanes of `64 / lanes` gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Scheme by which ANDs are garbled.
    pub scheme: Scheme,
    /// Rows of the arena, of labels that are alive.
    pub rows: usize,
    /// Lanes.
    pub lanes: usize,
}

impl Shape {
    /// Number of lanes that a block should have, so that the labels of a circuit with `rows` live rows stay in
    /// a core's cache: a power of two from 32 to 128.
    pub fn lanes_in_cache(rows: usize) -> usize {
        let (least, most) = LANES_OF_A_BLOCK.into_inner();
        1 << (LABELS_IN_CACHE / rows.max(1)).clamp(least, most).ilog2()
    }

    /// Bytes of the table of `ands` ANDs in one chunk.
    pub fn table_bytes(&self, ands: usize) -> usize {
        let of = |piece| self.scheme.table_bytes(piece);
        match self.gates_per_piece() {
            Some(gates) => ands / gates * of(gates * self.lanes) + of(ands % gates * self.lanes),
            None => {
                let (whole, rest) = (self.lanes / ANDS_PER_KEY, self.lanes % ANDS_PER_KEY);
                ands * (whole * of(ANDS_PER_KEY) + of(rest))
            }
        }
    }

    /// Pieces of `ands` ANDs in one chunk.
    pub fn pieces(&self, ands: usize) -> u64 {
        match self.gates_per_piece() {
            Some(_) if self.lanes == 0 => 0,
            Some(gates) => ands.div_ceil(gates) as u64,
            None => ands as u64 * self.lanes.div_ceil(ANDS_PER_KEY) as u64,
        }
    }

    /// Pieces of a whole circuit: how many numbers a block takes. The next block's first number is at least
    /// that much higher.
    pub fn pieces_of(&self, program: &Layered) -> u64 {
        program
            .layers()
            .map(|layer| self.pieces(layer.ands.len()))
            .sum()
    }

    /// Bytes of all tables of a circuit.
    pub fn table_bytes_of(&self, program: &Layered) -> u64 {
        program
            .layers()
            .map(|layer| self.table_bytes(layer.ands.len()) as u64)
            .sum()
    }

    /// AES blocks that the garbler computes for `ands` ANDs in one chunk. Three halves take one for the coins
    /// of each piece.
    pub fn garble_aes(&self, ands: usize) -> u64 {
        let coins = match self.scheme {
            Scheme::HalfGates => 0,
            Scheme::ThreeHalves => self.pieces(ands),
        };
        self.scheme.garble_aes() * (ands * self.lanes) as u64 + coins
    }

    /// AES blocks that the evaluator computes for `ands` ANDs.
    pub fn evaluate_aes(&self, ands: usize) -> u64 {
        self.scheme.evaluate_aes() * (ands * self.lanes) as u64
    }

    /// Gates that share a piece, unless each has its own.
    pub(crate) fn gates_per_piece(&self) -> Option<usize> {
        (self.lanes < WIDE).then(|| ANDS_PER_KEY / self.lanes.max(1))
    }
}
