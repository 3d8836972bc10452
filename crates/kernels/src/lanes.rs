//! Bit-sliced programs: operations in order on the rows of one arena, dispatched once for all.
//!
//! An arena is a slice of words; row `r` is the [`RowShape::width`] words from `r * width`, one part
//! of [`RowShape::stride`] words for each component of a share. A single operation takes as long as
//! the call of a kernel where rows are short, hence a kernel for the whole list.

use crate::dispatch::dispatch;
use crate::{Kernels, portable, words_as_bytes_mut};

/// A local operation on rows: every party does it on its own shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalOp {
    /// `dst = a ^ b`. `a != b`; `dst` may be `a` (then it is done in place), never `b`.
    Xor {
        /// Row written.
        dst: u32,
        /// Row read.
        a: u32,
        /// Row read.
        b: u32,
    },
    /// `dst = !a`; who leads inverts its share, the others copy theirs. `dst` may be `a`.
    Not {
        /// Row written.
        dst: u32,
        /// Row read.
        a: u32,
    },
    /// `dst = bit` in every lane; who leads takes the bit as its share, the others 0.
    Const {
        /// Row written.
        dst: u32,
        /// The constant.
        bit: bool,
    },
}

/// An AND of a layer: `dst = a & b`, with `a != b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct And {
    /// Row written, once all ANDs of the layer have read their operands.
    pub dst: u32,
    /// Row read.
    pub a: u32,
    /// Row read.
    pub b: u32,
}

/// A step that makes sums of products of replicated sharings: one party's part, additively shared among the three.
///
/// A product is `a & b` of two rows of the arena, of shares x = (x0, x1) and y = (y0, y1) the cross terms
/// `(x0 & y0) ^ (x0 & y1) ^ (x1 & y0)`. What is kept are rows of one component beside the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SumStep {
    /// Adds a product to sum `to`.
    Multiply {
        /// Sum written.
        to: u32,
        /// Row read.
        a: u32,
        /// Row read.
        b: u32,
    },
    /// Keeps a product.
    Keep {
        /// Kept row written.
        to: u32,
        /// Row read.
        a: u32,
        /// Row read.
        b: u32,
    },
    /// Adds a product to what is kept.
    Add {
        /// Kept row written.
        to: u32,
        /// Row read.
        a: u32,
        /// Row read.
        b: u32,
    },
    /// Keeps `a ^ b` of what is kept; `to` may be one of them.
    Xor {
        /// Kept row written.
        to: u32,
        /// Kept row read.
        a: u32,
        /// Kept row read.
        b: u32,
    },
    /// Adds what is kept to sum `to`.
    Give {
        /// Sum written.
        to: u32,
        /// Kept row read.
        a: u32,
    },
    /// Adds `a ^ b` of what is kept to sum `to`.
    GiveXor {
        /// Sum written.
        to: u32,
        /// Kept row read.
        a: u32,
        /// Kept row read.
        b: u32,
    },
}

impl SumStep {
    /// The sum that it adds to.
    #[must_use]
    pub const fn sum(self) -> Option<u32> {
        match self {
            Self::Multiply { to, .. } | Self::Give { to, .. } | Self::GiveXor { to, .. } => {
                Some(to)
            }
            Self::Keep { .. } | Self::Add { .. } | Self::Xor { .. } => None,
        }
    }
}

/// Layout of rows in their arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowShape {
    /// Components of a share: 1, or 2 where shares are replicated.
    pub components: usize,
    /// Words of one component.
    pub stride: usize,
}

impl RowShape {
    /// Words of a row.
    #[must_use]
    pub const fn width(self) -> usize {
        self.components * self.stride
    }

    /// Gives the place of component `component` of row `row`.
    #[inline]
    #[must_use]
    pub const fn place(self, row: u32, component: usize) -> std::ops::Range<usize> {
        let start = row as usize * self.width() + component * self.stride;
        start..start + self.stride
    }
}

impl Kernels {
    /// [`local_rows`] at this handle's level.
    pub fn local_rows(self, arena: &mut [u64], shape: RowShape, ops: &[LocalOp], leads: [bool; 2]) {
        // Nothing is gained by vectors here, and much by fewer checks.
        match (shape.components, shape.stride) {
            (1, 1) => return portable::local_words::<1>(arena, ops, leads),
            (2, 1) => return portable::local_words::<2>(arena, ops, leads),
            _ => {}
        }
        let arena = words_as_bytes_mut(arena);
        dispatch!(self, local_rows(arena, shape, ops, leads));
    }

    /// [`replicated_sums`] at this handle's level.
    pub fn replicated_sums(
        self,
        arena: &[u64],
        shape: RowShape,
        steps: &[SumStep],
        kept: &mut [u64],
        first: u32,
        z: &mut [u8],
    ) {
        assert_eq!(shape.components, 2, "replicated shares have two components");
        let row = shape.stride.max(1);
        assert!(
            z.len().is_multiple_of(8 * row) && kept.len().is_multiple_of(row),
            "whole rows"
        );
        if shape.stride == 1 {
            return portable::sum_words(arena, steps, kept, first, z);
        }
        let (arena, kept) = (crate::words_as_bytes(arena), words_as_bytes_mut(kept));
        dispatch!(self, replicated_sums(arena, shape, steps, kept, first, z));
    }

    /// [`replicated_and`] at this handle's level.
    pub fn replicated_and(self, x: [&[u8]; 2], y: [&[u8]; 2], z: &mut [u8]) {
        for operand in x.iter().chain(&y) {
            assert_eq!(operand.len(), z.len(), "operands are as long as the result");
        }
        dispatch!(self, replicated_and(x, y, z));
    }

    /// [`replicated_carry`] at this handle's level.
    pub fn replicated_carry(self, t: [&[u8]; 2], a: [&[u8]; 2], c: [&[u8]; 2], z: &mut [u8]) {
        for operand in t.iter().chain(&a).chain(&c) {
            assert_eq!(operand.len(), z.len(), "operands are as long as the result");
        }
        dispatch!(self, replicated_carry(t, a, c, z));
    }
}

/// Does local operations in order. `leads[c]`: whether component c of this party's shares is the one
/// that public constants are added to.
///
/// # Panics
/// If an operation names a row beyond the arena.
pub fn local_rows(arena: &mut [u64], shape: RowShape, ops: &[LocalOp], leads: [bool; 2]) {
    Kernels::detect().local_rows(arena, shape, ops, leads);
}

/// Does steps in order, on one component of `kept` and of `z` each, in rows of [`RowShape::stride`] words. Sum
/// `first` is the first row of `z`.
///
/// # Panics
/// If a step names a row beyond the arena, `kept` or `z`, or a sum before `first`; or if `kept` or `z` is not whole
/// rows.
pub fn replicated_sums(
    arena: &[u64],
    shape: RowShape,
    steps: &[SumStep],
    kept: &mut [u64],
    first: u32,
    z: &mut [u8],
) {
    Kernels::detect().replicated_sums(arena, shape, steps, kept, first, z);
}

/// Cross terms of products of two strings of bits: `z ^= (x0 & y0) ^ (x0 & y1) ^ (x1 & y0)`.
///
/// # Panics
/// If the strings differ in length.
pub fn replicated_and(x: [&[u8]; 2], y: [&[u8]; 2], z: &mut [u8]) {
    Kernels::detect().replicated_and(x, y, z);
}

/// A step of a ripple adder of a and b on replicated sharings, where t = a ^ b and c is the carry in:
/// XORs this party's part of the carry out, a ^ t & (a ^ c), into `z`.
///
/// # Panics
/// If the strings differ in length.
pub fn replicated_carry(t: [&[u8]; 2], a: [&[u8]; 2], c: [&[u8]; 2], z: &mut [u8]) {
    Kernels::detect().replicated_carry(t, a, c, z);
}
