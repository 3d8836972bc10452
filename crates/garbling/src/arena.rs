//! Labels of the wires that are alive, and the walk over a chunk's pieces that both sides have in common.

use core::fmt;

use madrigal_circuit::And;
use madrigal_core::Aligned;
use madrigal_kernels::{ANDS_PER_KEY, Block, Kernels, LabelOps, Operands, Scheme};

use crate::chunk::Chunk;
use crate::error::{GarblingError, check_length};
use crate::shape::Shape;

/// Rows of labels, behind them a row of zeros and one of what a NOT adds, and the labels of a layer's ANDs until all of the layer have read their operands.
pub(crate) struct Arena {
    shape: Shape,
    labels: Aligned<Block>,
    /// The products of the current layer, `done` of them, and the rows they are for. Never shrinks: filling
    /// it with zeros for each layer would take as long as writing the products.
    products: Aligned<Block>,
    done: usize,
    rows: Vec<u32>,
    gathered: Gathered,
    /// The number of the next piece.
    next: u64,
}

/// Pieces that are garbled or evaluated at a time.
pub(crate) const PIECES_AT_ONCE: usize = 8;

const NO_PIECES: [Operands<'_>; PIECES_AT_ONCE] = [[&[]; 2]; PIECES_AT_ONCE];

/// Pieces to be garbled or evaluated: the first one's number, their operands, the place for their products, their
/// tables' place among the chunk's.
pub(crate) struct Pieces<'a> {
    pub number: u64,
    pub operands: &'a [Operands<'a>],
    pub c: &'a mut [Block],
    pub table: core::ops::Range<usize>,
}

impl Arena {
    /// `flip` is what a NOT adds.
    pub(crate) fn new(shape: Shape, first: u64, flip: Block) -> Self {
        let mut arena = Self {
            shape,
            labels: Aligned::default(),
            products: Aligned::default(),
            done: 0,
            rows: Vec::new(),
            gathered: Gathered::new(),
            next: first,
        };
        arena.restart(shape, first, flip);
        arena
    }

    /// Another block, in the same memory.
    pub(crate) fn restart(&mut self, shape: Shape, first: u64, flip: Block) {
        let rows = shape.rows * shape.lanes;
        self.labels.resize(rows + 2 * shape.lanes);
        self.labels[rows..][..shape.lanes].fill(Block::ZERO);
        self.labels[rows + shape.lanes..].fill(flip);
        self.rows.clear();
        (self.shape, self.next, self.done) = (shape, first, 0);
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// A chunk's local operations.
    pub(crate) fn local(&mut self, kernels: Kernels, ops: LabelOps<'_>) {
        kernels.label_rows(&mut self.labels, self.shape.lanes, ops);
    }

    pub(crate) fn row(&self, row: usize) -> &[Block] {
        assert!(row < self.shape.rows, "row {row} of {}", self.shape.rows);
        &self.labels[row * self.shape.lanes..][..self.shape.lanes]
    }

    pub(crate) fn set(&mut self, row: usize, labels: &[Block]) -> Result<(), GarblingError> {
        let lanes = self.shape.lanes;
        check_length("labels of a row", lanes, labels.len())?;
        assert!(row < self.shape.rows, "row {row} of {}", self.shape.rows);
        self.labels[row * lanes..][..lanes].copy_from_slice(labels);
        Ok(())
    }

    /// Hands the ANDs of a chunk to `each`, several pieces at a time, in order, and writes the products to their
    /// rows when their layer ends.
    pub(crate) fn ands(
        &mut self,
        chunk: &Chunk<'_>,
        each: impl FnMut(Pieces<'_>),
    ) -> Result<(), GarblingError> {
        let (lanes, ands) = (self.shape.lanes, chunk.ands);
        let pieces = self.shape.pieces(ands.len());
        let Some(end) = self.next.checked_add(pieces) else {
            return Err(GarblingError::Exhausted {
                first: self.next,
                pieces,
            });
        };
        let len = ands.len() * lanes;
        self.make_room(len);
        self.rows.extend(ands.iter().map(|and| and.dst));
        let mut handing = Handing {
            scheme: self.shape.scheme,
            number: self.next,
            table: 0,
            products: &mut self.products[self.done..][..len],
            each,
        };
        self.done += len;
        match self.shape.gates_per_piece() {
            _ if lanes == 0 => {}
            Some(gates) => {
                for ands in ands.chunks(PIECES_AT_ONCE * gates) {
                    let [a, b] = self.gathered.gather(&self.labels, lanes, ands);
                    let pieces = a.chunks(gates * lanes).zip(b.chunks(gates * lanes));
                    let mut operands = NO_PIECES;
                    let count = pieces.len();
                    for (operands, (a, b)) in operands.iter_mut().zip(pieces) {
                        *operands = [a, b];
                    }
                    handing.hand(&operands[..count]);
                }
            }
            None => {
                let (mut operands, mut count) = (NO_PIECES, 0);
                for and in ands {
                    let [a, b] = [and.a, and.b].map(|row| {
                        self.labels[row as usize * lanes..][..lanes].chunks(ANDS_PER_KEY)
                    });
                    for (a, b) in a.zip(b) {
                        operands[count] = [a, b];
                        count += 1;
                        if count == PIECES_AT_ONCE {
                            handing.hand(&operands);
                            count = 0;
                        }
                    }
                }
                handing.hand(&operands[..count]);
            }
        }
        self.next = end;
        if chunk.ends_layer {
            self.finish_layer();
        }
        Ok(())
    }

    /// Makes room for `len` more products.
    fn make_room(&mut self, len: usize) {
        let wanted = self.done + len;
        if wanted > self.products.len() {
            let mut more = Aligned::zeros(wanted.next_power_of_two());
            more[..self.done].copy_from_slice(&self.products[..self.done]);
            self.products = more;
        }
    }

    fn finish_layer(&mut self) {
        let lanes = self.shape.lanes;
        if lanes == 0 {
            // Nothing: products there may be are an earlier block's.
        } else if lanes == 1 {
            for (&row, &product) in self.rows.iter().zip(self.products.iter()) {
                self.labels[row as usize] = product;
            }
        } else {
            let products = self.products.chunks(lanes);
            for (&row, product) in self.rows.iter().zip(products) {
                self.labels[row as usize * lanes..][..lanes].copy_from_slice(product);
            }
        }
        self.rows.clear();
        self.done = 0;
    }
}

/// The pieces of a chunk on their way to who garbles or evaluates them.
struct Handing<'a, F> {
    scheme: Scheme,
    /// The next piece's number, its table's place, and the place of the products from it on.
    number: u64,
    table: usize,
    products: &'a mut [Block],
    each: F,
}

impl<F: FnMut(Pieces<'_>)> Handing<'_, F> {
    fn hand(&mut self, operands: &[Operands<'_>]) {
        let (mut ands, mut end) = (0, self.table);
        for [a, _] in operands {
            ands += a.len();
            end += self.scheme.table_bytes(a.len());
        }
        let (c, rest) = core::mem::take(&mut self.products).split_at_mut(ands);
        (self.each)(Pieces {
            number: self.number,
            operands,
            c,
            table: self.table..end,
        });
        self.number += operands.len() as u64;
        (self.table, self.products) = (end, rest);
    }
}

/// The operands of the gates of several pieces side by side.
struct Gathered([Aligned<Block>; 2]);

impl Gathered {
    fn new() -> Self {
        Self([(); 2].map(|()| Aligned::zeros(PIECES_AT_ONCE * ANDS_PER_KEY)))
    }

    fn gather(&mut self, labels: &[Block], lanes: usize, ands: &[And]) -> [&[Block]; 2] {
        let [a, b] = &mut self.0;
        if lanes == 1 {
            for ((and, a), b) in ands.iter().zip(a.iter_mut()).zip(b.iter_mut()) {
                (*a, *b) = (labels[and.a as usize], labels[and.b as usize]);
            }
        } else {
            let sides = a.chunks_mut(lanes.max(1)).zip(b.chunks_mut(lanes.max(1)));
            for (and, (a, b)) in ands.iter().zip(sides) {
                a.copy_from_slice(&labels[and.a as usize * lanes..][..lanes]);
                b.copy_from_slice(&labels[and.b as usize * lanes..][..lanes]);
            }
        }
        let len = ands.len() * lanes;
        [&a[..len], &b[..len]]
    }
}

/// Labels are secret.
impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}
