//! Noise that nobody knows: within its bounds at the declared cost, distributed as its coins say, of its own in each element; where it cannot be.

#![allow(clippy::unwrap_used)] // tests

use madrigal_circuit::{Builder, Goal, Rows};
use madrigal_noise::Noise;
use madrigal_program::ir::{EachForm, Op};
use madrigal_program::lower::Mix;
use madrigal_program::{
    Computation, Everyone, ExecuteError, Fault, Fixed, Inputs, Party, Plain, Program, Shape, Type,
};

use crate::random::Random;
use crate::running::runs;

const ALICE: Party = Party::new(0);

/// Mixes with as many parties that draw noise in them.
const MIXES: [(&str, usize); 8] = [
    ("R", 3),
    ("A+B", 2),
    ("A+B", 3),
    ("A+B", 5),
    ("B", 2),
    ("B", 3),
    ("A+B+Y", 2),
    ("B+Y2", 2),
];

fn noise(epsilon: f64, delta: f64, each: u64) -> Noise {
    Noise::new(epsilon, delta, each).unwrap()
}

/// Counts with noise, less the counts: within the noise's bounds, in the clear and on shares, at the cost that is declared to the byte.
#[test]
fn noise_is_within_its_bounds_at_the_declared_cost() {
    for (mix, parties) in MIXES {
        for (goal, shape) in [
            (Goal::Size, vec![]),
            (Goal::Size, vec![7]),
            (Goal::Depth, vec![2, 33]),
            (Goal::Depth, vec![0]),
        ] {
            let noise = noise(1.0, 1e-6, 3);
            let most = noise.coins().unwrap().most() as i32;
            let mut p = Program::new(parties);
            let counts = p.input::<i32>(ALICE, &shape[..]);
            let told = &counts + p.noise::<i32>(noise, &shape[..]);
            let off = told - counts;
            let within = off.lt(most + 1) & off.gt(-most - 1);
            let _ = p.open(within, Everyone);
            let program = p.finish().unwrap();
            let elements: usize = shape.iter().product();
            let counts: Vec<i32> = (0..elements as i32).collect();
            let inputs = Inputs::new().with((Shape::checked(&shape).unwrap(), counts));
            runs(&program, &inputs, mix.parse().unwrap(), goal, "noise");
        }
    }
}

/// The numbers that a program opens to all: the same at all parties.
fn opened(program: &Computation, mix: Mix) -> Vec<Vec<i64>> {
    let planned = program.plan(mix, Some(Goal::Size), &|_| {}).unwrap();
    let ended = planned.run_locally(program, &Inputs::new()).unwrap();
    let numbers = |party: usize| -> Vec<Vec<i64>> {
        let arrays = ended[party].outputs.arrays();
        arrays
            .map(|array| array.unwrap().to_vec().unwrap())
            .collect()
    };
    let first = numbers(0);
    for party in 1..ended.len() {
        assert_eq!(numbers(party), first);
    }
    first
}

/// Draws on shares have the mean and the variance of discrete Laplace, and no two have anything in common.
#[test]
fn draws_on_shares_are_discrete_laplace() {
    const DRAWS: usize = 4000;
    let (noise, epsilon) = (noise(0.5, 1e-6, 1), 0.5_f64);
    for (mix, parties) in [(Mix::R, 3), (Mix::AB, 2), (Mix::AB, 3)] {
        let mut p = Program::new(parties);
        for _ in 0..2 {
            let drawn = p.noise::<i64>(noise, DRAWS);
            let _ = p.open(drawn, Everyone);
        }
        let lists = opened(&p.finish().unwrap(), mix);
        assert_ne!(lists[0], lists[1]);
        let variance = 2.0 * (-epsilon).exp() / (1.0 - (-epsilon).exp()).powi(2);
        for list in &lists {
            let count = list.len() as f64;
            let mean = list.iter().sum::<i64>() as f64 / count;
            let square = list.iter().map(|x| x * x).sum::<i64>() as f64 / count;
            let zeros = list.iter().filter(|x| **x == 0).count() as f64 / count;
            // Seven standard deviations, and for the variance, whose numbers are far out at times, some more.
            assert!(
                mean.abs() < 7.0 * (variance / count).sqrt(),
                "{mix}: mean {mean}"
            );
            assert!(
                (square / variance - 1.0).abs() < 0.35,
                "{mix}: {square}, not {variance}"
            );
            let expected = epsilon.exp_m1() / (epsilon.exp() + 1.0);
            assert!(
                (zeros - expected).abs() < 0.06,
                "{mix}: {zeros}, not {expected}"
            );
        }
        let alike = lists[0]
            .iter()
            .zip(&lists[1])
            .filter(|(a, b)| a == b)
            .count();
        // Two draws are alike with the sum of the squares of the chances.
        assert!(alike < DRAWS / 4, "{mix}: {alike} alike");
    }
}

/// The circuit does what is said in the clear, and has an AND for each random bit and few more.
#[test]
fn the_circuit_is_what_is_said_in_the_clear() {
    let mut random = Random::fresh();
    for (noise, element) in [
        (noise(1.0, 1e-9, 1), i64::TYPE),
        (noise(0.1, 1e-9, 1), i16::TYPE),
        (noise(5.0, 1e-3, 1), i8::TYPE),
        (noise(0.7, 1e-6, 100), i128::TYPE),
    ] {
        let coins = noise.coins().unwrap();
        let each = EachForm::Noise { noise, element }.each().unwrap();
        let words = coins.bits().div_ceil(64) as usize;
        for goal in [Goal::Size, Goal::Depth] {
            let mut builder = Builder::new("noise");
            let operands: Vec<_> = (0..words).map(|_| builder.input(64)).collect();
            let made = each.operation().build(&mut builder, &operands);
            builder.output(&made[0]);
            let netlist = builder.finish();
            let lanes = 100;
            let mut rows = Rows::new(64 * words, lanes);
            let mut codes = vec![vec![0_u128; lanes]; words];
            for (word, codes) in codes.iter_mut().enumerate() {
                for (lane, code) in codes.iter_mut().enumerate() {
                    *code = match lane {
                        0 => 0,
                        1 => u64::MAX.into(),
                        _ => u128::from(random.half()) & u128::from(u64::MAX),
                    };
                    for bit in 0..64 {
                        rows.set(64 * word + bit, lane, *code >> bit & 1 == 1);
                    }
                }
            }
            let made = netlist.evaluate(&rows).unwrap();
            let expected = each.operation().evaluate(&codes).remove(0);
            for (lane, expected) in expected.into_iter().enumerate() {
                let bits = 0..element.bits() as usize;
                let code = bits.fold(0, |code, bit| code | u128::from(made.get(bit, lane)) << bit);
                assert_eq!(code, expected, "{noise}, lane {lane}");
            }
            if goal == Goal::Size {
                let ands = netlist.stats().and + netlist.stats().or;
                let most = coins.bits() + coins.digits() + 1;
                assert!(
                    ands <= u64::from(most),
                    "{noise}: {ands} ANDs, and {most} are enough"
                );
            }
        }
    }
}

#[test]
fn mixes_and_types_that_cannot_say_so() {
    for (mix, parties) in [("Y", 2), ("A+Y2", 2), ("alpha+beta", 2), ("A+Y", 3)] {
        let mut p = Program::new(parties);
        let drawn = p.noise::<i32>(noise(1.0, 1e-6, 1), ());
        let _ = p.open(drawn, Everyone);
        let program = p.finish().unwrap();
        let fault = program.lower(mix.parse().unwrap(), Goal::Size).unwrap_err();
        assert!(
            matches!(fault.fault, Fault::NoJointBits { .. }),
            "{mix}: {fault}"
        );
        assert!(fault.to_string().contains("A+B, R"), "{fault}");
        let planned = program.plan(mix.parse().unwrap(), None, &|_| {});
        assert!(matches!(planned, Err(ExecuteError::Program(_))), "{mix}");
        assert!(program.plan(Mix::AUTO, Some(Goal::Size), &|_| {}).is_ok());
    }
    let refused = |element: Type| {
        let mut p = Program::new(2);
        let drawn = p.tensor_noise(noise(0.1, 1e-9, 1), element, &[]);
        let _ = p.open_tensor(None, &drawn, Everyone);
        p.finish().unwrap_err().to_string()
    };
    for element in [
        i8::TYPE,
        u32::TYPE,
        bool::TYPE,
        <Fixed<i64, 8> as Plain>::TYPE,
    ] {
        let text = refused(element);
        assert!(text.contains("does not hold it"), "{text}");
    }
    // A body would draw once for all rows, or for all turns.
    let mut p = Program::new(2);
    let x = p.input::<i32>(ALICE, [3]);
    let mapped = p.map(x, |p, row| row + p.noise::<i32>(noise(1.0, 1e-6, 1), ()));
    let _ = p.open(mapped, Everyone);
    assert!(matches!(
        p.finish().unwrap_err().fault,
        Fault::InLoop { .. }
    ));
    let mut p = Program::new(2);
    let words = p
        .record(Op::Random(i8::TYPE, Shape::scalar()), &[])
        .remove(0);
    let _ = p.open_tensor(None, &words, Everyone);
    assert!(p.finish().is_err());
}
