//! Masks that follow a secret choice, by themselves: shares of what they should be, whichever way they are made.
#![allow(clippy::unwrap_used)] // tests

use madrigal_core::{Phase, Ring, bits};
use madrigal_correlations::{Needs, Stock};
use madrigal_correlations_make::{Extension, OtSource};
use madrigal_net::Context;
use madrigal_protocols::Opening;
use madrigal_protocols::branches::rings::{RingBranches, RingWanted};
use madrigal_protocols::branches::{Bits, Branches, Wanted};
use madrigal_testkit::{World, seed};

/// One party's share of a conditional: the code's bits, and its slots before they are rearranged.
type Chosen = (Vec<Bits>, Vec<[Bits; 3]>);
/// Values of all conditionals.
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
        World::light(parties, seed).run(|context| part(context, wanted, lanes));
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

/// One party's share of a choice over a ring: the code's bits, and t and masks of each code.
type RingPart<T> = (Vec<Bits>, Vec<[Vec<T>; 2]>);

async fn ring_part<T: Ring>(
    context: Context,
    wanted: RingWanted,
    lanes: usize,
) -> madrigal_net::Result<RingPart<T>> {
    let setup = context.enter(Phase::Setup, "setup");
    let mut needs = Needs::new();
    wanted.needs::<T>(context.parties(), lanes, &mut needs);
    let mut source = OtSource::new(&setup.step("source"), Extension::default()).await?;
    let mut stock = Stock::fill(&mut source, &needs, &|_| {}).await?;
    let mut branches = RingBranches::new(&setup.step("branches"), Opening::Direct)?;
    let selector = branches.prepare::<T>(wanted, lanes, &mut stock).await?;
    let code = selector.code().to_vec();
    let whole = selector.kept();
    let zeros = Bits::new(vec![0; bits::bytes_for(lanes)]);
    let slots = selector.activate(&vec![&zeros[..]; code.len()]);
    let mut sum = vec![T::ZERO; whole.len()];
    for slot in &slots {
        let both = sum.iter_mut().zip(slot.kept.iter());
        both.for_each(|(sum, mask)| *sum = sum.add(*mask));
    }
    assert_eq!(sum, whole.to_vec(), "the sum of all codes' masks");
    let slots = slots
        .into_iter()
        .map(|slot| [slot.hot.to_vec(), slot.kept.to_vec()]);
    Ok((code, slots.collect()))
}

fn check_rings<T: Ring>(parties: usize, wanted: RingWanted, lanes: usize, seed: u64) {
    let parts: Vec<(RingPart<T>, _)> =
        World::light(parties, seed).run(|context| ring_part::<T>(context, wanted, lanes));
    let code: Vec<Vec<u8>> = (0..wanted.bits)
        .map(|bit| sum(parts.iter().map(|(part, _)| &part.0[bit])))
        .collect();
    let (mut ones, mut all) = (0, 0);
    for slot in 0..wanted.codes() {
        let added = |kind: usize, at: usize| {
            let shares = parts.iter().map(|(part, _)| part.1[slot][kind][at]);
            shares.fold(T::ZERO, T::add)
        };
        for lane in 0..lanes {
            let is_hot = (0..wanted.bits).all(|b| bit(&code[b], lane) == (slot >> b & 1 == 1));
            let expected = T::from_u128(is_hot.into());
            assert_eq!(added(0, lane), expected, "{parties} parties, {wanted:?}");
            for mask in 0..wanted.masks {
                let mask = added(1, mask * lanes + lane);
                if is_hot {
                    ones += mask.to_u128().count_ones();
                    all += T::BITS as u32;
                } else {
                    assert_eq!(mask, T::ZERO, "{parties} parties, {wanted:?}");
                }
            }
        }
    }
    let deviation = (2.0 * f64::from(ones) - f64::from(all)).abs();
    assert!(
        deviation <= 10.0 * f64::from(all).sqrt(),
        "{parties} parties, {wanted:?}: {ones} of {all} bits of masks are 1"
    );
}

#[test]
fn masks_over_rings_are_random_where_they_should_be_and_else_zero() {
    let seed = seed();
    for parties in [2, 3, 4, 5] {
        for (bits, masks, lanes) in [(1, 1, 1), (1, 40, 9), (2, 7, 3), (3, 100, 16), (4, 5, 1)] {
            let wanted = RingWanted { bits, masks };
            check_rings::<u32>(parties, wanted, lanes, seed);
            check_rings::<u8>(parties, wanted, lanes, seed);
        }
        let wanted = RingWanted { bits: 5, masks: 3 };
        check_rings::<u128>(parties, wanted, 2, seed);
    }
}
