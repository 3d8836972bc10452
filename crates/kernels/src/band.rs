//! Sums over bands of columns: the work of stores of keys and values whose rows are random *bands*, rows of which
//! [`BAND`] neighbouring columns are random bits and all others zero.
//!
//! A row begins at a multiple of [`STEP`], so that whole vectors are read. In a system that is being solved a row has
//! lost its first columns, and is kept by whole words of 64 columns instead, [`SPAN`] of them ([`Slot`]).
//!
//! The bits are hashes of a party's own keys. They become masks and not branches; but where a row begins is an
//! address, which whoever uses this has to allow.

use crate::{Element, Kernels};

pub use crate::columns::{BAND, Band, SPAN, STEP, Slot};

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
