//! Ring triples, square pairs and shared bits by OT: right for every number of parties and width, at
//! the declared cost.

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_correlations::{Kind, SharedBits, Source, Width};
use madrigal_correlations_make::{Extension, OtCosts, OtSource};
use madrigal_net::Context;
use madrigal_ot::softspoken::CHUNK;
use madrigal_testkit::{World, seed};

/// The extensions that tests of all kinds run over.
fn extensions() -> impl Iterator<Item = Extension> {
    ["iknp", "softspoken3", "softspoken4", "silent"]
        .into_iter()
        .filter_map(|name| name.parse().ok())
}

/// Runs `program` as `parties` parties and compares what it spent with the base OTs and `declared`.
fn world<R: Send, F>(
    extension: Extension,
    parties: usize,
    declared: impl Fn(&mut OtCosts) -> PhaseCost,
    program: impl Fn(Context) -> F + Sync,
) -> Vec<R>
where
    F: Future<Output = madrigal_net::Result<R>>,
{
    let results = World::light(parties, seed()).run(program);
    for (me, (_, cost)) in Party::all(parties).zip(&results) {
        let mut costs = OtCosts::new(extension, me, parties);
        let expected = costs.base() + declared(&mut costs);
        assert_eq!(cost.setup, expected, "{me} of {parties}, {extension}");
    }
    results.into_iter().map(|(result, _)| result).collect()
}

fn sum<T: Ring>(shares: impl Iterator<Item = T>) -> T {
    shares.fold(T::ZERO, Ring::add)
}

fn triples<T: Ring>(parties: usize, count: usize) {
    for extension in extensions() {
        triples_over::<T>(extension, parties, count);
    }
}

fn triples_over<T: Ring>(extension: Extension, parties: usize, count: usize) {
    let shares = world(
        extension,
        parties,
        |costs| costs.call(Kind::RingTriples(Width::of::<T>()), count),
        |context| async move {
            let mut source = OtSource::new(&context, extension).await?;
            let mut triples = source.ring_triples::<T>(count, &|_| {}).await?;
            let mut rest = triples.split_front(count / 3);
            std::mem::swap(&mut rest, &mut triples);
            let mut all = [Vec::new(), Vec::new(), Vec::new()];
            for part in [&mut triples, &mut rest] {
                let part = part.take(part.len());
                for (all, part) in all.iter_mut().zip([part.a, part.b, part.c]) {
                    all.extend_from_slice(part);
                }
            }
            Ok(all)
        },
    );
    for i in 0..count {
        let [a, b, c] = [0, 1, 2].map(|k| sum(shares.iter().map(|party| party[k][i])));
        assert_eq!(
            c,
            a.mul(b),
            "triple {i} of {} bits, {parties} parties",
            T::BITS
        );
    }
    if count > 100 {
        assert_ne!(shares[0][0], shares[0][1]);
    }
}

#[test]
fn triples_of_every_width() {
    triples::<u8>(2, 5000);
    triples::<u16>(2, 3001);
    triples::<u32>(2, 1200);
    triples::<u64>(2, 700);
    triples::<u128>(2, 301);
    triples::<u64>(2, 1);
    triples::<u64>(2, 0);
}

#[test]
fn triples_of_several_parties() {
    triples::<u64>(3, 500);
    triples::<u8>(5, 130);
    triples::<u32>(5, 33);
}

fn squares<T: Ring>(parties: usize, count: usize) {
    for extension in extensions() {
        squares_over::<T>(extension, parties, count);
    }
}

fn squares_over<T: Ring>(extension: Extension, parties: usize, count: usize) {
    let shares = world(
        extension,
        parties,
        |costs| costs.call(Kind::SquarePairs(Width::of::<T>()), count),
        |context| async move {
            let mut source = OtSource::new(&context, extension).await?;
            let mut squares = source.square_pairs::<T>(count, &|_| {}).await?;
            let shares = squares.take(count);
            Ok([shares.a.to_vec(), shares.c.to_vec()])
        },
    );
    for i in 0..count {
        let [a, c] = [0, 1].map(|k| sum(shares.iter().map(|party| party[k][i])));
        assert_eq!(
            c,
            a.mul(a),
            "square {i} of {} bits, {parties} parties",
            T::BITS
        );
    }
}

#[test]
fn square_pairs() {
    squares::<u8>(2, 5001);
    squares::<u16>(3, 800);
    squares::<u32>(5, 100);
    squares::<u64>(2, 901);
    squares::<u64>(3, 1);
    squares::<u128>(3, 77);
}

fn shared_bits<T: Ring>(parties: usize, count: usize) {
    for extension in extensions() {
        let shares = world(
            extension,
            parties,
            |costs| costs.call(Kind::SharedBits(Width::of::<T>()), count),
            |context| async move {
                let mut source = OtSource::new(&context, extension).await?;
                Ok(both_ways(source.shared_bits::<T>(count, &|_| {}).await?))
            },
        );
        are_bits(&shares, count);
    }
}

/// A party's additive shares and its XOR shares.
type BothWays<T> = (Vec<T>, Vec<u8>);

fn both_ways<T: Ring>(mut bits: SharedBits<T>) -> BothWays<T> {
    let shares = bits.take(bits.len());
    (shares.b.to_vec(), shares.xor_shares().to_vec())
}

fn are_bits<T: Ring>(shares: &[BothWays<T>], count: usize) {
    let parties = shares.len();
    let mut ones = 0;
    for i in 0..count {
        let bit = sum(shares.iter().map(|party| party.0[i]));
        assert!(bit == T::ZERO || bit == T::ONE, "bit {i} is {bit:?}");
        let xor = shares
            .iter()
            .fold(0, |bit, party| bit ^ party.1[i / 8] >> (i % 8) & 1);
        assert_eq!(
            bit.bit(0),
            xor,
            "bit {i} of {} bits, {parties} parties",
            T::BITS
        );
        ones += count_of(xor);
    }
    let spread = 3.0 * (count as f64).sqrt();
    assert!(
        (ones as f64 - count as f64 / 2.0).abs() <= spread + 1.0,
        "{ones} ones of {count}"
    );
}

fn count_of(bit: u8) -> usize {
    usize::from(bit == 1)
}

#[test]
fn bits_shared_both_ways() {
    shared_bits::<u8>(2, 20_001);
    shared_bits::<u16>(3, 1000);
    shared_bits::<u32>(2, 3000);
    shared_bits::<u32>(5, 50);
    shared_bits::<u64>(2, 1000);
    shared_bits::<u64>(3, 257);
    shared_bits::<u128>(2, 100);
    shared_bits::<u128>(4, 41);
    for parties in 2..=5 {
        for count in [0, 1, 6] {
            shared_bits::<u64>(parties, count);
        }
    }
}

/// Several parts of every stage, the last one short.
#[test]
fn bits_shared_both_ways_in_several_parts() {
    shared_bits::<u8>(2, 100_003);
    shared_bits::<u16>(3, 100_001);
    shared_bits::<u32>(4, 140_000);
}

/// A shared bit takes N (N - 1) / 2 OTs, whatever the width, and a correction of l - 1 bits for each of
/// them; nothing else is sent.
#[test]
fn a_shared_bit_takes_one_ot_for_each_pair_of_parties() {
    for parties in 2..=5 {
        for extension in extensions() {
            takes_one_ot_for_each_pair::<u8>(extension, parties);
            takes_one_ot_for_each_pair::<u64>(extension, parties);
        }
    }
}

fn takes_one_ot_for_each_pair<T: Ring>(extension: Extension, parties: usize) {
    let Extension::SoftSpoken(k) = extension else {
        return;
    };
    // Of each chain whole runs of the extension.
    let (run, runs) = (CHUNK, 6);
    let count = parties * run * runs;
    let ots = parties * (parties - 1) / 2 * count;
    let (rows, corrections) = (ots / run * k.message_len(run), ots / 8 * (T::BITS - 1));
    // All parties send the same.
    let each = (rows + corrections) / parties;
    for me in Party::all(parties) {
        let mut costs = OtCosts::new(extension, me, parties);
        // The first call also begins.
        let _ = costs.call(Kind::SharedBits(Width::of::<T>()), 1);
        let cost = costs.call(Kind::SharedBits(Width::of::<T>()), count);
        let about = format!("{me} of {parties}, {extension}");
        assert_eq!(cost.bytes_sent, each as u64, "{about}");
        assert_eq!(cost.bytes_received, each as u64, "{about}");
        assert_eq!(cost.rounds, parties as u64, "{about}");
    }
    assert_eq!(
        k.message_len(run),
        128_usize.div_ceil(k.get().into()) * run / 8
    );
}

/// Whatever came before, the next call costs what is declared and does not repeat.
#[test]
fn calls_follow_one_another_on_the_same_extensions() {
    for extension in extensions() {
        calls_follow(extension, 2);
        calls_follow(extension, 3);
    }
}

fn calls_follow(extension: Extension, parties: usize) {
    let shares = world(
        extension,
        parties,
        |costs| {
            let mut one = || {
                costs.call(Kind::SquarePairs(Width::of::<u32>()), 1)
                    + costs.call(Kind::RingTriples(Width::of::<u32>()), 300)
            };
            one() + one()
        },
        |context| async move {
            let mut source = OtSource::new(&context, extension).await?;
            let mut calls = Vec::new();
            for _ in 0..2 {
                let mut squares = source.square_pairs::<u32>(1, &|_| {}).await?;
                let mut triples = source.ring_triples::<u32>(300, &|_| {}).await?;
                calls.push([squares.take(1).a.to_vec(), triples.take(300).c.to_vec()]);
            }
            Ok(calls)
        },
    );
    for party in shares {
        assert_ne!(party[0], party[1]);
    }
}

/// A party that heard nothing in the last round, since all OTs go to it, counts on from there nevertheless.
#[test]
fn a_call_ends_in_the_same_round_for_all() {
    for extension in extensions() {
        for (parties, count) in [(2, 1), (2, 2), (3, 1)] {
            for speaker in Party::all(parties) {
                speaks_after_squares(extension, parties, count, speaker);
            }
        }
    }
}

fn speaks_after_squares(extension: Extension, parties: usize, count: usize, speaker: Party) {
    let said = |costs: &mut OtCosts| {
        let squares = costs.call(Kind::SquarePairs(Width::of::<u32>()), count);
        PhaseCost {
            rounds: squares.rounds + 1,
            ..squares
        }
    };
    let results = World::light(parties, seed()).run(|context| async move {
        let mut source = OtSource::new(&context, extension).await?;
        source.square_pairs::<u32>(count, &|_| {}).await?;
        let after = context.step("after");
        if after.me() == speaker {
            for channel in &mut after.channels()? {
                channel.send(vec![1]).await?;
            }
        } else {
            after.channel(speaker)?.recv(1).await?;
        }
        Ok(())
    });
    for (me, (_, cost)) in Party::all(parties).zip(&results) {
        let mut costs = OtCosts::new(extension, me, parties);
        let expected = costs.base() + said(&mut costs);
        let about = format!("{me} of {parties}, {count} squares, {extension}, {speaker} speaks");
        assert_eq!(cost.setup.rounds, expected.rounds, "{about}");
    }
}
