//! Words of a bitsliced state, and what is done to them.

use core::array::from_fn;
use core::ops::{BitAnd, BitXor, BitXorAssign, Not};

/// One bit of every byte of `4 * W` blocks.
#[derive(Clone, Copy)]
pub(super) struct Plane<const W: usize>(pub(super) [u64; W]);

pub(super) type Planes<const W: usize> = [Plane<W>; 8];

impl<const W: usize> Plane<W> {
    #[inline(always)]
    pub(super) fn rotate_rows(self, rows: u32) -> Self {
        Self(self.0.map(|x| x.rotate_right(16 * rows)))
    }
}

impl<const W: usize> BitXor for Plane<W> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] ^ other.0[i]))
    }
}

impl<const W: usize> BitXorAssign for Plane<W> {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl<const W: usize> BitAnd for Plane<W> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl<const W: usize> Not for Plane<W> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|x| !x))
    }
}
