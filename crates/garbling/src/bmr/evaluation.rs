//! Evaluation: everyone's active keys, from the tables.

use core::fmt;

use madrigal_kernels::{ANDS_PER_KEY, Block, GateHash, Prg, SummedColumn, column_bytes};

use crate::bmr::arena::{Arena, Gathered};
use crate::bmr::masks::{BlockSeed, keys_of_zero};
use crate::bmr::shape::{Instance, Shape};
use crate::bmr::wires::Keys;
use crate::chunk::Chunk;
use crate::error::{GarblingError, check_length};
use crate::label::Offset;

/// Lanes from which a gate's keys are read where they lie.
const IN_PLACE: usize = 16;

/// Evaluates a circuit, chunk by chunk, for one block of lanes. Its rows hold the active keys of all parties,
/// party by party.
pub struct Evaluation {
    hash: GateHash,
    me: usize,
    offset: Offset,
    prg: Prg,
    arena: Arena,
    /// ANDs and lanes so far.
    done: usize,
    gathered: Gathered,
    /// Each party's keys of a piece's results.
    results: Vec<Keys>,
}

impl Evaluation {
    /// Takes what [`Garbling::new`](crate::bmr::Garbling::new) took.
    pub fn new(
        instance: Instance,
        shape: Shape,
        first: u64,
        me: usize,
        offset: &Offset,
        seed: &BlockSeed,
    ) -> Self {
        Self {
            hash: instance.hash(),
            me,
            offset: offset.again(),
            prg: seed.generator(instance, me, first),
            arena: Arena::new(shape, shape.parties, first),
            done: 0,
            gathered: Gathered::new(shape.parties),
            results: (0..shape.parties)
                .map(|_| Keys::zeros(ANDS_PER_KEY))
                .collect(),
        }
    }

    /// Turns to another block of as many parties, in the same memory, with what [`new`](Self::new) takes.
    pub fn restart(&mut self, instance: Instance, shape: Shape, first: u64, seed: &BlockSeed) {
        assert_eq!(shape.parties, self.shape().parties, "parties");
        self.hash = instance.hash();
        self.prg = seed.generator(instance, self.me, first);
        self.arena.restart(shape, first);
        self.done = 0;
    }

    /// The block at work.
    pub fn shape(&self) -> Shape {
        self.arena.shape()
    }

    /// Sets the active keys of an input: of each party for all lanes, party by party.
    ///
    /// # Errors
    /// [`GarblingError`] if there is another number of keys.
    ///
    /// # Panics
    /// If there is no such row; so do the other methods.
    pub fn set(&mut self, row: usize, active: &[Block]) -> Result<(), GarblingError> {
        self.arena.set(row, active)
    }

    /// The active keys in a row.
    pub fn active(&self, row: usize) -> &[Block] {
        self.arena.row(row)
    }

    /// Evaluates the next chunk with the columns of all parties but us, in their order: takes
    /// [`Shape::column_bytes`] from the front of each. The bytes behind are for the next chunks, and asked for
    /// ahead. Any bytes give keys; wrong ones give wrong keys.
    ///
    /// # Errors
    /// [`GarblingError`] if there are too few columns or one is too short, or the numbers of pieces are used up.
    pub fn evaluate(
        &mut self,
        chunk: &Chunk<'_>,
        columns: &mut [&[u8]],
    ) -> Result<(), GarblingError> {
        let shape = self.arena.shape();
        check_length("columns of others", shape.parties - 1, columns.len())?;
        let due = shape.column_bytes(chunk.ands.len());
        for column in &*columns {
            check_length("bytes of a column", due.max(column.len()), column.len())?;
        }
        let Self {
            hash,
            me,
            offset,
            prg,
            arena,
            done,
            gathered,
            results,
        } = self;
        let (kernels, parties, me) = (hash.kernels(), shape.parties, *me);
        // The first of the other parties: the one whose keys show the colours, ours among them.
        let shown = usize::from(me == 0);
        arena.local(kernels, chunk.local);
        for piece in arena.pieces(chunk)? {
            let len = piece.len();
            let gathered = match shape.lanes < IN_PLACE {
                true => Some(arena.operands(&piece, gathered)),
                false => None,
            };
            for (column, table) in (0..parties).filter(|&party| party != me).zip(&*columns) {
                let (_, table) = table.split_at(column_bytes(piece.at));
                let (table, next) = table.split_at(column_bytes(len));
                let place = (parties, column);
                let result = &mut results[column][..len];
                let ahead = &next[..next.len().min(table.len())];
                if let Some((operands, stride)) = gathered {
                    let first = 0;
                    let table = SummedColumn {
                        table,
                        first,
                        ahead,
                    };
                    hash.evaluate_column(piece.number, place, operands, stride, table, result);
                    continue;
                }
                let each = piece.lanes.len();
                let mut ahead = ahead.chunks(column_bytes(each));
                let results = result.chunks_mut(each);
                for (first, (and, result)) in
                    (0..).step_by(each).zip(piece.ands.iter().zip(results))
                {
                    let (operands, stride) = arena.operands_of(and, piece.lanes.clone());
                    let ahead = ahead.next().unwrap_or_default();
                    let table = SummedColumn {
                        table,
                        first,
                        ahead,
                    };
                    hash.evaluate_column(piece.number, place, operands, stride, table, result);
                }
            }
            if let Ok([own, shown]) = results.get_disjoint_mut([me, shown]) {
                let own = &mut own[..len];
                keys_of_zero(prg, *done + piece.at, own);
                kernels.active_keys(offset.expose(), &shown[..len], own);
            }
            for (party, result) in results.iter().enumerate() {
                arena.keep(&piece, party, &result[..len]);
            }
        }
        for column in columns {
            *column = &column[due..];
        }
        *done += chunk.ands.len() * shape.lanes;
        arena.finish(chunk);
        Ok(())
    }
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation")
            .field("me", &self.me)
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}
