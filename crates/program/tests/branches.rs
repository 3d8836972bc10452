//! Conditionals on secrets.

use std::cell::Cell;

use madrigal_circuit::Goal;
use madrigal_program::lower::{Action, Lowered, Mix, Way};
use madrigal_program::{
    Array, Computation, Everyone, Fixed, Inputs, Mistake, Party, Program, Secret,
};

use crate::lowering::agrees;
use crate::running::runs;

const ALICE: Party = Party::new(0);
const BOB: Party = Party::new(1);

const MIXES: [(Mix, usize); 10] = [
    (Mix::B, 2),
    (Mix::B, 3),
    (Mix::AB, 2),
    (Mix::AB, 5),
    (Mix::R, 3),
    (Mix::Y2, 2),
    (Mix::AY2, 2),
    (Mix::Y, 3),
    (Mix::AY, 2),
    (Mix::B, 5),
];

fn program(parties: usize, build: impl FnOnce(&mut Program)) -> Computation {
    let mut p = Program::new(parties);
    build(&mut p);
    p.finish().expect("a program that can be")
}

fn first(program: &Computation, inputs: &Inputs) -> Vec<u128> {
    let outputs = program.simulate(inputs).expect("inputs as declared");
    let array: &Array = outputs.arrays().flatten().next().expect("an output");
    array.codes().collect()
}

fn branches(lowered: &Lowered) -> usize {
    let steps = lowered.body.steps.iter();
    let branches = steps.filter(|step| matches!(step.action, Action::Branches(..)));
    branches.count()
}

/// In each mix: the oracle gives what is expected, the steps and the parties give what the oracle gives.
#[track_caller]
fn in_every_mix(build: impl Fn(&mut Program), inputs: &Inputs, expected: &[u128], what: &str) {
    for (mix, parties) in MIXES {
        let program = program(parties, &build);
        assert_eq!(first(&program, inputs), expected, "{what}");
        for goal in [Goal::Size, Goal::Depth] {
            agrees(&program, inputs, mix, goal, what);
        }
        runs(&program, inputs, mix, Goal::Size, what);
    }
}

/// Scores with weights in a table, nested conditionals, numbers of branches that are not there.
fn scores(p: &mut Program) -> Secret<u32> {
    let index = p.input::<u8>(ALICE, 6);
    let rows = p.input::<u32>(BOB, [6, 3]);
    let weights = p.constant([2u32, 3, 5]);
    let limit = p.input::<u32>(ALICE, ());
    p.match_secret(
        &index,
        [
            &|_| rows.dot(&weights),
            &|p| {
                let first = rows.at(1, 0);
                p.if_secret(
                    first.gt(&limit),
                    |_| &first - &limit,
                    |p| p.if_secret(rows.at(1, 1).eq(4), |_| &first / 2, |_| &first * &limit),
                )
            },
            &|_| rows.greatest(1),
            &|_| &limit + 1000,
        ],
    )
}

#[test]
fn each_element_gets_its_own_branch() {
    let rows = [
        [1u32, 2, 3],
        [10, 4, 0],
        [5, 4, 0],
        [5, 5, 5],
        [9, 8, 7],
        [1, 1, 1],
    ];
    for (index, expected) in [
        ([0u8, 1, 1, 1, 2, 3], [23u128, 3, 2, 35, 9, 1007]),
        ([4, 255, 0, 2, 3, 1], [0, 0, 22, 5, 1007, 7]),
    ] {
        let inputs = Inputs::new().with(index).with(rows).with(7u32);
        let build = |p: &mut Program| {
            let scores = scores(p);
            p.open(scores, Everyone);
        };
        in_every_mix(build, &inputs, &expected, "scores");
    }
}

#[test]
fn in_b_a_conditional_is_one_operation_and_elsewhere_a_multiplexer() {
    let build = |p: &mut Program| {
        let scores = scores(p);
        p.open(scores, Everyone);
    };
    for (mix, parties) in MIXES {
        let lowered = program(parties, build).lower(mix, Goal::Size);
        let lowered = lowered.expect("a mix that can be");
        let conditionals = lowered.conditionals();
        let text = lowered.describe().join("\n");
        match mix {
            Mix::B | Mix::AB => {
                assert_eq!((branches(&lowered), conditionals.len()), (1, 1), "{text}");
                assert!(matches!(conditionals[0].way, Way::Shared(_)));
                assert!(text.contains("branches, merged"), "{text}");
            }
            _ => {
                assert_eq!((branches(&lowered), conditionals.len()), (0, 3), "{text}");
                assert!(text.contains("multiplexed"), "{text}");
            }
        }
        assert!(conditionals[0].to_string().contains("branches.rs:"));
    }
}

#[test]
fn every_way_gives_the_same() {
    let inputs = Inputs::new()
        .with([0u8, 1, 1, 9, 2, 3])
        .with([[1u32, 2, 3]; 6])
        .with(7u32);
    let program = program(3, |p| {
        let scores = scores(p);
        p.open(scores, Everyone);
    });
    let expected = first(&program, &inputs);
    for way in Way::ALL {
        let lowered = program
            .lower(Mix::B, Goal::Size)
            .expect("a mix that can be");
        let lowered = lowered.with_ways(&[way]);
        assert_eq!(lowered.conditionals()[0].way, way);
        let executable = lowered.executable().expect("operations that can be");
        let plan = executable.plan().expect("a plan that can be");
        let planned = madrigal_program::Planned {
            conditionals: lowered.conditionals(),
            multiplexed: None,
            considered: Vec::new(),
            executable,
            plan,
            goal: Goal::Size,
            pairs: false,
            vectors: false,
            sort_rounds: Default::default(),
            groups: false,
            mix: Mix::B,
            held: Vec::new(),
            single: None,
        };
        for ended in planned.run_locally(&program, &inputs).expect("a run") {
            let found: Vec<u128> = ended
                .outputs
                .arrays()
                .flatten()
                .next()
                .map_or_else(Vec::new, |array| array.codes().collect());
            assert_eq!(found, expected, "{way}");
        }
    }
}

#[test]
fn conditionals_give_tuples_of_any_shapes_and_types() {
    type Price = Fixed<i32, 8>;
    let build = |p: &mut Program| {
        let rich = p.input::<bool>(ALICE, ());
        let prices = p.input::<Price>(BOB, [2, 3]);
        let (total, flags, sorted) = p.if_secret(
            &rich,
            |_| (prices.sum_all(), prices.gt(2.0), prices.sort()),
            |_| (prices.least(0).least(0), prices.lt(1.5), &prices * &prices),
        );
        p.open(total, Everyone);
        p.open((flags, sorted), BOB);
    };
    let prices = [[3.0, 1.0, 2.5], [0.5, 4.0, 1.0]]
        .map(|row| row.map(|price| Price::from_f64(price).expect("in range")));
    for (rich, expected) in [(true, 12 * 256), (false, 128)] {
        let inputs = Inputs::new().with(rich).with(prices);
        in_every_mix(build, &inputs, &[expected], "prices");
    }
}

#[test]
fn conditionals_stand_in_loops_and_loops_in_them() {
    // Collatz, three numbers side by side, and a branch that holds a loop.
    let build = |p: &mut Program| {
        let start = p.input::<u32>(ALICE, 3);
        let zero = p.constant([0u32; 3]);
        let state = (start, zero);
        let (end, steps) = p.repeat(8, state, |p, turn, (x, steps)| {
            p.if_secret(
                x.eq(1),
                |_| (x.clone(), steps.clone()),
                |p| {
                    let next = p.if_secret((&x & 1).eq(1), |_| &x * 3 + 1, |_| &x >> 1);
                    (next, turn.number().broadcast_to([3]) + 1)
                },
            )
        });
        let both = p.map((end, steps), |p, (end, steps)| {
            p.if_secret(
                end.eq(1),
                |_| steps.clone(),
                |p| {
                    let one = p.constant(1u32);
                    p.repeat(3, one, |_, _, power| power * &end)
                },
            )
        });
        p.open(both, Everyone);
    };
    let inputs = Inputs::new().with([1u32, 3, 27]);
    let mut x = 27u128;
    for _ in 0..8 {
        x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
    }
    in_every_mix(build, &inputs, &[0, 7, x * x * x], "a loop");
}

#[test]
fn what_a_branch_does_to_values_around_it_belongs_to_it() {
    let program = program(2, |p| {
        let [x, y] = [ALICE, BOB].map(|party| p.input::<u16>(party, 4));
        let made = p.if_secret(x.lt(&y), |_| &x / &y, |_| &y / &x);
        p.open(made, Everyone);
    });
    let text = program.describe().join("\n");
    assert_eq!(text.matches("\n  2: quotient").count(), 2, "{text}");
    assert_eq!(text.matches("quotient").count(), 2, "{text}");
}

/// A sum over axes in front of the condition's gives each lane a number of its own, from numbers that are not.
#[test]
fn rows_of_the_conditions_shape_that_are_added_up() {
    let build = |p: &mut Program| {
        let [x, y] = [ALICE, BOB].map(|party| p.input::<u16>(party, 4));
        let both = p.stack(&[x.clone(), y.clone(), x.clone()], 0);
        let condition = x.lt(&y);
        let (least, sum) = p.if_secret(
            condition,
            |_| (both.least(0), both.sum(0)),
            |_| (&x / 2, &x - &y),
        );
        p.open(least, Everyone);
        p.open(sum, Everyone);
    };
    let inputs = Inputs::new()
        .with([1u16, 20, 300, 4])
        .with([2u16, 10, 301, 5]);
    in_every_mix(build, &inputs, &[1, 10, 300, 4], "rows");
}

#[test]
fn branches_that_are_not_active_are_not_checked() {
    let program = program(2, |p| {
        let [x, y] = [ALICE, BOB].map(|party| p.input::<u16>(party, 4));
        let line = Cell::new(0);
        let made = p.if_secret(
            y.eq(0),
            |_| &x - 5,
            |_| {
                line.set(line!() + 1);
                &x / &y
            },
        );
        assert!(line.get() > 0);
        p.open(made, Everyone);
    });
    let checked = |x: [u16; 4], y: [u16; 4]| {
        let inputs = Inputs::new().with(x).with(y);
        program
            .check(&inputs)
            .expect("inputs as declared")
            .overflows
    };
    assert_eq!(checked([4, 9, 9, 2], [1, 0, 0, 7]), []);
    let found = checked([4, 9, 4, 2], [1, 0, 0, 7]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].mistake, found[0].place), (Mistake::Range, 2));
}

#[test]
fn the_plan_takes_the_fastest_way_on_its_line() {
    let program = program(2, |p| {
        let scores = {
            let index = p.input::<u8>(ALICE, 2000);
            let [x, y] = [0, 1].map(|_| p.input::<u32>(BOB, 2000));
            p.match_numbered(&index, 8, |_, rule| match rule % 4 {
                0 => &x / &y + rule as u32,
                1 => &y / (&x + rule as u32),
                2 => &x * &y * rule as u32,
                _ => x.sqrt() * (&y + rule as u32),
            })
        };
        p.open(scores, Everyone);
    });
    let seconds = |planned: &madrigal_program::Planned| {
        let rates = madrigal_core::time::Rates::ZEN_5;
        let line = planned.plan.spec().line;
        planned.plan.time(ALICE, &rates, &line).total
    };
    for (latency, bandwidth) in [
        (0.000_1, None),
        (0.002, Some(5e7 / 8.0)),
        (0.02, Some(1e8 / 8.0)),
    ] {
        let slow = |spec: &mut madrigal_engine::PlanSpec| {
            spec.line.latency = latency;
            spec.line.bytes_per_second = bandwidth;
        };
        let best = program.plan(Mix::B, None, &slow).expect("a plan");
        let lowered = program.lower(Mix::B, best.goal).expect("a mix");
        let conditional = &best.conditionals[0];
        assert!(matches!(conditional.way, Way::Shared(_)), "{conditional}");
        let multiplexed = best
            .multiplexed
            .as_deref()
            .expect("what it is compared with");
        let bytes = |plan: &madrigal_engine::Plan| plan.cost(ALICE).setup.bytes_sent;
        assert!(bytes(&best.plan) < bytes(multiplexed), "{conditional}");
        for way in Way::ALL {
            let executable = lowered.with_ways(&[way]).executable().expect("operations");
            let mut spec = executable.spec();
            slow(&mut spec);
            let other = madrigal_program::Planned {
                conditionals: Vec::new(),
                multiplexed: None,
                considered: Vec::new(),
                plan: madrigal_engine::Plan::new(spec).expect("a plan"),
                executable,
                goal: best.goal,
                pairs: false,
                vectors: false,
                sort_rounds: Default::default(),
                groups: false,
                mix: Mix::B,
                held: Vec::new(),
                single: None,
            };
            assert!(seconds(&best) <= seconds(&other), "{way} at {latency} s");
        }
    }
}
