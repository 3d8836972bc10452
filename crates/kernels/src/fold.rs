//! Folding of many generator streams into a few columns: the work of an OT extension over small
//! fields (SoftSpokenOT; Roy, Crypto 2022).
//!
//! With `w` columns there are `2^w` leaves x, each a stream G(x) of [`Prg`](crate::Prg) with its
//! own seed. Column `i` is the sum (XOR) of G(x) over all x that have bit `i` set, and the *total*
//! is the sum of all: read as vectors over F_2, the columns are the sum of x * G(x).
//!
//! With vectors the leaves come in Gray order, so that each column is the sum of a few runs of neighbours. Each
//! leaf costs one addition to a running sum, done by its last round of AES, and one of that sum to a column,
//! instead of w / 2 + 1. None of the streams is ever stored.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::block::RoundKeys;
use crate::dispatch::dispatch;
use crate::{Block, Kernels, meter};

mod last;

pub(crate) use last::LastKeys;
pub use last::MAX_FOLD;

/// The expanded seeds of all leaves, or of all but leaf 0. Wiped on drop, never shown.
///
/// The streams are those of [`Prg::numbered`](crate::Prg::numbered) with the seeds and one number for all of them,
/// and the position is kept alike: in whole blocks of 16 bytes, one position for all leaves.
pub struct Leaves {
    /// `2^width` keys, or one less: then leaf x is at `x - 1`.
    keys: Vec<RoundKeys>,
    last: Box<LastKeys>,
    width: usize,
    position: u64,
    kernels: Kernels,
}

impl Kernels {
    /// The leaves with the given seeds, run at this handle's level: `2^w` seeds, leaf 0 first, or
    /// `2^w - 1`, leaf 1 first, for `w` from 1 to [`MAX_FOLD`]. Their streams have the number `number`: who lacks one
    /// leaf of each tree, and knows all others, finds each unknown key under a number of its own.
    ///
    /// # Panics
    /// For any other number of seeds.
    #[must_use]
    pub fn leaves(self, seeds: &[Block], number: u64) -> Leaves {
        let width = seeds.len().checked_ilog2().map_or(0, |log| {
            log as usize + usize::from(!seeds.len().is_power_of_two())
        });
        // A single seed is leaf 1 alone: a whole tree has at least one column.
        let width = width.max(1);
        assert!(
            width <= MAX_FOLD && (1 << width) - seeds.len() <= 1,
            "leaves come as 2^w or 2^w - 1 seeds with w from 1 to {MAX_FOLD}, not as {}",
            seeds.len()
        );
        let keys = seeds.iter().map(|&seed| {
            let mut keys: RoundKeys = dispatch!(self, expand_key(seed));
            keys[0] ^= Block::new(0, number);
            keys
        });
        let keys: Vec<RoundKeys> = keys.collect();
        Leaves {
            last: LastKeys::new((1 << width) - keys.len(), &keys),
            keys,
            width,
            position: 0,
            kernels: self,
        }
    }
}

impl Leaves {
    /// The leaves with the given seeds, run at the default level: see [`Kernels::leaves`].
    ///
    /// # Panics
    /// Unless there are `2^w` or `2^w - 1` seeds.
    #[must_use]
    pub fn new(seeds: &[Block], number: u64) -> Self {
        Kernels::detect().leaves(seeds, number)
    }

    /// Number of columns w.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Number of leaves whose seeds are here: `2^w` or one less.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no leaf: never.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The index of the next block of every stream.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Folds the next `added.len()` bytes of all leaves: writes column `i` to
    /// `columns[i * stride..]` and the total with `added` on top to `total`.
    ///
    /// # Panics
    /// If a leaf is missing, if `total` and `added` differ in length or have no multiple of 16
    /// bytes, or if the columns do not fit.
    pub fn fold(&mut self, columns: &mut [u8], stride: usize, added: &[u8], total: &mut [u8]) {
        assert_eq!(
            self.keys.len(),
            1 << self.width,
            "fold: leaf 0 is missing, only fold_punctured can do without it"
        );
        assert_eq!(total.len(), added.len(), "fold: total and added differ");
        self.check(columns, stride, added.len());
        let first = self.advance(added.len(), self.keys.len());
        dispatch!(
            self.kernels,
            fold_whole(&self.keys, &self.last, first, columns, stride, added, total)
        );
    }

    /// Folds the next `added.len()` bytes of all leaves but leaf 0, which counts for no column, and
    /// writes to `columns[i * stride..]` column `i` with `added` on top where bit `i` of `mask` is
    /// set. The mask may be secret. If leaf 0 is there, it is left out.
    ///
    /// # Panics
    /// If `added` has no multiple of 16 bytes or if the columns do not fit.
    pub fn fold_punctured(&mut self, columns: &mut [u8], stride: usize, mask: u8, added: &[u8]) {
        self.check(columns, stride, added.len());
        let leaves = (1 << self.width) - 1;
        let first = self.advance(added.len(), leaves);
        let keys = &self.keys[self.keys.len() - leaves..];
        dispatch!(
            self.kernels,
            fold_punctured(keys, &self.last, first, columns, stride, mask, added)
        );
    }

    fn check(&self, columns: &[u8], stride: usize, bytes: usize) {
        assert!(
            bytes.is_multiple_of(16),
            "fold: {bytes} bytes are no whole blocks of 16"
        );
        let end = (self.width - 1)
            .checked_mul(stride)
            .and_then(|start| start.checked_add(bytes));
        assert!(
            stride >= bytes && end.is_some_and(|end| end <= columns.len()),
            "fold: {} columns of {bytes} bytes at a stride of {stride} bytes do not fit {} bytes",
            self.width,
            columns.len()
        );
    }

    /// Takes the next `bytes` of each of `leaves` leaves, counts their blocks and gives the index of the
    /// first.
    fn advance(&mut self, bytes: usize, leaves: usize) -> u64 {
        let first = self.position;
        let next = first.checked_add(bytes as u64 / 16);
        assert!(
            next.is_some(),
            "a PRG stream ends after 2^64 blocks: {bytes} bytes were asked for at block {first}"
        );
        self.position = next.unwrap_or(first);
        meter::add((bytes / 16 * leaves) as u64);
        first
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        self.keys.iter_mut().for_each(Zeroize::zeroize);
        self.last.zeroize();
    }
}

impl ZeroizeOnDrop for Leaves {}

madrigal_core::opaque!(Leaves);
