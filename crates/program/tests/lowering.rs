//! What programs become against what they mean: the steps in the clear, and the oracle.

use madrigal_circuit::Goal;
use madrigal_program::generator::Recipe;
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{Array, Computation, Inputs};

use crate::random::Random;

/// Mixes with numbers of parties they are for.
const MIXES: [(Mix, usize); 6] = [
    (Mix::AB, 2),
    (Mix::AB, 3),
    (Mix::AB, 5),
    (Mix::B, 2),
    (Mix::B, 3),
    (Mix::R, 3),
];

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// The program's steps give what the oracle gives.
#[track_caller]
pub(crate) fn agrees(program: &Computation, inputs: &Inputs, mix: Mix, goal: Goal, what: &str) {
    let expected = program.simulate(inputs).expect("inputs as declared");
    let lowered = match program.lower(mix, goal) {
        Ok(lowered) => lowered,
        Err(error) => panic!("{what} in {mix}: {error}"),
    };
    let found = lowered
        .evaluate(program, inputs, 1)
        .expect("inputs as declared");
    let codes = |array: &Array| array.codes().collect::<Vec<_>>();
    for (number, (found, expected)) in found.arrays().zip(expected.arrays()).enumerate() {
        assert_eq!(
            codes(found),
            codes(expected),
            "output {number} of {what} in {mix}, {goal:?}:\n{}\n{}",
            program.describe().join("\n"),
            lowered.describe().join("\n"),
        );
    }
}

#[test]
fn random_programs_become_steps_that_do_the_same() {
    let mut random = Random::fresh();
    let count = std::env::var("MADRIGAL_PROGRAMS")
        .ok()
        .and_then(|text| text.parse().ok());
    for round in 0..count.unwrap_or(60_usize) {
        let (mix, parties) = MIXES[round % MIXES.len()];
        let recipe = Recipe {
            seed: random.half(),
            parties,
            operations: if round % 3 == 0 { 50 } else { 8 },
            replicated: mix.bits() == Sharing::Replicated,
        };
        let (program, inputs) = recipe.cook().expect("a program that can be");
        agrees(
            &program,
            &inputs,
            mix,
            GOALS[round / 6 % 2],
            &format!("{recipe:?}"),
        );
    }
}
