//! Summands of numbers and of words of bits.

use madrigal_core::Ring;
use madrigal_kernels::{self as kernels, rings};

/// How the components of a column's elements give the elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Masking {
    /// Numbers are the sums of their components.
    Sums,
    /// Words of bits are the XOR of their components.
    Bits,
}

impl Masking {
    pub(super) fn add<T: Ring>(self, to: &mut [T], other: &[T]) {
        match self {
            Self::Sums => rings::add_into(to, other),
            Self::Bits => {
                kernels::xor_into(rings::as_bytes_mut(to), rings::as_bytes(other));
            }
        }
    }

    pub(super) fn sub<T: Ring>(self, from: &mut [T], other: &[T]) {
        match self {
            Self::Sums => rings::sub_into(from, other),
            Self::Bits => self.add(from, other),
        }
    }
}
