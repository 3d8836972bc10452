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
    /// Strings of a wire: one's own keys and rows, or all parties' keys.
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
    /// Which of them write their rows at once.
    at_once: &'a [bool],
    /// The place of the first of the others among those that wait.
    first: usize,
    pub lanes: Range<usize>,
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
        chunk: &Chunk<'a>,
    ) -> Result<impl Iterator<Item = Piece<'a>> + use<'a>, GarblingError> {
        let (ands, at_once) = (chunk.ands, chunk.at_once);
        let (first, pieces) = (self.next, self.shape.pieces(ands.len()));
        let Some(end) = first.checked_add(pieces) else {
            return Err(GarblingError::Exhausted { first, pieces });
        };
        self.next = end;
        let mut waiting = self.results.make_room(chunk);
        let (gates, lanes) = (self.shape.gates_per_piece(), self.shape.lanes);
        let groups = ands.chunks(gates).zip(at_once.chunks(gates));
        let groups = groups.enumerate().map(move |(i, (ands, at_once))| {
            let first = waiting;
            waiting += at_once.iter().filter(|at_once| !**at_once).count();
            (i * gates, ands, at_once, first)
        });
        let cut = groups.flat_map(move |(i, ands, at_once, first)| {
            let starts = (0..lanes).step_by(ANDS_PER_KEY);
            starts.map(move |start| {
                let range = start..lanes.min(start + ANDS_PER_KEY);
                (i, ands, at_once, first, range)
            })
        });
        let pieces = cut.zip(first..);
        Ok(
            pieces.map(move |((i, ands, at_once, first, range), number)| Piece {
                number,
                ands,
                at_once,
                first,
                at: i * lanes + range.start,
                lanes: range,
            }),
        )
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

    /// The same of some lanes of one AND of a piece, where they lie.
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
    /// For those results of a chunk that wait. How many of their layer there have been before.
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
