//! Sizes of a matrix triple's messages and masks.

use std::ops::Range;

use madrigal_core::Ring;
use madrigal_ot::cost;

use super::MatrixShape;

/// Bytes of corrections in one part, unless one entry takes more.
const PART_BYTES: usize = 256 << 10;
/// OTs in one part, at most.
const PART_OTS: usize = 8192;

/// The product as it is computed: X (p x k) gives the choices, the rows of Y (k x q) the strings.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) p: usize,
    pub(super) k: usize,
    pub(super) q: usize,
    pub(super) bits: usize,
}

impl Layout {
    pub(super) fn new<T: Ring>(shape: MatrixShape) -> Self {
        Self {
            p: shape.rows.min(shape.columns),
            k: shape.inner,
            q: shape.rows.max(shape.columns),
            bits: T::BITS,
        }
    }

    /// Words of corrections for one entry of X: all but the one in the middle fill words in pairs,
    /// and that one has half a word per product.
    pub(super) const fn words(self) -> usize {
        self.bits / 2 * self.q + self.q.div_ceil(2)
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
    pub(super) const fn stretch_blocks(self) -> usize {
        let bytes = self.bits / 8;
        let half = self.bits / 2;
        half * (self.q * bytes).div_ceil(16) + half * (self.q.div_ceil(2) * bytes).div_ceil(16)
    }

    /// Entries of X in the order of rows, in parts: whole tiles of 128 OTs.
    pub(super) fn parts(self) -> impl ExactSizeIterator<Item = Range<usize>> {
        let fit = (PART_BYTES / self.entry_bytes().max(1)).min(PART_OTS / self.bits);
        let tile = 128 / self.bits;
        let size = (fit / tile).max(1) * tile;
        let count = if self.q == 0 { 0 } else { self.p * self.k };
        (0..count)
            .step_by(size)
            .map(move |start| start..count.min(start + size))
    }

    /// One part of `entries` entries in one direction.
    pub(super) fn direction_cost(self, entries: usize) -> cost::Cost {
        let ots = (entries * self.bits) as u64;
        let mut total = cost::extension(ots) + cost::random(ots);
        let stretched = (entries * self.stretch_blocks()) as u64;
        total.sender_aes += 2 * stretched;
        total.receiver_aes += stretched;
        total.sender_bytes += (entries * self.entry_bytes()) as u64;
        total
    }
}
