//! Programs at the edges: without elements, among the most parties, too large, given up; parties that
//! do not mean the same one.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use madrigal_circuit::Builder;
use madrigal_core::{MAX_PARTIES, Party};
use madrigal_correlations::MatrixShape;
use madrigal_engine::{
    Element, Given, Graph, Outcome, Plan, PlanSpec, RunError, Shares, Sharing, Sort, Width,
    evaluate_program, run_program,
};
use madrigal_net::transport::mesh;
use madrigal_net::{Session, block_on, breathe};
use madrigal_operations::{
    Addends, ArithmeticGmwTool, BitTimes, Boolean, BooleanGmwTool, Circuit, Compose, Concat,
    Constant, Dot, Layout, Linear, MatrixProduct, Mul, MulPublic, Narrow, Netlist, Open, Rearrange,
    Repeat, ReplicatedTool, Rings, Rounding, Square, SumAxis, Truncate,
};
use madrigal_testkit::{World, seed};

use crate::programs::{Built, check, check_all, own};

/// Each party runs its own plan with its own inputs.
pub(crate) fn run_each(plans: &[Plan], inputs: &[Vec<Shares>]) -> Vec<Result<Outcome, RunError>> {
    let world = &World::new(plans.len(), seed());
    std::thread::scope(|scope| {
        let parties = Party::all(plans.len()).zip(mesh(plans.len()));
        let threads: Vec<_> = parties
            .zip(plans.iter().zip(inputs))
            .map(|((me, transport), (plan, inputs))| {
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(world.config(me), transport);
                        session.greet().await.unwrap();
                        let given = Given {
                            inputs: inputs.clone(),
                            ..Given::default()
                        };
                        let outcome = run_program(&session, 1, plan, given, None, &|_| {}).await;
                        session.close().await;
                        outcome
                    })
                })
            })
            .collect();
        let threads = threads.into_iter();
        threads.map(|thread| thread.join().unwrap()).collect()
    })
}

fn plan(graph: Graph) -> Plan {
    Plan::new(PlanSpec::new(graph)).unwrap()
}

/// All operations on vectors of no elements.
fn on_nothing<P: Rings, B: Boolean>(parties: usize, seed: u64) -> Built {
    let mut built = Built::new(parties, seed);
    let width = Width::W32;
    let x = built.ring::<P>(width, 0);
    let y = built.ring::<P>(width, 0);
    let full = built.ring::<P>(width, 6);
    let flags = built.bits::<B>(1, 0);
    let public = built.public(Shares::ring_of(Sharing::PUBLIC, Vec::<u32>::new()));
    let graph = &mut built.graph;
    let mut made = vec![
        graph.add_one(Mul::<P>::new(), &[x, y]).unwrap(),
        graph.add_one(Square::<P>::new(), &[x]).unwrap(),
        graph.add_one(Linear::<P>::sum(), &[x, y]).unwrap(),
        graph.add_one(Dot::<P>::new(3), &[x, y]).unwrap(),
        graph.add_one(MulPublic::<P>::new(), &[x, public]).unwrap(),
        graph.add_one(Constant::<P>::new(), &[public]).unwrap(),
        graph.add_one(BitTimes::<P>::new(), &[flags, x]).unwrap(),
    ];
    let none = Layout::Grid {
        start: 0,
        axes: vec![(0, 1), (4, 1)],
    };
    made.push(graph.add_one(Rearrange::new(none), &[full]).unwrap());
    let none = Layout::Picked(Arc::new([]));
    made.push(graph.add_one(Rearrange::new(none), &[full]).unwrap());
    let sum = SumAxis {
        count: 2,
        inner: 3,
        prefixes: false,
    };
    made.push(graph.add_one(sum, &[x]).unwrap());
    let shape = MatrixShape {
        rows: 2,
        inner: 3,
        columns: 0,
    };
    let product = MatrixProduct::<P>::new(1, shape);
    made.push(graph.add_one(product, &[full, x]).unwrap());
    let addends = Addends::<P>::new(parties, false);
    let parts = graph.add(Arc::new(addends), &[x]).unwrap();
    let mut builder = Builder::new("and");
    let a = builder.input(32);
    let b = builder.mul(&a, &a);
    builder.output(&b);
    let circuit = Arc::new(Circuit::new(&builder.finish()));
    let netlist = Netlist::<B>::new(circuit, 0);
    let bits = graph.add(Arc::new(netlist), &parts[..1]).unwrap();
    let back = Compose::<P>::new(width, true);
    made.push(graph.add_one(back, &bits).unwrap());
    let mut body = Graph::new(parties);
    let state = body.argument(*graph.sort(x));
    let next = body.add_one(Mul::<P>::new(), &[state, state]).unwrap();
    let repeat = Repeat::new(3, body, vec![state], None, vec![next]);
    made.push(graph.add_one(repeat, &[x]).unwrap());
    made.push(full);
    let all = graph.add_one(Concat { rows: 1 }, &made).unwrap();
    let narrow = graph.add_one(Narrow::new(Width::W8), &[x]).unwrap();
    built.open_to_all::<P>(all);
    built.open::<P>(narrow, &[0]);
    built.open_to_all::<B>(bits[0]);
    built
}

#[test]
fn vectors_of_no_elements_cost_nothing() {
    let seed = seed();
    check_all(
        &on_nothing::<ArithmeticGmwTool, BooleanGmwTool>(2, seed),
        seed,
    );
    let mut built = on_nothing::<ReplicatedTool, ReplicatedTool>(3, seed);
    let x = built.ring::<ReplicatedTool>(Width::W64, 0);
    for rounding in [Rounding::Exact, Rounding::Near, Rounding::Probabilistic] {
        let truncate = Truncate::new(3, rounding);
        let z = built.graph.add_one(truncate, &[x]).unwrap();
        built.open_to_all::<ReplicatedTool>(z);
    }
    check_all(&built, seed);
}

/// Numbers of no bits are zeros; openings of nothing at all are nothing.
#[test]
fn values_of_no_bits() {
    let seed = seed();
    let mut built = Built::new(2, seed);
    let none = built.bits::<BooleanGmwTool>(0, 5);
    for signed in [false, true] {
        let compose = Compose::<ArithmeticGmwTool>::new(Width::W16, signed);
        let zeros = built.graph.add_one(compose, &[none]).unwrap();
        built.open_to_all::<ArithmeticGmwTool>(zeros);
    }
    check(&built, PlanSpec::new(built.graph.clone()), seed);
}

#[test]
fn as_many_parties_as_there_can_be() {
    let seed = seed();
    let mut built = Built::new(MAX_PARTIES, seed);
    let values: Vec<_> = (0..MAX_PARTIES)
        .map(|_| built.ring::<ArithmeticGmwTool>(Width::W64, 3))
        .collect();
    let linear = Linear::<ArithmeticGmwTool>::new(vec![1; MAX_PARTIES], 7);
    let sum = built.graph.add_one(linear, &values).unwrap();
    built.open_to_all::<ArithmeticGmwTool>(sum);
    built.open::<ArithmeticGmwTool>(values[0], &[MAX_PARTIES - 1, 1]);
    check(&built, PlanSpec::new(built.graph.clone()), seed);
}

#[test]
fn sizes_that_nobody_can_count_are_refused() {
    let mut graph = Graph::new(2);
    let sort = |len| Sort::new(Sharing::PUBLIC, Element::Ring(Width::W128), len);
    let small = graph.input(sort(4));
    let huge = graph.input(sort(1 << 60));
    let constant = Constant::<ArithmeticGmwTool>::new();
    assert!(graph.add_one(constant, &[huge]).is_err());
    assert!(graph.add_one(Concat { rows: 1 }, &[huge; 16]).is_err());
    for axes in [
        vec![(1 << 33, 0), (1 << 33, 0)],
        vec![(1 << 32, 0), (1 << 32, 0)],
        vec![(1 << 60, 0)],
    ] {
        let layout = Layout::Grid { start: 0, axes };
        assert!(graph.add_one(Rearrange::new(layout), &[small]).is_err());
    }
    let shape = MatrixShape {
        rows: 1 << 24,
        inner: 1 << 24,
        columns: 1 << 24,
    };
    let square = graph.input(Sort::new(
        Sharing::PUBLIC,
        Element::Ring(Width::W8),
        1 << 48,
    ));
    let shared = graph
        .add_one(Constant::<ArithmeticGmwTool>::new(), &[square])
        .unwrap();
    let product = MatrixProduct::<ArithmeticGmwTool>::new(1, shape);
    let error = graph.add_one(product, &[shared, shared]).unwrap_err();
    assert!(error.to_string().contains("matrix-product/1"), "{error}");
}

/// Two sums, with differences for one of them at the second party.
fn sums(count: usize, differs: Option<usize>) -> Graph {
    let mut built = Built::new(2, 1);
    let x = built.ring::<ArithmeticGmwTool>(Width::W64, 3);
    let mut sum = x;
    for step in 0..count {
        let next = if differs == Some(step) {
            Linear::<ArithmeticGmwTool>::difference()
        } else {
            Linear::<ArithmeticGmwTool>::sum()
        };
        sum = built.graph.add_one(next, &[sum, x]).unwrap();
    }
    built.open_to_all::<ArithmeticGmwTool>(sum);
    built.graph
}

/// The error of both parties, which run different programs.
pub(crate) fn difference(graphs: [Graph; 2]) -> String {
    let inputs = [0, 1].map(|me| {
        let graph = &graphs[me];
        let zeros = |value| Shares::zeros(*graph.sort(value));
        let values: Vec<Shares> = graph.inputs().iter().copied().map(zeros).collect();
        own(graph, &values, Party::new(me))
    });
    let ended = run_each(&graphs.map(plan), &inputs);
    let texts = ended
        .into_iter()
        .map(|ended| ended.unwrap_err().to_string());
    let [first, second]: [String; 2] = texts.collect::<Vec<_>>().try_into().unwrap();
    assert!(second.contains("runs another program"), "{second}");
    first
}

#[test]
fn parties_with_different_programs_learn_which_operation_differs() {
    // After an input and its sharing.
    let error = difference([sums(5, None), sums(5, Some(3))]);
    let wanted = [
        "operation 5 is linear/1 in A, 1 1 and 0 of 4.0 1.0",
        "linear/1 in A, 1 -1 and 0 of 4.0 1.0",
    ];
    assert!(wanted.iter().all(|part| error.contains(part)), "{error}");
    // A job has few facts: of a long program they show groups of operations.
    let error = difference([sums(500, None), sums(500, Some(498))]);
    assert!(error.contains("operations 4"), "{error}");
    assert!(error.contains("to 502 is"), "{error}");
}

/// However many facts the caller has: none is left out of the comparison.
#[test]
fn facts_beyond_those_that_are_sent_count() {
    let inputs = [0, 1].map(|me| {
        let values = Shares::ring_of(Sharing::PUBLIC, vec![1_u64; 3]);
        own(&sums(1, None), &[values], Party::new(me))
    });
    let plans = |last: [&str; 2]| {
        last.map(|last| {
            let mut also: Vec<_> = (0..99).map(|i| (format!("fact {i}"), "x".into())).collect();
            also[98].1 = last.to_owned();
            Plan::new(PlanSpec {
                also,
                ..PlanSpec::new(sums(1, None))
            })
            .unwrap()
        })
    };
    assert!(
        run_each(&plans(["x"; 2]), &inputs)
            .iter()
            .all(Result::is_ok)
    );
    for ended in run_each(&plans(["x", "y"]), &inputs) {
        let error = ended.unwrap_err().to_string();
        assert!(error.contains("all facts in full"), "{error}");
    }
}

/// Each party brings its own copy of a public value.
#[test]
fn parties_with_different_public_values_learn_it() {
    let mut built = Built::new(2, seed());
    let x = built.ring::<ArithmeticGmwTool>(Width::W64, 3);
    let public = built.public(Shares::ring_of(Sharing::PUBLIC, vec![1_u64, 2, 3]));
    let product = MulPublic::<ArithmeticGmwTool>::new();
    let scaled = built.graph.add_one(product, &[x, public]).unwrap();
    built.open_to_all::<ArithmeticGmwTool>(scaled);
    let plans = [plan(built.graph.clone()), plan(built.graph.clone())];
    let mut inputs = [0, 1].map(|me| own(&built.graph, &built.inputs, Party::new(me)));
    assert!(run_each(&plans, &inputs).iter().all(Result::is_ok));
    inputs[1][1] = Shares::ring_of(Sharing::PUBLIC, vec![1_u64, 2, 4]);
    for ended in run_each(&plans, &inputs) {
        let error = ended.unwrap_err().to_string();
        assert!(error.contains("public values"), "{error}");
    }
}

#[test]
fn inputs_of_another_kind_are_refused_before_anything_is_sent() {
    let mut graph = Graph::new(3);
    let clear = Sort::new(Sharing::PUBLIC, Element::Bits(2), 5);
    let x = graph.input(clear);
    graph.output(x);
    let shared = Shares::zeros(clear.shared(Sharing::R));
    let plans = [&graph; 3].map(|graph| plan(graph.clone()));
    for ended in run_each(&plans, &[&shared; 3].map(|shared| vec![shared.clone()])) {
        assert!(matches!(ended, Err(RunError::Values { .. })), "{ended:?}");
    }
    // An argument is for bodies of loops.
    let mut graph = Graph::new(2);
    let x = graph.argument(clear.shared(Sharing::B));
    let open = Open::<BooleanGmwTool>::new(vec![Party::new(0)]);
    let opened = graph.add_one(open, &[x]).unwrap();
    graph.output(opened);
    let plans = [&graph; 2].map(|graph| plan(graph.clone()));
    let unknown = Shares::unknown(clear.shared(Sharing::B));
    for ended in run_each(&plans, &[&unknown; 2].map(|value| vec![value.clone()])) {
        assert!(matches!(ended, Err(RunError::Values { .. })), "{ended:?}");
    }
}

/// Who brings a clear value may call it known to whomever: it is what the program says.
#[test]
fn inputs_are_known_to_whom_the_program_says() {
    let mut graph = Graph::new(2);
    let sort = Sort::new(Sharing::PUBLIC, Element::Ring(Width::W8), 2);
    let (x, y) = (graph.input(sort), graph.input(sort));
    let both = graph.add_one(Concat { rows: 1 }, &[x, y]).unwrap();
    graph.output(both);
    let mine = Sharing::clear(&[Party::new(0)]);
    let inputs = vec![
        Shares::ring_of(mine, vec![1_u8, 2]),
        Shares::ring_of(Sharing::PUBLIC, vec![3_u8, 4]),
    ];
    let plans = [plan(graph.clone()), plan(graph)];
    for ended in run_each(&plans, &[inputs.clone(), inputs]) {
        let outputs = ended.unwrap().outputs;
        assert_eq!(outputs[0].component::<u8>(0), [1, 2, 3, 4]);
    }
}

/// Threads that wait for correlations that will never be made end with the future they work for.
#[test]
fn threads_end_when_the_program_is_given_up() {
    let mut built = Built::new(2, 1);
    for _ in 0..4 {
        let x = built.ring::<ArithmeticGmwTool>(Width::W64, 3);
        let product = Mul::<ArithmeticGmwTool>::new();
        let z = built.graph.add_one(product, &[x, x]).unwrap();
        built.open_to_all::<ArithmeticGmwTool>(z);
    }
    let (graph, inputs) = (&built.graph, &built.inputs);
    let ended = World::new(2, seed()).run_over(mesh(2), |context| async move {
        let plan = Plan::new(PlanSpec {
            threads: 2,
            ..PlanSpec::new(graph.clone())
        })
        .unwrap();
        assert!(plan.strands() > 1, "work for both threads");
        let held = Arc::downgrade(&plan.spec().graph);
        if context.me().index() == 0 {
            let given = Given {
                inputs: own(graph, inputs, context.me()),
                ..Given::default()
            };
            let mut work = pin!(evaluate_program(&context, &plan, given, &|_| {}));
            let start = Instant::now();
            // The other party does not take part: this one waits for it.
            while start.elapsed() < Duration::from_millis(200) {
                let poll = poll_fn(|task| Poll::Ready(work.as_mut().poll(task))).await;
                assert!(poll.is_pending());
                breathe().await;
            }
        }
        drop(plan);
        let start = Instant::now();
        while held.strong_count() > 0 {
            let late = start.elapsed() > Duration::from_secs(10);
            assert!(!late, "threads still hold the program");
            breathe().await;
        }
        Ok(())
    });
    // A job of which a part was given up cannot end well.
    let error = ended[0].as_ref().unwrap_err().to_string();
    assert!(error.contains("given up"), "{error}");
}
