//! Values that are made in blocks and read whole, by several operations.

#![allow(clippy::unwrap_used)] // helpers of tests

use madrigal_engine::operations::{ArithmeticGmwTool, Layout, Linear, Mul, Rearrange};
use madrigal_engine::{Phases, ProgramPlan, ProgramSpec, Width};
use madrigal_testkit::seed;

use crate::programs::{Built, check};

type A = ArithmeticGmwTool;

/// Products, of which many operations read all; with `alone`, one reads them block by block, too, and they are
/// opened themselves.
fn program(len: usize, alone: bool, seed: u64) -> Built {
    let mut built = Built::new(2, seed);
    let [x, y] = [(); 2].map(|()| built.ring::<A>(Width::W32, len));
    let product = built.graph.add_one(Mul::<A>::new(), &[x, y]).unwrap();
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
    let linear = Linear::<A>::new(vec![1; parts.len()], 3);
    let sum = built.graph.add_one(linear, &parts).unwrap();
    built.open_to_all::<A>(sum);
    if alone {
        let twice = Linear::<A>::new(vec![1, 1], 0);
        let twice = built.graph.add_one(twice, &[product, x]).unwrap();
        built.open_to_all::<A>(twice);
        built.open::<A>(product, &[0]);
    }
    built
}

#[test]
fn values_in_pieces_are_put_together_for_all_who_read_them_whole() {
    let seed = seed();
    for alone in [false, true] {
        let built = program(3000, alone, seed);
        for threads in [1, 3] {
            let spec = ProgramSpec {
                phases: Some(Phases::Interleaved),
                memory: 1 << 14,
                threads,
                ..built.spec()
            };
            let plan = ProgramPlan::new(spec.clone()).unwrap();
            assert!(plan.blocks_under_way() > 1, "{}", plan.blocks());
            check(&built, spec, seed);
        }
    }
}
