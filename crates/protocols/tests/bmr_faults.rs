//! Protocol Y when things go wrong, and what a party sees when they do not.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // what was tried; helpers

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::common::bmr::{Cheat, GATES, job, plain, random_circuit};
use madrigal_circuit::{Builder, Layered, Rows};
use madrigal_core::{Party, Phase};
use madrigal_net::transport::{Fault, mesh};
use madrigal_net::{Context, Error, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::bmr::Gates;
use madrigal_testkit::places::{self, Counts};
use madrigal_testkit::{Transcript, World, impatient, must_end_well, run_with_fault, seed};

fn how(seed: u64) -> (Opening, Gates) {
    let opening = match seed.is_multiple_of(2) {
        true => Opening::Direct,
        false => Opening::Relay,
    };
    (opening, GATES[(seed >> 1) as usize % 2])
}

async fn opened(
    context: Context,
    how: (Opening, Gates),
    seed: u64,
    layered: &Layered,
    inputs: &Rows,
    cheat: Option<Cheat>,
) -> Result<Rows> {
    let all: Vec<Party> = Party::all(context.parties()).collect();
    let (opened, _) = job(context, how, seed, layered, inputs, &all, cheat).await?;
    Ok(opened.unwrap())
}

fn try_fault(seed: u64) -> bool {
    let parties = 2 + (seed >> 16) as usize % 2;
    let fault = Fault {
        at: (seed >> 8) as u32 % 14,
        ..Fault::random(seed, parties)
    };
    // The wider ones travel in several messages.
    let lanes = if seed.is_multiple_of(5) { 300 } else { 5 };
    let layered = random_circuit(seed, 40);
    let inputs = plain(seed, layered.input_bits(), lanes);
    let right = layered.interpret(&inputs).unwrap();
    let trial = |patience| {
        let (world, limit) = impatient(parties, seed, patience);
        let (right, layered, inputs) = (right.clone(), layered.clone(), inputs.clone());
        let program = move |context| {
            let (layered, inputs) = (layered.clone(), inputs.clone());
            async move { opened(context, how(seed), seed, &layered, &inputs, None).await }
        };
        let is_right = move |_, output: &Rows| *output == right;
        run_with_fault(&world, fault, limit, program, is_right)
    };
    must_end_well(&format!("MADRIGAL_FAULT={seed}"), trial).fired
}

#[test]
fn jobs_under_random_faults_end_right_or_with_an_error() {
    if let Ok(text) = std::env::var("MADRIGAL_FAULT") {
        try_fault(text.parse().unwrap());
        return;
    }
    let wanted = std::env::var("MADRIGAL_FAULTS").ok();
    let trials = wanted.map_or(60, |text| text.parse().unwrap());
    let seed = seed();
    let (next, fired) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let trial = next.fetch_add(1, Relaxed);
                    if trial >= trials {
                        return;
                    }
                    let again = seed.wrapping_add(trial.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                    fired.fetch_add(u64::from(try_fault(again)), Relaxed);
                }
            });
        }
    });
    let fired = fired.into_inner();
    println!("{fired} of {trials} faults happened");
    assert!(trials < 20 || fired > trials / 10, "{fired} of {trials}");
}

fn one_and() -> Layered {
    let mut builder = Builder::new("and");
    let input = builder.input(3);
    let product = builder.and(input[0], input[1]);
    builder.output(&[product, input[2]]);
    Layered::compile(&builder.finish())
}

/// A party with a wrong product garbles wrong tables: wrong bits, and neither a panic nor another gate that
/// is wrong. The protocol is for semi-honest parties.
#[test]
fn a_party_that_cheats_is_not_noticed() {
    let seed = seed();
    let layered = one_and();
    for parties in [2, 3] {
        for how in [
            (Opening::Direct, Gates::TwoOts),
            (Opening::Relay, Gates::TwoOts),
            (Opening::Direct, Gates::ThreeOts),
        ] {
            let inputs = plain(seed, 3, 64);
            let cheat: Cheat = |dealt, _| dealt[0].received[9].0[0] ^= 1;
            let results = World::light(parties, seed).run(|context| {
                let cheat = (context.me() == Party::new(1)).then_some(cheat);
                opened(context, how, seed, &layered, &inputs, cheat)
            });
            let mut expected = layered.interpret(&inputs).unwrap();
            // Only party 0's column is wrong, in lane 9: the others read its colour there.
            let honest = expected.clone();
            expected.row_mut(0)[1] ^= 2;
            assert!(results[0].0 == honest, "{parties}, {how:?}");
            for (got, _) in &results[1..] {
                assert!(*got == expected, "{parties}, {how:?}");
            }
        }
    }
}

/// Keys of other colours than those that all know are refused, and their sender is named.
#[test]
fn keys_of_wrong_colours_name_their_sender() {
    let seed = seed();
    let layered = one_and();
    let inputs = plain(seed, 3, 5);
    let cheat: Cheat = |_, fresh| fresh.zero_mut(0)[3].0[0] ^= 1;
    let results = World::light(3, seed).run_over(mesh(3), |context| {
        let cheat = (context.me() == Party::new(2)).then_some(cheat);
        opened(context, how(0), seed, &layered, &inputs, cheat)
    });
    for (me, result) in results.iter().enumerate().take(2) {
        let error = result.as_ref().unwrap_err();
        let named = matches!(error, Error::Content { peer, .. } if *peer == Party::new(2));
        let told = matches!(error, Error::Aborted { .. });
        assert!(named || told, "party {me}: {error:?}");
    }
    let words = results.iter().filter_map(|result| result.as_ref().err());
    let words: Vec<String> = words.map(ToString::to_string).collect();
    assert!(
        words.iter().any(|word| word.contains("colours")),
        "{words:?}"
    );
}

/// A message of another length names its sender.
#[test]
fn a_message_of_another_length_names_its_sender() {
    let seed = seed();
    let layered = one_and();
    let inputs = plain(seed, 3, 5);
    let results = World::light(2, seed).run_over(mesh(2), |context| {
        let (layered, inputs) = (&layered, &inputs);
        async move {
            if context.me() == Party::new(1) {
                let mut channels = context.enter(Phase::Setup, "setup").channels()?;
                channels[0].send(vec![0; 5]).await?;
                channels[0].recv(3).await?;
                // Stays until it is refused: the job must not end here first.
                channels[0].recv(1).await?;
            }
            opened(context, how(0), seed, layered, inputs, None).await
        }
    });
    let error = results[0].as_ref().unwrap_err();
    let peer = Party::new(1);
    assert!(
        matches!(error, Error::Length { peer: from, got: 5, .. } if *from == peer),
        "{error:?}"
    );
}

fn count(inputs: &[u8], to: Party, runs: u64, seed: u64, how: (Opening, Gates)) -> Counts {
    let mut counts = Counts::new();
    let layered = one_and();
    for run in 0..runs {
        let seed = seed.wrapping_add(run);
        let (transcript, transports) = Transcript::of(to, mesh(3));
        let mut rows = Rows::new(3, 8);
        for (row, &bits) in inputs.iter().enumerate() {
            rows.row_mut(row)[0] = bits;
        }
        // To none of those that `to` is among: what it may know is no secret.
        let receivers = [Party::new((to.index() + 1) % 3)];
        let results = World::light(3, seed).run_over(transports, |context| {
            job(context, how, seed, &layered, &rows, &receivers, None)
        });
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        places::add(&mut counts, &transcript, None);
    }
    counts
}

/// Messages to a party that gets no output have the same distribution for all inputs: each bit, and sums with
/// its neighbours and with the message before.
#[test]
fn transcripts_do_not_depend_on_inputs() {
    let seed = seed();
    for (to, opening, gates) in [
        (2, Opening::Direct, Gates::TwoOts),
        (0, Opening::Relay, Gates::TwoOts),
        (2, Opening::Direct, Gates::ThreeOts),
        (0, Opening::Relay, Gates::ThreeOts),
    ] {
        let how = (opening, gates);
        let to = Party::new(to);
        let a = count(&[0, 0, 0], to, 60, seed, how);
        let b = count(&[0xff, 0xff, 0xa7], to, 60, seed ^ 0x5555 << 40, how);
        let places = |counts: &Counts| -> Vec<_> {
            let length = |(place, bits): (&(Party, u64, u32), &Vec<_>)| (*place, bits.len());
            counts.iter().map(length).collect()
        };
        assert_eq!(places(&a), places(&b), "messages of other lengths");
        let (largest, bits) = places::compare(&a, &b);
        println!("{bits} bits, at most {largest:.2} standard deviations");
        assert!(bits > 5_000, "{bits} bits");
        // Among some 10^5 bits none is that far out but once in 10^3 runs.
        assert!(largest < 6.5, "{largest} standard deviations");
    }
}
