//! Decoding.

use madrigal_core::Zeroizing;
use madrigal_kernels::band::Band;
use madrigal_kernels::{Block, Element, Kernels};

use crate::buckets::Buckets;
use crate::error::check_length;
use crate::rows::Rows;
use crate::{OkvsError, Shape};

/// Keys that are put in order at a time, which bounds the memory: the store is read once for each.
const MOST: usize = 1 << 22;

/// Rows whose sums are computed at a time.
const BATCH: usize = 256;

/// Sets `out[i]` to what `store` has under `keys[i]`. Keys may come several times, and be others than those that were encoded.
/// See [`decode_each`] for memory.
///
/// # Errors
/// [`OkvsError::Length`] unless the store has as many columns as `shape` says and there is a result for each key.
pub fn decode<V: Element>(
    shape: &Shape,
    seed: Block,
    keys: &[Block],
    store: &[V],
    out: &mut [V],
) -> Result<(), OkvsError> {
    check_length("results", keys.len(), out.len())?;
    decode_each(shape, seed, keys, store, |found| {
        for (&place, &value) in found.places.iter().zip(found.values) {
            out[place as usize] = value;
        }
    })
}

/// Some keys, and what a store has under them.
#[derive(Clone, Copy)]
pub struct Found<'a, V> {
    /// The keys' places among those that were asked for.
    pub places: &'a [u32],
    /// The keys.
    pub keys: &'a [Block],
    /// The first column of each key's row, a multiple of eight: keys come in ascending order of it, for four million of them at a time. It
    /// follows from the key, the seed and the shape alone.
    pub starts: &'a [u32],
    /// The values.
    pub values: &'a [V],
}

impl<V> core::fmt::Debug for Found<'_, V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Found").finish_non_exhaustive()
    }
}

/// Hands `take` some keys and what `store` has under these, again and again, each key once, in an order that
/// depends on the keys. It takes some 20 bytes of memory for each key, for at most four million of them at a time.
///
/// # Errors
/// [`OkvsError::Length`] unless the store has as many columns as `shape` says; [`OkvsError::TooManyKeys`] beyond 2^32.
pub fn decode_each<V: Element>(
    shape: &Shape,
    seed: Block,
    keys: &[Block],
    store: &[V],
    mut take: impl FnMut(Found<'_, V>),
) -> Result<(), OkvsError> {
    check_length("columns", shape.columns(), store.len())?;
    if keys.len() as u64 > 1 << 32 {
        return Err(OkvsError::TooManyKeys {
            keys: keys.len() as u64,
            most: 1 << 32,
        });
    }
    let rows = Rows::new(seed, shape.starts());
    let room = keys.len().min(MOST);
    let mut near_keys = Zeroizing::<Vec<Block>>::zeros(room);
    let mut near_places = Zeroizing::<Vec<u32>>::zeros(room);
    for (piece, keys) in keys.chunks(MOST).enumerate() {
        let buckets = Buckets::new(&rows, shape, keys, |from, to| {
            near_keys[to] = keys[from];
            near_places[to] = (piece * MOST + from) as u32;
        });
        let mut bands = Zeroizing::<Vec<Band>>::zeros(buckets.most());
        let mut order = buckets.order();
        for (range, first) in buckets.all() {
            let (near_keys, near_places) = (&near_keys[range.clone()], &near_places[range]);
            let bands = &mut bands[..near_keys.len()];
            rows.bands(near_keys, bands);
            let mut sorted = Zeroizing::new([Band::default(); BATCH]);
            let mut values = Zeroizing::new([V::default(); BATCH]);
            let mut places = Zeroizing::new([0; BATCH]);
            let mut starts = Zeroizing::new([0; BATCH]);
            let mut sorted_keys = Zeroizing::new([Block::ZERO; BATCH]);
            for order in order.sort(bands, first).chunks(BATCH) {
                let some = ..order.len();
                for (to, &from) in order.iter().enumerate() {
                    let from = from as usize;
                    sorted[to] = bands[from];
                    starts[to] = bands[from].start;
                    places[to] = near_places[from];
                    sorted_keys[to] = near_keys[from];
                }
                Kernels::detect().band_sums(store, &sorted[some], &mut values[some]);
                take(Found {
                    places: &places[some],
                    keys: &sorted_keys[some],
                    starts: &starts[some],
                    values: &values[some],
                });
            }
        }
    }
    Ok(())
}
