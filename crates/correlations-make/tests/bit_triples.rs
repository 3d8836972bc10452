//! Triples by OT: right for every number of parties, at the declared cost, different every time.

use madrigal_core::Party;
use madrigal_correlations::{Kind, Scratch, Source};
use madrigal_correlations_make::{Extension, OtCosts, OtSource};
use madrigal_testkit::{World, seed};

/// All parties' a, b, c of `counts` triples, call after call.
fn make(extension: Extension, parties: usize, counts: &'static [usize]) -> Vec<Vec<[Vec<u8>; 3]>> {
    let results = World::new(parties, seed()).run(|context| async move {
        let mut source = OtSource::new(&context, extension).await?;
        let mut calls = Vec::new();
        for &count in counts {
            let mut triples = source.bit_triples(count, &|_| {}).await?;
            let mut scratch = Scratch::default();
            let bits = triples.take(count, &mut scratch)?;
            calls.push([bits.a, bits.b, bits.c].map(<[u8]>::to_vec));
        }
        Ok(calls)
    });
    for (me, (_, cost)) in Party::all(parties).zip(&results) {
        let mut costs = OtCosts::new(extension, me, parties);
        let mut declared = costs.base();
        for &count in counts {
            declared += costs.call(Kind::BitTriples, count);
        }
        assert_eq!(cost.setup, declared, "{me} of {parties}, {extension}");
    }
    results.into_iter().map(|(calls, _)| calls).collect()
}

fn check(parties: usize, counts: &'static [usize]) {
    for extension in Extension::all() {
        check_over(extension, parties, counts);
    }
}

fn check_over(extension: Extension, parties: usize, counts: &'static [usize]) {
    let shares = make(extension, parties, counts);
    for (call, &count) in counts.iter().enumerate() {
        let sum = |string: usize, byte: usize| {
            shares
                .iter()
                .fold(0, |sum, party| sum ^ party[call][string][byte])
        };
        let mut ones = 0;
        for i in 0..count {
            let [a, b, c] = [0, 1, 2].map(|string| sum(string, i / 8) >> (i % 8) & 1);
            assert_eq!(
                c,
                a & b,
                "triple {i} of call {call}, {parties} parties, {extension}"
            );
            ones += u32::from(a) + u32::from(b);
        }
        if count >= 1000 {
            // Half of 2 * count, within 6 standard deviations of sqrt(2 * count) / 2.
            let spread = 3.0 * (2.0 * count as f64).sqrt();
            assert!(
                (f64::from(ones) - count as f64).abs() < spread,
                "{ones} ones in {} bits",
                2 * count
            );
        }
    }
}

#[test]
fn right_for_two_parties() {
    check(2, &[1, 0, 7, 128, 1000, 100_003]);
}

#[test]
fn right_for_three_parties() {
    check(3, &[1000, 5, 40_000]);
}

#[test]
fn right_for_four_and_five_parties() {
    check(4, &[777]);
    check(5, &[1000, 17_000]);
}

#[test]
fn no_call_repeats_another() {
    for extension in [Extension::default(), Extension::Silent] {
        let shares = make(extension, 2, &[1000, 1000]);
        assert_ne!(shares[0][0], shares[0][1]);
        assert_ne!(shares[1][0], shares[1][1]);
    }
}

/// More than an iteration of silent OTs: the next one's base is made on the way.
#[test]
fn silent_iterations_follow_one_another() {
    check_over(Extension::Silent, 2, &[4_000_000, 300_000, 5]);
}

/// Messages for 100 and for 104 triples are of one length: the end of the job shows the difference.
#[test]
fn other_numbers_are_noticed() {
    let world = World::new(2, seed());
    let results = world.run_over(madrigal_net::transport::mesh(2), |context| async move {
        let mut source = OtSource::new(&context, Extension::default()).await?;
        let count = 100 + 4 * context.me().index();
        source.bit_triples(count, &|_| {}).await.map(drop)
    });
    for result in results {
        let error = result.map(drop).err().map(|error| error.to_string());
        let text = error.unwrap_or_default();
        assert!(
            text.contains("bit triples") && text.contains("104 in 1 call"),
            "{text}"
        );
    }
}
