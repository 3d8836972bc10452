//! Bit-sliced programs: operations in order on the rows of one arena, dispatched once for all.
//!
//! An arena is a slice of words; row `r` is the [`RowShape::width`] words from `r * width`, one part
//! of [`RowShape::stride`] words for each component of a share. A single operation takes as long as
//! the call of a kernel where rows are short, hence a kernel for the whole list.

use crate::dispatch::dispatch;
use crate::{Kernels, words_as_bytes_mut};

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

/// How rows lie in their arena.
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

    /// Where component `component` of row `row` lies.
    #[must_use]
    pub const fn place(self, row: u32, component: usize) -> std::ops::Range<usize> {
        let start = row as usize * self.width() + component * self.stride;
        start..start + self.stride
    }
}

impl Kernels {
    /// [`local_rows`] at this handle's level.
    pub fn local_rows(self, arena: &mut [u64], shape: RowShape, ops: &[LocalOp], leads: [bool; 2]) {
        let arena = words_as_bytes_mut(arena);
        dispatch!(self, local_rows(arena, shape, ops, leads));
    }

    /// [`replicated_and_rows`] at this handle's level.
    pub fn replicated_and_rows(self, arena: &[u64], shape: RowShape, ands: &[And], z: &mut [u8]) {
        assert_eq!(shape.components, 2, "replicated shares have two components");
        assert_eq!(
            z.len(),
            ands.len() * shape.stride * 8,
            "a product for each AND"
        );
        let arena = crate::words_as_bytes(arena);
        dispatch!(self, replicated_and_rows(arena, shape, ands, z));
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

/// For each AND of a layer of replicated sharings, of rows x = (x0, x1) and y = (y0, y1), XORs the
/// cross terms `(x0 & y0) ^ (x0 & y1) ^ (x1 & y0)` into the next [`RowShape::stride`] words of `z`.
///
/// # Panics
/// If an AND reads a row beyond the arena, or `z` has not the products' length.
pub fn replicated_and_rows(arena: &[u64], shape: RowShape, ands: &[And], z: &mut [u8]) {
    Kernels::detect().replicated_and_rows(arena, shape, ands, z);
}

/// The same for one string of bits: `z ^= (x0 & y0) ^ (x0 & y1) ^ (x1 & y0)`.
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
