//! The evaluator's side.

use core::fmt;

use madrigal_kernels::{Block, GateHash};

use crate::arena::Arena;
use crate::chunk::Chunk;
use crate::error::GarblingError;
use crate::instance::Instance;
use crate::shape::Shape;

/// Evaluates a garbled circuit, chunk by chunk, for one block of lanes at a time.
///
/// Rows hold the labels that the wires have.
pub struct Evaluator {
    hash: GateHash,
    arena: Arena,
}

impl Evaluator {
    /// An evaluator for blocks of lanes of one instance, with the garbler's arguments.
    pub fn new(instance: Instance, shape: Shape, first: u64) -> Self {
        Self {
            hash: instance.hash(),
            arena: Arena::new(shape, first, Block::ZERO),
        }
    }

    /// Turns to another block of lanes, as the garbler does.
    pub fn restart(&mut self, shape: Shape, first: u64) {
        self.arena.restart(shape, first, Block::ZERO);
    }

    /// The block at work.
    pub fn shape(&self) -> Shape {
        self.arena.shape()
    }

    /// Sets the labels of an input, a label for each lane.
    ///
    /// # Errors
    /// [`GarblingError`] if there is another number of labels than of lanes.
    ///
    /// # Panics
    /// If there is no such row; so do the other methods.
    pub fn set(&mut self, row: usize, labels: &[Block]) -> Result<(), GarblingError> {
        self.arena.set(row, labels)
    }

    /// The labels in a row.
    pub fn labels(&self, row: usize) -> &[Block] {
        self.arena.row(row)
    }

    /// Evaluates the next chunk with the garbler's table. Any bytes of the right length give labels; wrong
    /// ones give wrong labels.
    ///
    /// # Errors
    /// [`GarblingError::TableLength`] if `table` has not [`Shape::table_bytes`] of the chunk's ANDs;
    /// [`GarblingError::Exhausted`] if the numbers of pieces are used up.
    pub fn evaluate(&mut self, chunk: &Chunk<'_>, table: &[u8]) -> Result<(), GarblingError> {
        let shape = self.arena.shape();
        let expected = shape.table_bytes(chunk.ands.len());
        if table.len() != expected {
            return Err(GarblingError::TableLength {
                ands: chunk.ands.len(),
                lanes: shape.lanes,
                expected,
                got: table.len(),
            });
        }
        let Self { hash, arena } = self;
        arena.local(hash.kernels(), chunk.local);
        arena.ands(chunk, |pieces| {
            let table = &table[pieces.table];
            hash.evaluate(
                shape.scheme,
                pieces.number,
                pieces.operands,
                table,
                pieces.c,
            );
        })
    }
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluator")
            .field("arena", &self.arena)
            .finish_non_exhaustive()
    }
}
