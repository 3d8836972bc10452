//! Sizes of the messages and masks of triples of products.

use std::ops::Range;

use madrigal_core::{Party, Ring};
use madrigal_correlations::Tripled;

use super::factors::{self, Unfolded};
use crate::ot::extension::Batch;
use crate::ot::layout::{self, CallLayout, Parts};

/// Bytes of corrections in one part, unless one entry takes more.
const PART_BYTES: usize = 256 << 10;
/// OTs in one part, at most.
const PART_OTS: usize = 8192;

/// The products as they are computed: X (p x k) gives the choices, the rows of Y (k x q) the strings. The
/// matrices of all products lie one after the other.
#[derive(Clone, Copy)]
pub(crate) struct MatrixLayout {
    /// Products.
    pub(super) count: usize,
    pub(super) p: usize,
    pub(super) k: usize,
    pub(super) q: usize,
    pub(super) bits: usize,
    /// Who has X; none where all have shares of it.
    first: Option<Party>,
    /// AES blocks that we draw for A and B.
    drawn: u64,
}

impl MatrixLayout {
    /// So many triples of one product, for `me`.
    pub(crate) fn new<T: Ring>(me: Party, tripled: Tripled, count: usize) -> Self {
        let unfolded = Unfolded::shorter_first(tripled.product);
        let [p, k, q] = unfolded.sizes;
        let (pieces, _) = tripled.product.pieces();
        Self {
            count: count * pieces,
            p,
            k,
            q,
            bits: T::BITS,
            first: tripled.first(unfolded.swapped),
            drawn: factors::drawn::<T>(me, tripled, count),
        }
    }

    /// Words of corrections for one entry of X: all but the one in the middle fill words in pairs,
    /// and that one has half a word per product.
    pub(super) const fn words(self) -> usize {
        self.bits / 2 * self.q + self.q.div_ceil(2)
    }

    /// Whether a party has choices: the bits of its share of X.
    fn asks(self, receiver: Party) -> bool {
        self.first.is_none_or(|first| first == receiver)
    }

    pub(super) const fn entry_bytes(self) -> usize {
        self.words() * self.bits / 8
    }

    /// Words of the stretched mask of one OT: of the masks of the higher half of the bits only the
    /// lower half of each element counts, so there two elements share a word.
    pub(super) const fn mask_words(self, bit: usize) -> usize {
        if bit < self.bits / 2 {
            self.q
        } else {
            self.q.div_ceil(2)
        }
    }

    /// Elements that have the lower half of a shared word.
    pub(super) const fn words_of_half(self) -> usize {
        self.q.div_ceil(2)
    }

    /// AES blocks to stretch one mask of each of an entry's OTs.
    const fn mask_blocks(self) -> usize {
        let bytes = self.bits / 8;
        let half = self.bits / 2;
        half * (self.q * bytes).div_ceil(16) + half * (self.q.div_ceil(2) * bytes).div_ceil(16)
    }

    /// The place of entry `entry` of X in the product: the row of Y that it meets, the row of Z.
    pub(super) fn place(self, entry: usize) -> (Range<usize>, Range<usize>) {
        // Rows of all products together.
        let (row, column) = (entry / self.k, entry % self.k);
        let met = row / self.p * self.k + column;
        (
            met * self.q..(met + 1) * self.q,
            row * self.q..(row + 1) * self.q,
        )
    }
}

impl CallLayout for MatrixLayout {
    /// Entries of X in the order of rows: whole tiles of 128 OTs.
    fn parts(&self) -> Box<dyn Parts> {
        let fit = (PART_BYTES / self.entry_bytes().max(1)).min(PART_OTS / self.bits);
        let tile = 128 / self.bits;
        let size = (fit / tile).max(1) * tile;
        let count = if self.q == 0 {
            0
        } else {
            self.count * self.p * self.k
        };
        layout::parts(count, size)
    }

    fn drawn(&self) -> u64 {
        self.drawn
    }

    fn batch(&self, _: Party, receiver: Party, items: &Range<usize>) -> Batch {
        Batch {
            ots: match self.asks(receiver) {
                true => items.len() * self.bits,
                false => 0,
            },
            unit: self.bits,
            free: false,
        }
    }

    fn corrections(&self, _: Party, receiver: Party, items: &Range<usize>) -> Option<usize> {
        self.asks(receiver)
            .then(|| items.len() * self.entry_bytes())
    }

    fn stretch_blocks(&self, items: &Range<usize>) -> u64 {
        (items.len() * self.mask_blocks()) as u64
    }
}
