//! Noise: its distribution, what it hides, and what is refused.

use std::convert::Infallible;

use madrigal_noise::{Delta, Epsilon, Noise, NoiseError};
use madrigal_testkit::seed;

/// Draws of one noise.
const DRAWS: u64 = 40_000;

/// Words from a seed (SplitMix64).
fn words(seed: u64) -> impl FnMut() -> Result<u64, Infallible> {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Ok(word ^ (word >> 31))
    }
}

/// Chances of 0 to twice `half`, by the definition: weights that fall by the same factor on both sides of the middle.
fn chances(epsilon: f64, each: u64, half: u64) -> Vec<f64> {
    let weight = |place: u64| (-(place.abs_diff(half) as f64) * epsilon / each as f64).exp();
    let all: f64 = (0..=2 * half).map(weight).sum();
    (0..=2 * half).map(|place| weight(place) / all).collect()
}

/// The least delta with which tables that differ in `rows` rows are hidden.
fn delta(chances: &[f64], epsilon: f64, rows: usize) -> f64 {
    let of = |place: Option<usize>| {
        place
            .and_then(|place| chances.get(place))
            .copied()
            .unwrap_or(0.0)
    };
    let one_way = |shifted: &dyn Fn(usize) -> Option<usize>| -> f64 {
        let all = 0..chances.len() + rows;
        all.map(|place| {
            let (own, other) = (of(Some(place)), of(shifted(place)));
            let other = epsilon.exp() * other;
            // Chances that rounding alone makes larger are as large.
            match own > other * (1.0 + 1e-9) {
                true => own - other,
                false => 0.0,
            }
        })
        .sum()
    };
    let up = one_way(&|place| place.checked_sub(rows));
    let down = one_way(&|place| Some(place + rows));
    up.max(down)
}

const NOISES: [(f64, f64, u64); 7] = [
    (1.0, 1e-6, 1),
    (0.1, 1e-3, 1),
    (0.5, 1e-3, 7),
    (2.0, 1e-9, 10),
    (5.0, 1e-15, 1),
    (0.003, 1e-3, 2),
    // The cut leaves a thousand of the billions of numbers that the scale has.
    (1e-9, 1e-3, 1),
];

#[test]
fn noise_hides_differences_as_it_says_and_is_no_more_than_that_takes() {
    for (epsilon, delta_, each) in NOISES {
        let noise = Noise::new(epsilon, delta_, each).unwrap();
        let half = noise.most() / 2;
        let own = chances(epsilon, each, half);
        for rows in 1..=each {
            let found = delta(&own, epsilon, rows as usize);
            assert!(
                found <= delta_ * (1.0 + 1e-9),
                "{noise}: {found} for {rows} rows"
            );
        }
        // One less would be too little, unless all within reach of both ends were one.
        if half > each {
            let less = chances(epsilon, each, half - 1);
            let end: f64 = less[..each as usize].iter().sum();
            assert!(end > delta_ * (1.0 - 1e-6), "{noise}: {end}");
        }
    }
}

#[test]
fn draws_are_distributed_as_they_should_be() {
    let seed = seed();
    for (number, (epsilon, delta, each)) in NOISES.into_iter().enumerate() {
        let noise = Noise::new(epsilon, delta, each).unwrap();
        let chances = chances(epsilon, each, noise.most() / 2);
        let mut random = words(seed.wrapping_add(number as u64));
        let mut counts = vec![0_u64; chances.len()];
        for _ in 0..DRAWS {
            let Ok(rows) = noise.draw(&mut random);
            // More than the most is beyond the vector: the test fails.
            counts[rows as usize] += 1;
        }
        let draws = DRAWS as f64;
        let moment = |of: &dyn Fn(f64) -> f64| -> (f64, f64) {
            let places = || (0..).map(|place| of(f64::from(place)));
            let found: f64 = places()
                .zip(&counts)
                .map(|(x, &n)| x * n as f64 / draws)
                .sum();
            let wanted: f64 = places().zip(&chances).map(|(x, p)| x * p).sum();
            let square: f64 = places().zip(&chances).map(|(x, p)| x * x * p).sum();
            let deviation = ((square - wanted * wanted) / draws).sqrt();
            (found - wanted, deviation)
        };
        let middle = noise.most() as f64 / 2.0;
        let moments: [&dyn Fn(f64) -> f64; 5] = [
            &|x| x,
            &|x| (x - middle).abs(),
            &|x| f64::from(x == middle),
            &|x| f64::from(x < middle),
            &|x| f64::from(x < each as f64),
        ];
        for (place, of) in moments.into_iter().enumerate() {
            let (off, deviation) = moment(of);
            // Numbers that hardly ever come have no normal distribution.
            let chance = 6.0 * deviation + 10.0 / draws;
            assert!(
                off.abs() <= chance,
                "{noise}, moment {place}: off by {off}, {deviation}"
            );
        }
        // All places together, those that come often.
        let often = counts
            .iter()
            .zip(&chances)
            .filter(|(_, p)| p.min(1.0 - *p) * draws > 20.0);
        let squares: Vec<f64> = often
            .map(|(&n, p)| (n as f64 - p * draws).powi(2) / (p * draws * (1.0 - p)))
            .collect();
        let all = squares.len().max(1) as f64;
        let spread: f64 = (squares.iter().sum::<f64>() - all) / (2.0 * all).sqrt();
        assert!(spread < 8.0, "{noise}: {spread} over {all} places");
    }
}

/// The number that counts is the first, whatever is drawn after it, and words are taken in about the same number for all.
#[test]
fn steady_draws_are_the_first_and_take_as_many_words() {
    let seed = seed();
    for (number, (epsilon, delta, each)) in NOISES.into_iter().enumerate() {
        let noise = Noise::new(epsilon, delta, each).unwrap();
        for run in 0..20 {
            let seed = seed.wrapping_add(100 * number as u64 + run);
            let (mut alone, mut steady) = (words(seed), words(seed));
            let mut taken = 0;
            let Ok(expected) = noise.draw(&mut alone);
            let Ok(drawn) = noise.draw_steadily(|| {
                taken += 1;
                steady()
            });
            assert_eq!(drawn, expected, "{noise}, seed {seed}");
            assert!(
                (4096..5500).contains(&taken),
                "{noise}: {taken} words, seed {seed}"
            );
        }
    }
}

#[test]
fn deviations_are_bounds_and_close_to_what_they_bound() {
    for (epsilon, delta, each) in NOISES {
        let noise = Noise::new(epsilon, delta, each).unwrap();
        let half = noise.half();
        let chances = chances(epsilon, each, half);
        let squares = (0..)
            .zip(&chances)
            .map(|(place, p)| p * f64::from(place) * f64::from(place));
        let exact = (squares.sum::<f64>() - (half as f64).powi(2)).sqrt();
        let bound = noise.deviation();
        assert!(bound >= exact * (1.0 - 1e-9), "{noise}: {bound}, {exact}");
        assert!(bound <= exact * 1.25, "{noise}: {bound}, {exact}");
    }
}

#[test]
fn noise_that_hides_nothing_is_refused() {
    for (epsilon, delta, each, told) in [
        (0.0, 1e-6, 1, "epsilon = 0: write a number from 1e-9 to 5"),
        (-1.0, 1e-6, 1, "epsilon = -1"),
        (5.000_000_001, 1e-6, 1, "to 5"),
        (f64::INFINITY, 1e-6, 1, "to 5"),
        (f64::NAN, 1e-6, 1, "to 5"),
        (9e-10, 1e-6, 1, "from 1e-9"),
        (1.0, 0.0, 1, "delta = 0: write a number from 1e-15 to 0.001"),
        (1.0, 0.002, 1, "to 0.001"),
        (1.0, 9e-16, 1, "from 1e-15"),
        (1.0, f64::NAN, 1, "delta = NaN"),
        (1.0, 1e-6, 0, "each = 0: write a number from 1 to 1000000"),
        (1.0, 1e-6, 1_000_001, "each = 1000001"),
        (1e-9, 1e-15, 1, "noise of more than 1073741824"),
        (1e-4, 1e-15, 1_000_000, "noise of more than"),
    ] {
        let error = Noise::new(epsilon, delta, each).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
    // The ends themselves are taken.
    for (epsilon, delta, each) in [
        (5.0, 1e-15, 1),
        (1e-9, 1e-3, 1),
        (1e-9, 1e-9, 1),
        (5.0, 1e-3, 1_000_000),
    ] {
        let noise = Noise::new(epsilon, delta, each).unwrap();
        assert_eq!(
            (noise.epsilon(), noise.delta(), noise.each()),
            (Epsilon::new(epsilon).unwrap(), delta, each)
        );
        assert!(noise.half() >= each && noise.most() <= 1 << 30, "{noise}");
        let mut random = words(7);
        for _ in 0..10 {
            let Ok(drawn) = noise.draw(&mut random);
            assert!(drawn <= noise.most(), "{noise}: {drawn}");
        }
    }
}

#[test]
fn deltas_add_up_exactly() {
    let tenth = Delta::new(1e-7).unwrap();
    let sum = (0..10).fold(Delta::ZERO, |sum, _| sum.plus(tenth));
    assert_eq!(
        (sum, sum.to_string()),
        (Delta::MILLIONTH, "1e-6".to_owned())
    );
    let (least, most) = (Delta::new(1e-15).unwrap(), Delta::new(1.0).unwrap());
    assert!(sum.plus(least) > sum && most.plus(least) > most && most.get() == 1.0);
    assert_eq!(Noise::new(1.0, 1e-9, 1).unwrap().exact_delta().get(), 1e-9);
    for wrong in [0.0, -1e-9, 1e-16, 1.000_001, f64::NAN, f64::INFINITY] {
        assert!(Delta::new(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn epsilons_add_up_exactly() {
    let tenth = Epsilon::new(0.1).unwrap();
    let sum = (0..10).fold(Epsilon::ZERO, |sum, _| sum.plus(tenth));
    assert_eq!(sum, Epsilon::new(1.0).unwrap());
    assert_eq!(sum.to_string(), "1");
    let most = Epsilon::new(1e6).unwrap();
    assert_eq!(most.get(), 1e6);
    assert!(most.plus(tenth) > most);
    for wrong in [0.0, -0.1, 1e-10, 1_000_000.1, f64::NAN, f64::INFINITY] {
        let error = Epsilon::new(wrong).unwrap_err();
        assert!(
            matches!(
                error,
                NoiseError::Number {
                    name: "epsilon",
                    ..
                }
            ),
            "{error}"
        );
    }
    // Numbers are read as they are written.
    for units in [
        1_u64,
        7,
        123_456_789,
        999_999_999,
        4_999_999_999,
        999_999_999_999_999,
    ] {
        let value = units as f64 / 1e9;
        let read = Epsilon::new(value).unwrap();
        assert_eq!(read.get(), value);
        assert_eq!(Epsilon::new(read.to_string().parse().unwrap()), Ok(read));
    }
}
