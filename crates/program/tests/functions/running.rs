//! Every function run by all parties, in every mix: exactly what the oracle gives, at exactly the declared cost.

use madrigal_circuit::Goal;
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Fixed, FixedWord, Inputs, Party, Plain, Program};

use super::bounds::cases;
use crate::random::Random;
use crate::running::runs;

fn all_functions<W: FixedWord, const F: u32>(mix: Mix, parties: usize, goal: Goal, lanes: usize) {
    let mut random = Random::fresh();
    let numbers: Vec<Fixed<W, F>> = (0..lanes)
        .map(|_| {
            let width = u64::from(W::TYPE.bits() - 1);
            Fixed::decode((random.word() as i128 >> (128 - 1 - random.half() % width)) as u128)
        })
        .collect();
    let rows: Vec<Fixed<W, F>> = (0..lanes)
        .map(|_| Fixed::from_f64(random.half() as f64 / u64::MAX as f64 * 8.0 - 4.0))
        .map(|number| number.expect("in range"))
        .collect();
    let mut p = Program::new(parties);
    let x = p.input::<Fixed<W, F>>(Party::new(0), [lanes]);
    let row = p.input::<Fixed<W, F>>(Party::new(1), [2, lanes / 2]);
    for case in cases::<W, F>() {
        p.open((case.program)(&x), Everyone);
    }
    p.open(row.softmax(1), Everyone);
    p.open(row.log_softmax(0), Everyone);
    p.open(row.layer_norm(1, 0.01), Everyone);
    p.open(row.mean(1), Everyone);
    p.open(row.max_pool([2, 2], [1, 1]), Everyone);
    p.open(row.average_pool([1, 2], [1, 2]), Everyone);
    p.open(row.divided_by_secret(row.gelu() + 2.0), Everyone);
    let program = p.finish().expect("a program that can be");
    let inputs = Inputs::new().with(numbers).with(([2, lanes / 2], rows));
    runs(&program, &inputs, mix, goal, "all functions");
}

/// Mixes with numbers of parties.
const MIXES: [(Mix, usize); 9] = [
    (Mix::AB, 2),
    (Mix::AB, 3),
    (Mix::R, 3),
    (Mix::AY2, 2),
    (Mix::ALPHA_BETA, 2),
    (Mix::ALPHA_Y2, 2),
    (Mix::B, 2),
    (Mix::BETA, 2),
    (Mix::Y2, 2),
];

#[test]
fn functions_of_sixteen_bits_run_in_every_mix() {
    for (at, (mix, parties)) in MIXES.into_iter().enumerate() {
        let goal = [Goal::Depth, Goal::Size][at % 2];
        all_functions::<i16, 8>(mix, parties, goal, 6);
    }
}

#[test]
fn functions_of_wider_numbers_run() {
    all_functions::<i32, 12>(Mix::AB, 2, Goal::Depth, 6);
    all_functions::<i64, 16>(Mix::AB, 2, Goal::Size, 6);
    all_functions::<i64, 16>(Mix::R, 3, Goal::Size, 6);
    all_functions::<i64, 16>(Mix::AY2, 2, Goal::Size, 4);
}
