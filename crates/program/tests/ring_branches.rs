//! Conditionals on secrets whose branches are sums and products: on ring elements.

#![allow(clippy::print_stdout)] // helpers of tests

use madrigal_circuit::Goal;
use madrigal_operations::Backend;
use madrigal_program::lower::{Action, Body, Lowered, Mix, Way, Why};
use madrigal_program::{Computation, Everyone, Inputs, Party, Program, Secret};
use madrigal_testkit::seed;

use crate::lowering::agrees;
use crate::running::runs;

const ALICE: Party = Party::new(0);
const BOB: Party = Party::new(1);

/// Mixes in which branches of sums and products are computed on ring elements.
const RINGS: [(Mix, usize); 5] = [
    (Mix::AB, 2),
    (Mix::AB, 3),
    (Mix::AB, 5),
    (Mix::AY2, 2),
    (Mix::AY, 3),
];

fn program(parties: usize, build: impl FnOnce(&mut Program)) -> Computation {
    let mut p = Program::new(parties);
    build(&mut p);
    p.finish().expect("a program that can be")
}

fn lowered(build: impl FnOnce(&mut Program), mix: Mix, parties: usize) -> Lowered {
    let lowered = program(parties, build).lower(mix, Goal::Size);
    lowered.expect("a mix that can be")
}

fn on_rings(body: &Body) -> usize {
    let steps = body.steps.iter();
    steps
        .map(|step| match &step.action {
            Action::Formulas(..) => 1,
            Action::Repeat { body, .. } => on_rings(body),
            _ => 0,
        })
        .sum()
}

/// In each mix that has them: branches are on ring elements, the oracle gives what is expected, the steps and
/// the parties give what the oracle gives.
#[track_caller]
fn on_rings_in_every_mix(
    build: impl Fn(&mut Program),
    inputs: &Inputs,
    expected: Option<&[u128]>,
    what: &str,
) {
    for (mix, parties) in RINGS {
        let program = program(parties, &build);
        let made = program.lower(mix, Goal::Size).expect("a mix that can be");
        assert_eq!(on_rings(&made.body), 1, "{mix}: {:#?}", made.describe());
        if let Some(expected) = expected {
            let outputs = program.simulate(inputs).expect("inputs as declared");
            let first = outputs.arrays().flatten().next().expect("an output");
            assert_eq!(first.codes().collect::<Vec<_>>(), expected, "{what}");
        }
        for goal in [Goal::Size, Goal::Depth] {
            agrees(&program, inputs, mix, goal, what);
        }
        runs(&program, inputs, mix, Goal::Size, what);
    }
}

/// Branches over rows with public weights, numbers that are the same for all elements, powers.
fn scores(p: &mut Program) -> (Secret<u32>, Secret<u32>) {
    let index = p.input::<u8>(ALICE, 6);
    let rows = p.input::<u32>(BOB, [6, 3]);
    let limit = p.input::<u32>(ALICE, ());
    let weights = p.constant([2u32, 3, 5]);
    let column = |at: usize| rows.at(1, at);
    p.match_secret(
        &index,
        [
            &|_| (rows.dot(&weights), column(0)),
            &|_| (rows.square().sum(1), column(1) * &limit),
            &|_| (rows.product(1), column(2) << 4),
            &|_| (&limit * &limit * 3 + 1000, column(0) * 7 - 1),
        ],
    )
}

#[test]
fn each_element_gets_its_own_branch_on_rings() {
    let rows = [
        [1u32, 2, 3],
        [10, 4, 7],
        [5, 4, 2],
        [5, 5, 5],
        [9, 8, 7],
        [1, 1, 1],
    ];
    for (index, expected) in [
        ([0u8, 1, 2, 3, 2, 3], [23u128, 165, 40, 1147, 504, 1147]),
        ([4, 255, 0, 128, 1, 68], [0, 0, 32, 0, 194, 0]),
    ] {
        let inputs = Inputs::new().with(index).with(rows).with(7u32);
        let build = |p: &mut Program| {
            let (first, second) = scores(p);
            p.open(first, Everyone);
            p.open(second, BOB);
        };
        on_rings_in_every_mix(build, &inputs, Some(&expected), "scores");
    }
}

#[test]
fn two_branches_of_any_width() {
    fn both<T: madrigal_program::Unsigned>(p: &mut Program) {
        let [x, y] = [ALICE, BOB].map(|party| p.input::<T>(party, 5));
        let rich = p.input::<bool>(BOB, 5);
        let made = p.if_secret(rich, |_| &x * &y + &x, |_| &x - &y.square() * &x);
        p.open(made, Everyone);
    }
    let rich = [true, false, true, false, true];
    macro_rules! widths {
        ($($word:ident)*) => {$(
            let x = [3, 0, $word::MAX, $word::MAX / 3, 77];
            let y = [5, 9, 2, $word::MAX / 5, 1];
            let expected: Vec<u128> = (0..5)
                .map(|at| {
                    let (x, y): ($word, $word) = (x[at], y[at]);
                    u128::from(match rich[at] {
                        true => x.wrapping_mul(y).wrapping_add(x),
                        false => x.wrapping_sub(y.wrapping_mul(y).wrapping_mul(x)),
                    })
                })
                .collect();
            let inputs = Inputs::new().with(x).with(y).with(rich);
            on_rings_in_every_mix(both::<$word>, &inputs, Some(&expected), stringify!($word));
        )*};
    }
    widths!(u8 u16 u32 u64 u128);
}

#[test]
fn a_choice_of_one_for_a_whole_vector_and_in_a_loop() {
    let build = |p: &mut Program| {
        let x = p.input::<i32>(ALICE, 4);
        let wanted = p.input::<u8>(BOB, ());
        let sum = p.match_numbered(&wanted, 3, |p, branch| match branch {
            0 => x.sum(0),
            1 => x.product(0),
            _ => p.constant(-5i32),
        });
        p.open(sum, Everyone);
    };
    for (wanted, expected) in [(0u8, 4), (1, -24), (2, -5), (3, 0), (200, 0)] {
        let expected = i128::from(expected) as u128 & 0xffff_ffff;
        let inputs = Inputs::new().with([2i32, -3, 1, 4]).with(wanted);
        on_rings_in_every_mix(build, &inputs, Some(&[expected]), "a vector");
    }
    let looped = |p: &mut Program| {
        let start = p.input::<u32>(ALICE, 3);
        let flags = p.input::<bool>(BOB, 3);
        let end = p.repeat(4, start, |p, turn, x| {
            let number = turn.number().cast::<u32>().broadcast_to([3]);
            p.if_secret(&flags, |_| &x * &x + &number, |_| &x * 3 - 1)
        });
        p.open(end, Everyone);
    };
    let inputs = Inputs::new().with([1u32, 2, 3]).with([true, false, true]);
    on_rings_in_every_mix(looped, &inputs, None, "a loop");
}

#[test]
fn what_is_no_sum_or_product_is_done_on_bits() {
    let with_root = |p: &mut Program| {
        let x = p.input::<u32>(ALICE, 4);
        let flags = p.input::<bool>(BOB, 4);
        let made = p.if_secret(&flags, |_| &x * &x, |_| x.sqrt());
        p.open(made, Everyone);
    };
    let made = lowered(with_root, Mix::AB, 2);
    assert_eq!(on_rings(&made.body), 0);
    assert!(matches!(made.conditionals()[0].way, Way::Shared(_)));
    let products = |p: &mut Program| {
        let x = p.input::<u32>(ALICE, 4);
        let flags = p.input::<bool>(BOB, 4);
        let made = p.if_secret(&flags, |_| &x * &x, |_| &x * 5);
        p.open(made, Everyone);
    };
    for (mix, parties) in [
        (Mix::B, 2),
        (Mix::R, 3),
        (Mix::Y2, 2),
        (Mix::Y, 3),
        (Mix::ALPHA_BETA, 2),
    ] {
        let made = lowered(products, mix, parties);
        assert_eq!(on_rings(&made.body), 0, "{mix}");
        let conditional = &made.conditionals()[0];
        match mix {
            Mix::B => assert!(matches!(conditional.way, Way::Shared(_))),
            _ => {
                assert_eq!(
                    conditional.why,
                    Backend::of(mix.bits())
                        .bits()
                        .branches
                        .err()
                        .map(Why::Sharing),
                    "{mix}"
                );
                let text = conditional.to_string();
                assert!(text.contains("multiplexed, for in"), "{text}");
            }
        }
    }
}

/// Random branches of sums and products on numbers with the elements of the condition in front.
#[test]
fn random_arithmetic_in_branches() {
    let seed = seed();
    for round in 0..24 {
        let mut state = seed.wrapping_add(round);
        let mut below = |bound: usize| {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as usize % bound
        };
        let (mix, parties) = RINGS[below(5)];
        let (lanes, branches) = (1 + below(9), 2 + below(8));
        let plans: Vec<Vec<(usize, usize, usize)>> = (0..branches)
            .map(|_| {
                (0..below(7))
                    .map(|_| (below(7), below(9), below(9)))
                    .collect()
            })
            .collect();
        let numbers: Vec<i64> = (0..3 * lanes).map(|_| below(1 << 30) as i64 - 99).collect();
        let indices: Vec<u16> = (0..lanes).map(|_| below(branches + 2) as u16).collect();
        let built = program(parties, |p| {
            let index = p.input::<u16>(BOB, lanes);
            let inputs = [0, 1, 0].map(|party| p.input::<i64>(Party::new(party), lanes));
            let made = p.match_numbered(&index, branches, |p, branch| {
                let mut values = inputs.to_vec();
                for &(op, x, y) in &plans[branch] {
                    let (x, y) = (&values[x % values.len()], &values[y % values.len()]);
                    values.push(match op {
                        0 => x + y,
                        1 => x - y,
                        2 => x * y,
                        3 => x.square() - 17,
                        4 => -(x * 23),
                        5 => p.stack(&[x.clone(), y.clone(), x.clone()], 0).product(0),
                        _ => (x << 3) + y.sum(0),
                    });
                }
                (values[values.len() - 1].clone(), &values[0] + 1)
            });
            p.open(made, Everyone);
        });
        let mut inputs = Inputs::new().with(indices);
        for part in numbers.chunks(lanes) {
            inputs = inputs.with(part.to_vec());
        }
        let what = format!(
            "seed {}, {mix}, {parties} parties",
            seed.wrapping_add(round)
        );
        agrees(&built, &inputs, mix, Goal::Size, &what);
        runs(&built, &inputs, mix, Goal::Size, &what);
    }
}

#[test]
fn the_plan_computes_on_rings_where_that_is_fastest() {
    for branches in [2, 4, 16, 32_u32] {
        let program = program(2, |p| {
            let index = p.input::<u8>(ALICE, 500);
            let [x, y] = [0, 1].map(|_| p.input::<u32>(BOB, 500));
            let made = p.match_numbered(&index, branches as usize, |_, rule| {
                &x * &y * &x + &y * rule as u32 + 3
            });
            p.open(made, Everyone);
        });
        for (latency, bandwidth) in [(0.000_1, None), (0.002, Some(5e7 / 8.0)), (0.05, None)] {
            let planned = program
                .plan(Mix::AB, None, &|spec| {
                    spec.line.latency = latency;
                    spec.line.bytes_per_second = bandwidth;
                })
                .expect("a plan");
            let text = format!("{branches} at {latency} s: {:?}", planned.considered);
            assert_eq!(planned.considered.len(), 3, "{text}");
            println!("{text}");
            let [plain, circuits, rings] = &planned.considered[..] else {
                unreachable!("three ways");
            };
            let taken = planned.conditionals[0].way;
            let fastest = plain.seconds.min(circuits.seconds).min(rings.seconds);
            assert_eq!(
                matches!(taken, Way::Rings(_)),
                rings.seconds == fastest,
                "{text}"
            );
            // Few branches save little, which a fast line need not notice, and rounds are more.
            assert!(
                branches < 16 || bandwidth.is_none() || matches!(taken, Way::Rings(_)),
                "{text}"
            );
            let less = plain.bytes_sent as f64 / rings.bytes_sent as f64;
            assert!(less > f64::from(branches).sqrt() * 0.7, "{less}: {text}");
        }
    }
}
