//! The garbler's side.

use core::fmt;

use madrigal_core::Wipe;
use madrigal_kernels::{Block, GateHash, Prg, Scheme};

use crate::arena::Arena;
use crate::chunk::Chunk;
use crate::error::{GarblingError, check_length};
use crate::instance::Instance;
use crate::label::Offset;
use crate::shape::Shape;

/// Garbles a circuit, chunk by chunk, for one block of lanes at a time.
///
/// Rows hold the labels of 0.
pub struct Garbler {
    hash: GateHash,
    offset: Offset,
    coins: Coins,
    arena: Arena,
}

impl Garbler {
    /// A garbler for blocks of lanes of one instance. The first block's pieces are numbered from `first`.
    /// `seed` is secret and fresh: three halves draw their coins from it, under the number of the first piece, so
    /// that of many garblers' seeds each is a target of its own.
    pub fn new(instance: Instance, shape: Shape, first: u64, offset: &Offset, seed: Block) -> Self {
        Self {
            hash: instance.hash(),
            offset: offset.again(),
            coins: Coins::new(seed, instance.key_numbers().of(first)),
            arena: Arena::new(shape, first, offset.expose()),
        }
    }

    /// Turns to another block of lanes, in the same memory. Its pieces are numbered from `first`: no number
    /// may come twice in an instance.
    pub fn restart(&mut self, shape: Shape, first: u64) {
        self.arena.restart(shape, first, self.offset.expose());
    }

    /// The block at work.
    pub fn shape(&self) -> Shape {
        self.arena.shape()
    }

    /// Sets the labels of 0 of an input, a label for each lane.
    ///
    /// # Errors
    /// [`GarblingError`] if there is another number of labels than of lanes.
    ///
    /// # Panics
    /// If there is no such row; so do the other methods.
    pub fn set(&mut self, row: usize, labels: &[Block]) -> Result<(), GarblingError> {
        self.arena.set(row, labels)
    }

    /// The labels of 0 in a row.
    pub fn labels(&self, row: usize) -> &[Block] {
        self.arena.row(row)
    }

    /// Garbles the next chunk, and writes its table.
    ///
    /// # Errors
    /// [`GarblingError`] if `table` has not [`Shape::table_bytes`] of the chunk's ANDs, or the numbers of pieces are used
    /// up.
    pub fn garble(&mut self, chunk: &Chunk<'_>, table: &mut [u8]) -> Result<(), GarblingError> {
        let shape = self.arena.shape();
        let due = shape.table_bytes(chunk.ands.len());
        check_length("bytes for a table", due, table.len())?;
        let Self {
            hash,
            offset,
            coins,
            arena,
        } = self;
        if shape.scheme == Scheme::ThreeHalves {
            coins.draw(shape.pieces(chunk.ands.len()) as usize);
        }
        let offset = offset.expose();
        arena.local(hash.kernels(), chunk.local);
        arena.ands(chunk, |pieces| {
            let coins = match shape.scheme {
                Scheme::HalfGates => &[],
                Scheme::ThreeHalves => coins.next(pieces.operands.len()),
            };
            let table = &mut table[pieces.table];
            hash.garble(
                shape.scheme,
                pieces.number,
                offset,
                coins,
                pieces.operands,
                pieces.c,
                table,
            );
        })
    }
}

impl fmt::Debug for Garbler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Garbler")
            .field("arena", &self.arena)
            .finish_non_exhaustive()
    }
}

/// The coins of three halves: two bits for each AND, one AES block for each piece.
struct Coins {
    prg: Prg,
    /// Coins of a chunk.
    drawn: Vec<Block>,
    used: usize,
}

impl Coins {
    fn new(seed: Block, number: u64) -> Self {
        Self {
            prg: Prg::numbered(seed, number),
            drawn: Vec::new(),
            used: 0,
        }
    }

    /// Draws coins for a number of pieces.
    fn draw(&mut self, pieces: usize) {
        if pieces > self.drawn.len() {
            self.drawn.wipe();
            self.drawn = vec![Block::ZERO; pieces.next_power_of_two()];
        }
        self.prg.fill_blocks(&mut self.drawn[..pieces]);
        self.used = 0;
    }

    /// The coins of the next pieces.
    fn next(&mut self, pieces: usize) -> &[Block] {
        let first = self.used;
        self.used += pieces;
        &self.drawn[first..self.used]
    }
}

impl Drop for Coins {
    fn drop(&mut self) {
        self.drawn.wipe();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Garblers that prepare ahead counted from 0, each with a seed of its own.
    #[test]
    fn a_guess_of_a_key_tests_one_seed_of_coins() {
        let shape = Shape {
            scheme: Scheme::ThreeHalves,
            rows: 1,
            lanes: 1,
        };
        let offset = Offset::from_block(Block::new(7, 7)).unwrap_or_else(|error| panic!("{error}"));
        let mut seen = HashSet::new();
        for session in [[1; 32], [2; 32]] {
            let instance = Instance {
                session,
                garbler: 0,
                evaluator: 1,
                stream: 0,
            };
            for first in 0..50 {
                // One seed for all shows where two would encrypt the same block.
                let mut garbler = Garbler::new(instance, shape, first, &offset, Block::ONES);
                garbler.coins.draw(8);
                for &coins in garbler.coins.next(8) {
                    assert!(seen.insert(u128::from(coins)), "piece {first}");
                }
            }
        }
    }
}
