//! Scheduling policies: whatever the order, results and costs are what was declared.

use std::sync::Arc;

use madrigal_core::time::Link;
use madrigal_engine::{
    DeepestFirst, FirstCome, LayerByLayer, Phases, Plan, PlanSpec, Policy, Ready, Soonest, Value,
    Width,
};
use madrigal_operations::{ArithmeticGmwTool, BooleanGmwTool, Circuit, Mul, Netlist, Square};
use madrigal_testkit::seed;

use crate::programs::{Built, check};

/// Policy by which what was written last goes first.
#[derive(Debug)]
struct LastFirst;

impl Policy for LastFirst {
    fn name(&self) -> String {
        "last first/1".into()
    }

    fn rank(&self, ready: &Ready) -> [u64; 2] {
        [u64::from(u32::MAX - ready.place), 0]
    }
}

fn policies() -> [Arc<dyn Policy>; 5] {
    [
        Arc::new(Soonest),
        Arc::new(FirstCome),
        Arc::new(DeepestFirst),
        Arc::new(LayerByLayer),
        Arc::new(LastFirst),
    ]
}

/// Squares one after the other, products side by side, and a circuit.
fn deep_and_wide(parties: usize, seed: u64) -> Built {
    let mut built = Built::new(parties, seed);
    let mut deep = built.ring::<ArithmeticGmwTool>(Width::W64, 3);
    for _ in 0..6 {
        let square = Square::<ArithmeticGmwTool>::new();
        deep = built.graph.add_one(square, &[deep]).expect("a ring's");
    }
    let mut wide: Vec<Value> = Vec::new();
    for _ in 0..12 {
        let [x, y] = [(); 2].map(|()| built.ring::<ArithmeticGmwTool>(Width::W32, 50));
        let product = Mul::<ArithmeticGmwTool>::new();
        wide.push(built.graph.add_one(product, &[x, y]).expect("of one ring"));
    }
    let adder = Circuit::new(&crate::common::netlist("adder64.txt"));
    let bits = [(); 2].map(|()| built.bits::<BooleanGmwTool>(64, 70));
    let adder = Netlist::<BooleanGmwTool>::new(Arc::new(adder), 64);
    let sum = built.graph.add_one(adder, &bits).expect("two numbers");
    built.open_to_all::<ArithmeticGmwTool>(deep);
    for product in wide {
        built.open::<ArithmeticGmwTool>(product, &[0]);
    }
    built.open_to_all::<BooleanGmwTool>(sum);
    built
}

#[test]
fn any_order_computes_the_same_at_the_declared_cost() {
    let seed = seed();
    for parties in [2, 3] {
        let built = deep_and_wide(parties, seed);
        for policy in policies() {
            let spec = PlanSpec {
                policy,
                ..built.spec()
            };
            // Many parts, each with the correlations of a few operations.
            let interleaved = PlanSpec {
                phases: Some(Phases::Interleaved),
                memory: 1 << 13,
                ..spec.clone()
            };
            check(&built, interleaved, seed);
            let threads = PlanSpec { threads: 2, ..spec };
            check(&built, threads, seed);
        }
    }
}

#[test]
fn parties_with_another_policy_learn_it() {
    let built = deep_and_wide(2, 1);
    let facts = |policy: Arc<dyn Policy>| {
        let spec = PlanSpec {
            policy,
            line: Link {
                latency: 0.01,
                bytes_per_second: None,
            },
            ..built.spec()
        };
        Plan::new(spec).expect("a plan").facts()
    };
    let all = policies().map(facts);
    for (index, one) in all.iter().enumerate() {
        for other in &all[..index] {
            let first = one.iter().zip(other).find(|(one, other)| one != other);
            let (one, other) = first.expect("they differ");
            assert_eq!([&one.0, &other.0], ["policy", "policy"]);
        }
    }
}
