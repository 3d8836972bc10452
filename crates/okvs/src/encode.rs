//! Encoding: rows in the order of their starts, reduced as they come, then solved from the last column to the first.
//!
//! "Near-Optimal Oblivious Key-Value Stores" (ePrint 2023/903), section 4. Deviations: rows begin at multiples of eight
//! columns; and no row's first bit is fixed to one, so that all bits of a row are uniform.

use madrigal_core::Zeroizing;
use madrigal_kernels::band::{BAND, Band, SPAN, Slot};
use madrigal_kernels::{Block, Element, Kernels};
use rand_core::CryptoRng;

use crate::buckets::Buckets;
use crate::error::check_length;
use crate::rows::Rows;
use crate::{OkvsError, Shape};

/// Columns that are kept together and solved in one go. A system is several times as large as the store: its pieces are made
/// when they are reached and wiped when they are solved, while they are in the cache.
const PIECE: usize = 1024;

/// A store in which [`decode`](crate::decode()) finds `values[i]` under `keys[i]`: [`Shape::columns`] elements.
///
/// Keys are digests of 128 bits; `seed` is uniform, drawn after the keys are settled, and told to whoever decodes. Columns that the
/// keys leave free are drawn from `rng`. Memory beside what the caller has: 64 bytes for each column with values of 128 bits and 48 with
/// 64, the store, and keys and values once more.
///
/// # Errors
/// [`OkvsError::Length`] unless there are as many keys and values as `shape` says, [`OkvsError::DuplicateKey`] for a
/// key that comes twice, [`OkvsError::Dependent`] by chance.
pub fn encode<V: Element>(
    shape: &Shape,
    seed: Block,
    keys: &[Block],
    values: &[V],
    rng: &mut impl CryptoRng,
) -> Result<Zeroizing<Vec<V>>, OkvsError> {
    check_length("keys", shape.keys(), keys.len())?;
    check_length("values", shape.keys(), values.len())?;
    let system = reduce(shape, seed, keys, values)?;
    Ok(solve(system, rng))
}

/// The slots of all columns, piece by piece.
struct System<V: Element> {
    pieces: Vec<Zeroizing<Vec<Slot<V>>>>,
    columns: usize,
}

impl<V: Element> System<V> {
    /// Makes the pieces of the first `columns` columns.
    fn reach(&mut self, columns: usize) {
        let columns = columns.min(self.columns);
        while self.pieces.len() * PIECE < columns {
            let len = PIECE.min(self.columns - self.pieces.len() * PIECE);
            self.pieces.push(Zeroizing::zeros(len));
        }
    }
}

/// The system in echelon form.
fn reduce<V: Element>(
    shape: &Shape,
    seed: Block,
    keys: &[Block],
    values: &[V],
) -> Result<System<V>, OkvsError> {
    let rows = Rows::new(seed, shape.starts());
    let mut near_keys = Zeroizing::<Vec<Block>>::zeros(keys.len());
    let mut near_values = Zeroizing::<Vec<V>>::zeros(keys.len());
    let buckets = Buckets::new(&rows, shape, keys, |from, to| {
        near_keys[to] = keys[from];
        near_values[to] = values[from];
    });
    let mut system = System {
        pieces: Vec::with_capacity(shape.columns().div_ceil(PIECE)),
        columns: shape.columns(),
    };
    let mut bands = Zeroizing::<Vec<Band>>::zeros(buckets.most());
    let mut order = buckets.order();
    for (range, first) in buckets.all() {
        let (near_keys, near_values) = (&near_keys[range.clone()], &near_values[range]);
        let bands = &mut bands[..near_keys.len()];
        rows.bands(near_keys, bands);
        let order = order.sort(bands, first);
        if let Some(&last) = order.last() {
            system.reach(bands[last as usize].start as usize + 64 * SPAN);
        }
        for &i in order {
            let i = i as usize;
            if !insert(&mut system, &bands[i], near_values[i]) {
                return Err(why_dependent(keys, near_keys[i]));
            }
        }
    }
    system.reach(shape.columns());
    Ok(system)
}

/// Reduces a row by those before it and gives it the column of its first one; `false` if nothing is left.
#[inline(always)]
fn insert<V: Element>(system: &mut System<V>, band: &Band, value: V) -> bool {
    let mut row = Slot {
        bits: spread(band),
        value,
    };
    let mut first = band.start as usize / 64 * 64;
    for _ in 0..SPAN {
        while row.bits[0] != 0 {
            let column = first + row.bits[0].trailing_zeros() as usize;
            let slot = &mut system.pieces[column / PIECE][column % PIECE];
            if slot.bits[0] == 0 {
                *slot = row;
                return true;
            }
            for (bits, other) in row.bits.iter_mut().zip(&slot.bits) {
                *bits ^= other;
            }
            row.value ^= slot.value;
        }
        // Rows of later columns are kept by later words. None reaches beyond the window of a row that started later.
        row.bits.rotate_left(1);
        first += 64;
    }
    false
}

/// The row by words of the store.
fn spread(band: &Band) -> [u64; SPAN] {
    let (shift, [a, b, c, d]) = (band.start % 64, band.bits);
    // Two shifts, because one may be of 64.
    let over = |low: u64| low >> 1 >> (63 - shift);
    [
        a << shift,
        b << shift | over(a),
        c << shift | over(b),
        d << shift | over(c),
        over(d),
    ]
}

/// Tells a key that comes twice from chance.
fn why_dependent(keys: &[Block], key: Block) -> OkvsError {
    let mut places = (0..keys.len()).filter(|&i| keys[i] == key);
    match (places.next(), places.next()) {
        (Some(first), Some(second)) => OkvsError::DuplicateKey { first, second },
        _ => OkvsError::Dependent,
    }
}

/// Draws the free columns and solves for the others.
fn solve<V: Element>(mut system: System<V>, rng: &mut impl CryptoRng) -> Zeroizing<Vec<V>> {
    let mut store = Zeroizing::<Vec<V>>::zeros(system.columns + BAND);
    let mut drawn = Zeroizing::<Vec<V>>::zeros(PIECE);
    while let Some(mut slots) = system.pieces.pop() {
        let free = slots.iter().filter(|slot| slot.bits[0] == 0).count();
        rng.fill_bytes(V::bytes_mut(&mut drawn[..free]));
        let free = slots.iter_mut().filter(|slot| slot.bits[0] == 0);
        for (slot, drawn) in free.zip(drawn.iter()) {
            slot.value = *drawn;
        }
        let first = system.pieces.len() * PIECE;
        let columns = &mut store[first..][..slots.len() + BAND];
        Kernels::detect().band_solve(columns, &slots);
    }
    store.truncate(system.columns);
    store
}
