//! Functions of one number against the stated bounds: of every number of 16 bits, and of wider ones at random,
//! at the ends of their ranges and around powers of two.

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Fixed, FixedWord, Inputs, Party, Plain, Program, Secret};

use super::real;
use crate::lowering::agrees;
use crate::random::Random;

/// A function with its bound in steps: of the number, and of the exact result.
pub(super) struct Case<W: FixedWord, const F: u32> {
    pub(super) name: &'static str,
    pub(super) program: fn(&Secret<Fixed<W, F>>) -> Secret<Fixed<W, F>>,
    real: fn(f64) -> f64,
    bound: fn(f64, f64) -> f64,
}

/// The number that 0 and what is below counts as.
fn least<const F: u32>(x: f64) -> f64 {
    match x > 0.0 {
        true => x,
        false => 0.5 / 2f64.powi(F as i32),
    }
}

pub(super) fn cases<W: FixedWord, const F: u32>() -> Vec<Case<W, F>> {
    let one = |_: f64, _: f64| 1.0;
    let share = |_: f64, y: f64| (y.abs() / 2.0).max(1.0);
    macro_rules! cases {
        ($($name:literal $program:expr, $real:expr, $bound:expr;)*) => {
            vec![$(Case { name: $name, program: $program, real: $real, bound: $bound }),*]
        };
    }
    cases! {
        "relu" |x| x.relu(), |x| x.max(0.0), |_, _| 0.0;
        "sign" |x| x.sign(), |x| if x == 0.0 { 0.0 } else { x.signum() }, |_, _| 0.0;
        "clip" |x| x.clip(-1.25, 2.5), |x| x.clamp(-1.25, 2.5), |_, _| 0.0;
        "leaky relu" |x| x.leaky_relu(0.1), |x| if x < 0.0 { 0.1 * x } else { x },
            |_, y| 1.0 + y.abs() / 8.0;
        "divided by 3" |x| x.divided_by(3.0), |x| x / 3.0, |_, y| 1.0 + y.abs() / 8.0;
        "divided by -0.7" |x| x.clip(-5.0, 5.0).divided_by(-0.7), |x| x.clamp(-5.0, 5.0) / -0.7,
            |_, y| 1.0 + y.abs() / 8.0;
        "divided by 16" |x| x.divided_by(16.0), |x| x / 16.0, |_, _| 1.0;
        "sigmoid" |x| x.sigmoid(), real::sigmoid, one;
        "tanh" |x| x.tanh(), f64::tanh, one;
        "erf" |x| x.erf(), real::erf, one;
        "gelu" |x| x.gelu(), real::gelu, one;
        "gelu by tanh" |x| x.gelu_tanh(), real::gelu_tanh, one;
        "silu" |x| x.silu(), |x| x * real::sigmoid(x), one;
        "softplus" |x| x.clip(-7.5, 7.5).softplus(), |x| real::softplus(x.clamp(-7.5, 7.5)), one;
        "exp" |x| x.exp(), f64::exp, share;
        "ln" |x| x.ln(), |x| least::<F>(x).ln(), one;
        "reciprocal" |x| x.reciprocal(), |x| 1.0 / if x == 0.0 { least::<F>(x) } else { x }, share;
        "square root" |x| x.sqrt(), |x| x.max(0.0).sqrt(), share;
        "inverse square root" |x| x.inverse_sqrt(), |x| 1.0 / least::<F>(x).sqrt(), share;
    }
}

/// Runs all functions on numbers; shows the largest error of each, and gives the program.
fn within_bounds<W: FixedWord, const F: u32>(raw: &[i128], also: &[(Mix, usize)]) {
    let numbers: Vec<Fixed<W, F>> = raw.iter().map(|&raw| Fixed::decode(raw as u128)).collect();
    let steps = 2f64.powi(F as i32);
    // Bounds are stated in steps of 2^-24 at least.
    let precise = 2f64.powi(F.min(24) as i32);
    let most = (2f64.powi(W::TYPE.bits() as i32 - 1) - 1.0) / steps;
    let mut wrong = Vec::new();
    for case in cases::<W, F>() {
        let program = |parties| {
            let mut p = Program::new(parties);
            let x = p.input::<Fixed<W, F>>(Party::new(0), [numbers.len()]);
            let y = p.open((case.program)(&x), Everyone);
            (p.finish().expect("a program that can be"), y)
        };
        let inputs = Inputs::new().with(numbers.clone());
        let (computation, y) = program(2);
        let outputs = computation.simulate(&inputs).expect("inputs as declared");
        let (mut worst, mut worst_at) = (0.0_f64, String::new());
        for (x, y) in numbers.iter().zip(outputs.get(y)) {
            let x = x.to_f64();
            let exact = (case.real)(x);
            let (found, expected) = (y.to_f64(), exact.clamp(-most, most));
            let error = (found - expected).abs() * precise;
            // Numbers of more than 53 bits are not exact in the comparison itself.
            let bound = (case.bound)(x, exact) + exact.abs() * precise * 2f64.powi(-50);
            let ratio = if error == 0.0 { 0.0 } else { error / bound };
            if ratio > worst {
                (worst, worst_at) = (ratio, format!("{x}: {y}, not {exact}"));
            }
        }
        if worst > 1.0 {
            wrong.push(format!("{} of {worst_at}", case.name));
        }
        for &(mix, parties) in also {
            for goal in [Goal::Size, Goal::Depth] {
                agrees(&program(parties).0, &inputs, mix, goal, case.name);
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}: {}",
        Fixed::<W, F>::TYPE,
        wrong.join("\n")
    );
}

/// The circuits against the oracle, too.
#[test]
fn every_number_of_sixteen_bits() {
    let all: Vec<i128> = (-1 << 15..1 << 15).collect();
    within_bounds::<i16, 8>(&all, &[(Mix::AB, 2), (Mix::R, 3)]);
    within_bounds::<i16, 4>(&all, &[]);
    within_bounds::<i16, 11>(&all, &[(Mix::AB, 2)]);
}

/// Small numbers, any, and those around powers of two, of either sign, below 2^most.
pub(super) fn sample(random: &mut Random, most: u32, count: usize) -> Vec<i128> {
    let mut sample = vec![0, 1, -1, 2, -2, 3, -3];
    for power in 2..most {
        for more in [-1, 0, 1] {
            let number = (1_i128 << power) + more;
            sample.extend([number, -number]);
        }
    }
    sample.extend([(1_i128 << most) - 1, -(1_i128 << most) + 1]);
    for _ in 0..count {
        let width = random.half() % u64::from(most);
        let number = (random.word() >> 1) as i128 >> (126 - width);
        sample.push(if random.half() & 1 == 0 {
            number
        } else {
            -number
        });
    }
    sample
}

#[test]
fn wider_numbers_at_random() {
    let mut random = Random::fresh();
    let mut some = |most: u32| sample(&mut random, most, 4000);
    within_bounds::<i32, 8>(&some(31), &[]);
    within_bounds::<i32, 12>(&some(31), &[]);
    within_bounds::<i32, 16>(&some(31), &[]);
    within_bounds::<i32, 24>(&some(31), &[]);
    within_bounds::<i64, 16>(&some(63), &[]);
    within_bounds::<i64, 20>(&some(63), &[]);
    within_bounds::<i64, 32>(&some(63), &[]);
    within_bounds::<i128, 40>(&some(90), &[]);
}

#[test]
fn circuits_of_wide_numbers_do_what_the_oracle_does() {
    let mut random = Random::fresh();
    let mut some = |most: u32| sample(&mut random, most, 100);
    within_bounds::<i32, 16>(&some(31), &[(Mix::B, 2), (Mix::AB, 3)]);
    within_bounds::<i64, 16>(&some(63), &[(Mix::AB, 2), (Mix::R, 3)]);
    within_bounds::<i64, 32>(&some(63), &[(Mix::AB, 2)]);
    within_bounds::<i128, 40>(&some(90), &[(Mix::AB, 2)]);
}
