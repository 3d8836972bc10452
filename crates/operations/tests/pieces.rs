//! Values that are made in blocks and read whole, by several operations.

#![allow(clippy::unwrap_used)] // helpers of tests

use madrigal_engine::{Phases, Plan, PlanSpec, Width};
use madrigal_operations::{
    AlphaTool, ArithmeticGmwTool, Layout, Linear, Mul, Protocol, Rearrange, Rings,
};
use madrigal_testkit::seed;

use crate::programs::{Built, check};

/// Products, of which many operations read all; with `alone`, one reads them block by block, too, and they are
/// opened themselves.
fn program<P: Rings + Protocol>(len: usize, alone: bool, seed: u64) -> Built {
    let mut built = Built::new(2, seed);
    let [x, y] = [(); 2].map(|()| built.ring::<P>(Width::W32, len));
    let product = built.graph.add_one(Mul::<P>::new(), &[x, y]).unwrap();
    let parts: Vec<_> = (0..7)
        .map(|part| {
            let places = (0..len as u32).filter(|place| place % 7 == part);
            let layout = Layout::Picked(places.take(len / 7).collect());
            built
                .graph
                .add_one(Rearrange::new(layout), &[product])
                .unwrap()
        })
        .collect();
    let linear = Linear::<P>::new(vec![1; parts.len()], 3);
    let sum = built.graph.add_one(linear, &parts).unwrap();
    built.open_to_all::<P>(sum);
    if alone {
        let twice = Linear::<P>::new(vec![1, 1], 0);
        let twice = built.graph.add_one(twice, &[product, x]).unwrap();
        built.open_to_all::<P>(twice);
        built.open::<P>(product, &[0]);
    }
    built
}

#[test]
fn values_in_pieces_are_put_together_for_all_who_read_them_whole() {
    reads_whole::<ArithmeticGmwTool>(&[Phases::Interleaved]);
}

/// As above, for what is made before inputs are there: the masks of alpha.
#[test]
fn pieces_of_what_is_made_ahead_are_put_together_as_well() {
    reads_whole::<AlphaTool>(&[Phases::Interleaved, Phases::Sequential]);
}

fn reads_whole<P: Rings + Protocol>(phases: &[Phases]) {
    let seed = seed();
    for alone in [false, true] {
        let built = program::<P>(3000, alone, seed);
        let cases = phases
            .iter()
            .flat_map(|phases| [(1, *phases), (3, *phases)]);
        for (threads, phases) in cases {
            let spec = PlanSpec {
                phases: Some(phases),
                memory: 1 << 14,
                threads,
                ..built.spec()
            };
            let plan = Plan::new(spec.clone()).unwrap();
            assert!(plan.block_lanes() < 3000, "{}", plan.blocks());
            check(&built, spec, seed);
        }
    }
}
