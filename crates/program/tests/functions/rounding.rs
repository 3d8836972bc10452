//! Products whose bits are cut off probabilistically, by the program's setting.

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Everyone, Fixed, Inputs, Mistake, Program, Rounding};

use crate::random::Random;

type Number = Fixed<i64, 16>;

/// How far apart the results may be from those of the oracle, in steps: one for each product that is cut off,
/// times what is made of it afterwards.
const FAR: [u64; 6] = [1, 1, 1, 2, 8, 64];

fn program(parties: usize, rounding: Rounding) -> Computation {
    let mut p = Program::new(parties).with_rounding(rounding);
    let [x, y] = [0, 1].map(|party| p.input::<Number>(Party::new(party), [4, 8]));
    p.open(&x * &y, Everyone);
    p.open(x.matmul(y.transpose()), Everyone);
    p.open(x.divided_by(3.0), Everyone);
    p.open((&x * &y).gelu(), Everyone);
    p.open(x.softmax(1), Everyone);
    p.open(x.layer_norm(1, 0.25), Everyone);
    p.finish().expect("a program that can be")
}

fn inputs() -> Inputs {
    let mut random = Random::fresh();
    let mut numbers = || -> Vec<Number> {
        let number = |word: u64| Number::from_raw((word >> 46) as i64 - (1 << 17));
        (0..32).map(|_| number(random.half())).collect()
    };
    let (x, y) = (numbers(), numbers());
    Inputs::new().with(([4, 8], x)).with(([4, 8], y))
}

/// In A and alpha between two parties results are close to the oracle's, and not all equal to them; in B, and among three
/// parties in A, they are the oracle's.
#[test]
fn the_program_says_how_products_are_cut_off() {
    let inputs = inputs();
    let mut apart = 0;
    for (mix, parties) in [
        (Mix::AB, 2),
        (Mix::AY2, 2),
        (Mix::ALPHA_BETA, 2),
        (Mix::ALPHA_Y2, 2),
        (Mix::R, 3),
        (Mix::B, 2),
        (Mix::AB, 3),
    ] {
        let program = program(parties, Rounding::Probabilistic);
        let expected = program.simulate(&inputs).expect("inputs as declared");
        let planned = program.plan(mix, Some(Goal::Depth), &|_| {});
        let planned = planned.expect("a plan that can be");
        let ended = planned.run_locally(&program, &inputs).expect("a run");
        let exact = mix == Mix::B || (mix, parties) == (Mix::AB, 3);
        for (me, ended) in Party::all(parties).zip(ended) {
            let spent = ended.outcome.setup.spent + ended.outcome.online.spent;
            let cost = planned.plan.cost(me);
            assert_eq!(
                spent.bytes_sent,
                (cost.setup + cost.online).bytes_sent,
                "{me} in {mix}"
            );
            let outputs = ended.outputs.arrays().zip(expected.arrays()).zip(FAR);
            for (number, ((found, expected), far)) in outputs.enumerate() {
                let found = found.expect("opened to everyone").codes();
                let expected = expected.expect("the oracle knows all").codes();
                for (found, expected) in found.zip(expected) {
                    let steps = (found as i64).abs_diff(expected as i64);
                    let far = if exact { 0 } else { far };
                    assert!(steps <= far, "output {number} in {mix}: {steps} steps");
                    apart += steps;
                }
            }
        }
    }
    assert!(apart > 0, "all was cut off exactly");
}

#[test]
fn two_parties_save_a_circuit_for_each_product() {
    let cost = |rounding| {
        let program = program(2, rounding);
        let executable = program.executable(Mix::AB, Goal::Size);
        let plan = executable.expect("a mix that can be").plan();
        plan.expect("a plan that can be").cost(Party::new(0))
    };
    let (exact, probabilistic) = (cost(Rounding::Exact), cost(Rounding::Probabilistic));
    assert!(probabilistic.setup.bytes_sent < exact.setup.bytes_sent);
    assert!(probabilistic.online.rounds < exact.online.rounds);
}

/// In alpha a value goes to A, is cut off there, and comes back under a mask of its own: a round and an element.
#[test]
fn masked_numbers_are_cut_off_in_one_round() {
    let cost = |by: u32| {
        let mut p = Program::new(2);
        let x = p.input::<Number>(Party::new(0), [10]).untyped();
        let y = p.input::<i64>(Party::new(1), [10]).untyped();
        let cut = x.times(&y).truncate(by, Rounding::Probabilistic);
        p.open_tensor(None, &cut.times(&y), Everyone);
        let program = p.finish().expect("a program that can be");
        let executable = program.executable(Mix::ALPHA_BETA, Goal::Depth);
        let plan = executable.expect("a mix that can be").plan();
        plan.expect("a plan that can be").cost(Party::new(0)).online
    };
    let (whole, cut) = (cost(0), cost(16));
    assert_eq!(cut.rounds, whole.rounds + 1);
    assert_eq!(cut.bytes_sent, whole.bytes_sent + 80);
}

#[test]
fn large_numbers_are_found() {
    let checked = |factor: f64| {
        let mut p = Program::new(2).with_rounding(Rounding::Probabilistic);
        let x = p.input::<Number>(Party::new(0), [2]);
        p.open(x * factor, Everyone);
        let program = p.finish().expect("a program that can be");
        let numbers = [1.0, -60.0].map(|x| Number::from_f64(x).expect("in range"));
        let checked = program.check(&Inputs::new().with(numbers));
        checked.expect("inputs as declared").overflows
    };
    assert_eq!(checked(4.0), []);
    // 60 * 100 * 2^32 is more than 2^44, a 2^20th of the ring.
    let found = checked(100.0);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].mistake, found[0].place), (Mistake::Chance, 1));
    assert!(
        found[0].to_string().contains("one in a million"),
        "{}",
        found[0]
    );
}

/// No number of 16 bits but 0 is rare enough.
#[test]
fn all_numbers_of_few_bits_are_found() {
    type Small = madrigal_program::Fixed<i16, 8>;
    let mut p = Program::new(2).with_rounding(Rounding::Probabilistic);
    let x = p.input::<Small>(Party::new(0), [2]);
    p.open(&x * 0.5, Everyone);
    let program = p.finish().expect("a program that can be");
    let numbers = [0.0, 0.01].map(|x| Small::from_f64(x).expect("in range"));
    let checked = program.check(&Inputs::new().with(numbers));
    let found = checked.expect("inputs as declared").overflows;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].mistake, found[0].place), (Mistake::Chance, 1));
}
