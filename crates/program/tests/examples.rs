//! The examples compute what they say, in every mix.

use madrigal_program::lower::Mix;
use madrigal_testkit::shared_data;

#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/auction.rs"]
mod auction;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/inner_product.rs"]
mod inner_product;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/millionaires.rs"]
mod millionaires;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/nearest.rs"]
mod nearest;
#[allow(dead_code, reason = "its main function is for the command line")]
#[path = "../examples/statistics.rs"]
mod statistics;

const MIXES: [(Mix, usize); 4] = [(Mix::AB, 2), (Mix::B, 2), (Mix::AB, 3), (Mix::R, 3)];

#[test]
fn the_richer_of_two() {
    for (mix, parties) in MIXES {
        for fortunes in [[7, 3], [3, 7], [5, 5], [u64::MAX, 0]] {
            let found = millionaires::first_is_richer(fortunes, mix, parties).unwrap();
            assert_eq!(found, fortunes[0] > fortunes[1], "{fortunes:?} in {mix}");
        }
    }
}

#[test]
fn the_winner_pays_the_second_price() {
    for mix in [Mix::AB, Mix::B, Mix::R] {
        assert_eq!(
            auction::auction(&[120, 340, 335], mix).unwrap(),
            (1, 335),
            "{mix}"
        );
    }
    assert_eq!(auction::auction(&[u32::MAX, 0], Mix::B).unwrap(), (0, 0));
}

#[test]
fn inner_products_have_signs() {
    for (mix, parties) in MIXES {
        let vectors: [&[i64]; 2] = [&[1, 2, 3, -4], &[4, -5, 6, i64::MAX]];
        let expected = [4_i64, -10, 18, (-4_i64).wrapping_mul(i64::MAX)];
        let expected = expected.into_iter().fold(0, i64::wrapping_add);
        let found = inner_product::inner_product(vectors, mix, parties).unwrap();
        assert_eq!(found, expected, "{mix}");
    }
    assert!(inner_product::inner_product([&[1, 2, 3], &[2, 3]], Mix::AB, 2).is_err());
}

#[test]
fn statistics_of_all_lists() {
    for mix in [Mix::AB, Mix::B, Mix::R] {
        let lists = [vec![31, 45, 28], vec![52, 39], vec![47]];
        let found = statistics::summary(&lists, mix).unwrap();
        let numbers = lists.concat();
        let mean = numbers.iter().sum::<u32>() as f64 / 6.0;
        let deviations = numbers.iter().map(|&x| (f64::from(x) - mean).powi(2));
        let variance = deviations.sum::<f64>() / 6.0;
        assert!((found.mean - mean).abs() < 1e-9, "{found:?}");
        assert!((found.variance - variance).abs() < 1e-9, "{found:?}");
        assert_eq!(found.median, 45);
    }
}

#[test]
fn the_nearest_entry() {
    for (mix, parties) in MIXES {
        let table = [10, 10, 0, 7, 3, 4, 200, 9];
        let found = nearest::nearest(&table, &[1, 6], mix, parties).unwrap();
        assert_eq!(found, (2, 1), "{mix}");
    }
    let Some(tables) = shared_data().map(|data| data.join("data/tables")) else {
        return;
    };
    let read =
        |name| nearest::numbers(&std::fs::read_to_string(tables.join(name)).unwrap()).unwrap();
    let (table, samples) = (
        read("biomatch_db_1024.csv"),
        read("biomatch_samples_1024.csv"),
    );
    // Copies of the first row, of the last, and of three rows, of which the first counts.
    for (sample, place) in [(0, 0), (1, 1023), (4, 7)] {
        let sample = &samples[4 * sample..][..4];
        let found = nearest::nearest(&table, sample, Mix::AB, 2).unwrap();
        assert_eq!(found, (0, place));
    }
}
