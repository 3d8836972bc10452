//! Shuffles and sorts of protocol R: rows stay together, every order is as likely as any other, sorts are stable and right for keys of any
//! width, also where many are equal; each at its declared cost.
#![allow(clippy::needless_range_loop, clippy::unwrap_used)] // tests

use std::collections::HashMap;

use crate::common::{dealt, dealt_bits, join, plain, run, values, worker};
use madrigal_core::{Party, Ring};
use madrigal_kernels::{Block, Prg, crew::Crew};
use madrigal_net::transport::mesh;
use madrigal_protocols::replicated::{
    BY_DIGITS, BitShares, Column, Depth, Keys, Masking, RingShares,
};
use madrigal_testkit::{World, seed};

/// Shares of words for XOR, of which each party takes its own.
fn dealt_words(seed: u64, label: u64, words: &[u64]) -> [RingShares<u64>; 3] {
    let rows: Vec<Vec<u8>> = (0..64)
        .map(|bit| words.iter().map(|word| (word >> bit & 1) as u8).collect())
        .collect();
    let shares = dealt_bits(seed, label, &rows);
    shares.map(|shares| {
        let [first, second] = shares.components().map(|planes| {
            let mut words = vec![0_u64; shares.count()];
            madrigal_protocols::planes::join(planes, shares.count().div_ceil(8), &mut words);
            words
        });
        RingShares::from_components(first, second).unwrap()
    })
}

fn words(shares: [&RingShares<u64>; 3]) -> Vec<u64> {
    let [x, y, _] = shares;
    let of = |i: usize| x.components()[0][i] ^ x.components()[1][i] ^ y.components()[1][i];
    for party in 0..3 {
        let next = shares[(party + 1) % 3];
        assert_eq!(shares[party].components()[1], next.components()[0]);
    }
    (0..x.len()).map(of).collect()
}

fn numbers<T: Ring>(shares: [&RingShares<T>; 3]) -> Vec<T> {
    plain(&shares.map(Clone::clone))
}

macro_rules! column {
    ($columns:expr, $at:expr, $variant:ident) => {
        std::array::from_fn(|party| match &$columns[party][$at] {
            Column::$variant(_, shares) => shares,
            other => panic!("{other:?}"),
        })
    };
}

#[test]
fn rows_stay_together_in_a_shuffle() {
    let seed = seed();
    for rows in [0, 1, 2, 3, 64, 1000, 20_000] {
        for threads in [1, 3] {
            let crew = Crew::new(threads).unwrap();
            let bytes: Vec<u8> = values(seed, 1, rows);
            let large: Vec<u128> = values(seed, 2, rows);
            let lines: Vec<u32> = (0..rows as u32).collect();
            let marks: Vec<u64> = values(seed, 3, rows);
            let shared = (
                dealt(seed, 1, &bytes),
                dealt(seed, 2, &large),
                dealt(seed, 3, &lines),
                dealt_words(seed, 4, &marks),
            );
            let results = run(
                seed,
                &format!("{rows} rows"),
                async |rings| {
                    let me = rings.me().index();
                    let shuffle = rings.draw_shuffle(rows);
                    assert_eq!(format!("{shuffle:?}"), format!("Shuffle({rows} rows)"));
                    let mut columns: Vec<Column> = vec![
                        (Masking::Sums, shared.0[me].clone()).into(),
                        (Masking::Sums, shared.1[me].clone()).into(),
                        (Masking::Sums, shared.2[me].clone()).into(),
                        (Masking::Bits, shared.3[me].clone()).into(),
                    ];
                    // More columns than go side by side.
                    columns.extend((0..7).map(|_| (Masking::Sums, shared.2[me].clone()).into()));
                    let work = rings.shuffle(&shuffle, columns);
                    crew_at_work(&crew, work).await
                },
                |tally| {
                    use madrigal_correlations::Width::{W8, W32, W64, W128};
                    tally.draw_shuffle(rows);
                    let widths = [W8, W128, W32, W64].into_iter();
                    tally.shuffle(widths.chain([W32; 7]), rows);
                },
            );
            let order = numbers::<u32>(column!(results, 2, U32));
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, lines);
            if rows >= 64 {
                assert_ne!(order, lines);
            }
            let of = |row: &u32| *row as usize;
            let expected: Vec<u8> = order.iter().map(|row| bytes[of(row)]).collect();
            assert_eq!(numbers::<u8>(column!(results, 0, U8)), expected);
            let expected: Vec<u128> = order.iter().map(|row| large[of(row)]).collect();
            assert_eq!(numbers::<u128>(column!(results, 1, U128)), expected);
            let expected: Vec<u64> = order.iter().map(|row| marks[of(row)]).collect();
            assert_eq!(words(column!(results, 3, U64)), expected);
            for at in 4..11 {
                assert_eq!(numbers::<u32>(column!(results, at, U32)), order);
            }
        }
    }
}

/// Polls `work` with a crew.
async fn crew_at_work<F: Future>(crew: &Crew, work: F) -> F::Output {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|cx| crew.at_work(|| work.as_mut().poll(cx))).await
}

/// Each order of three rows comes about as often: with 6,000 shuffles the sum of squares has 5 degrees of freedom, and is above 35 once
/// in 600,000 tests.
#[test]
fn all_orders_are_equally_likely() {
    const TIMES: usize = 6000;
    let seed = seed();
    let shared = dealt::<u8>(seed, 1, &[0, 1, 2]);
    let results = run(
        seed,
        "orders",
        async |rings| {
            let me = rings.me().index();
            let mut orders = Vec::new();
            for _ in 0..TIMES {
                let shuffle = rings.draw_shuffle(3);
                let column = (Masking::Sums, shared[me].clone()).into();
                orders.extend(rings.shuffle(&shuffle, vec![column]).await?);
            }
            Ok(orders)
        },
        |tally| {
            for _ in 0..TIMES {
                tally.draw_shuffle(3);
                tally.shuffle([madrigal_correlations::Width::W8], 3);
            }
        },
    );
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for at in 0..TIMES {
        *counts
            .entry(numbers::<u8>(column!(results, at, U8)))
            .or_default() += 1;
    }
    assert_eq!(counts.len(), 6);
    let expected = TIMES as f64 / 6.0;
    let distance: f64 = counts
        .values()
        .map(|&count| (count as f64 - expected).powi(2) / expected)
        .sum();
    assert!(distance < 35.0, "{counts:?}");
}

/// Keys of `bits` bits: few different ones, or random ones with the ends of the range.
fn keys(seed: u64, rows: usize, bits: usize, few: bool) -> Vec<Vec<u8>> {
    let mut rng = Prg::numbered(Block::new(seed, 5), bits as u64);
    let mut keys: Vec<Vec<u8>> = (0..rows)
        .map(|row| {
            let mut random = vec![0_u8; bits];
            madrigal_kernels::meter::unmetered(|| rng.fill(&mut random));
            random.iter_mut().for_each(|bit| *bit &= 1);
            match row % 5 {
                0 => vec![0; bits],
                1 => vec![1; bits],
                _ => random,
            }
        })
        .collect();
    if few {
        for row in 3..rows {
            keys[row] = keys[row % 3].clone();
        }
    }
    keys
}

/// A way to sort.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// By comparisons of this depth, or by counting where keys are short.
    Compared(Option<Depth>),
    /// Digit by digit.
    Digits,
}

fn sorts(seed: u64, rows: usize, bits: usize, few: bool, depth: Option<Depth>) {
    sorts_in(seed, rows, bits, few, Way::Compared(depth));
}

fn sorts_in(seed: u64, rows: usize, bits: usize, few: bool, way: Way) {
    let about = format!("{rows} rows, keys of {bits} bits, few {few}, {way:?}");
    let depth = match way {
        Way::Compared(depth) => depth,
        Way::Digits => None,
    };
    let keys = keys(seed, rows, bits, few);
    let planes: Vec<Vec<u8>> = (0..bits)
        .map(|bit| keys.iter().map(|key| key[bit]).collect())
        .collect();
    let shared = match bits {
        0 => [0, 1, 2].map(|_| BitShares::zeros(0, rows)),
        _ => dealt_bits(seed, 1, &planes),
    };
    let lines: Vec<u64> = (0..rows as u64).collect();
    let lines_shared = dealt(seed, 2, &lines);
    let results = run(
        seed,
        &about,
        async |rings| {
            rings.set_depth(depth);
            let me = rings.me();
            let mut keys = Keys::none(rows);
            keys.push(&shared[me.index()]);
            assert_eq!((keys.rows(), keys.bits()), (rows, bits));
            let column = (Masking::Sums, lines_shared[me.index()].clone()).into();
            let sorted = match way {
                Way::Compared(_) => rings.sort(&keys, vec![column]).await?.expect("luck"),
                Way::Digits => rings.sort_by_digits(&keys, vec![column]).await?,
            };
            Ok((sorted.keys.planes(0..bits), sorted.columns))
        },
        |tally| {
            tally.set_depth(depth);
            let columns = &[madrigal_correlations::Width::W64];
            match way {
                Way::Compared(_) => tally.sort(rows, bits, columns),
                Way::Digits => tally.sort_by_digits(rows, bits, columns),
            }
        },
    );
    let [x, y, z] = results;
    let columns = [x.1, y.1, z.1];
    let order = numbers::<u64>(column!(columns, 0, U64));
    let mut expected = lines;
    // From the highest bit on; equal keys in their order.
    expected.sort_by_key(|&row| {
        keys[row as usize]
            .iter()
            .rev()
            .copied()
            .collect::<Vec<u8>>()
    });
    assert_eq!(order, expected, "{about}");
    for (plane, found) in planes.iter().zip(join(&[x.0, y.0, z.0])) {
        let expected: Vec<u8> = order.iter().map(|&row| plane[row as usize]).collect();
        assert_eq!(found, expected, "{about}");
    }
}

#[test]
fn rows_are_sorted_by_keys_of_any_width() {
    let seed = seed();
    for bits in [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 130, 300] {
        for rows in [0, 1, 2, 3, 65] {
            sorts(seed, rows, bits, false, None);
        }
        sorts(seed, 300, bits, true, None);
    }
}

/// Keys of all numbers of digits, with digits of all lengths.
#[test]
fn rows_are_sorted_digit_by_digit() {
    let seed = seed();
    for bits in 1..=BY_DIGITS {
        for rows in [0, 1, 2, 65] {
            sorts_in(seed, rows, bits, false, Way::Digits);
        }
        sorts_in(seed, 300, bits, true, Way::Digits);
    }
    sorts_in(seed, 70_000, 9, false, Way::Digits);
}

/// Keys that are all alike, at both ends, and rows beyond a block, a piece of a message and a chunk of what is counted.
#[test]
fn places_of_rows_are_counted() {
    let seed = seed();
    let all = Party::all(3).collect::<Vec<_>>();
    for (rows, bits) in [
        (0, 1),
        (1, 4),
        (1025, 2),
        (16_384, 3),
        (40_000, 1),
        (70_001, 4),
    ] {
        for alike in [None, Some(0), Some(1)] {
            let keys: Vec<Vec<u8>> = (0..bits)
                .map(|bit| match alike {
                    Some(bit) => vec![bit; rows],
                    None => values::<u8>(seed, bit, rows)
                        .iter()
                        .map(|x| x & 1)
                        .collect(),
                })
                .collect();
            let shared = dealt_bits(seed, 1, &keys);
            let about = format!("{rows} rows, {bits} bits, {alike:?}");
            let results = run(
                seed,
                &about,
                async |rings| {
                    let mut keys = Keys::none(rows);
                    keys.push(&shared[rings.me().index()]);
                    let places = rings.places(&keys).await?;
                    Ok(rings.open(&places, &all).await?.unwrap())
                },
                |tally| {
                    tally.places(rows, bits as usize);
                    tally.open::<u32>(rows, &all);
                },
            );
            let mut order: Vec<usize> = (0..rows).collect();
            order.sort_by_key(|&row| keys.iter().rev().map(|key| key[row]).collect::<Vec<_>>());
            let mut places = vec![0; rows];
            for (place, row) in (0..).zip(order) {
                places[row] = place;
            }
            for found in results {
                assert!(found == places, "{about}");
            }
        }
    }
}

/// Shares that do not fit together give places that are none: that is an error.
#[test]
fn places_that_are_no_permutation_are_refused() {
    let seed = seed();
    let shared = dealt_bits(seed, 1, &[vec![1, 0, 1, 1, 0, 0, 1, 0]]);
    let results = World::light(3, seed).run_over(mesh(3), |context| {
        let shared = &shared;
        async move {
            let mut rings = worker(&context)?;
            let me = rings.me().index();
            let mut planes = shared[me].clone();
            if me == 1 {
                planes.row_mut(0)[1][0] ^= 4;
            }
            let mut keys = Keys::none(8);
            keys.push(&planes);
            rings.sort(&keys, Vec::new()).await
        }
    });
    for (me, result) in results.iter().enumerate() {
        assert!(result.is_err(), "{me}: {result:?}");
    }
}

#[test]
fn many_rows_are_sorted() {
    let seed = seed();
    for (rows, depth) in [
        (256, Some(Depth::Ripple)),
        (257, None),
        (1023, Some(Depth::Tree)),
        (1024, None),
        (3000, None),
        (70_000, None),
    ] {
        sorts(seed, rows, 20, false, depth);
    }
    sorts(seed, 3000, 64, true, None);
    sorts(seed, 70_000, 1, false, None);
    sorts(seed, 3000, 4, false, None);
}
