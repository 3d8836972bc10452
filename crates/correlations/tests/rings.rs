//! Ring triples, square pairs and shared bits by OT: right for every number of parties and width, at
//! the declared cost.

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_correlations::{Extension, OtCosts, OtSource, SharedBits, Source, Widened};
use madrigal_net::Context;
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
    let results = World::new(parties, seed()).run(program);
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
        |costs| costs.ring_triples::<T>(count),
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
        |costs| costs.square_pairs::<T>(count),
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
            |costs| costs.shared_bits::<T>(count),
            |context| async move {
                let mut source = OtSource::new(&context, extension).await?;
                Ok(both_ways(source.shared_bits::<T>(count, &|_| {}).await?))
            },
        );
        are_bits(&shares, count);
    }
}

fn published_shared_bits<T: Widened>(parties: usize, count: usize) {
    for extension in extensions() {
        let shares = world(
            extension,
            parties,
            |costs| costs.published_shared_bits::<T>(count),
            |context| async move {
                let mut source = OtSource::new(&context, extension).await?;
                let bits = source.published_shared_bits::<T>(count, &|_| {}).await?;
                Ok(both_ways(bits))
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
    shared_bits::<u64>(2, 1);
    shared_bits::<u64>(2, 0);
}

#[test]
fn bits_shared_both_ways_as_published() {
    published_shared_bits::<u8>(2, 20_001);
    published_shared_bits::<u16>(3, 1000);
    published_shared_bits::<u32>(2, 3000);
    published_shared_bits::<u32>(3, 1000);
    published_shared_bits::<u32>(5, 50);
    published_shared_bits::<u64>(2, 1000);
    published_shared_bits::<u64>(3, 257);
    published_shared_bits::<u32>(2, 1);
    published_shared_bits::<u32>(2, 0);
}

/// A published shared bit takes the N (N - 1) (l + 2) / 2 correlated OTs of MOTION 5.4, and ours three
/// fewer for each pair of parties. Besides the OTs there are their corrections, which together fill half
/// their width, and what is opened.
#[test]
fn a_shared_bit_takes_as_many_ots_as_published_or_three_fewer_for_each_pair() {
    for (parties, extension) in [2, 3, 5]
        .into_iter()
        .flat_map(|n| extensions().map(move |e| (n, e)))
    {
        let Extension::SoftSpoken(k) = extension else {
            continue;
        };
        let ordered = parties * (parties - 1);
        for (published, width) in [(false, 31), (true, 34)] {
            // Whole runs of the extension, half of them each way.
            let (run, runs) = (8192 / width, 1000);
            let count = run * runs;
            let sent = |me| {
                let mut costs = OtCosts::new(extension, me, parties);
                let mut call = || match published {
                    false => costs.shared_bits::<u32>(count).bytes_sent,
                    true => costs.published_shared_bits::<u32>(count).bytes_sent,
                };
                // The first one also begins.
                call();
                call()
            };
            let sent: u64 = Party::all(parties).map(sent).sum();

            let ots = ordered * width / 2 * count;
            let rows = ordered / 2 * runs * k.message_len(run * width);
            let corrections = ots * (width + 1) / 2 / 8;
            let opening = ordered * width * count / 8;
            let about = format!("{width} bits, {parties} parties, {extension}");
            assert_eq!(sent, (rows + corrections + opening) as u64, "{about}");
            // The rows are 128 / k bits for each OT, but for what fills up the last vector of a run.
            let bits = 128_usize.div_ceil(k.get().into()) * ots;
            assert!((bits..bits + bits / 200).contains(&(8 * rows)), "{about}");
        }
    }
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
            let mut one = || costs.square_pairs::<u32>(1) + costs.ring_triples::<u32>(300);
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
