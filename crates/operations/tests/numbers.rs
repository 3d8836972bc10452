//! Garbled bits that become numbers in A without B between: nothing is sent online.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_circuit::Builder;
use madrigal_core::Party;
use madrigal_engine::{Element, Operation, Phases, Plan, PlanSpec, Shares, Sharing, Sort, Width};
use madrigal_operations::{
    AlphaTool, ArithmeticGmwTool, BmrTool, Boolean, BooleanGmwTool, Circuit, ComposeKeys,
    ComposeLabels, Concat, Constant, HalfGates, Layout, Netlist, Public, Rearrange, Rings,
    SplitLabels, SumAxis, ThreeHalves, ToLabels, YaoTool,
};
use madrigal_testkit::seed;

use crate::programs::{Built, check, check_all};

/// Program of numbers that bits of a ring become, opened to all.
fn built<P: Boolean>(
    parties: usize,
    [planes, len]: [usize; 2],
    compose: Arc<dyn Operation>,
    seed: u64,
) -> Built {
    let mut built = Built::new(parties, seed);
    let bits = built.bits::<P>(planes, len);
    let numbers = built.graph.add(compose, &[bits]).unwrap()[0];
    built.open_to_all::<ArithmeticGmwTool>(numbers);
    built
}

/// Bytes that the conversion sends online, all parties together, and its rounds.
fn online(built: &Built, spec: PlanSpec) -> (u64, u64) {
    let plan = Plan::new(spec).unwrap();
    let sent = Party::all(built.graph.parties()).map(|me| {
        let mut all = plan.operations(me).into_iter();
        let compose = all.find(|one| {
            let name = one.name.as_deref();
            name.is_some_and(|name| name.starts_with("compose/"))
        });
        compose.unwrap().online.bytes_sent
    });
    let rounds = plan.cost(Party::new(0)).online.rounds;
    (sent.sum(), rounds)
}

#[test]
fn garbled_bits_become_numbers() {
    let seed = seed();
    let shapes = [(Width::W8, 8), (Width::W16, 3), (Width::W32, 32)];
    for signed in [false, true] {
        for (width, planes) in shapes {
            for parties in [2, 3, 5] {
                let compose = Arc::new(ComposeKeys::new(width, signed));
                let built = built::<BmrTool>(parties, [planes, 7], compose, seed);
                check_all(&built, seed);
            }
            let compose = Arc::new(ComposeLabels::<HalfGates>::new(width, signed));
            check_all(&built::<YaoTool>(2, [planes, 7], compose, seed), seed);
            let compose = Arc::new(ComposeLabels::<ThreeHalves>::new(width, signed));
            let built = built::<YaoTool<ThreeHalves>>(2, [planes, 7], compose, seed);
            check(&built, built.spec(), seed);
        }
    }
    for (width, planes) in [(Width::W64, 64), (Width::W128, 65)] {
        let compose = Arc::new(ComposeKeys::new(width, true));
        let keys = built::<BmrTool>(3, [planes, 70], compose, seed);
        check(&keys, keys.spec(), seed);
        let compose = Arc::new(ComposeLabels::<HalfGates>::new(width, true));
        let labels = built::<YaoTool>(2, [planes, 1030], compose, seed);
        check(&labels, labels.spec(), seed);
    }
}

/// Zero bytes online, by the plan, which is held against the counters.
#[test]
fn nothing_is_sent_online() {
    let seed = seed();
    for parties in [2, 3, 5] {
        let compose = Arc::new(ComposeKeys::new(Width::W32, false));
        let built = built::<BmrTool>(parties, [32, 20], compose, seed);
        check(&built, built.spec(), seed);
        // Colours and keys of the inputs, then the opening of the numbers.
        assert_eq!(online(&built, built.spec()), (0, 3));
        let spec = PlanSpec {
            phases: Some(Phases::Interleaved),
            ..built.spec()
        };
        // Where nothing is prepared, masks are opened online: 640 bits to each.
        let bytes = parties * (parties - 1) * 80;
        assert_eq!(online(&built, spec), (bytes as u64, 4));
    }
}

/// A dealer has no correlated OTs.
pub(crate) fn check_without_dealer(built: &Built, seed: u64) {
    check(built, built.spec(), seed);
    let threads = PlanSpec {
        threads: 2,
        ..built.spec()
    };
    check(built, threads, seed);
    let interleaved = PlanSpec {
        phases: Some(Phases::Interleaved),
        memory: 1 << 14,
        ..built.spec()
    };
    check(built, interleaved, seed);
}

/// The sum or difference of two numbers.
fn adder(width: Width, negated: bool) -> Arc<Circuit> {
    let mut builder = Builder::new("sum");
    let [x, y] = [0; 2].map(|_| builder.input(width.bits() as u32));
    let sum = match negated {
        true => builder.sub(&x, &y),
        false => builder.add(&x, &y),
    };
    builder.output(&sum);
    Arc::new(Circuit::new(&builder.finish()))
}

/// Numbers that go to Y2, are put together there, and come back.
fn there_and_back<P: Rings>(width: Width, len: usize, negated: bool, seed: u64) -> Built {
    let mut built = Built::new(2, seed);
    let x = built.ring::<P>(width, len);
    let graph = &mut built.graph;
    let split = SplitLabels::<P>::new(negated);
    let parts = graph.add(Arc::new(split), &[x]).unwrap();
    let sum = Arc::new(Netlist::<YaoTool>::new(adder(width, negated), 1));
    let bits = graph.add(sum, &parts).unwrap()[0];
    let compose = ComposeLabels::<HalfGates>::new(width, false);
    let back = graph.add_one(compose, &[bits]).unwrap();
    built.open::<YaoTool>(bits, &[1]);
    built.open_to_all::<ArithmeticGmwTool>(back);
    built
}

#[test]
fn numbers_become_garbled_bits_and_numbers_again() {
    let seed = seed();
    for negated in [false, true] {
        for (width, len) in [(Width::W8, 9), (Width::W32, 70)] {
            let built = there_and_back::<ArithmeticGmwTool>(width, len, negated, seed);
            check_without_dealer(&built, seed);
            let built = there_and_back::<AlphaTool>(width, len, negated, seed);
            check_without_dealer(&built, seed);
        }
        for width in [Width::W16, Width::W64, Width::W128] {
            let built = there_and_back::<ArithmeticGmwTool>(width, 3, negated, seed);
            check(&built, built.spec(), seed);
            let built = there_and_back::<AlphaTool>(width, 3, negated, seed);
            check(&built, built.spec(), seed);
        }
    }
}

/// With tables in setup: a label for each bit of one number, and in A what the other one is masked with.
#[test]
fn labels_of_one_number_are_sent_online() {
    let seed = seed();
    let (labels, element) = (16 * 32 * 10, 4 * 10);
    let sent = |built: &Built| {
        check(built, built.spec(), seed);
        let plan = Plan::new(built.spec()).unwrap();
        let of = |party: usize| {
            let all = plan.operations(Party::new(party)).into_iter();
            let of_split =
                |name: &str| name.starts_with("addends/") || name.starts_with("circuit/");
            let ours = all.filter(|one| one.name.as_deref().is_some_and(of_split));
            ours.map(|one| one.online.bytes_sent).sum::<u64>()
        };
        [of(0), of(1)]
    };
    let plain = there_and_back::<ArithmeticGmwTool>(Width::W32, 10, false, seed);
    assert_eq!(sent(&plain), [labels, element]);
    let masked = there_and_back::<AlphaTool>(Width::W32, 10, false, seed);
    assert_eq!(sent(&masked), [labels, 0]);
}

/// Constants, rearrangements and sums along an axis keep what is prepared; tables are in setup, or, where they are
/// many and nobody asks for it, online.
#[test]
fn labels_go_through_local_operations() {
    let seed = seed();
    let mut builder = Builder::new("product");
    let [x, y] = [8, 8].map(|bits| builder.input(bits));
    let product = builder.mul(&x, &y);
    builder.output(&product);
    let product = Arc::new(Circuit::new(&builder.finish()));
    for lanes in [6, 600] {
        let mut built = Built::new(2, seed);
        let x = built.bits::<YaoTool>(8, lanes);
        let y = built.bits::<YaoTool>(8, lanes);
        let shared = built.bits::<BooleanGmwTool>(8, lanes);
        let sort = Sort::new(Sharing::PUBLIC, Element::Bits(8), lanes);
        let mut clear = Shares::zeros(sort);
        clear.plane_mut(0, 0).fill(0x5a);
        let graph = &mut built.graph;
        let public = graph.add_one(Public::new(clear), &[]).unwrap();
        let constant = graph
            .add_one(Constant::<YaoTool>::new(), &[public])
            .unwrap();
        let to_labels = ToLabels::<HalfGates>::new();
        let garbled = graph.add_one(to_labels, &[shared]).unwrap();
        let all = graph
            .add_one(Concat { rows: 1 }, &[x, constant, garbled])
            .unwrap();
        let reversed = Layout::Grid {
            start: 3 * lanes - 1,
            axes: vec![(3 * lanes, -1)],
        };
        let all = graph.add_one(Rearrange::new(reversed), &[all]).unwrap();
        let sum = SumAxis {
            count: 3,
            inner: lanes,
            prefixes: false,
        };
        let sum = graph.add_one(sum, &[all]).unwrap();
        let netlist = Arc::new(Netlist::<YaoTool>::new(Arc::clone(&product), 1));
        let z = graph.add(netlist, &[sum, y]).unwrap()[0];
        built.open_to_all::<YaoTool>(z);
        let plan = Plan::new(built.spec()).unwrap();
        let cost = plan.cost(Party::new(0));
        let tables = plan.operations(Party::new(0)).into_iter();
        let tables: u64 = tables.map(|one| one.ahead.bytes_sent).sum();
        let few = lanes == 6;
        assert_eq!(cost.online.bytes_sent > (32 * 56 * lanes) as u64, !few);
        assert_eq!(tables > 0, few);
        check_without_dealer(&built, seed);
        let sequential = PlanSpec {
            phases: Some(Phases::Sequential),
            ..built.spec()
        };
        check(&built, sequential, seed);
    }
}
