//! Quotients of secrets, and what rests on them, at all sizes of numbers.

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Fixed, FixedWord, Inputs, Party, Plain, Program, Secret};

use super::bounds::sample;
use super::rows::run;
use crate::lowering::agrees;
use crate::random::Random;

type Pairs<W, const F: u32> = Vec<(Fixed<W, F>, Fixed<W, F>)>;

/// All dividends with all divisors.
fn pairs<W: FixedWord, const F: u32>(dividends: &[i128], divisors: &[i128]) -> Pairs<W, F> {
    let number = |raw: i128| Fixed::decode(raw as u128);
    let of = |&x: &i128| divisors.iter().map(move |&y| (number(x), number(y)));
    dividends.iter().flat_map(of).collect()
}

/// The program of all quotients, and its inputs.
macro_rules! quotients {
    ($parties:expr, $pairs:expr, $number:ty) => {{
        let pairs = $pairs;
        let mut p = Program::new($parties);
        let [x, y] = [0, 1].map(|party| p.input::<$number>(Party::new(party), [pairs.len()]));
        let quotients = p.open(x.divided_by_secret(&y), Everyone);
        let program = p.finish().expect("a program that can be");
        let (x, y): (Vec<$number>, Vec<$number>) = pairs.iter().copied().unzip();
        (program, Inputs::new().with(x).with(y), quotients)
    }};
}

/// For q = |x / y| in steps of 2^-F, with the sign of x / y: more than q - 1, and not more than q and a 2^-(F + 1)th of
/// it; the greatest number where q is more than that.
fn within_bounds<W: FixedWord, const F: u32>(pairs: &Pairs<W, F>) {
    let (program, inputs, quotients) = quotients!(2, pairs, Fixed<W, F>);
    let outputs = program.simulate(&inputs).expect("inputs as declared");
    let unused = 128 - W::TYPE.bits();
    let raw = |number: Fixed<W, F>| (number.encode() << unused) as i128 >> unused;
    let most = i128::MAX >> (128 - W::TYPE.bits());
    for (&(x, y), found) in pairs.iter().zip(outputs.get(quotients)) {
        let (x, y, found) = (raw(x), raw(y), raw(found));
        // 0 counts as half a step.
        let (shift, divisor) = match y {
            0 => (F + 1, 1),
            _ => (F, y.unsigned_abs()),
        };
        let magnitude = found.unsigned_abs();
        let sign = x.signum() * if y < 0 { -1 } else { 1 };
        assert!(found == 0 || found.signum() == sign, "{x} / {y}: {found}");
        let dividend = x.unsigned_abs() << shift;
        let exact = dividend / divisor;
        if exact >= most as u128 {
            assert_eq!(magnitude, most as u128, "{x} / {y}");
            continue;
        }
        let share = exact >> (F.min(24) + 1);
        let fits = magnitude >= exact && magnitude <= (exact + share + 1).min(most as u128);
        assert!(fits, "{x} / {y}: {found} for {exact} and the rest");
    }
}

/// The quotients that are reported to have been 0, 3 % off, or 1 for 14.
#[test]
fn quotients_by_large_secrets_keep_their_precision() {
    let divided = [
        [1e6, 70_000.0],
        [100.0, 3.0],
        [5e4, 30_000.0],
        [1e7, 37_000.0],
    ];
    let (x, y) = (divided.map(|[x, _]| x), divided.map(|[_, y]| y));
    let both = [x, y].concat();
    let (_, found) = run::<i64, 16>(&[2, 4], &both, |both| {
        both.at(0, 0).divided_by_secret(both.at(0, 1))
    });
    for ([x, y], found) in divided.into_iter().zip(found) {
        let error = (found - x / y).abs() * 65_536.0;
        assert!(error <= 1.0 + x / y / 2.0, "{x} / {y} is {found}");
    }
}

#[test]
fn shares_of_a_large_sum_add_up() {
    let x = [10_000.0, 20_000.0, 30_000.0, 40_000.0, 1.0, 2.0, 3.0, 4.0];
    let (_, found) = run::<i64, 16>(&[2, 4], &x, |x| {
        let sums = x.sum(1).reshape([2, 1]);
        x.divided_by_secret(sums)
    });
    for (at, found) in found.into_iter().enumerate() {
        let expected = (at % 4 + 1) as f64 / 10.0;
        assert!((found - expected).abs() <= 1.0 / 65_536.0, "{found}");
    }
}

#[test]
fn every_divisor_of_sixteen_bits() {
    let all: Vec<i128> = (-1 << 15..1 << 15).collect();
    let some = [1, -1, 3, 255, 256, -257, 4000, 32_767, -32_768, 0];
    within_bounds::<i16, 8>(&pairs(&some, &all));
    within_bounds::<i16, 4>(&pairs(&some[6..9], &all));
    within_bounds::<i16, 11>(&pairs(&some[6..9], &all));
    within_bounds::<i16, 14>(&pairs(&some[6..9], &all));
    within_bounds::<i16, 8>(&pairs(&all, &some));
}

#[test]
fn quotients_are_within_their_bound_for_all_sizes_of_both() {
    let mut random = Random::fresh();
    let mut some = |most: u32| sample(&mut random, most, 60);
    let mut of = |bits: u32| [some(bits - 1), some(bits - 1)];
    let [x, y] = of(32);
    within_bounds::<i32, 1>(&pairs(&x, &y));
    within_bounds::<i32, 12>(&pairs(&x, &y));
    within_bounds::<i32, 24>(&pairs(&x, &y));
    within_bounds::<i32, 30>(&pairs(&x, &y));
    let [x, y] = of(64);
    within_bounds::<i64, 16>(&pairs(&x, &y));
    within_bounds::<i64, 32>(&pairs(&x, &y));
    within_bounds::<i64, 60>(&pairs(&x, &y));
    let y = some(126);
    within_bounds::<i128, 40>(&pairs(&some(80), &y));
}

/// In bits, in rings with bits, garbled: the oracle's quotients, for few ANDs and for few rounds.
#[test]
fn quotients_are_the_same_in_every_mix() {
    let numbers = [0, 1, -1, 77, -65_536, 1 << 30, -(1 << 31), (1 << 31) - 1];
    let narrow: Pairs<i32, 12> = pairs(&numbers, &numbers);
    let wide: Pairs<i64, 16> = pairs(&[-1, 5 << 40, i64::MIN.into()], &[3, -(1 << 50), 0]);
    for (mix, parties) in [
        (Mix::B, 2),
        (Mix::BETA, 2),
        (Mix::Y2, 2),
        (Mix::AB, 2),
        (Mix::AB, 3),
        (Mix::AY, 3),
        (Mix::AY2, 2),
        (Mix::ALPHA_BETA, 2),
        (Mix::ALPHA_Y2, 2),
        (Mix::R, 3),
    ] {
        for goal in [Goal::Size, Goal::Depth] {
            let (program, inputs, _) = quotients!(parties, &narrow, Fixed<i32, 12>);
            agrees(&program, &inputs, mix, goal, "quotients");
            let (program, inputs, _) = quotients!(parties, &wide, Fixed<i64, 16>);
            agrees(&program, &inputs, mix, goal, "quotients");
        }
    }
}

/// Products with a public inverse used to leave 64 bits for numbers from 2^28 on.
#[test]
fn numbers_of_all_sizes_are_divided_by_public_ones() {
    let x = [1e9, -1e9, 7e13, 1.4e14, -123_456_789.0];
    let (_, found) = run::<i64, 16>(&[5], &x, |x| x.divided_by(3.0));
    for (x, found) in x.iter().zip(found) {
        let error = (found - x / 3.0).abs();
        assert!(error <= (1.0 + (x / 3.0).abs() / 8.0) / 65_536.0, "{found}");
    }
    let (_, mean) = run::<i64, 16>(&[3], &[1e9, 2e9, 4e9], |x| x.mean(0));
    assert!((mean[0] - 7e9 / 3.0).abs() <= 7e9 / 3.0 / 8.0 / 65_536.0);
}

/// Numbers near 3,000, whose squares add up to 6e8: the inverse root of their variance has 16 bits after the
/// point, of which 4 said something.
#[test]
fn rows_of_large_numbers_are_normalised_exactly() {
    let mut random = Random::fresh();
    for length in [60, 64, 65] {
        let x: Vec<f64> = (0..length)
            .map(|_| ((random.half() % 6001) as f64) - 3000.0)
            .collect();
        let of = |norm: fn(Secret<Fixed<i64, 16>>) -> Secret<Fixed<i64, 16>>, mean: f64| {
            let (_, found) = run::<i64, 16>(&[length], &x, norm);
            let square = |x: &f64| (x - mean) * (x - mean);
            let variance = x.iter().map(square).sum::<f64>() / length as f64;
            for (x, found) in x.iter().zip(found) {
                let expected = (x - mean) / variance.sqrt();
                let error = (found - expected).abs() * 65_536.0;
                assert!(error <= 2.0, "{found} for {expected}: {error} steps");
            }
        };
        of(
            |x| x.layer_norm(0, 1e-5),
            x.iter().sum::<f64>() / length as f64,
        );
        of(|x| x.rms_norm(0, 1e-5), 0.0);
    }
}
