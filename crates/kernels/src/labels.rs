//! Local operations on the labels of garbled circuits: XOR and NOT, which are free (Kolesnikov and
//! Schneider, ICALP 2008).

use core::ops::Range;

use crate::dispatch::dispatch;
use crate::lanes::LocalOp;
use crate::{Block, Kernels};

impl Kernels {
    /// Does local operations in order on the labels of an arena, row `r` of which is the `lanes`
    /// blocks from `r * lanes`. Behind the rows that the operations name there are two more: one of
    /// zeros, and one that holds in every lane what a NOT adds.
    ///
    /// # Panics
    /// If the arena has not these rows.
    pub fn label_rows(self, arena: &mut [Block], lanes: usize, ops: LabelOps<'_>) {
        dispatch!(self, label_rows(arena, lanes, ops));
    }
}

/// What a row's number is multiplied by in [`LabelProgram`]: then addresses are of the form base + 8
/// number, which needs no instruction of its own where there is one lane.
pub(crate) const ROW_UNIT: usize = 2;

/// Local operations on labels, checked once and put in the one form `dst = a ^ b`: a NOT adds the row
/// behind the last but one, `R` for the garbler, whose labels are those of 0, and zero for the
/// evaluator, who has the labels that are. A constant's label is zero at the evaluator.
///
/// With one lane, looking at each operation and its bounds took as long as doing it.
#[derive(Debug, Clone)]
pub struct LabelProgram {
    rows: usize,
    ops: Vec<[u32; 3]>,
}

impl LabelProgram {
    /// Takes the operations on an arena of so many rows.
    ///
    /// # Panics
    /// If an operation names another row, or there are 2^31 rows.
    pub fn new<'a>(rows: usize, ops: impl IntoIterator<Item = &'a LocalOp>) -> Self {
        assert!(rows < (1 << 31) - 2, "an arena of {rows} rows is too large");
        let row = |row: u32| {
            assert!((row as usize) < rows, "row {row} of an arena of {rows}");
            row * ROW_UNIT as u32
        };
        let [zero, flip] = [rows, rows + 1].map(|row| row as u32 * ROW_UNIT as u32);
        let of = |op: &LocalOp| match *op {
            LocalOp::Xor { dst, a, b } => [row(dst), row(a), row(b)],
            LocalOp::Not { dst, a } => [row(dst), row(a), flip],
            LocalOp::Const { dst, bit } => [row(dst), zero, if bit { flip } else { zero }],
        };
        Self {
            rows,
            ops: ops.into_iter().map(of).collect(),
        }
    }

    /// Some of the operations, by their places.
    ///
    /// # Panics
    /// If there are not so many.
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
    ops: &'a [[u32; 3]],
}

impl<'a> LabelOps<'a> {
    /// Rows of the arena, without the two behind them.
    #[must_use]
    pub const fn arena_rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn rows(&self) -> &'a [[u32; 3]] {
        self.ops
    }

    /// That no operation leads beyond the arena.
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
