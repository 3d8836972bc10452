//! Masks that follow a secret choice, by themselves: shares of what they should be, whichever way they are made.
#![allow(clippy::unwrap_used)] // tests

use madrigal_core::{Phase, bits};
use madrigal_correlations::{Extension, Needs, OtSource, Stock};
use madrigal_net::Context;
use madrigal_protocols::Opening;
use madrigal_protocols::branches::{Bits, Branches, Wanted};
use madrigal_testkit::{World, seed};

/// One party's share of a conditional: the code's bits, and its slots before they are rearranged.
type Chosen = (Vec<Bits>, Vec<[Bits; 3]>);
/// Of all conditionals.
type Part = Vec<Chosen>;

async fn part(context: Context, wanted: &[Wanted], lanes: usize) -> madrigal_net::Result<Part> {
    let setup = context.enter(Phase::Setup, "setup");
    let mut needs = Needs::new();
    for wanted in wanted {
        wanted.needs(context.parties(), lanes, &mut needs);
    }
    let mut source = OtSource::new(&setup.step("source"), Extension::default()).await?;
    let mut stock = Stock::fill(&mut source, &needs, &|_| {}).await?;
    let mut branches = Branches::new(setup.step("branches"), Opening::Direct)?;
    let selectors = branches.prepare(wanted, lanes, &mut stock).await?;
    let part = |selector: madrigal_protocols::branches::Selector| {
        let code = selector.code().to_vec();
        let zeros = Bits::new(vec![0; bits::bytes_for(lanes)]);
        // The difference is 0: the random code is the code.
        let slots = selector.activate(&vec![&zeros[..]; code.len()]);
        let slots = slots
            .into_iter()
            .map(|slot| [slot.hot, slot.kept, slot.dropped]);
        (code, slots.collect())
    };
    Ok(selectors.into_iter().map(part).collect())
}

fn sum<'a>(shares: impl Iterator<Item = &'a Bits>) -> Vec<u8> {
    let add = |mut sum: Vec<u8>, share: &Bits| {
        sum.resize(share.len(), 0);
        sum.iter_mut()
            .zip(share.iter())
            .for_each(|(sum, share)| *sum ^= share);
        sum
    };
    shares.fold(Vec::new(), add)
}

fn bit(string: &[u8], at: usize) -> bool {
    string[at / 8] >> (at % 8) & 1 == 1
}

fn check(parties: usize, wanted: &[Wanted], lanes: usize, seed: u64) {
    let parts: Vec<(Part, _)> =
        World::new(parties, seed).run(|context| part(context, wanted, lanes));
    for (index, wanted) in wanted.iter().enumerate() {
        let of =
            |pick: &dyn Fn(&Chosen) -> &Bits| sum(parts.iter().map(|(part, _)| pick(&part[index])));
        let code: Vec<Vec<u8>> = (0..wanted.bits)
            .map(|bit| of(&|part| &part.0[bit]))
            .collect();
        let (mut ones, mut all) = ([0; 2], [0; 2]);
        for slot in 0..wanted.codes() {
            let [hot, kept, dropped] = [0, 1, 2].map(|kind| of(&|part| &part.1[slot][kind]));
            for lane in 0..lanes {
                let is_hot = (0..wanted.bits).all(|b| bit(&code[b], lane) == (slot >> b & 1 == 1));
                assert_eq!(bit(&hot, lane), is_hot, "{parties} parties, {wanted:?}");
                let rows = [wanted.kept, wanted.dropped];
                for (kind, (masks, rows)) in [&kept, &dropped].into_iter().zip(rows).enumerate() {
                    let set = (0..rows)
                        .filter(|row| bit(masks, row * lanes + lane))
                        .count();
                    if is_hot == (kind == 0) {
                        ones[kind] += set;
                        all[kind] += rows;
                    } else {
                        assert_eq!(set, 0, "{parties} parties, {wanted:?}, kind {kind}");
                    }
                }
            }
        }
        for (ones, all) in ones.into_iter().zip(all) {
            // A fair coin is not ten standard deviations off.
            let deviation = (2.0 * ones as f64 - all as f64).abs();
            assert!(
                deviation <= 10.0 * (all as f64).sqrt(),
                "{parties} parties, {wanted:?}: {ones} of {all} masks are 1"
            );
        }
    }
}

#[test]
fn masks_are_random_where_they_should_be_and_else_zero() {
    let seed = seed();
    let few = |bits| Wanted {
        bits,
        kept: 7,
        dropped: 90,
    };
    let many = |bits| Wanted {
        bits,
        kept: 5000,
        dropped: 4500,
    };
    let one_kind = Wanted {
        bits: 2,
        kept: 0,
        dropped: 6000,
    };
    let none = Wanted {
        bits: 3,
        kept: 0,
        dropped: 0,
    };
    let all = [
        few(1),
        many(1),
        few(2),
        few(3),
        many(2),
        one_kind,
        none,
        few(4),
        few(5),
    ];
    for parties in [2, 3, 4, 5] {
        for lanes in [1, 3, 16] {
            check(parties, &all, lanes, seed);
        }
    }
}
