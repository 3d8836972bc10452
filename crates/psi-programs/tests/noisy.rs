//! Counts with noise of both parties: their distribution, their ends, their cost, and what is seen of them.

use std::convert::Infallible;

use madrigal_engine::evaluate_program;
use madrigal_kernels::{Block, Prg};
use madrigal_net::{Context, Error};
use madrigal_noise::Noise;
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party};
use madrigal_psi_programs::{Asked, Parts, Question};
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::{must_agree, must_see_a_leak, ones_of};

use crate::{RECEIVER, SENDER};

const BINS: usize = 5;

fn asked(middle: u64, to: &[Party]) -> Asked {
    let parts = Parts::new(BINS, RECEIVER, SENDER);
    Question::noisy_count(middle).program(parts, to).unwrap()
}

/// Inputs of bins of which the first `common` match, and of what both parties draw.
fn inputs(common: usize, drawn: [u64; 2]) -> Inputs {
    let found: Vec<u64> = (0..BINS as u64).map(|bin| bin << 8).collect();
    let mut targets = found.clone();
    targets[common..].iter_mut().for_each(|tag| *tag ^= 1);
    let inputs = Inputs::new().with(found).with(targets);
    inputs.with(drawn[0]).with(drawn[1])
}

/// Draws of a noise from a seed.
fn draws(noise: Noise, seed: u64) -> impl FnMut() -> u64 {
    let mut prg = Prg::new(Block::new(seed, 11));
    move || {
        let Ok(drawn) = noise.draw(|| {
            let mut word = [0];
            prg.fill_words(&mut word);
            Ok::<_, Infallible>(word[0])
        });
        drawn
    }
}

/// Chances of one party's noise less its middle, from -half to half, by the definition.
fn chances(epsilon: f64, half: u64) -> Vec<f64> {
    let weight = |place: u64| (-epsilon * place.abs_diff(half) as f64).exp();
    let all: f64 = (0..=2 * half).map(weight).sum();
    (0..=2 * half).map(|place| weight(place) / all).collect()
}

/// Chances of sums.
fn sums(first: &[f64], second: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; first.len() + second.len() - 1];
    for (i, a) in first.iter().enumerate() {
        for (j, b) in second.iter().enumerate() {
            sums[i + j] += a * b;
        }
    }
    sums
}

/// How far the squares of what was counted are from what they are on average, in standard deviations: those of places that come often.
fn spread(counts: &[u64], chances: &[f64]) -> f64 {
    let all = counts.iter().sum::<u64>() as f64;
    let squares: Vec<f64> = counts
        .iter()
        .zip(chances)
        .filter(|(_, chance)| *chance * all > 20.0)
        .map(|(&count, chance)| (count as f64 - chance * all).powi(2) / (chance * all))
        .collect();
    let degrees = squares.len() as f64 - 1.0;
    (squares.iter().sum::<f64>() - degrees) / (2.0 * degrees).sqrt()
}

/// The number that is told, less the true count, has the distribution of two draws, and less the receiver's own number that of one.
#[test]
fn noise_of_the_number_is_that_of_both_parties() {
    let (seed, epsilon) = (seed(), 0.7);
    let noise = Noise::new(epsilon, 1e-3, 1).unwrap();
    let half = noise.half() as i64;
    let mut draw = draws(noise, seed);
    let asked = asked(noise.half(), &[RECEIVER, SENDER]);
    let mut both = vec![0; 4 * half as usize + 1];
    let mut others = vec![0; 2 * half as usize + 1];
    for run in 0..6000 {
        let (common, drawn) = (run % (BINS + 1), [draw(), draw()]);
        let outputs = asked.program.simulate(&inputs(common, drawn)).unwrap();
        let told = outputs.get(asked.noisy_count.unwrap())[0];
        let off = told - common as i64;
        both[(off + 2 * half) as usize] += 1;
        let own = drawn[0] as i64 - half;
        others[(off - own + half) as usize] += 1;
    }
    let one = chances(epsilon, noise.half());
    let two = sums(&one, &one);
    let (both_off, others_off) = (spread(&both, &two), spread(&others, &one));
    assert!(both_off < 7.0, "{both_off}, MADRIGAL_SEED={seed}");
    assert!(others_off < 7.0, "{others_off}, MADRIGAL_SEED={seed}");
    // Such a test finds noise that is one off, of another epsilon, or of one party alone.
    let mut moved = two.clone();
    moved.rotate_right(1);
    assert!(spread(&both, &moved) > 7.0);
    let other = chances(0.8, noise.half());
    assert!(spread(&both, &sums(&other, &other)) > 7.0);
    let mut alone = vec![0.0; two.len()];
    alone[half as usize..3 * half as usize + 1].copy_from_slice(&one);
    assert!(spread(&both, &alone) > 7.0);
}

/// Ends of what is drawn and counted, for each who may learn it; what it costs is what was said.
#[test]
fn counts_with_noise_are_told_with_their_sign() {
    let most = 1 << 30;
    for (to, cases) in [
        (&[RECEIVER, SENDER][..], &[(0, [0, 0]), (BINS, [2, 0])][..]),
        (&[RECEIVER][..], &[(0, [most, most]), (BINS, [0, most])][..]),
        (&[SENDER][..], &[(3, [most / 2, most / 2]), (1, [0, 0])][..]),
    ] {
        for middle in [1, most / 2] {
            let asked = asked(middle, to);
            let told = asked.noisy_count.unwrap();
            assert!(asked.count.is_none() && asked.sum.is_none() && asked.own_sum.is_none());
            let planned = asked.program.plan(Mix::AB, None, &|_| {}).unwrap();
            for &(common, drawn) in cases {
                let expected = common as i64 + (drawn[0] + drawn[1]) as i64 - 2 * middle as i64;
                let inputs = inputs(common, drawn);
                assert_eq!(
                    asked.program.simulate(&inputs).unwrap().get(told),
                    [expected]
                );
                let ended = planned.run_locally(&asked.program, &inputs).unwrap();
                for (party, ended) in Party::all(2).zip(ended) {
                    if to.contains(&party) {
                        assert_eq!(ended.outputs.get(told), [expected], "{common} {drawn:?}");
                    }
                    let cost = planned.plan.cost(party);
                    assert_eq!(ended.outcome.setup.spent, cost.setup, "{party}");
                    assert_eq!(ended.outcome.online.spent, cost.online, "{party}");
                }
            }
        }
    }
}

/// Noise takes no round, and a few bytes.
#[test]
fn noise_costs_hardly_anything() {
    let parts = Parts::new(1000, RECEIVER, SENDER);
    let cost = |question: Question| {
        let asked = question.program(parts, Everyone).unwrap();
        let planned = asked.program.plan(Mix::AB, None, &|_| {}).unwrap();
        let cost = planned.plan.cost(RECEIVER);
        (
            cost.online.rounds,
            cost.online.bytes_sent + cost.setup.bytes_sent,
        )
    };
    let (rounds, bytes) = cost(Question::new([madrigal_psi_programs::Ask::Count]));
    let (with_noise, more) = cost(Question::noisy_count(20));
    assert_eq!(rounds, with_noise);
    assert!(more <= bytes + 64, "{bytes} and {more}");
}

/// Bits of what the receiver gets, where the sender has some of the receiver's items or others, and its number makes up for it: with the true
/// count and number changed, and the sum the same, nothing is seen.
fn view(seed: u64, common: usize, drawn: u64) -> Vec<u32> {
    let asked = asked(2, &[RECEIVER]);
    let planned = asked.program.plan(Mix::AB, None, &|_| {}).unwrap();
    ones_of(2, RECEIVER, seed, async |context: Context, _| {
        let given = planned.given(&asked.program, &inputs(common, [3, drawn]), context.me());
        let given = given.unwrap();
        let ended = evaluate_program(&context, &planned.plan, given, &|_| {}).await;
        ended.map(|_| Vec::new()).map_err(|error| Error::Ended {
            reason: error.to_string(),
        })
    })
}

#[test]
fn the_receiver_sees_the_number_alone() {
    must_see_a_leak();
    let seed = seed();
    let first = view(seed, 1, 4);
    let second = view(seed ^ 0x5555_0000_0000_0000, 4, 1);
    must_agree(&first, &second, &format!("MADRIGAL_SEED={seed}"));
}
