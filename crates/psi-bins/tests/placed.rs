//! Each item of the receiver's is in one of the bins where the sender would have it, alone, under the same key.

use madrigal_kernels::Block;
use madrigal_psi_bins::{Bins, BinsError, CHOICES, Shape};

use crate::{blocks, rng, seed};

/// Checks a placing of `digests` against the sender's view of the same ones.
fn check(bins: &Bins, digests: &[Block]) -> Result<(), BinsError> {
    let placed = bins.place(digests)?;
    let spread = bins.spread(digests);
    let count = bins.shape().bins();
    assert_eq!(placed.bins.len(), digests.len());
    assert_eq!(spread.bins.len(), digests.len());
    let lens = spread.keys.each_ref().map(|keys| keys.len());
    assert_eq!(lens, [digests.len(); CHOICES]);
    let mut taken = vec![false; count];
    for (item, &bin) in placed.bins.iter().enumerate() {
        let choices = spread.bins[item];
        assert!(choices.iter().all(|&choice| (choice as usize) < count));
        assert!(choices[0] != choices[1] && choices[1] != choices[2] && choices[0] != choices[2]);
        let choice = choices.iter().position(|&choice| choice == bin);
        let choice = choice.expect("one of the item's bins");
        assert_eq!(usize::from(placed.choices[item]), choice);
        assert!(placed.keys[item] == spread.keys[choice][item]);
        assert!(!taken[bin as usize], "two items in bin {bin}");
        taken[bin as usize] = true;
    }
    let keys = spread.keys.iter().flat_map(|keys| keys.iter());
    let mut keys: Vec<u128> = keys.map(|&key| key.into()).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
    Ok(())
}

#[test]
fn items_of_all_numbers_find_bins() {
    let seed = seed();
    for n in [0, 1, 2, 3, 4, 100, 1023, 100_000] {
        let bins = Bins::new(Shape::for_items(n).unwrap(), Block::new(seed, n));
        check(&bins, &blocks(seed ^ n, n as usize)).unwrap();
    }
}

/// Whether any placing exists, by augmenting paths, one item after the other.
fn exists(choices: &[[u32; CHOICES]], bins: usize) -> bool {
    fn augment(
        item: usize,
        choices: &[[u32; CHOICES]],
        of: &mut [Option<usize>],
        seen: &mut [bool],
    ) -> bool {
        choices[item].iter().any(|&bin| {
            let bin = bin as usize;
            if std::mem::replace(&mut seen[bin], true) {
                return false;
            }
            let free = of[bin].is_none_or(|other| augment(other, choices, of, seen));
            if free {
                of[bin] = Some(item);
            }
            free
        })
    }
    let mut of = vec![None; bins];
    (0..choices.len()).all(|item| augment(item, choices, &mut of, &mut vec![false; bins]))
}

/// Placing succeeds just where a way to place the items exists: with as many bins as items, where walks do not suffice, and with fewer.
#[test]
fn placing_fails_only_where_no_way_exists() {
    let seed = seed();
    let (mut failed, mut placed) = (0, 0);
    for round in 0..3000_u64 {
        let n = 3 + round % 40;
        for bins in [n - 1, n, n + 1, n + 2 + n / 16].map(|bins| bins.max(3)) {
            let digests = blocks(seed ^ round, n as usize);
            let shape = Shape::with_bins(n, bins).unwrap();
            let table = Bins::new(shape, Block::new(seed, bins));
            let possible = exists(&table.spread(&digests).bins, bins as usize);
            let result = check(&table, &digests);
            let expected = if possible {
                Ok(())
            } else {
                Err(BinsError::Full)
            };
            assert_eq!(
                result, expected,
                "{n} items, {bins} bins, seed {seed}, round {round}"
            );
            *(if possible { &mut placed } else { &mut failed }) += 1;
        }
    }
    println!("{placed} placed, {failed} not");
    assert!(placed > 1000 && failed > 1000);
}

/// Loads at which walks are long and searches are many.
#[test]
fn nearly_full_bins_are_found() {
    let seed = seed();
    let n = 20_000;
    let digests = blocks(seed, n as usize);
    for bins in [n * 112 / 100, n * 110 / 100] {
        let shape = Shape::with_bins(n, bins).unwrap();
        check(&Bins::new(shape, Block::new(seed, 1)), &digests).unwrap();
    }
    let shape = Shape::with_bins(n, n * 105 / 100).unwrap();
    let full = check(&Bins::new(shape, Block::new(seed, 1)), &digests);
    assert_eq!(full, Err(BinsError::Full));
}

/// Each triple of bins is as likely as any other one, and in any order.
#[test]
fn all_triples_are_alike() {
    let seed = seed();
    let (bins, n) = (7_u64, 210 * 1000);
    let shape = Shape::with_bins(0, bins).unwrap();
    let spread = Bins::new(shape, Block::new(seed, 3)).spread(&blocks(seed, n));
    let mut counts = vec![0_u32; (bins * bins * bins) as usize];
    for [a, b, c] in spread.bins.iter() {
        counts[((a * 7 + b) * 7 + c) as usize] += 1;
    }
    let met: Vec<f64> = counts
        .into_iter()
        .filter(|&c| c > 0)
        .map(f64::from)
        .collect();
    assert_eq!(met.len(), 210);
    let chi = met
        .iter()
        .map(|c| (c - 1000.0).powi(2) / 1000.0)
        .sum::<f64>();
    // 209 degrees of freedom: mean 209, deviation 20.4.
    assert!((100.0..340.0).contains(&chi), "{chi}");
}

#[test]
fn items_that_come_twice_are_told() {
    let seed = seed();
    for n in [2_usize, 3, 5, 100, 30_000] {
        let bins = Bins::new(Shape::for_items(n as u64).unwrap(), Block::new(seed, 1));
        for (first, second) in [(0, n - 1), (n / 2, n - 1), (0, 1)] {
            if first == second {
                continue;
            }
            let mut digests = blocks(seed, n);
            digests[second] = digests[first];
            let error = bins.place(&digests).err();
            assert_eq!(error, Some(BinsError::Repeated { first, second }), "{n}");
        }
        // Where one item alone is there, no placing exists.
        let error = bins.place(&vec![Block::ONES; n]).err();
        assert!(matches!(error, Some(BinsError::Repeated { .. })), "{n}");
    }
}

/// All pairs are found, whichever of them was driven out or waits for a place, where bins are nearly full.
#[test]
fn items_that_come_twice_are_found_on_their_way() {
    let seed = seed();
    for round in 0..200 {
        let n = 500;
        let shape = Shape::with_bins(n, n * 120 / 100).unwrap();
        let mut digests = blocks(seed ^ round, n as usize);
        let (first, second) = ((seed ^ round) % 400, 400 + round % 100);
        digests[second as usize] = digests[first as usize];
        let error = Bins::new(shape, Block::new(seed, round))
            .place(&digests)
            .err();
        let (first, second) = (first as usize, second as usize);
        assert_eq!(
            error,
            Some(BinsError::Repeated { first, second }),
            "{round}"
        );
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let most = Shape::MOST_ITEMS;
    assert!(Shape::for_items(most).unwrap().bins() as u64 <= Shape::MOST_BINS);
    let error = Shape::for_items(most + 1).unwrap_err();
    assert!(error.to_string().contains("of the receiver"), "{error}");
    for bins in [0, 2, Shape::MOST_BINS + 1] {
        assert!(matches!(
            Shape::with_bins(1, bins),
            Err(BinsError::Bins { .. })
        ));
    }
    let bins = Bins::new(Shape::for_items(5).unwrap(), Block::ZERO);
    assert_eq!(
        bins.place(&blocks(1, 4)).err(),
        Some(BinsError::Length {
            what: "digests",
            expected: 5,
            got: 4
        })
    );
    let placed = bins.place(&blocks(1, 5)).unwrap();
    assert!(placed.by_bin(&[1; 4]).is_err());
    let values = placed.by_bin(&[1, 2, 3, 4, 5]).unwrap();
    assert_eq!(values.iter().sum::<u64>(), 15);
    assert!((0..5).all(|item| values[placed.bins[item] as usize] == item as u64 + 1));
    assert!(!format!("{placed:?} {bins:?}").contains(','));
}

/// A receiver draws another seed where items fit into no bins, and tells what no other seed would change.
#[test]
fn receivers_draw_seeds_that_serve() {
    let seed = seed();
    let mut none = 0;
    for round in 0..200 {
        let digests = blocks(seed ^ round, 12);
        // One seed in some four serves.
        let shape = Shape::with_bins(12, 12).unwrap();
        match Bins::for_receiver(shape, &digests, &mut rng(seed ^ round)) {
            Ok((told, _, placed)) => {
                let again = Bins::new(shape, told).place(&digests).unwrap();
                assert!(again.bins == placed.bins && again.keys == placed.keys);
            }
            Err(error) => {
                assert_eq!(error, BinsError::Full);
                none += 1;
            }
        }
    }
    println!("{none} of 200 found no seed");
    assert!((5..195).contains(&none));
    let shape = Shape::for_items(2).unwrap();
    let twice = Bins::for_receiver(shape, &[Block::ONES; 2], &mut rng(seed)).err();
    let (first, second) = (0, 1);
    assert_eq!(twice, Some(BinsError::Repeated { first, second }));
}

/// Pins bins and keys: a change here is a change of what both parties must do alike.
#[test]
fn known_answers() {
    let bins = Bins::new(Shape::for_items(1000).unwrap(), Block::new(1, 2));
    let spread = bins.spread(&blocks(3, 1000));
    let fold = |sum: u64, word: u64| sum.rotate_left(5) ^ word;
    let places = spread.bins.as_flattened().iter();
    let places = places.fold(0, |sum, &bin| fold(sum, u64::from(bin)));
    let keys = (0..CHOICES * 1000).map(|i| spread.keys[i % CHOICES][i / CHOICES]);
    let keys = keys.fold(0, |sum, key| fold(fold(sum, key.lo()), key.hi()));
    assert_eq!(
        (bins.shape().bins(), format!("{places:016x} {keys:016x}")),
        (1362, "cf00c52d6c46e67d 784dbf7f2b38113e".to_owned())
    );
}
