//! Keys of the wires that are alive, of one party or of all, and the walk over a chunk's pieces.

use core::ops::Range;

use madrigal_circuit::And;
use madrigal_kernels::{ANDS_PER_KEY, Block, Kernels, LabelOps};
use zeroize::Zeroize;

use crate::bmr::shape::Shape;
use crate::bmr::wires::Keys;
use crate::chunk::Chunk;
use crate::error::{GarblingError, check_length};

/// Rows of `width * lanes` keys, and the results of a layer's ANDs until all of the layer have read their
/// operands.
pub(crate) struct Arena {
    shape: Shape,
    /// Strings of a wire: one's own keys and rows, or all parties' keys.
    width: usize,
    /// Behind the rows two more of zeros: a NOT adds nothing.
    keys: Keys,
    results: Results,
    /// The number of the next piece.
    next: u64,
}

/// Results of the current layer: `width * lanes` keys for each AND, of `rows.len()` ANDs.
pub(crate) struct Results {
    width: usize,
    lanes: usize,
    keys: Keys,
    rows: Vec<u32>,
}

/// The keys that are read meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Wires<'a> {
    width: usize,
    lanes: usize,
    keys: &'a [Block],
}

/// A piece: lanes of one AND, or all lanes of several.
#[derive(Clone)]
pub(crate) struct Piece<'a> {
    pub number: u64,
    pub ands: &'a [And],
    /// The place of the first AND in its layer.
    first: usize,
    lanes: Range<usize>,
    /// Where it begins in its chunk, counted in ANDs and lanes.
    pub at: usize,
}

impl Piece<'_> {
    /// ANDs and lanes of it.
    pub(crate) fn len(&self) -> usize {
        self.ands.len() * self.lanes.len()
    }
}

impl Arena {
    pub(crate) fn new(shape: Shape, width: usize, first: u64) -> Self {
        Self {
            shape,
            width,
            keys: Keys::zeros((shape.rows + 2) * width * shape.lanes),
            results: Results {
                width,
                lanes: shape.lanes,
                keys: Keys::default(),
                rows: Vec::new(),
            },
            next: first,
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Keys of a row.
    fn row_len(&self) -> usize {
        self.width * self.shape.lanes
    }

    pub(crate) fn local(&mut self, kernels: Kernels, ops: LabelOps<'_>) {
        let len = self.row_len();
        kernels.label_rows(&mut self.keys, len, ops);
    }

    pub(crate) fn row(&self, row: usize) -> &[Block] {
        assert!(row < self.shape.rows, "row {row} of {}", self.shape.rows);
        &self.keys[row * self.row_len()..][..self.row_len()]
    }

    /// All rows, to be written; of the two behind them the last holds what a NOT adds.
    pub(crate) fn rows_mut(&mut self) -> (&mut [Block], usize) {
        let len = self.row_len();
        (&mut self.keys, len)
    }

    pub(crate) fn set(&mut self, row: usize, keys: &[Block]) -> Result<(), GarblingError> {
        let len = self.row_len();
        check_length("keys of a row", len, keys.len())?;
        assert!(row < self.shape.rows, "row {row} of {}", self.shape.rows);
        self.keys[row * len..][..len].copy_from_slice(keys);
        Ok(())
    }

    /// The pieces of the next chunk, for whose results there is room then.
    pub(crate) fn pieces<'a>(
        &mut self,
        ands: &'a [And],
    ) -> Result<impl Iterator<Item = Piece<'a>> + use<'a>, GarblingError> {
        let (first, pieces) = (self.next, self.shape.pieces(ands.len()));
        let Some(end) = first.checked_add(pieces) else {
            return Err(GarblingError::Exhausted { first, pieces });
        };
        self.next = end;
        let before = self.results.make_room(ands);
        let (gates, lanes) = (self.shape.gates_per_piece(), self.shape.lanes);
        let cut = ands.chunks(gates).enumerate().flat_map(move |(i, ands)| {
            let starts = (0..lanes).step_by(ANDS_PER_KEY);
            starts.map(move |start| (i * gates, ands, start..lanes.min(start + ANDS_PER_KEY)))
        });
        Ok(cut
            .zip(first..)
            .map(move |((i, ands, range), number)| Piece {
                number,
                ands,
                first: before + i,
                at: i * lanes + range.start,
                lanes: range,
            }))
    }

    /// What is read and what is written while pieces are worked on.
    pub(crate) fn parts(&mut self) -> (Wires<'_>, &mut Results) {
        let wires = Wires {
            width: self.width,
            lanes: self.shape.lanes,
            keys: &self.keys,
        };
        (wires, &mut self.results)
    }

    /// Ends a chunk.
    pub(crate) fn finish(&mut self, chunk: &Chunk<'_>) {
        if !chunk.ends_layer {
            return;
        }
        let len = self.row_len();
        let results = self.results.keys.chunks(len.max(1));
        for (&row, result) in self.results.rows.iter().zip(results) {
            self.keys[row as usize * len..][..len].copy_from_slice(result);
        }
        self.results.rows.clear();
    }
}

impl Wires<'_> {
    /// All strings of the operands of a piece, and how far one is from the next: where they lie, or gathered.
    pub(crate) fn operands<'a>(
        &'a self,
        piece: &Piece<'_>,
        gathered: &'a mut Gathered,
    ) -> ([&'a [Block]; 2], usize) {
        let (lanes, width) = (&piece.lanes, self.width);
        if let [and] = piece.ands {
            let keys = [and.a, and.b].map(|row| {
                let first = row as usize * width * self.lanes;
                &self.keys[first + lanes.start..][..(width - 1) * self.lanes + lanes.len()]
            });
            return (keys, self.lanes);
        }
        let [a, b] = &mut gathered.0;
        let stride = piece.len();
        for (place, and) in piece.ands.iter().enumerate() {
            for (to, row) in [(&mut *a, and.a), (&mut *b, and.b)] {
                for string in 0..width {
                    let first = (row as usize * width + string) * self.lanes + lanes.start;
                    let to = &mut to[string * stride + place * lanes.len()..][..lanes.len()];
                    match to {
                        [key] => *key = self.keys[first],
                        keys => keys.copy_from_slice(&self.keys[first..][..lanes.len()]),
                    }
                }
            }
        }
        ([&a[..width * stride], &b[..width * stride]], stride)
    }
}

impl Results {
    /// For the results of more ANDs. How many of their layer there have been before.
    fn make_room(&mut self, ands: &[And]) -> usize {
        let before = self.rows.len();
        self.rows.extend(ands.iter().map(|and| and.dst));
        let each = self.width * self.lanes;
        let wanted = self.rows.len() * each;
        if wanted > self.keys.len() {
            // Growing in place would leave a copy of the keys behind.
            let mut more = Keys::zeros(wanted.next_power_of_two());
            let done = before * each;
            more[..done].copy_from_slice(&self.keys[..done]);
            self.keys = more;
        }
        before
    }

    /// Keeps a string of the results of a piece until their layer ends.
    pub(crate) fn keep(&mut self, piece: &Piece<'_>, string: usize, keys: &[Block]) {
        let len = piece.lanes.len();
        for (i, keys) in keys.chunks(len.max(1)).enumerate() {
            let start = ((piece.first + i) * self.width + string) * self.lanes + piece.lanes.start;
            self.keys[start..start + len].copy_from_slice(keys);
        }
    }
}

/// Keys of both operands of a piece whose gates lie apart.
pub(crate) struct Gathered([Keys; 2]);

impl Gathered {
    pub(crate) fn new(width: usize) -> Self {
        Self([(); 2].map(|()| Keys::zeros(width * ANDS_PER_KEY)))
    }
}

/// Blocks for one piece, wiped on drop.
pub(crate) struct Scratch(pub Box<[Block; ANDS_PER_KEY]>);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(Box::new([Block::ZERO; ANDS_PER_KEY]))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
