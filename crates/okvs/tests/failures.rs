//! How often encoding fails, against the count.
#![allow(clippy::print_stdout, reason = "figures that a failure is read with")]

use madrigal_kernels::{Block, Prg};
use madrigal_okvs::{OkvsError, Shape, encode, expected_losses, failure_bits};

use crate::{blocks, values};

/// Every shape that is chosen fails once in 2^40 times at most: at either end of each range of sizes.
#[test]
fn chosen_shapes_fail_rarely() {
    let mut sizes = vec![1, 2, 200, 1000, 1 << 12];
    for log in [16, 20, 24, 28] {
        sizes.extend([1 << log, (1_u64 << log) + 1]);
    }
    for keys in sizes.into_iter().filter(|&keys| keys <= Shape::MOST_KEYS) {
        let columns = Shape::for_keys(keys).unwrap().columns() as u64;
        let bits = failure_bits(keys, columns);
        assert!(bits >= 40.0, "{keys} keys in {columns} columns: 2^-{bits}");
    }
}

/// Rows of narrow bands are lost as often as counted, where that is often enough to be seen: the number of lost rows in many
/// stores against the sum that is expected.
#[test]
fn rows_are_lost_as_often_as_counted() {
    let (stores, keys) = (40, 20_000);
    for (width, starts) in [(24, 3200), (32, 2900), (48, 2720), (64, 2640)] {
        let mut lost = Vec::new();
        for seed in 0..stores {
            lost.push(lost_rows(seed, keys, starts, width));
        }
        let all: usize = lost.iter().sum();
        let counted = stores as f64 * expected_losses(keys, starts, width);
        let failed = lost.iter().filter(|&&lost| lost > 0).count();
        // Rows are lost in heaps, so the spread is that of the stores.
        let mean = all as f64 / stores as f64;
        let spread = lost
            .iter()
            .map(|&lost| (lost as f64 - mean).powi(2))
            .sum::<f64>()
            .sqrt();
        println!(
            "{keys} keys, {starts} starts, bands of {width}: {all} rows lost in {failed} stores, {counted:.1} +- {spread:.1} counted"
        );
        assert!(all > 50, "too few to tell");
        // A number of keys that is given makes heaps rarer than keys that come by chance, the more so the wider they are.
        assert!(all as f64 <= counted + 4.5 * spread);
        assert!(all as f64 >= 0.5 * counted - 4.5 * spread);
        assert!(failed as f64 <= counted);
    }
}

/// Rows that are lost of a store with bands of at most 64 columns, taken in the order of their starts.
fn lost_rows(seed: u64, keys: u64, starts: u64, width: usize) -> usize {
    let mut prg = Prg::new(Block::new(seed, width as u64 + (keys << 8)));
    let mut rows = vec![[0; 2]; keys as usize];
    prg.fill_words(rows.as_flattened_mut());
    for [start, bits] in &mut rows {
        *start = ((u128::from(*start) * u128::from(starts)) >> 64) as u64;
        *bits &= u64::MAX >> (64 - width);
    }
    rows.sort_unstable();
    let mut slots = vec![0_u64; 8 * starts as usize + 64];
    let mut lost = 0;
    for [start, mut bits] in rows {
        let mut column = 8 * start as usize;
        loop {
            if bits == 0 {
                lost += 1;
                break;
            }
            column += bits.trailing_zeros() as usize;
            bits >>= bits.trailing_zeros();
            if slots[column] == 0 {
                slots[column] = bits;
                break;
            }
            bits ^= slots[column];
        }
    }
    lost
}

/// Stores that are too small fail, and not more often than counted: the count is of rows, several of which may be of one store, and
/// of numbers of keys that vary.
#[test]
fn stores_that_are_too_small_fail() {
    let runs = 60;
    for (keys, columns, least) in [
        (12_000, 12_352, 0),
        (12_000, 12_032, 1),
        (12_000, 11_968, 60),
    ] {
        let shape = Shape::with_columns(keys, columns).unwrap();
        let values = values::<u64>(1, keys as usize);
        let failed = (0..runs).filter(|&seed| {
            let keys = blocks(seed, keys as usize);
            let made = encode(
                &shape,
                Block::new(seed, 1),
                &keys,
                &values,
                &mut crate::rng(seed),
            );
            assert!(matches!(made, Ok(_) | Err(OkvsError::Dependent)));
            made.is_err()
        });
        let failed = failed.count();
        let counted = runs as f64 * (-failure_bits(keys, columns)).exp2();
        println!(
            "{keys} keys, {columns} columns: {failed} of {runs} failed, {counted:.1} rows counted"
        );
        assert!(failed >= least && failed as f64 <= counted + 4.0 * counted.sqrt());
    }
}
