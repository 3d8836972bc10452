//! Garbling: one party's shares of the tables.

use core::fmt;

use madrigal_core::bits;
use madrigal_kernels::{
    self as kernels, ANDS_PER_KEY, Block, GateHash, OwnColumn, Prg, column_bytes,
};

use crate::bmr::arena::{Arena, Gathered};
use crate::bmr::hashed::{PeerRows, flip, take_rows};
use crate::bmr::masks::{BlockSeed, keys_of_zero};
use crate::bmr::shape::{Gates, Instance, Shape};
use crate::bmr::wires::Keys;
use crate::bmr::{COEFFICIENTS, Choices};
use crate::chunk::Chunk;
use crate::error::{GarblingError, check_length};
use crate::label::Offset;

/// Our shares of the products of a block's coefficients with the parties' offsets, but for those that wires have.
#[derive(Clone, Copy)]
pub struct Products<'a> {
    /// Correlated OTs with each peer: first for the results' masks, then for the products of the operands' masks, then
    /// for inputs; or of [`Gates::ThreeOts`] first for products and results' masks, then for each of the operands.
    pub ots: &'a [PeerRows<'a>],
    /// Bits to be multiplied by our offset in our own column: with the corrections of all peers.
    pub own: &'a Choices,
    /// Flips that each peer has made in its choices for inputs, a plane of inputs each, where inputs have OTs.
    pub flips: &'a [&'a [u8]],
}

madrigal_core::opaque!(Products<'_>);

/// Garbles a circuit, chunk by chunk, for one block of lanes. Its rows hold our keys of 0, and our rows with each
/// peer.
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
    results: Keys,
    /// Sums of rows.
    sums: [Keys; COEFFICIENTS],
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
        let width = shape.width();
        let mut garbling = Self {
            hash: instance.hash(),
            me,
            offset: offset.again(),
            prg: seed.generator(instance, me, first),
            arena: Arena::new(shape, width, first),
            done: 0,
            gathered: Gathered::new(width),
            results: Keys::zeros(ANDS_PER_KEY),
            sums: [(); COEFFICIENTS].map(|()| Keys::zeros(ANDS_PER_KEY)),
        };
        garbling.flip();
        garbling
    }

    /// Turns to another block of as many parties, in the same memory, with what [`new`](Self::new) takes.
    pub fn restart(&mut self, instance: Instance, shape: Shape, first: u64, seed: &BlockSeed) {
        assert_eq!(shape.parties, self.shape().parties, "parties");
        self.hash = instance.hash();
        self.prg = seed.generator(instance, self.me, first);
        self.arena.restart(shape, first);
        self.done = 0;
        self.flip();
    }

    /// Writes the row that a NOT adds.
    fn flip(&mut self) {
        if self.shape().gates == Gates::ThreeOts {
            return;
        }
        let peers = self.shape().parties - 1;
        let (rows, len) = self.arena.rows_mut();
        flip(rows, len, 1, self.me, peers, &self.offset);
    }

    /// The block at work.
    pub fn shape(&self) -> Shape {
        self.arena.shape()
    }

    /// Sets our keys of 0 of an input bit, one for each lane, in a row; and its rows, if there are ANDs.
    ///
    /// # Errors
    /// [`GarblingError`] if there is another number of keys, or there are too few OTs.
    ///
    /// # Panics
    /// If there is no such row; so do the other methods.
    pub fn set(
        &mut self,
        row: usize,
        wire: usize,
        zero: &[Block],
        products: Products<'_>,
    ) -> Result<(), GarblingError> {
        let shape = self.arena.shape();
        let lanes = shape.lanes;
        check_length("keys of a row", lanes, zero.len())?;
        let mut strings = Keys::zeros(shape.width() * lanes);
        let (keys, rows) = strings.split_at_mut(lanes);
        keys.copy_from_slice(zero);
        let planes = products.own.bits().len() / COEFFICIENTS * shape.gates.planes();
        if planes > 0 && shape.gates == Gates::TwoOts {
            let (place, peers) = (8 * planes + wire * lanes, products.ots.len());
            for with in products.ots {
                at_least("correlated OTs", place + lanes, with.sent.len())?;
                at_least("correlated OTs", place + lanes, with.received.len())?;
            }
            check_length("flips of peers", peers, products.flips.len())?;
            take_rows(rows, products.ots, place, lanes);
            let mut bits = vec![0; bits::bytes_for(lanes)];
            let sent = rows[peers * lanes..].chunks_mut(lanes.max(1));
            for (sent, flips) in sent.zip(products.flips) {
                let wanted = bits::bytes_for((wire + 1) * lanes);
                at_least("bytes of flips", wanted, flips.len())?;
                bits::take(flips, wire * lanes, &mut bits, lanes);
                let before = Keys::copy_of(sent);
                self.offset.encode(&before, &bits, sent);
            }
        }
        self.arena.set(row, &strings)
    }

    /// Our keys of 0 in a row.
    pub fn zero(&self, row: usize) -> &[Block] {
        &self.arena.row(row)[..self.arena.shape().lanes]
    }

    /// Garbles the next chunk: our shares of its columns, one for each party.
    ///
    /// # Errors
    /// [`GarblingError`] if there is not a column of [`Shape::column_bytes`] for each party, or
    /// [`Shape::products`] of the block are not there, or the numbers of pieces are used up.
    pub fn garble(
        &mut self,
        chunk: &Chunk<'_>,
        products: Products<'_>,
        columns: &mut [&mut [u8]],
    ) -> Result<(), GarblingError> {
        let shape = self.arena.shape();
        check_length("columns", shape.parties, columns.len())?;
        check_length("peers", shape.parties - 1, products.ots.len())?;
        let due = shape.column_bytes(chunk.ands.len());
        for column in &*columns {
            check_length("bytes of a column", due, column.len())?;
        }
        let own = products.own.bits();
        let plane = own.len() / COEFFICIENTS;
        for with in products.ots {
            for rows in [with.sent, with.received] {
                at_least(
                    "correlated OTs",
                    shape.gates.planes() * 8 * plane,
                    rows.len(),
                )?;
            }
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
            sums,
        } = self;
        let kernels = hash.kernels();
        arena.local(kernels, chunk.local);
        for piece in arena.pieces(chunk)? {
            let (len, at) = (piece.len(), *done + piece.at);
            let results = &mut results[..len];
            let ([a, b], stride) = arena.operands(&piece, gathered);
            let keys = [&a[..len], &b[..len]];
            keys_of_zero(prg, at, results);
            kernels.clear_colours(results);
            let bits = core::array::from_fn(|k| {
                let mut word = [0; 8];
                bits::take(&own[k * plane..][..plane], at, &mut word, len);
                u64::from_le_bytes(word)
            });
            let peers = products.ots.len();
            // Sums the rows of the result's mask and of the product: what a peer and we share of both, and of the operands.
            let both = |rows: &'_ [Block], sum: &mut [Block]| {
                let [first, second] = [at, 8 * plane + at].map(|at| soon(rows, at, len));
                kernels::xor(
                    kernels::blocks_as_bytes_mut(sum),
                    kernels::blocks_as_bytes(first),
                    kernels::blocks_as_bytes(second),
                );
            };
            let string = |string: usize| string * stride..string * stride + len;
            let [one, by_a, by_b] = sums.each_mut().map(|sum| &mut sum[..len]);
            for (place, with) in products.ots.iter().enumerate() {
                let received = 1 + place;
                let rows = match shape.gates {
                    Gates::TwoOts => {
                        both(with.received, one);
                        [&*one, &b[string(received)], &a[string(received)]]
                    }
                    Gates::ThreeOts => of_three(with.received, plane, at, len),
                };
                let column = place + usize::from(place >= *me);
                let table = &mut columns[column][column_bytes(piece.at)..][..column_bytes(len)];
                let numbers = (*me, column);
                let offset = offset.expose();
                hash.garble_column(piece.number, numbers, offset, keys, rows, None, table);
            }
            for (place, with) in products.ots.iter().enumerate() {
                if shape.gates == Gates::ThreeOts {
                    let sums = [&mut *one, &mut *by_a, &mut *by_b].into_iter();
                    for (sum, rows) in sums.zip(of_three(with.sent, plane, at, len)) {
                        match place {
                            0 => sum.copy_from_slice(rows),
                            _ => xor_blocks(sum, rows),
                        }
                    }
                    continue;
                }
                let sent = 1 + peers + place;
                let (of_b, of_a) = (&b[string(sent)], &a[string(sent)]);
                if place == 0 {
                    both(with.sent, one);
                    if peers > 1 {
                        by_a.copy_from_slice(of_b);
                        by_b.copy_from_slice(of_a);
                    }
                } else {
                    xor_blocks(one, soon(with.sent, at, len));
                    xor_blocks(one, soon(with.sent, 8 * plane + at, len));
                    xor_blocks(by_a, of_b);
                    xor_blocks(by_b, of_a);
                }
            }
            // With one peer there was nothing to be added.
            let [by_a, by_b] = match (peers, shape.gates) {
                (1, Gates::TwoOts) => [&b[string(2)], &a[string(2)]],
                _ => [&*by_a, &*by_b],
            };
            let column = OwnColumn {
                zero: results,
                bits,
            };
            let table = &mut columns[*me][column_bytes(piece.at)..][..column_bytes(len)];
            let (numbers, rows) = ((*me, *me), [&*one, by_a, by_b]);
            let offset = offset.expose();
            hash.garble_column(
                piece.number,
                numbers,
                offset,
                keys,
                rows,
                Some(column),
                table,
            );
            arena.keep(&piece, 0, results);
            if shape.gates == Gates::ThreeOts {
                continue;
            }
            for (place, with) in products.ots.iter().enumerate() {
                arena.keep(&piece, 1 + place, &with.received[at..][..len]);
                arena.keep(&piece, 1 + peers + place, &with.sent[at..][..len]);
            }
        }
        *done += wanted;
        arena.finish(chunk);
        Ok(())
    }
}

/// Gives the rows of three OTs, of `8 * plane` ANDs and lanes each, in the order of the coefficients.
fn of_three(rows: &[Block], plane: usize, at: usize, len: usize) -> [&[Block]; COEFFICIENTS] {
    // Alpha goes with the second operand's mask, beta with the first one's.
    [0, 2, 1].map(|place| soon(rows, place * 8 * plane + at, len))
}

/// Refuses what is shorter.
fn at_least(what: &'static str, wanted: usize, got: usize) -> Result<(), GarblingError> {
    check_length(what, wanted.max(got), got)
}

/// Asks for the rows behind these `len`, where there are more rows than a cache holds.
fn soon(rows: &[Block], at: usize, len: usize) -> &[Block] {
    let (rows, next) = rows[at..].split_at(len);
    kernels::prefetch(kernels::blocks_as_bytes(&next[..len.min(next.len())]));
    rows
}

fn xor_blocks(to: &mut [Block], from: &[Block]) {
    kernels::xor_into(
        kernels::blocks_as_bytes_mut(to),
        kernels::blocks_as_bytes(from),
    );
}

impl fmt::Debug for Garbling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Garbling")
            .field("me", &self.me)
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}
