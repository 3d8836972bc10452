//! Noise as coins: its distribution, exactly, and what it hides.

use madrigal_noise::{Noise, NoiseError};
use madrigal_testkit::seed;

/// Noises with few numbers, so that their distributions can be computed from the chances of the coins.
const NOISES: [(f64, f64, u64); 8] = [
    (1.0, 1e-9, 1),
    (1.0, 1e-3, 1),
    (0.1, 1e-6, 1),
    (0.5, 1e-9, 7),
    (2.0, 1e-12, 3),
    (5.0, 1e-9, 1),
    (0.02, 1e-3, 1),
    (1.0, 1e-6, 30),
];

/// Part of delta that the cut may take.
const OF_CUT: f64 = 0.9;

/// The chance of each number, from the least one on, by the chances of digits, in units of `2^-precision`.
fn chances(precision: u32, digits: &[u64]) -> Vec<f64> {
    let whole = f64::from(precision).exp2();
    let mut one = vec![1.0];
    for &chance in digits {
        let chance = chance as f64 / whole;
        let low = one.iter().map(|of| of * (1.0 - chance));
        let high = one.iter().map(|of| of * chance);
        one = low.chain(high).collect();
    }
    let mut all = vec![0.0; 2 * one.len() - 1];
    for (first, of_first) in one.iter().enumerate() {
        for (second, of_second) in one.iter().enumerate() {
            all[first + one.len() - 1 - second] += of_first * of_second;
        }
    }
    all
}

/// The least delta with which a difference is hidden.
fn delta(chances: &[f64], epsilon: f64, difference: usize) -> f64 {
    let shifted = |place: usize| place.checked_sub(difference).map_or(0.0, |at| chances[at]);
    let beyond = chances.iter().enumerate();
    beyond.fold(0.0, |sum, (place, chance)| {
        sum + (chance - epsilon.exp() * shifted(place)).max(0.0)
    })
}

#[test]
fn coins_hide_differences_as_they_say() {
    for (epsilon, wanted, each) in NOISES {
        let coins = Noise::new(epsilon, wanted, each).unwrap().coins().unwrap();
        let precision = coins.precision();
        let all = chances(precision, coins.chances());
        let sum: f64 = all.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        for difference in 1..=each as usize {
            let found = delta(&all, epsilon, difference);
            assert!(found <= wanted, "{epsilon} {wanted} {each}: {found}");
        }
        // A digit less would not do.
        let (_, less) = coins.chances().split_last().unwrap();
        let found = delta(&chances(precision, less), epsilon, each as usize);
        assert!(
            found > OF_CUT * wanted,
            "{epsilon} {wanted} {each}: {found}"
        );
    }
}

/// Chances are those of discrete Laplace, as far as floats tell.
#[test]
fn chances_are_those_of_discrete_laplace() {
    for (epsilon, wanted, each) in NOISES {
        let coins = Noise::new(epsilon, wanted, each).unwrap().coins().unwrap();
        let slope = epsilon / each as f64;
        let whole = (1_u64 << coins.precision()) as f64;
        for (digit, &chance) in coins.chances().iter().enumerate() {
            let exact = 1.0 / (1.0 + (slope * (digit as f64).exp2()).exp());
            let off = (chance as f64 - exact * whole).abs();
            // Half of the last bit, and what floats lose.
            assert!(off <= 0.5 + whole * 1e-15, "digit {digit}: off by {off}");
        }
        let all = chances(coins.precision(), coins.chances());
        let most = coins.most() as usize;
        let middle = slope.exp_m1() / (slope.exp() + 1.0);
        assert!(
            (all[most] - middle).abs() < 2.0 * wanted.max(1e-9),
            "{}",
            all[most]
        );
    }
}

#[test]
fn draws_are_distributed_as_the_chances_say() {
    let mut state = seed();
    for (epsilon, wanted, each) in NOISES {
        let coins = Noise::new(epsilon, wanted, each).unwrap().coins().unwrap();
        let (all, draws) = (chances(coins.precision(), coins.chances()), 20_000);
        let mut counts = vec![0_u32; all.len()];
        for _ in 0..draws {
            let number = coins.number(|| {
                state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mut word = state;
                word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                (word ^ (word >> 31)) >> (64 - coins.precision())
            });
            counts[(number + coins.most() as i64) as usize] += 1;
        }
        // Numbers that are expected less than 10 times are put together.
        let (mut square, mut places, mut rest) = (0.0, 0, (0.0, 0.0));
        for (chance, &count) in all.iter().zip(&counts) {
            let expected = chance * f64::from(draws);
            if expected < 10.0 {
                rest = (rest.0 + expected, rest.1 + f64::from(count));
                continue;
            }
            square += (f64::from(count) - expected).powi(2) / expected;
            places += 1;
        }
        if rest.0 >= 10.0 {
            square += (rest.1 - rest.0).powi(2) / rest.0;
            places += 1;
        } else {
            // Once in a billion times there are more.
            assert!(rest.1 < 60.0, "{rest:?}");
        }
        let freedom = f64::from(places - 1).max(1.0);
        // Six standard deviations.
        let most = freedom + 6.0 * (2.0 * freedom).sqrt() + 12.0;
        assert!(square < most, "{epsilon} {each}: {square} of {freedom}");
    }
}

#[test]
fn ends_of_ranges() {
    for (epsilon, wanted, each) in [(1e-9, 1e-3, 1), (0.001, 1e-9, 1000), (5.0, 1e-3, 1_000_000)] {
        match Noise::new(epsilon, wanted, each).map(|noise| noise.coins()) {
            Ok(Ok(coins)) => {
                assert!(coins.most() >= each && coins.digits() <= 40);
                let ones = coins.number(|| 0);
                // All coins of both numbers fall alike.
                assert_eq!(ones, 0);
                let mut thrown = 0;
                let digits = coins.digits();
                let most = coins.number(|| {
                    thrown += 1;
                    if thrown <= digits { 0 } else { u64::MAX }
                });
                let some = coins
                    .chances()
                    .iter()
                    .zip(0..)
                    .filter(|(chance, _)| **chance > 0);
                let expected: i64 = some.map(|(_, digit)| 1 << digit).sum();
                assert_eq!(most, expected);
            }
            Ok(Err(error)) => assert!(matches!(error, NoiseError::Fine { .. }), "{error}"),
            Err(error) => assert!(matches!(error, NoiseError::TooMuch { .. }), "{error}"),
        }
    }
    let fine = Noise::new(5.0, 1e-15, 1).unwrap().coins();
    let error = fine.unwrap_err().to_string();
    assert!(error.contains("1e-12"), "{error}");
    for epsilon in [0.001, 0.1, 1.0, 5.0] {
        assert!(
            Noise::new(epsilon, 1e-12, 1).unwrap().coins().is_ok(),
            "{epsilon}"
        );
    }
    let noise = Noise::new(0.3, 1e-7, 12).unwrap();
    let (epsilon, delta, each) = noise.units();
    assert_eq!(Noise::of_units(epsilon, delta, each), Ok(noise));
}
