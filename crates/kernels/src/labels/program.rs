//! Programs of local operations on labels.

use core::ops::Range;

use crate::Block;

/// Factor of a row's number in [`LabelProgram`]: with it addresses are of the form base + 8
/// number, which needs no instruction of its own where there is one lane.
pub(crate) const ROW_UNIT: usize = 2;

/// Local operations on labels, checked once and in the one form `dst = a ^ b ^ c`. Behind the rows that have
/// names is one of zeros, for what adds two rows only, and behind that the row that a NOT adds: `R` for the
/// garbler, whose labels are those of 0, and zero for the evaluator, who has the labels that are. A
/// constant's label is zero at the evaluator.
///
/// With one lane, looking at each operation and its bounds took as long as doing it.
#[derive(Debug, Clone)]
pub struct LabelProgram {
    rows: usize,
    ops: Vec<[u32; 4]>,
}

impl LabelProgram {
    /// Takes operations `[dst, a, b, c]` on an arena of `rows` rows. Row `rows` is the one of zeros, and
    /// `rows + 1` the one that a NOT adds; neither is written. A sum of two rows has the zeros as `c`.
    ///
    /// # Panics
    /// If an operation names another row, or there are 2^31 rows.
    pub fn new(rows: usize, ops: impl IntoIterator<Item = [u32; 4]>) -> Self {
        assert!(rows < (1 << 31) - 2, "an arena of {rows} rows is too large");
        let place = |row: u32, rows: usize| {
            assert!((row as usize) < rows, "row {row} of an arena of {rows}");
            row * ROW_UNIT as u32
        };
        let of = |[dst, a, b, c]: [u32; 4]| {
            let [a, b, c] = [a, b, c].map(|row| place(row, rows + 2));
            [place(dst, rows), a, b, c]
        };
        Self {
            rows,
            ops: ops.into_iter().map(of).collect(),
        }
    }

    /// Some of the operations, by their places.
    ///
    /// # Panics
    /// If there are fewer operations.
    #[must_use]
    pub fn range(&self, range: Range<usize>) -> LabelOps<'_> {
        LabelOps {
            rows: self.rows,
            ops: &self.ops[range],
        }
    }
}

/// A part of a [`LabelProgram`].
#[derive(Debug, Clone, Copy)]
pub struct LabelOps<'a> {
    // Invariant: no number in `ops` is above `ROW_UNIT * (rows + 1)`, and all are multiples of it.
    rows: usize,
    ops: &'a [[u32; 4]],
}

impl<'a> LabelOps<'a> {
    pub(crate) fn rows(&self) -> &'a [[u32; 4]] {
        self.ops
    }

    /// Number that stands for the row of zeros in [`rows`](Self::rows).
    pub(crate) fn zeros(&self) -> u32 {
        (self.rows * ROW_UNIT) as u32
    }

    /// Asserts that no operation leads beyond the arena.
    pub(crate) fn assert_fit(&self, arena: &[Block], lanes: usize) {
        let wanted = (self.rows + 2).checked_mul(lanes);
        assert!(
            wanted == Some(arena.len()),
            "{} rows and two more of {lanes} labels are not the arena's {} blocks",
            self.rows,
            arena.len()
        );
    }
}
