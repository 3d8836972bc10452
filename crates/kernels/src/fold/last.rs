//! The last round keys of leaves, summed.

use zeroize::Zeroize;

use crate::Block;
use crate::block::RoundKeys;

/// The most columns that one [`Leaves`](crate::Leaves) may fold into.
pub const MAX_FOLD: usize = 8;

/// The last round keys summed over the leaves of each column, and over all leaves. The sums of one column give
/// its seeds away, so they stay in one place.
#[derive(Default, Zeroize)]
pub(crate) struct LastKeys {
    pub(crate) columns: [Block; MAX_FOLD],
    pub(crate) total: Block,
}

impl LastKeys {
    /// Makes the last keys of leaves from number `first` on.
    pub(super) fn new(first: usize, keys: &[RoundKeys]) -> Box<Self> {
        let mut sums = Box::<Self>::default();
        for (leaf, &[.., last]) in (first..).zip(keys) {
            for (i, column) in sums.columns.iter_mut().enumerate() {
                if leaf >> i & 1 == 1 {
                    *column ^= last;
                }
            }
            sums.total ^= last;
        }
        sums
    }
}
