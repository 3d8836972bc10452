//! The number of times that items fit into no bins, against the bound.

use madrigal_kernels::Block;
use madrigal_psi_bins::{Bins, BinsError, Shape, failure_bits};

use crate::{blocks, seed};

/// Every shape that is chosen fails once in 2^40 times at most.
#[test]
fn chosen_shapes_fail_rarely() {
    let small = (0..80).chain((80..600).step_by(13));
    let large = (6..18).flat_map(|log| [1_u64 << log, (1 << log) + 1, (1 << log) * 3 / 2]);
    for items in small.chain(large).chain([1_000_000]) {
        let bins = Shape::for_items(items).unwrap().bins() as u64;
        let bits = failure_bits(items, bins);
        assert!(bits >= 40.0, "{items} items in {bins} bins: 2^-{bits}");
    }
}

/// More bins and fewer items fail less often.
#[test]
fn the_bound_falls() {
    for (items, bins) in [(4, 10), (50, 100), (1000, 1400), (1000, 1250)] {
        let bits = failure_bits(items, bins);
        assert!(
            bits < failure_bits(items, bins + bins / 10),
            "{items} {bins}"
        );
        assert!(bits < failure_bits(items - 1, bins), "{items} {bins}");
    }
    assert_eq!(failure_bits(3, 3), f64::INFINITY);
    assert_eq!(failure_bits(0, 3), f64::INFINITY);
}

/// Small tables fail as often as the bound says where it counts one event alone, and at most as often elsewhere.
#[test]
fn small_tables_fail_as_often_as_counted() {
    let seed = seed();
    for (items, bins, rounds) in [
        (4, 5, 60_000),
        (4, 6, 100_000),
        (5, 7, 60_000),
        (8, 12, 40_000),
        (12, 16, 20_000),
        (30, 42, 10_000),
        (60, 75, 10_000),
    ] {
        let shape = Shape::with_bins(items, bins).unwrap();
        let failed = |round: &u64| {
            let table = Bins::new(shape, Block::new(seed ^ round, bins));
            table.place(&blocks(seed ^ round, items as usize)).err() == Some(BinsError::Full)
        };
        let failures = (0..rounds).filter(failed).count() as f64;
        let expected = rounds as f64 * (-failure_bits(items, bins)).exp2();
        println!("{items} items, {bins} bins: {failures} failures, {expected:.1} at most");
        let spread = 5.0 * expected.sqrt() + 1.0;
        assert!(failures <= expected + spread, "seed {seed}");
        if items == 4 {
            assert!(failures >= expected - spread, "seed {seed}");
        }
    }
}
