//! The least and the greatest of many elements, where rounds take long: in groups.

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Everyone, Inputs, Planned, Program};

use crate::random::Random;
use crate::running::runs_planned;

/// One-way seconds of a line on which rounds take long.
const FAR: f64 = 0.05;

fn planned(program: &Computation, mix: Mix, latency: f64) -> Planned {
    let planned = program.plan(mix, None, &|spec| spec.line.latency = latency);
    planned.expect("a plan that can be")
}

fn rounds(planned: &Planned) -> u64 {
    planned.plan.cost(Party::new(0)).online.rounds
}

/// A number at one of the ends of a type of `bits` bits, or one of few others, so that many are equal.
fn number(random: &mut Random, bits: u32) -> u64 {
    let top = 1_u64 << (bits - 1);
    let some = [
        0,
        1,
        top - 1,
        top,
        top + 1,
        u64::MAX,
        random.half() % 5,
        random.half(),
    ];
    some[random.half() as usize % some.len()]
}

/// Makes a program and inputs: all that a tournament gives, along the first and along the last axis, of sums of what
/// two parties bring, or of what one does.
macro_rules! tournaments {
    ($random:expr, $parties:expr, $shape:expr, $sums:expr, $number:ty) => {{
        let (random, shape): (&mut Random, [usize; 2]) = ($random, $shape);
        let mut p = Program::new($parties);
        let mut x = p.input::<$number>(Party::new(0), shape);
        let y = p.input::<$number>(Party::new(1), shape);
        if $sums {
            x = x + &y;
        }
        p.open((x.min_with_place(), x.max_with_place()), Everyone);
        p.open((x.least(0), x.greatest(1)), Everyone);
        p.open((y.least(1), y.greatest(0)), Party::new(1));
        let [x, y] = [(); 2].map(|()| -> Vec<$number> {
            let count = shape.iter().product::<usize>();
            let bits = <$number>::BITS;
            (0..count)
                .map(|_| number(random, bits) as $number)
                .collect()
        });
        let program = p.finish().expect("a program that can be");
        (program, Inputs::new().with((shape, x)).with((shape, y)))
    }};
}

#[test]
fn groups_find_what_pairs_find() {
    let random = &mut Random::fresh();
    let mixes = [
        (Mix::AB, 2),
        (Mix::B, 3),
        (Mix::R, 3),
        (Mix::AB, 5),
        (Mix::ALPHA_BETA, 2),
    ];
    let mut grouped = 0;
    for round in 0..20 {
        let (mix, parties) = mixes[round % mixes.len()];
        let shape = [
            1 + random.half() as usize % 4,
            2 + random.half() as usize % 40,
        ];
        let sums = random.half().is_multiple_of(2);
        let (program, inputs) = match round / mixes.len() {
            0 => tournaments!(random, parties, shape, sums, u32),
            1 => tournaments!(random, parties, shape, sums, i16),
            2 => tournaments!(random, parties, shape, sums, u8),
            _ => tournaments!(random, parties, shape, sums, i64),
        };
        // Groups of other sizes where rounds take less.
        let latency = [FAR, 1e-3, 2e-4][random.half() as usize % 3];
        let planned = planned(&program, mix, latency);
        grouped += usize::from(planned.groups);
        let what = format!("tournaments of {shape:?} in {mix} over {latency} s");
        runs_planned(
            &program,
            (&planned.plan, &planned.executable, mix),
            &inputs,
            &what,
        );
    }
    assert!(grouped >= 10, "{grouped} of 20 in groups");
}

/// The nearest of 1,024 entries, whose distances are ring elements.
fn nearest(parties: usize) -> Computation {
    let mut p = Program::new(parties);
    let table = p.input::<u32>(Party::new(0), [1024, 4]);
    let query = p.input::<u32>(Party::new(1), [4]);
    let distances = (table - query).square().sum(1);
    p.open(distances.min_with_place(), Party::new(1));
    p.finish().expect("a program that can be")
}

#[test]
fn few_rounds_find_the_nearest_of_many_where_rounds_take_long() {
    for (mix, parties) in [(Mix::AB, 2), (Mix::AB, 3), (Mix::R, 3)] {
        let program = nearest(parties);
        let far = planned(&program, mix, FAR);
        assert!(far.groups, "{mix}");
        let pairs = program.executable(mix, Goal::Depth).expect("it can be");
        let pairs = pairs.plan().expect("a plan that can be");
        let pairs = pairs.cost(Party::new(0)).online.rounds;
        assert!(
            rounds(&far) * 2 < pairs,
            "{mix}: {} of {pairs}",
            rounds(&far)
        );
        let near = planned(&program, mix, 0.0);
        assert!(!near.groups, "{mix}");
    }
    // Two levels of 32 that meet at once: a comparison in six layers, which of them wins in five, and who wins in one.
    assert!(rounds(&planned(&nearest(2), Mix::AB, FAR)) <= 31);
    // Garbled circuits take no more rounds for more layers.
    assert!(!planned(&nearest(2), Mix::AY2, FAR).groups);
}
