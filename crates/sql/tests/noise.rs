//! Noise on numbers of rows: what it bounds, and how it is written.

use std::convert::Infallible;

use madrigal_sql::files::{Noise, RowCount, Schema};
use madrigal_testkit::seed;

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
