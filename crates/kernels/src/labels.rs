//! Local operations on the labels of garbled circuits: XOR and NOT, which are free (Kolesnikov and
//! Schneider, ICALP 2008).

use crate::dispatch::dispatch;
use crate::{Block, Kernels};

mod program;

pub(crate) use program::ROW_UNIT;
pub use program::{LabelOps, LabelProgram};

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
