//! Rows of [`crate::band`], and their sizes.

/// Columns of a row that may be one.
pub const BAND: usize = 256;

/// Each row begins at a multiple of this.
pub const STEP: usize = 8;

/// Words of 64 columns that a row may lie in.
pub const SPAN: usize = BAND / 64 + 1;

/// A row as it is hashed: bit `j` of `bits` stands for column `start + j`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Band {
    /// First column, a multiple of [`STEP`].
    pub start: u32,
    /// The bits, least significant first.
    pub bits: [u64; BAND / 64],
}

/// A row of a system in echelon form, with the value that its columns are to add up to. The row in slot `p` has its
/// first one in column p: bit `p % 64` of word 0, which stands for the 64 columns from `p - p % 64` on. A slot whose bits are all
/// zero leaves its column free: `value` is what the column is set to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Slot<V> {
    /// The bits, least significant first.
    pub bits: [u64; SPAN],
    /// The sum.
    pub value: V,
}

impl<V: madrigal_core::Plain> madrigal_core::Plain for Slot<V> {
    const WIPED: Self = Slot {
        bits: [0; SPAN],
        value: V::WIPED,
    };
}

impl madrigal_core::Plain for Band {
    const WIPED: Self = Band {
        start: 0,
        bits: [0; BAND / 64],
    };
}
