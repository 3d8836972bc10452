//! Programs that are seen to be private, and others.

#![allow(clippy::unwrap_used)] // tests

use madrigal_noise::{Delta, Epsilon, Noise};
use madrigal_program::{Client, Computation, Everyone, Party, Program, Secret};

const DELTA: f64 = 1e-9;
const ROWS: usize = 9;

fn noise(each: u64) -> Noise {
    Noise::new(0.5, DELTA, each).unwrap()
}

/// A program on a column of ages and one of answers, of which each person has a row, that opens what `of` makes of them.
fn program(
    of: impl FnOnce(&mut Program, Secret<u32>, Secret<bool>) -> Vec<Secret<i32>>,
) -> Computation {
    let (member, analyst) = (Client::new("member"), Client::new("analyst"));
    let mut p = Program::new(3);
    let ages = p.input_named::<u32>("age", &member, [ROWS]);
    let ill = p.input_named::<bool>("ill", &member, [ROWS]);
    for (number, output) in of(&mut p, ages, ill).into_iter().enumerate() {
        let _ = p.open_named(&format!("out {number}"), output, &analyst);
    }
    p.finish().unwrap()
}

fn why(program: &Computation) -> String {
    program.privacy().unwrap_err().to_string()
}

#[test]
fn sums_with_enough_noise_are_private() {
    // A count, and what follows from it.
    let counted = program(|p, _, ill| {
        let count = ill.cast::<i32>().sum(0) + p.noise::<i32>(noise(1), ());
        vec![count.clone() * count + 3]
    });
    let privacy = counted.privacy().unwrap();
    assert_eq!(privacy.epsilon, Epsilon::new(0.5).unwrap());
    assert_eq!(privacy.delta, Delta::new(DELTA).unwrap());
    // A sum of bounded numbers.
    let bounded = |least: u32, most: u32, each: u64| {
        program(move |p, ages, _| {
            let sum = ages.min(most).max(least).sum(0).cast::<i32>();
            vec![sum + p.noise::<i32>(noise(each), ())]
        })
    };
    assert!(bounded(0, 100, 100).privacy().is_ok());
    assert!(bounded(20, 120, 100).privacy().is_ok());
    let text = why(&bounded(0, 101, 100));
    assert!(
        text.contains("changes a sum by up to 101, and its noise hides 100"),
        "{text}"
    );
    // Several counts of one person, each with noise for all of them together.
    let several = |each: u64| {
        program(move |p, ages, _| {
            let below: Vec<Secret<i32>> = [20, 40, 60]
                .map(|edge| ages.lt(edge).cast::<i32>().sum(0))
                .into();
            let counts = p.stack(&below, 0);
            vec![counts + p.noise::<i32>(noise(each), 3)]
        })
    };
    let privacy = several(3).privacy().unwrap();
    assert_eq!(privacy.epsilon, Epsilon::new(0.5).unwrap());
    assert_eq!(privacy.delta, Delta::new(3.0 * DELTA).unwrap());
    assert!(why(&several(2)).contains("by up to 3, and its noise hides 2"));
    // Each noise counts once, whoever gets what it is a part of, and noise of which nothing is opened does not count.
    let two = program(|p, ages, ill| {
        let first = ill.cast::<i32>().sum(0) + p.noise::<i32>(noise(1), ());
        let second = ages.min(7_u32).cast::<i32>().sum(0) + p.noise::<i32>(noise(7), ());
        let _ = ages.sum(0).cast::<i32>() + p.noise::<i32>(noise(1), ());
        vec![p.stack(&[first.clone(), second.clone()], 0), first + second]
    });
    let privacy = two.privacy().unwrap();
    assert_eq!(privacy.epsilon, Epsilon::new(1.0).unwrap());
    assert_eq!(privacy.delta, Delta::new(2.0 * DELTA).unwrap());
    // Several columns for each row, by numbers that all know.
    let wide = program(|p, ages, ill| {
        let edges = p.constant([10_u32, 30, 50, 70]);
        let near = ages.reshape([ROWS, 1]).lt(&edges).cast::<i32>();
        let both = near * ill.reshape([ROWS, 1]).cast::<i32>();
        vec![both.sum(0) + p.noise::<i32>(noise(4), 4)]
    });
    assert!(wide.privacy().is_ok(), "{}", why(&wide));
}

#[test]
fn whatever_tells_more_is_exposed() {
    let cases: [(&str, Computation); 11] = [
        (
            "it tells of input 0 (\"age\")",
            program(|_, ages, _| vec![ages.sum(0).cast()]),
        ),
        (
            "it tells of input 1 (\"ill\")",
            program(|p, _, ill| {
                let count = ill.cast::<i32>().sum(0);
                let told = count.clone() + p.noise::<i32>(noise(1), ());
                vec![told * count]
            }),
        ),
        (
            "noise by itself",
            program(|p, _, _| vec![p.noise::<i32>(noise(1), ())]),
        ),
        (
            "used more than once",
            program(|p, ages, ill| {
                let drawn = p.noise::<i32>(noise(1), ());
                let old = ages.gt(60_u32).cast::<i32>().sum(0) + &drawn;
                vec![p.stack(&[ill.cast::<i32>().sum(0) + drawn, old], 0)]
            }),
        ),
        (
            "changes a sum by up to 4294967295",
            program(|p, ages, _| vec![ages.sum(0).cast::<i32>() + p.noise::<i32>(noise(1), ())]),
        ),
        (
            // The difference of neighbours: a row changes two of them.
            "not made row by row",
            program(|p, _, ill| {
                let x = ill.cast::<i32>();
                let apart = x.slice(0, 1..ROWS) - x.slice(0, 0..ROWS - 1);
                vec![apart.sum(0) + p.noise::<i32>(noise(2), ())]
            }),
        ),
        (
            "not made row by row",
            program(|p, _, ill| {
                let x = ill.cast::<i32>();
                let all = x.sum(0).reshape([1]).broadcast_to([ROWS]);
                vec![(x * all).min(1).max(0).sum(0) + p.noise::<i32>(noise(1), ())]
            }),
        ),
        (
            "noise is added to the result of",
            program(|p, ages, _| {
                vec![ages.greatest(0).cast::<i32>() + p.noise::<i32>(noise(1), ())]
            }),
        ),
        (
            // A number with more bits does not forget that the sum went around.
            "noise is added to the result of",
            program(|p, _, ill| {
                let count = ill.cast::<i8>().sum(0).cast::<i32>();
                vec![count + p.noise::<i32>(noise(1), ())]
            }),
        ),
        (
            // The column, of which each row would have noise of its own.
            "noise is added to the result of",
            program(|p, _, ill| vec![ill.cast::<i32>() + p.noise::<i32>(noise(1), ROWS)]),
        ),
        (
            "noise is added to the result of",
            program(|p, _, ill| {
                let twice = ill.cast::<i32>().sum(0) * 2;
                vec![twice + p.noise::<i32>(noise(1), ())]
            }),
        ),
    ];
    for (expected, program) in cases {
        let text = why(&program);
        assert!(
            text.contains(expected),
            "{expected}: {text}\n{}",
            program.describe().join("\n")
        );
        assert!(text.starts_with("output "), "{text}");
    }
    // A requirement tells, whatever is opened.
    let mut p = Program::new(2);
    let x = p.input::<bool>(Party::new(0), [4]);
    p.require_named("some", &x.count(0).gt(0_u32));
    let count = x.cast::<i32>().sum(0) + p.noise::<i32>(noise(1), ());
    let _ = p.open(count, Everyone);
    assert!(why(&p.finish().unwrap()).contains("requires"));
}
