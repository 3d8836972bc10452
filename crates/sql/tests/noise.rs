//! Noise on numbers of rows: its distribution, what it hides, and how it is written.

use std::convert::Infallible;

use madrigal_sql::files::{Noise, RowCount, Schema};
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
            // What rounding alone makes larger is as large.
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
fn noise_hides_rows_as_it_says_and_is_no_more_than_that_takes() {
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
            // What hardly ever comes has no normal distribution.
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

#[test]
fn hidden_numbers_are_never_below_the_true_one() {
    let mut random = words(seed());
    let noise: Noise = "epsilon=0.5,delta=1e-3,each=3".parse().unwrap();
    for rows in [0, 1, 1000] {
        for _ in 0..1000 {
            let Ok(RowCount::Hidden(bound, kept)) = RowCount::hidden(rows, noise, &mut random)
            else {
                panic!("another count");
            };
            assert_eq!(kept, noise);
            assert!(
                (rows..=rows + noise.most() as usize).contains(&bound),
                "{bound}"
            );
        }
    }
}

#[test]
fn noise_is_written_as_it_is_read() {
    let text = "name = \"a\"\nat_most = 12\nnoise = { epsilon = 0.1, delta = 1e-6, each = 4 }\n\n[columns]\nx = \"integer(0..=1)\"\n";
    let schema = Schema::parse(text).unwrap();
    let noise = Noise::new(0.1, 1e-6, 4).unwrap();
    assert_eq!(schema.rows, RowCount::Hidden(12, noise));
    assert_eq!(schema.to_toml(), text);
    assert_eq!(schema.rows.rows(), 12);
    let seed = seed();
    let mut random = words(seed);
    let mut number = || {
        let Ok(word) = random();
        word as f64 / u64::MAX as f64
    };
    for _ in 0..500 {
        let (epsilon, delta) = (4.99 * number() + 1e-9, 9e-4 * number() + 1e-15);
        let each = 1 + (100.0 * number()) as u64;
        let Ok(noise) = Noise::new(epsilon, delta, each) else {
            continue; // more rows than a table has
        };
        let flag = noise.to_string().replace(' ', "");
        assert_eq!(flag.parse(), Ok(noise), "{flag}, seed {seed}");
        let written = text.replace("epsilon = 0.1, delta = 1e-6, each = 4", &noise.to_string());
        let schema = Schema::parse(&written).unwrap();
        assert_eq!(
            schema.rows,
            RowCount::Hidden(12, noise),
            "{written}, seed {seed}"
        );
        assert_eq!(schema.to_toml(), written, "seed {seed}");
    }
}

#[test]
fn noise_that_hides_nothing_is_refused() {
    for wrong in [
        "",
        "epsilon=1",
        "delta=1e-6",
        "epsilon=1,delta=1e-6,rows=3",
        "epsilon=1,delta=1e-6,epsilon=1",
        "epsilon=1,delta=1e-6,each=-1",
        "epsilon=one,delta=1e-6",
    ] {
        let error = wrong.parse::<Noise>().unwrap_err();
        assert!(error.contains("epsilon=1,delta=1e-6"), "{wrong}: {error}");
    }
    for (wrong, told) in [
        ("epsilon=0,delta=1e-6", "epsilon = 0"),
        ("epsilon=-1,delta=1e-6", "epsilon = -1"),
        ("epsilon=6,delta=1e-6", "to 5"),
        ("epsilon=inf,delta=1e-6", "to 5"),
        ("epsilon=NaN,delta=1e-6", "to 5"),
        ("epsilon=1,delta=0", "delta = 0"),
        ("epsilon=1,delta=0.5", "to 0.001"),
        ("epsilon=1,delta=1e-16", "from 1e-15"),
        ("epsilon=6e-10,delta=1e-6", "from 1e-9"),
        ("epsilon=1,delta=1e-6,each=0", "each = 0"),
        ("epsilon=1,delta=1e-6,each=1000001", "to 1000000"),
        ("epsilon=1e-9,delta=1e-15", "rows of noise"),
        ("epsilon=0.0001,delta=1e-15,each=1000000", "rows of noise"),
    ] {
        let error = wrong.parse::<Noise>().unwrap_err();
        assert!(error.contains(told), "{wrong}: {error}");
    }
    let with =
        |more: &str| Schema::parse(&format!("name = \"a\"\n{more}\n[columns]\nx = \"bool\"\n"));
    let noise = "noise = { epsilon = 1, delta = 1e-6 }";
    assert!(with(&format!("at_most = 5\n{noise}")).is_ok());
    for (wrong, told) in [
        (format!("rows = 5\n{noise}"), "write at_most"),
        (noise.to_owned(), "how many rows"),
        ("at_most = 5\nnoise = { epsilon = 1 }".to_owned(), "delta"),
        (
            format!("at_most = 5\n{}", noise.replace("1e-6", "1")),
            "noise: delta = 1",
        ),
        (
            format!("at_most = 5\n{}", noise.replace("delta", "each = 1, gamma")),
            "gamma",
        ),
    ] {
        let error = with(&wrong).unwrap_err();
        assert!(error.contains(told), "{wrong}: {error}");
    }
}
