//! Garbling: one party's shares of the tables.

use core::fmt;

use madrigal_core::bits;
use madrigal_kernels::{Block, GateHash, OwnColumn, Prg, column_bytes};

use crate::bmr::arena::{Arena, Gathered, Scratch};
use crate::bmr::masks::{BlockSeed, keys_of_zero};
use crate::bmr::shape::{Instance, Shape};
use crate::bmr::{COEFFICIENTS, Choices};
use crate::chunk::Chunk;
use crate::error::{GarblingError, check_length};
use crate::label::Offset;

/// Our shares of the products of a block's coefficients with the parties' offsets.
#[derive(Clone, Copy)]
pub struct Products<'a> {
    /// For each party j, [`Shape::products`] rows. As P_i we have been j's receiver, and these are the rows
    /// `t = q ^ c R_j` for our [`Choices`] c; at our own place is the sum of the rows q that we have as the
    /// sender to each peer.
    pub rows: &'a [&'a [Block]],
    /// What is to be added to our own q: for each product whether `R_i` is. It is our choices, and where the
    /// OTs were made with random choices before, the corrections of all peers.
    pub own: &'a [u8],
}

impl<'a> Products<'a> {
    /// Where no choice was corrected.
    pub fn uncorrected(rows: &'a [&'a [Block]], choices: &'a Choices) -> Self {
        let own = choices.bits();
        Self { rows, own }
    }
}

impl fmt::Debug for Products<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Products(..)")
    }
}

/// Garbles a circuit, chunk by chunk, for one block of lanes. Its rows hold our keys of 0.
pub struct Garbling {
    hash: GateHash,
    me: usize,
    offset: Offset,
    prg: Prg,
    arena: Arena,
    /// ANDs and lanes so far.
    done: usize,
    gathered: Gathered,
    /// The keys of the results.
    results: Scratch,
}

impl Garbling {
    /// Our share, as party `me`, of a block whose pieces are numbered from `first`: no number may come twice
    /// in an instance. `seed` is that of the block's [`MaskWalk`](crate::bmr::MaskWalk).
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
            prg: seed.prg(),
            arena: Arena::new(shape, 1, first),
            done: 0,
            gathered: Gathered::new(1),
            results: Scratch::new(),
        }
    }

    /// The block at work.
    pub fn shape(&self) -> Shape {
        self.arena.shape()
    }

    /// Sets our keys of 0 of an input, one for each lane.
    ///
    /// # Errors
    /// If there is another number of keys than of lanes.
    ///
    /// # Panics
    /// If there is no such row; so do the other methods.
    pub fn set(&mut self, row: usize, zero: &[Block]) -> Result<(), GarblingError> {
        self.arena.set(row, zero)
    }

    /// Our keys of 0 in a row.
    pub fn zero(&self, row: usize) -> &[Block] {
        self.arena.row(row)
    }

    /// Garbles the next chunk: our shares of its columns, one for each party.
    ///
    /// # Errors
    /// If there is not a column of [`Shape::column_bytes`] for each party, or [`Shape::products`] of the block
    /// are not there, or the numbers of pieces are used up.
    pub fn garble(
        &mut self,
        chunk: &Chunk<'_>,
        products: Products<'_>,
        columns: &mut [&mut [u8]],
    ) -> Result<(), GarblingError> {
        let shape = self.arena.shape();
        check_length("columns", shape.parties, columns.len())?;
        check_length("strings of rows", shape.parties, products.rows.len())?;
        let due = shape.column_bytes(chunk.ands.len());
        for column in &*columns {
            check_length("bytes of a column", due, column.len())?;
        }
        let plane = products.own.len() / COEFFICIENTS;
        check_length("bytes of choices", COEFFICIENTS * plane, products.own.len())?;
        for rows in products.rows {
            check_length("rows", 8 * products.own.len(), rows.len())?;
        }
        let (left, wanted) = (
            8 * plane - self.done.min(8 * plane),
            chunk.ands.len() * shape.lanes,
        );
        if left < wanted {
            check_length("products of a block", self.done + wanted, 8 * plane)?;
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
        let kernels = hash.kernels();
        arena.local(kernels, chunk.local);
        for piece in arena.pieces(chunk.ands)? {
            let (len, at) = (piece.len(), *done + piece.at);
            let results = &mut results.0[..len];
            let (wires, kept) = arena.parts();
            let (operands, _) = wires.operands(&piece, gathered);
            keys_of_zero(prg, at, results);
            kernels.clear_colours(results);
            kept.keep(&piece, 0, results);
            let bits = core::array::from_fn(|k| {
                let mut word = [0; 8];
                let plane = &products.own[k * plane..][..plane];
                bits::take(plane, at, &mut word, len);
                u64::from_le_bytes(word)
            });
            for (column, (table, rows)) in columns.iter_mut().zip(products.rows).enumerate() {
                let rows = core::array::from_fn(|k| &rows[8 * k * plane + at..][..len]);
                let own = (column == *me).then_some(OwnColumn {
                    zero: results,
                    bits,
                });
                let table = &mut table[column_bytes(piece.at)..][..column_bytes(len)];
                let place = (*me, column);
                hash.garble_column(
                    piece.number,
                    place,
                    offset.expose(),
                    operands,
                    rows,
                    own,
                    table,
                );
            }
        }
        *done += wanted;
        arena.finish(chunk);
        Ok(())
    }
}

impl fmt::Debug for Garbling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Garbling")
            .field("me", &self.me)
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}
