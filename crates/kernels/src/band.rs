//! Sums over bands of columns: the work of stores of keys and values whose rows are random *bands*, rows of which
//! [`BAND`] neighbouring columns are random bits and all others zero.
//!
//! A row begins at a multiple of [`STEP`], so that whole vectors are read. In a system that is being solved a row has
//! lost its first columns, and is kept by whole words of 64 columns instead, [`SPAN`] of them ([`Slot`]).
//!
//! The bits are hashes of a party's own keys. They become masks and not branches; but where a row begins is an
//! address, which whoever uses this has to allow.

use crate::{Element, Kernels};

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

impl<V: Element> madrigal_core::Plain for Slot<V> {
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

impl Kernels {
    /// Sets `out[i]` to the sum of the columns of `store` where row `bands[i]` is one. Rows with neighbouring starts
    /// should come one after the other: each reads [`BAND`] elements.
    ///
    /// # Panics
    /// If there are more or fewer results than rows, if a row begins at no multiple of [`STEP`], or if one ends after
    /// the store.
    pub fn band_sums<V: Element>(self, store: &[V], bands: &[Band], out: &mut [V]) {
        assert_eq!(bands.len(), out.len(), "a result for each row");
        let last = bands.iter().map(|band| band.start as usize).max();
        assert!(
            last.is_none_or(|last| last + BAND <= store.len()),
            "a store of {} columns has no band of {BAND} at {last:?}",
            store.len()
        );
        assert!(
            bands
                .iter()
                .all(|band| (band.start as usize).is_multiple_of(STEP)),
            "rows begin at multiples of {STEP}"
        );
        V::sums(self, store, bands, out);
    }

    /// Solves a system for its last columns first: sets the first `slots.len()` columns of `store`, for which the
    /// [`BAND`] columns after these have to be there.
    ///
    /// # Panics
    /// If the slots do not fill words of 64 columns, or if `store` has not that many columns.
    pub fn band_solve<V: Element>(self, store: &mut [V], slots: &[Slot<V>]) {
        assert!(
            slots.len().is_multiple_of(64) && store.len() >= slots.len() + BAND,
            "{} slots and {} columns",
            slots.len(),
            store.len()
        );
        V::solve(self, store, slots);
    }
}
