//! Sums over bands in plain Rust, see [`crate::band`].

use crate::Block;
use crate::Element;
use crate::columns::{BAND, Band, Slot};

/// Adds the columns where `word` is one.
#[inline(always)]
fn add_word<V: Element>(mut sum: V, word: u64, columns: &[V]) -> V {
    for (i, column) in columns[..64].iter().enumerate() {
        sum ^= column.masked(word >> i & 1);
    }
    sum
}

#[inline(always)]
fn sums<V: Element>(store: &[V], bands: &[Band], out: &mut [V]) {
    for (band, out) in bands.iter().zip(out) {
        let columns = &store[band.start as usize..][..BAND];
        *out = V::default();
        for (&word, columns) in band.bits.iter().zip(columns.chunks_exact(64)) {
            *out = add_word(*out, word, columns);
        }
    }
}

#[inline(always)]
fn solve<V: Element>(store: &mut [V], slots: &[Slot<V>]) {
    for (p, slot) in slots.iter().enumerate().rev() {
        let mut sum = slot.value;
        let first = p / 64 * 64;
        // Columns before it are zero in its row, and the column itself is not set yet.
        let own = if p % 64 == 63 {
            0
        } else {
            slot.bits[0] >> (p % 64 + 1)
        };
        for (i, column) in store[p + 1..first + 64].iter().enumerate() {
            sum ^= column.masked(own >> i & 1);
        }
        let columns = &store[first + 64..][..BAND];
        for (&word, columns) in slot.bits[1..].iter().zip(columns.chunks_exact(64)) {
            sum = add_word(sum, word, columns);
        }
        store[p] = sum;
    }
}

#[inline(always)]
pub(crate) fn band_sums_words(store: &[u64], bands: &[Band], out: &mut [u64]) {
    sums(store, bands, out);
}

#[inline(always)]
pub(crate) fn band_sums_blocks(store: &[Block], bands: &[Band], out: &mut [Block]) {
    sums(store, bands, out);
}

#[inline(always)]
pub(crate) fn band_solve_words(store: &mut [u64], slots: &[Slot<u64>]) {
    solve(store, slots);
}

#[inline(always)]
pub(crate) fn band_solve_blocks(store: &mut [Block], slots: &[Slot<Block>]) {
    solve(store, slots);
}
