//! Words that the receiver finds say who is in both sets, and how much is added to payloads, to both parties together alone.

use std::collections::HashMap;

use madrigal_kernels::{Aes128, Block};
use madrigal_okvs::OkvsError;
use madrigal_psi_bins::{Bins, BinsError, CHOICES, Found, Hints, Shape, Targets};

use crate::{blocks, rng, seed};

/// Pads of a function that both parties evaluate.
fn pads(seed: u64, keys: &[Block]) -> Vec<Block> {
    let mut pads = keys.to_vec();
    Aes128::new(Block::new(seed, 9)).encrypt_blocks(&mut pads);
    pads
}

/// Two sets with `common` items in common; theirs have payloads.
fn check(seed: u64, ours: usize, theirs: usize, common: usize) {
    let what = format!("{ours} and {theirs} items, {common} in common, seed {seed}");
    let all = blocks(seed, ours + theirs - common);
    let (ours, theirs) = (&all[..ours], &all[ours - common..]);
    let payloads: Vec<u64> = theirs.iter().map(|digest| digest.hi() ^ seed).collect();
    let set: HashMap<u128, u64> = theirs
        .iter()
        .map(|&digest| digest.into())
        .zip(payloads.iter().copied())
        .collect();
    let bins = Bins::new(
        Shape::for_items(ours.len() as u64).unwrap(),
        Block::new(seed, 4),
    );
    let mut rng = rng(seed);
    let (placed, spread) = (bins.place(ours).unwrap(), bins.spread(theirs));
    let targets = Targets::draw(bins.shape(), &mut rng);
    let sent = theirs.len() as u64;
    let asked = pads(seed, &placed.keys);
    let mut found = Found::nothing(&placed, false, &mut rng);
    let mut also = Found::nothing(&placed, true, &mut rng);
    for choice in 0..CHOICES {
        let made = pads(seed, &spread.keys[choice]);
        let hints = targets.hints(&spread, choice, &made, &mut rng).unwrap();
        assert_eq!(hints.store.len(), Hints::<u64>::columns(sent).unwrap());
        let done = found.find(&placed, choice, sent, &hints, &asked);
        done.unwrap();
        let with = targets.hints_with(&spread, choice, &payloads, &made, &mut rng);
        let done = also.find_with(&placed, choice, sent, &with.unwrap(), &asked);
        done.unwrap();
    }
    let mut item_of = vec![None; bins.shape().bins()];
    for (&digest, &bin) in ours.iter().zip(placed.bins.iter()) {
        item_of[bin as usize] = Some(u128::from(digest));
    }
    let mut both = 0;
    for (bin, item) in item_of.into_iter().enumerate() {
        let payload = item.and_then(|item| set.get(&item));
        both += usize::from(payload.is_some());
        let is_in = payload.is_some();
        assert_eq!(found.tags[bin] == targets.tags[bin], is_in, "{what}");
        assert_eq!(also.tags[bin] == targets.tags[bin], is_in, "{what}");
        if let Some(&payload) = payload {
            let unmasked = also.masked[bin].wrapping_sub(targets.masks[bin]);
            assert_eq!(unmasked, payload, "{what}");
        }
    }
    assert_eq!(both, common, "{what}");
}

#[test]
fn tags_agree_where_items_are_in_both_sets() {
    let seed = seed();
    for (ours, theirs, common) in [
        (0, 0, 0),
        (0, 5, 0),
        (5, 0, 0),
        (1, 1, 0),
        (1, 1, 1),
        (2, 3, 1),
        (100, 100, 100),
        (100, 70, 30),
        (3, 5000, 3),
        (5000, 3, 2),
        (20_000, 20_000, 12_345),
    ] {
        check(seed, ours, theirs, common);
    }
}

#[test]
fn random_sets() {
    let seed = seed();
    for round in 0..60 {
        let words = blocks(seed ^ round << 32, 2);
        let [ours, theirs] = [0, 1].map(|i| (words[i].lo() % 700) as usize);
        let common = (words[0].hi() % (ours.min(theirs) as u64 + 1)) as usize;
        check(seed ^ round, ours, theirs, common);
    }
}

/// Words of a list that are ones, beside half of all bits.
fn looks_random(words: &[u64], what: &str) {
    let ones: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
    let all = 64.0 * words.len() as f64;
    let sigmas = (ones as f64 - all / 2.0) / (all.sqrt() / 2.0);
    assert!(sigmas.abs() < 6.0, "{what}: {sigmas} standard deviations");
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    let same = sorted.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(same, 0, "{what}");
}

/// Nothing that the receiver sees shows which items match, however many do: stores and what is found in all bins look random, payloads that
/// are all alike included.
#[test]
fn what_the_receiver_sees_looks_random() {
    let seed = seed();
    let n = 20_000;
    for common in [0, n / 2, n] {
        let all = blocks(seed, 2 * n - common);
        let bins = Bins::new(Shape::for_items(n as u64).unwrap(), Block::new(seed, 4));
        let mut rng = rng(seed);
        let (placed, spread) = (
            bins.place(&all[..n]).unwrap(),
            bins.spread(&all[n - common..]),
        );
        let targets = Targets::draw(bins.shape(), &mut rng);
        let asked = pads(seed, &placed.keys);
        let mut found = Found::nothing(&placed, true, &mut rng);
        for choice in 0..CHOICES {
            let made = pads(seed, &spread.keys[choice]);
            let hints = targets
                .hints_with(&spread, choice, &vec![7; n], &made, &mut rng)
                .unwrap();
            let halves: Vec<u64> = hints.store.iter().flat_map(|block| block.0).collect();
            looks_random(&halves, "a store");
            let done = found.find_with(&placed, choice, n as u64, &hints, &asked);
            done.unwrap();
        }
        looks_random(&found.tags, "tags");
        let masked: Vec<u64> = placed
            .bins
            .iter()
            .map(|&bin| found.masked[bin as usize])
            .collect();
        looks_random(&masked, "masked payloads");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let n = 50;
    let bins = Bins::new(Shape::for_items(n as u64).unwrap(), Block::ZERO);
    let mut rng = rng(1);
    let mut digests = blocks(1, n);
    let (placed, spread) = (bins.place(&digests).unwrap(), bins.spread(&digests));
    let targets = Targets::draw(bins.shape(), &mut rng);
    let length = |what, expected, got| {
        Some(BinsError::Length {
            what,
            expected,
            got,
        })
    };
    let made = pads(1, &spread.keys[0]);
    let few = targets.hints(&spread, 0, &made[1..], &mut rng).err();
    assert_eq!(few, length("pads", n, n - 1));
    let few = targets.hints_with(&spread, 0, &[1], &made, &mut rng).err();
    assert_eq!(few, length("payloads", n, 1));
    let hints = targets.hints(&spread, 0, &made, &mut rng).unwrap();
    let columns = hints.store.len();
    let asked = pads(1, &placed.keys);
    let mut found = Found::nothing(&placed, false, &mut rng);
    let few = found.find(&placed, 0, n as u64, &hints, &asked[1..]).err();
    assert_eq!(few, length("pads", n, n - 1));
    let other = Hints::<u64>::columns(2 * n as u64).unwrap();
    let few = found.find(&placed, 0, 2 * n as u64, &hints, &asked).err();
    assert_eq!(few, length("columns of hints", other, columns));
    let with = targets.hints_with(&spread, 0, &vec![1; n], &made, &mut rng);
    let without = found.find_with(&placed, 0, n as u64, &with.unwrap(), &asked);
    let all = bins.shape().bins();
    assert_eq!(without.err(), length("payloads", all, 0));
    let many = found.find(&placed, 0, 1 << 40, &hints, &asked).err();
    assert!(matches!(
        many,
        Some(BinsError::TooManyItems {
            whose: "sender",
            ..
        })
    ));
    assert_eq!(format!("{hints:?}"), "Hints { .. }");

    // An item of the sender's that comes twice, told by its places in the sender's list.
    digests[40] = digests[7];
    let spread = bins.spread(&digests);
    let twice = targets
        .hints(&spread, 2, &pads(1, &spread.keys[2]), &mut rng)
        .err();
    let (first, second) = (7, 40);
    assert_eq!(twice, Some(BinsError::Repeated { first, second }));
    assert_eq!(
        BinsError::from(OkvsError::Dependent),
        BinsError::Store(OkvsError::Dependent)
    );
}
