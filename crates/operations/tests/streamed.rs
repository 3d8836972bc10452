//! Boolean triples handed out while they are made: right results at the declared cost, and taken where they save
//! time.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_circuit::Builder;
use madrigal_core::Party;
use madrigal_core::time::{Link, Rates};
use madrigal_correlations::Kind;
use madrigal_engine::{Opening, Origin, Phases, Plan, PlanSpec, Width};
use madrigal_operations::{
    ArithmeticGmwTool, BooleanGmwTool, Circuit, CircuitJob, Mul, Netlist, Repeat,
};
use madrigal_testkit::seed;

use crate::common::{netlist, plan, silent, threaded};
use crate::programs::Built;

/// Sixty layers and six, lanes that fill no byte, several blocks; all sources of triples, also where each thread
/// makes some, of which the last are fewer.
#[test]
fn layers_get_triples_as_they_are_made() {
    let seed = seed();
    for (circuit, parties, lanes) in [
        ("aes_128.txt", 2, 3),
        ("aes_128.txt", 3, 65),
        ("aes_128.txt", 5, 1),
        ("int_gt32_depth.bristol", 2, 70_001),
        ("adder64.txt", 2, 7),
        ("adder64.txt", 3, 1000),
        ("adder64.txt", 5, 64),
    ] {
        let netlist = netlist(circuit);
        let phases = Phases::Interleaved;
        let plan = plan(
            &netlist,
            parties,
            lanes,
            &[0, 1],
            Opening::Direct,
            phases,
            1 << 30,
        );
        for plan in [threaded(&plan, 2), threaded(&plan, 5), silent(&plan), plan] {
            let parts = plan.parts();
            let about = format!("{circuit}, {parties} parties, {lanes} lanes: {parts:?}");
            assert_eq!(parts.len(), 2, "{about}");
            assert!(parts[0].is_empty(), "{about}");
            assert_eq!(parts[1].of(Kind::BitTriples), plan.triples(), "{about}");
            crate::run::check(&plan, &netlist, seed);
        }
    }
}

/// Other correlations come first, and what a loop takes is there when it begins.
#[test]
fn programs_with_other_correlations_and_loops() {
    let seed = seed();
    let mut builder = Builder::new("product");
    let [x, y] = [0; 2].map(|_| builder.input(8));
    let product = builder.mul(&x, &y);
    builder.output(&product);
    let circuit = Arc::new(Circuit::new(&builder.finish()));
    for parties in [2, 3, 5] {
        let mut built = Built::new(parties, seed);
        let [x, y] = [0; 2].map(|_| built.ring::<ArithmeticGmwTool>(Width::W64, 100));
        let product = Mul::<ArithmeticGmwTool>::new();
        let z = built.graph.add_one(product, &[x, y]).unwrap();
        built.open_to_all::<ArithmeticGmwTool>(z);
        let [x, y] = [0; 2].map(|_| built.bits::<BooleanGmwTool>(8, 100));
        let mut body = madrigal_engine::Graph::new(parties);
        let state = body.argument(*built.graph.sort(x));
        let times = || Netlist::<BooleanGmwTool>::new(Arc::clone(&circuit), 1);
        let once = body.add_one(times(), &[state, state]).unwrap();
        let next = body.add_one(times(), &[once, state]).unwrap();
        let repeat = Repeat::new(3, body, vec![state], None, vec![next]);
        let looped = built.graph.add_one(repeat, &[x]).unwrap();
        let z = built.graph.add_one(times(), &[looped, y]).unwrap();
        built.open_to_all::<BooleanGmwTool>(z);
        for threads in [1, 2] {
            let spec = PlanSpec {
                phases: Some(Phases::Interleaved),
                threads,
                ..built.spec()
            };
            let plan = Plan::new(spec.clone()).unwrap();
            let [others, triples] = plan.parts() else {
                panic!("other correlations, and triples: {:?}", plan.parts());
            };
            assert_eq!(others.of(Kind::BitTriples), 0);
            assert_eq!(others.of(Kind::RingTriples(Width::W64)), 100);
            assert_eq!(triples.kinds().len(), 1);
            crate::programs::check(&built, spec, seed);
        }
    }
}

/// On a line with a long round trip, where layers pass while triples are made; nowhere else, and not where the
/// caller says otherwise.
#[test]
fn phases_are_interleaved_where_that_saves_time() {
    let line = |milliseconds: f64| Link {
        latency: milliseconds / 1e3,
        bytes_per_second: Some(125e6),
    };
    let circuit = Arc::new(Circuit::new(&netlist("aes_128.txt")));
    let spec = |lanes, line| {
        let job = CircuitJob {
            lanes,
            ..CircuitJob::new(Arc::clone(&circuit), 2)
        };
        PlanSpec {
            line,
            ..job.spec().unwrap()
        }
    };
    let phases = |spec: PlanSpec| Plan::fastest(spec).unwrap().phases();
    let far = spec(3000, line(50.0));
    assert_eq!(phases(far.clone()), Phases::Interleaved);
    assert_eq!(phases(spec(3000, line(0.05))), Phases::Sequential);
    assert_eq!(phases(spec(1, line(50.0))), Phases::Sequential);
    let asked = PlanSpec {
        phases: Some(Phases::Sequential),
        ..far.clone()
    };
    assert_eq!(phases(asked), Phases::Sequential);
    // A dealer's triples come all at once.
    let dealt = PlanSpec {
        origin: Origin::Dealer,
        ..far.clone()
    };
    assert_eq!(phases(dealt), Phases::Sequential);
    assert_eq!(Plan::new(far.clone()).unwrap().phases(), Phases::Sequential);
    // The estimate says what is saved: rounds online, nearly all of them.
    let me = Party::new(0);
    let seconds = |plan: Plan| plan.time(me, &Rates::ZEN_5, &far.line);
    let before = seconds(Plan::new(far.clone()).unwrap());
    let after = seconds(Plan::fastest(far.clone()).unwrap());
    assert!(after.total < 0.95 * before.total, "{before:?}, {after:?}");
    assert!(after.total > before.setup.total.max(before.online.total));
}
