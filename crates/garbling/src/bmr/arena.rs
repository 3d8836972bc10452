//! Keys of the wires that are alive, of one party or of all, and the walk over a chunk's pieces.

use core::ops::Range;

use madrigal_circuit::And;
use madrigal_kernels::{ANDS_PER_KEY, Block, Kernels, LabelOps};

use crate::bmr::shape::Shape;
use crate::bmr::wires::Keys;
use crate::chunk::Chunk;
use crate::error::{GarblingError, check_length};

/// Rows of `width * lanes` keys, and the results of those of a layer's ANDs whose rows later ones read.
pub(crate) struct Arena {
    shape: Shape,
    /// Strings of a wire: the party's own keys and rows, or all parties' keys.
    width: usize,
    /// Behind the rows two more of zeros: a NOT adds nothing.
    keys: Keys,
    results: Results,
    /// The number of the next piece.
    next: u64,
}

/// Results that wait for the end of the current layer: `width * lanes` keys for each AND, of `rows.len()` ANDs.
pub(crate) struct Results {
    width: usize,
    lanes: usize,
    keys: Keys,
    rows: Vec<u32>,
}

/// A piece: lanes of one AND, or all lanes of several.
#[derive(Clone)]
pub(crate) struct Piece<'a> {
    pub number: u64,
    pub ands: &'a [And],
    /// Says of each whether it writes its rows at once.
    at_once: &'a [bool],
    /// The place of the first of the others among those that wait.
    first: usize,
    pub lanes: Range<usize>,
    /// Place where it begins in its chunk, counted in ANDs and lanes.
    pub at: usize,
}

/// The pieces of a chunk that are left.
pub(crate) struct Pieces<'a> {
    ands: &'a [And],
    at_once: &'a [bool],
    gates: usize,
    lanes: usize,
    /// Number of the next AND.
    number: u64,
    waiting: usize,
    at: usize,
    /// Lanes of its ANDs that have been in the pieces before.
    start: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.ands.is_empty() {
            return None;
        }
        let (ands, other_ands) = self.ands.split_at(self.gates.min(self.ands.len()));
        let (at_once, others_at_once) = self.at_once.split_at(ands.len());
        let lanes = self.start..self.lanes.min(self.start + ANDS_PER_KEY);
        let piece = Piece {
            number: self.number,
            ands,
            at_once,
            first: self.waiting,
            at: self.at + lanes.start,
            lanes: lanes.clone(),
        };
        self.number += 1;
        self.start = lanes.end;
        if lanes.end == self.lanes {
            (self.ands, self.at_once, self.start) = (other_ands, others_at_once, 0);
            self.at += ands.len() * self.lanes;
            self.waiting += at_once.iter().filter(|at_once| !**at_once).count();
        }
        Some(piece)
    }
}

impl Piece<'_> {
    /// ANDs and lanes of it.
    pub(crate) fn len(&self) -> usize {
        self.ands.len() * self.lanes.len()
    }
}

impl Arena {
    pub(crate) fn new(shape: Shape, width: usize, first: u64) -> Self {
        let mut arena = Self {
            shape,
            width,
            keys: Keys::default(),
            results: Results {
                width,
                lanes: shape.lanes,
                keys: Keys::default(),
                rows: Vec::new(),
            },
            next: first,
        };
        arena.restart(shape, first);
        arena
    }

    /// Another block, in the same memory: rows hold anything until they are written.
    pub(crate) fn restart(&mut self, shape: Shape, first: u64) {
        (self.shape, self.next) = (shape, first);
        let rows = shape.rows * self.row_len();
        self.keys.resize(rows + 2 * self.row_len());
        self.keys[rows..].fill(Block::ZERO);
        self.results.lanes = shape.lanes;
        self.results.rows.clear();
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
    pub(crate) fn pieces<'a>(&mut self, chunk: &Chunk<'a>) -> Result<Pieces<'a>, GarblingError> {
        let (first, pieces) = (self.next, self.shape.pieces(chunk.ands.len()));
        let Some(end) = first.checked_add(pieces) else {
            return Err(GarblingError::Exhausted { first, pieces });
        };
        self.next = end;
        let waiting = self.results.make_room(chunk);
        let lanes = self.shape.lanes;
        Ok(Pieces {
            ands: if lanes == 0 { &[] } else { chunk.ands },
            at_once: chunk.at_once,
            gates: self.shape.gates_per_piece(),
            lanes,
            number: first,
            waiting,
            at: 0,
            start: 0,
        })
    }

    /// All strings of the operands of a piece, and how far one is from the next: where they lie, or gathered.
    pub(crate) fn operands<'a>(
        &'a self,
        piece: &Piece<'_>,
        gathered: &'a mut Gathered,
    ) -> ([&'a [Block]; 2], usize) {
        let (lanes, width, row_lanes) = (&piece.lanes, self.width, self.shape.lanes);
        if let [and] = piece.ands {
            return self.operands_of(and, lanes.clone());
        }
        let [a, b] = &mut gathered.0;
        let stride = piece.len();
        for (place, and) in piece.ands.iter().enumerate() {
            for (to, row) in [(&mut *a, and.a), (&mut *b, and.b)] {
                for string in 0..width {
                    let first = (row as usize * width + string) * row_lanes + lanes.start;
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

    /// Gives the operands of some lanes of one AND of a piece, where they lie.
    pub(crate) fn operands_of(&self, and: &And, lanes: Range<usize>) -> ([&[Block]; 2], usize) {
        let (width, row_lanes) = (self.width, self.shape.lanes);
        let keys = [and.a, and.b].map(|row| {
            let first = row as usize * width * row_lanes;
            &self.keys[first + lanes.start..][..(width - 1) * row_lanes + lanes.len()]
        });
        (keys, row_lanes)
    }

    /// Writes a string of the results of a piece whose operands are no longer needed: to their rows, or to where
    /// they wait for the end of the layer.
    pub(crate) fn keep(&mut self, piece: &Piece<'_>, string: usize, keys: &[Block]) {
        let (width, lanes, len) = (self.width, self.shape.lanes, piece.lanes.len());
        let place = |row: usize| (row * width + string) * lanes + piece.lanes.start;
        let mut waiting = piece.first;
        let ands = piece.ands.iter().zip(piece.at_once);
        for ((and, at_once), keys) in ands.zip(keys.chunks(len.max(1))) {
            let to = if *at_once {
                &mut self.keys[place(and.dst as usize)..][..len]
            } else {
                waiting += 1;
                &mut self.results.keys[place(waiting - 1)..][..len]
            };
            to.copy_from_slice(keys);
        }
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

impl Results {
    /// Makes room for those results of a chunk that wait. Gives how many of their layer there have been before.
    fn make_room(&mut self, chunk: &Chunk<'_>) -> usize {
        let before = self.rows.len();
        let ands = chunk.ands.iter().zip(chunk.at_once);
        let waiting = ands.filter(|(_, at_once)| !**at_once);
        self.rows.extend(waiting.map(|(and, _)| and.dst));
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
}

/// Keys of both operands of a piece whose gates lie apart.
pub(crate) struct Gathered([Keys; 2]);

impl Gathered {
    pub(crate) fn new(width: usize) -> Self {
        Self([(); 2].map(|()| Keys::zeros(width * ANDS_PER_KEY)))
    }
}
