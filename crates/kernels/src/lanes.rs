//! Bit-sliced programs: operations in order on the rows of one arena, dispatched once for all.
//!
//! An arena is a slice of words; row `r` is the [`RowShape::width`] words from `r * width`, one part
//! of [`RowShape::stride`] words for each component of a share. A single operation takes as long as
//! the call of a kernel where rows are short, hence a kernel for the whole list.

use crate::dispatch::dispatch;
use crate::{Kernels, portable, words_as_bytes_mut};

mod steps;

pub use steps::{And, LocalOp, RowShape, SumStep};

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
