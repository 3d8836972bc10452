//! From sets to answers, with a function that both parties evaluate in the place of the oblivious one.

use std::collections::HashMap;

use madrigal_kernels::{Aes128, Block, Prg};
use madrigal_ot::SeededRng;
use madrigal_program::{Everyone, Inputs};
use madrigal_psi_bins::{Bins, CHOICES, Found, Shape, Targets};
use madrigal_psi_programs::{Ask, Parts, Question};
use madrigal_testkit::seed;

use crate::{RECEIVER, SENDER};

fn check(seed: u64, ours: usize, theirs: usize, common: usize) {
    let what = format!("{ours} and {theirs} items, {common} in common, seed {seed}");
    let mut all = vec![Block::ZERO; ours + theirs - common];
    Prg::new(Block::new(seed, 7)).fill_blocks(&mut all);
    let (ours, theirs) = (&all[..ours], &all[ours - common..]);
    let payload = |digest: &Block| (digest.hi() as i64) >> 30;
    let own = |digest: &Block| (digest.lo() as i64) >> 30;
    let words = |of: &dyn Fn(&Block) -> i64, digests: &[Block]| -> Vec<u64> {
        digests.iter().map(|digest| of(digest) as u64).collect()
    };
    let set: HashMap<u128, i64> = theirs
        .iter()
        .map(|digest| (u128::from(*digest), payload(digest)))
        .collect();

    let shape = Shape::for_items(ours.len() as u64).unwrap();
    let bins = Bins::new(shape, Block::new(seed, 8));
    let function = Aes128::new(Block::new(seed, 9));
    let pads_of = |keys: &[Block]| {
        let mut pads = keys.to_vec();
        function.encrypt_blocks(&mut pads);
        pads
    };
    let mut rng = SeededRng::from_seed(Block::new(seed, 10));
    let spread = bins.spread(theirs);
    let targets = Targets::draw(&shape, &mut rng);
    let payloads = words(&payload, theirs);
    let placed = bins.place(ours).unwrap();
    let pads = pads_of(&placed.keys);
    let items = theirs.len() as u64;
    let mut found = Found::nothing(&placed, true, &mut rng);
    for choice in 0..CHOICES {
        let made = pads_of(&spread.keys[choice]);
        let hints = targets.hints_with(&spread, choice, &payloads, &made, &mut rng);
        let done = found.find_with(&placed, choice, items, &hints.unwrap(), &pads);
        done.unwrap();
    }

    let question = Question::new([Ask::OwnSum, Ask::Sum, Ask::Count]);
    let parts = Parts::new(shape.bins(), RECEIVER, SENDER);
    let asked = question.program(parts, Everyone).unwrap();
    let inputs = Inputs::new()
        .with(found.tags.to_vec())
        .with(targets.tags.to_vec())
        .with(found.masked.to_vec())
        .with(targets.masks.to_vec())
        .with(placed.by_bin(&words(&own, ours)).unwrap().to_vec());
    let both: Vec<&Block> = ours
        .iter()
        .filter(|&&item| set.contains_key(&item.into()))
        .collect();
    assert_eq!(both.len(), common);
    let sum: i64 = both.iter().map(|&&item| set[&u128::from(item)]).sum();
    let own_sum: i64 = both.iter().map(|item| own(item)).sum();
    for outputs in asked.program.run_locally(&inputs).unwrap() {
        assert_eq!(outputs.get(asked.count.unwrap()), [common as u64], "{what}");
        assert_eq!(outputs.get(asked.sum.unwrap()), [sum], "{what}");
        assert_eq!(outputs.get(asked.own_sum.unwrap()), [own_sum], "{what}");
    }
}

#[test]
fn sets_are_matched() {
    let seed = seed();
    for (ours, theirs, common) in [
        (0, 0, 0),
        (0, 4, 0),
        (3, 0, 0),
        (1, 1, 1),
        (200, 300, 100),
        (2000, 50, 49),
    ] {
        check(seed, ours, theirs, common);
    }
}
