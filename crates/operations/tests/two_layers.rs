//! Circuits in beta that are evaluated two layers of ANDs in a round.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_circuit::{Builder, Goal, Netlist, Rows, Wire};
use madrigal_core::Party;
use madrigal_engine::{Phases, Plan, PlanSpec, Shares, Sharing};
use madrigal_kernels::{Block, Prg};
use madrigal_operations::{BetaTool, Circuit};
use madrigal_testkit::seed;

use crate::numbers::check_without_dealer;
use crate::programs::{Built, check, check_all};
use crate::transcripts::ones_of_values;
use madrigal_testkit::transcripts::must_agree;

const LANES: [usize; 6] = [1, 2, 7, 8, 63, 1000];

/// A circuit of two numbers, with one result.
fn circuit(
    name: &str,
    goal: Goal,
    widths: [u32; 2],
    of: impl Fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
) -> Netlist {
    let mut builder = Builder::new(name).with_goal(goal);
    let [x, y] = widths.map(|width| builder.input(width));
    let made = of(&mut builder, &x, &y);
    builder.output(&made);
    builder.finish()
}

/// Random gates over what there is, the last ones above all: layers that go together and layers that do not, with
/// operands of the same ANDs and of inverted ones.
fn random(seed: u64) -> Netlist {
    circuit("random", Goal::Size, [5, 4], |builder, x, y| {
        let mut prg = Prg::new(Block::new(seed, 12));
        let mut wires = [x, y].concat();
        for _ in 0..80 {
            let mut draw = [0; 4];
            prg.fill(&mut draw);
            let recent = |draw: u8| {
                let all = wires.len();
                let back = usize::from(draw / 2) % if draw & 1 == 0 { all } else { all.min(8) };
                wires[all - 1 - back]
            };
            let [a, b] = [draw[0], draw[1]].map(recent);
            wires.push(match draw[2] % 5 {
                0 | 1 => builder.and(a, b),
                2 | 3 => builder.xor(a, b),
                _ => builder.not(a),
            });
        }
        wires.split_off(wires.len() - 24)
    })
}

/// Inputs of both through a circuit in pairs, opened.
pub(crate) fn built(netlist: &Netlist, len: usize, to: &[usize], seed: u64) -> Built {
    let circuit = Circuit::new(netlist).in_pairs();
    let mut built = Built::new(2, seed);
    let inputs: Vec<_> = circuit
        .inputs()
        .iter()
        .map(|&width| built.bits::<BetaTool>(width as usize, len))
        .collect();
    let made = madrigal_operations::Netlist::<BetaTool>::new(Arc::new(circuit), 1);
    let made = built.graph.add_one(made, &inputs).unwrap();
    built.open::<BetaTool>(made, to);
    built
}

/// A sum of numbers of 32 bits, of three rounds rather than five.
pub(crate) fn sum() -> Netlist {
    circuit("sum", Goal::Depth, [32, 32], |builder, x, y| {
        builder.add(x, y)
    })
}

#[test]
fn results_are_right_and_cost_what_they_say() {
    let seed = seed();
    let circuits = [
        sum(),
        circuit("chain", Goal::Size, [9, 9], |builder, x, y| {
            builder.add(x, y)
        }),
        circuit("product", Goal::Depth, [8, 8], |builder, x, y| {
            builder.mul(x, y)
        }),
        circuit("less", Goal::Depth, [64, 64], |builder, x, y| {
            vec![builder.less(x, y)]
        }),
    ];
    for netlist in circuits
        .into_iter()
        .chain((0..12).map(|i| random(seed + i)))
    {
        let plain = Circuit::new(&netlist);
        assert!(Circuit::new(&netlist).in_pairs().round_count() <= plain.round_count());
        for len in LANES {
            let built = built(&netlist, len, &[0, 1], seed);
            check(&built, built.spec(), seed);
        }
    }
    let built = built(&sum(), 700, &[1], seed);
    check_all(&built, seed);
    check_without_dealer(&built, seed);
}

/// Online three rounds for five layers, with the bytes of five; in setup one more.
#[test]
fn half_the_rounds_online() {
    let (seed, len) = (seed(), 64);
    let cost = |pairs: bool| {
        let netlist = sum();
        let circuit = match pairs {
            true => Circuit::new(&netlist).in_pairs(),
            false => Circuit::new(&netlist),
        };
        let mut built = Built::new(2, seed);
        let inputs = [32, 32].map(|width| built.bits::<BetaTool>(width, len));
        let made = madrigal_operations::Netlist::<BetaTool>::new(Arc::new(circuit), 1);
        let made = built.graph.add_one(made, &inputs).unwrap();
        built.open::<BetaTool>(made, &[0]);
        let plan = Plan::new(built.spec()).unwrap();
        let all = plan.operations(Party::new(0));
        let found = all.iter().find(|one| {
            let name = one.name.as_deref();
            name.is_some_and(|name| name.starts_with("circuit/"))
        });
        let cost = plan.cost(Party::new(0));
        (
            found.unwrap().online.bytes_sent,
            cost.online.rounds,
            cost.setup.rounds,
        )
    };
    let ((bytes, rounds, setup), (bytes_of_two, rounds_of_two, setup_of_two)) =
        (cost(false), cost(true));
    assert_eq!(bytes_of_two, bytes);
    assert_eq!((rounds - rounds_of_two, setup_of_two - setup), (2, 1));
}

/// Setup, and all that comes after it, looks alike to each party whatever the other one's input is.
#[test]
fn transcripts_do_not_depend_on_inputs() {
    let netlist = circuit("sum", Goal::Depth, [8, 8], |builder, x, y| {
        builder.add(x, y)
    });
    for to in 0..2 {
        let seed = seed();
        let built = built(&netlist, 3, &[1 - to], seed);
        let plan = Plan::new(built.spec()).unwrap();
        let inputs = |others: u8| -> Vec<Shares> {
            let of = |owner: usize| {
                let mut rows = Rows::new(8, 3);
                for row in 0..8 {
                    rows.row_mut(row)[0] = if owner == to { 0b101 } else { others };
                }
                Shares::rows(Sharing::clear(&[Party::new(owner)]), &rows)
            };
            [0, 1].map(of).into()
        };
        let a = ones_of_values(&plan, &inputs(0), Party::new(to), seed);
        let seed = seed ^ 0x5555_0000_0000_0000;
        let b = ones_of_values(&plan, &inputs(0b111), Party::new(to), seed);
        must_agree(
            &a,
            &b,
            &format!("sums two layers in a round, to party {to}"),
        );
    }
}

/// For the tests of faults.
pub(crate) fn under_faults(seed: u64) -> (Built, PlanSpec) {
    let len = [1, 300][seed as usize / 4 % 2];
    let built = built(&sum(), len, &[0, 1], seed);
    let spec = PlanSpec {
        phases: [None, Some(Phases::Interleaved)][seed as usize / 16 % 2],
        threads: 1 + seed as usize / 32 % 2,
        ..built.spec()
    };
    (built, spec)
}
