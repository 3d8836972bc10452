//! Jobs as the engine runs them: right against the oracle, at the declared cost, for every number of
//! parties, opening and order of phases.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::Path;
use std::sync::Arc;

use crate::common::{Planned, netlist, own, random_rows, schemes};
use madrigal_circuit::{Netlist, Rows};
use madrigal_core::{Cost, Party};
use madrigal_correlations::Needs;
use madrigal_correlations_store::{Store, StoreKey};
use madrigal_engine::{
    Element, Extension, Graph, MAX_THREADS, Means, Opening, Origin, Outcome, Phases, Plan,
    PlanError, PlanSpec, Precomputation, RunError, Sharing, Sort, StoreSpec, Width, serve,
};
use madrigal_kernels::{Block, Prg};
use madrigal_net::transport::{Transport, mesh};
use madrigal_net::{Session, block_on};
use madrigal_operations::{Backend, Brought, Circuit, CircuitJob, JobError, run_rows};
use madrigal_testkit::{World, seed, uncounted};

/// Makes a store that has just what `plan` needs.
async fn make_store(session: &Session, plan: &Planned, directory: &Path) -> Store {
    let key = StoreKey::generate().unwrap();
    let spec = StoreSpec::new(plan.needs());
    let new = Precomputation::new(spec, directory, &key).unwrap();
    new.run(session, 7, None, &|_| {}).await.unwrap();
    Store::open(directory, &key).unwrap()
}

/// Runs `plan` as all parties; checks outputs and costs.
pub(crate) fn check(plan: &Planned, netlist: &Netlist, seed: u64) {
    let (job, spec) = (&plan.job, plan.spec());
    let stores = tempfile::tempdir().unwrap();
    let mut prg = Prg::new(Block::new(seed, 7));
    let inputs = random_rows(netlist.input_bits() as usize, job.lanes, &mut prg);
    let expected = netlist.evaluate(&inputs).unwrap();
    let all = job.parties + spec.origin.helpers();
    let world = World::light(all, seed);
    let reports: Vec<Result<Outcome<Option<Rows>>, RunError>> = std::thread::scope(|scope| {
        let mut transports = mesh(all);
        for transport in transports.split_off(job.parties) {
            let world = &world;
            scope.spawn(move || block_on(help(world, transport)));
        }
        let threads: Vec<_> = Party::all(job.parties)
            .zip(transports)
            .map(|(me, transport)| {
                let (world, inputs) = (&world, own(job, &inputs, me));
                let directory = stores.path().join(me.index().to_string());
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(world.config(me), transport);
                        session.greet().await?;
                        let mut store = match spec.origin {
                            Origin::Store => Some(make_store(&session, plan, &directory).await),
                            _ => None,
                        };
                        let means = store.as_mut().map(Means::from).unwrap_or_default();
                        let inputs = Arc::new(inputs);
                        let dealt = Vec::new();
                        let brought = Brought {
                            inputs,
                            dealt,
                            means,
                        };
                        let work = run_rows(&session, 1, &plan.plan, brought, None, &|_| {});
                        let (report, blocks) = uncounted(work).await;
                        assert_eq!(blocks, 0, "AES blocks that no phase counts");
                        let used = store.iter().flat_map(Store::holdings);
                        used.for_each(|holding| assert_eq!(holding.left(), 0));
                        session.close().await;
                        report
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let about = format!("{} for {} parties, {plan:?}", netlist.name(), job.parties);
    for (me, report) in Party::all(job.parties).zip(reports) {
        let report = report.unwrap_or_else(|error| panic!("{me}: {error}"));
        match report.outputs {
            Some(outputs) => assert!(outputs == expected && job.to.contains(&me), "{me}: {about}"),
            None => assert!(!job.to.contains(&me), "{me}: {about}"),
        }
        let spent = Cost {
            setup: report.setup.spent,
            online: report.online.spent,
        };
        assert_eq!(spent, plan.cost(me), "{me}: {about}");
    }
}

/// A dealer: serves jobs that it knows nothing of until the others leave.
async fn help(world: &World, transport: impl Transport) {
    let dealer = Party::new(world.parties() - 1);
    let session = Session::new(world.config(dealer), transport);
    session.greet().await.unwrap();
    assert_eq!(serve(&session, None).await, Ok(1));
    session.close().await;
}

struct Case<'a> {
    circuit: &'a str,
    parties: usize,
    lanes: usize,
    to: &'a [usize],
    opening: Opening,
    phases: Phases,
    memory: usize,
}

impl Case<'_> {
    fn check(&self, seed: u64) {
        let netlist = netlist(self.circuit);
        let plan = crate::common::plan(
            &netlist,
            self.parties,
            self.lanes,
            self.to,
            self.opening,
            self.phases,
            self.memory,
        );
        check(&plan, &netlist, seed);
        check(&crate::common::dealt(&plan), &netlist, seed);
        if plan.triples() > 0 {
            check(&crate::common::stored(&plan), &netlist, seed);
        }
        check(&crate::common::threaded(&plan, 2), &netlist, seed);
        if self.parties == 3 && self.opening == Opening::Direct {
            let plan = crate::common::replicated(&plan);
            check(&plan, &netlist, seed);
            check(&crate::common::threaded(&plan, 3), &netlist, seed);
        }
        if self.parties == 2 {
            let plan = crate::common::masked(&plan);
            check(&plan, &netlist, seed);
            check(&crate::common::dealt(&plan), &netlist, seed);
            if plan.triples() > 0 {
                check(&crate::common::stored(&plan), &netlist, seed);
            }
            check(&crate::common::threaded(&plan, 2), &netlist, seed);
        }
        if [1, 7, 10, 64, 100, 1000].contains(&self.lanes)
            && [1, self.parties].contains(&self.to.len())
        {
            let plan = crate::common::garbled_by_all(&plan);
            check(&plan, &netlist, seed);
            if self.lanes == 7 {
                check(&crate::common::threaded(&plan, 2), &netlist, seed);
                check(&crate::common::silent(&plan), &netlist, seed);
            }
        }
        if self.parties == 2 && self.opening == Opening::Direct {
            self.check_garbled(&plan, &netlist, seed);
        }
    }

    /// By both schemes; by oblivious transfer, where labels for inputs come from.
    fn check_garbled(&self, plan: &Planned, netlist: &Netlist, seed: u64) {
        for scheme in schemes() {
            let plan = plan.in_protocol(scheme);
            check(&plan, netlist, seed);
            if [7, 100].contains(&self.lanes) {
                check(&crate::common::threaded(&plan, 2), netlist, seed);
                check(&crate::common::silent(&plan), netlist, seed);
            }
        }
    }
}

const CASE: Case<'static> = Case {
    circuit: "adder64.txt",
    parties: 2,
    lanes: 10,
    to: &[0, 1],
    opening: Opening::Direct,
    phases: Phases::Sequential,
    memory: 1 << 30,
};

#[test]
fn every_number_of_lanes_for_two_parties() {
    let seed = seed();
    for lanes in [1, 2, 3, 7, 8, 9, 63, 64, 65, 100, 511, 512, 1000] {
        Case { lanes, ..CASE }.check(seed);
    }
}

#[test]
fn every_number_of_lanes_for_three_parties() {
    let seed = seed();
    for lanes in [1, 7, 8, 9, 64, 65, 128, 512, 1000, 4096, 100_000] {
        Case {
            lanes,
            parties: 3,
            to: &[0, 1, 2],
            ..CASE
        }
        .check(seed);
    }
}

/// Many blocks for each worker, and more threads than blocks.
#[test]
fn many_lanes_on_threads() {
    let seed = seed();
    let netlist = netlist("adder64.txt");
    let plan = |lanes| {
        let phases = Phases::Sequential;
        crate::common::plan(&netlist, 3, lanes, &[1], Opening::Direct, phases, 1 << 30)
    };
    let many = crate::common::replicated(&plan(100_000));
    for threads in [1, 2, 5, 40] {
        check(&crate::common::threaded(&many, threads), &netlist, seed);
    }
    check(&crate::common::threaded(&plan(20_000), 5), &netlist, seed);
    check(&crate::common::threaded(&plan(100), 40), &netlist, seed);
}

/// Twenty parties, two of which have inputs, all take part in every table; at the declared cost.
#[test]
fn twenty_parties_garble_aes() {
    let seed = seed();
    let netlist = netlist("aes_128.txt");
    let phases = Phases::Sequential;
    let plan = crate::common::plan(&netlist, 20, 1, &[0, 19], Opening::Direct, phases, 1 << 30);
    check(&crate::common::garbled_by_all(&plan), &netlist, seed);
}

#[test]
fn numbers_of_threads_that_cannot_be_are_refused() {
    let phases = Phases::Sequential;
    let netlist = netlist("adder64.txt");
    let plan = crate::common::plan(&netlist, 3, 1, &[1], Opening::Direct, phases, 1 << 30);
    for threads in [0, MAX_THREADS + 1] {
        let online = PlanSpec {
            threads,
            ..plan.spec().clone()
        };
        let setup = PlanSpec {
            threads: 1,
            ..plan.spec().clone().on_threads(threads)
        };
        for spec in [online, setup] {
            let refused = Plan::new(spec).map(drop);
            assert_eq!(refused, Err(PlanError::Threads { threads }));
        }
    }
}

#[test]
fn a_dealer_takes_one_place_of_the_session() {
    let plan = |parties| {
        let circuit = Arc::new(Circuit::new(&netlist("adder64.txt")));
        Plan::new(PlanSpec {
            origin: Origin::Dealer,
            ..CircuitJob::new(circuit, parties).spec().unwrap()
        })
    };
    assert!(plan(63).is_ok());
    let refused = plan(64).map(drop);
    assert_eq!(
        refused,
        Err(PlanError::Parties {
            parties: 64,
            most: 63
        })
    );
}

#[test]
fn facts_of_the_caller_are_agreed_on_too() {
    let circuit = Arc::new(Circuit::new(&netlist("adder64.txt")));
    let facts = |also: Option<(&str, &str)>| {
        let mut spec = CircuitJob::new(Arc::clone(&circuit), 3).spec().unwrap();
        let own = also.map(|(name, value)| (name.to_owned(), value.to_owned()));
        spec.also.extend(own);
        Plan::new(spec).unwrap().facts()
    };
    let (with, without) = (facts(Some(("repetitions", "3"))), facts(None));
    assert!(with.contains(&("repetitions".to_owned(), "3".to_owned())));
    assert_eq!(with.len(), without.len() + 1);
}

/// Every thread has work, and triples take no more memory than they may, however many there are.
#[test]
fn large_jobs_are_shared_out_among_all_threads() {
    let circuit = Arc::new(Circuit::new(&netlist("aes_128.txt")));
    for threads in [1, 2, 8, 64] {
        for lanes in [80_000, 1_000_000, 3_000_000] {
            for sharing in [Sharing::B, Sharing::R] {
                let job = CircuitJob {
                    protocol: Backend::of(sharing),
                    lanes,
                    ..CircuitJob::new(Arc::clone(&circuit), 3)
                };
                let plan = Plan::new(job.spec().unwrap().on_threads(threads)).unwrap();
                let about = format!("{sharing}, {threads} threads, {lanes} lanes");
                let parts = plan.parts();
                let most = parts.iter().map(Needs::share_bytes).max().unwrap();
                let copies = u128::from(parts.len() > 1) + 1;
                let kept = copies * most;
                assert!(kept <= plan.spec().memory as u128, "{about}");
                let strands = plan.strands();
                assert!(strands >= 2 * threads, "{about}: {strands}");
            }
        }
    }
}

/// More lanes than anybody has inputs for; what would take too many blocks is refused before it is cut.
#[test]
fn plans_of_many_lanes_take_little_time() {
    let circuit = Arc::new(Circuit::new(&netlist("aes_128.txt")));
    for memory in [160 << 20, usize::MAX] {
        let by_ot = Extension::all().map(Origin::ot);
        for origin in by_ot.chain([Origin::Dealer, Origin::Store]) {
            let cost = |lanes| {
                let job = CircuitJob {
                    lanes,
                    ..CircuitJob::new(Arc::clone(&circuit), 3)
                };
                let spec = PlanSpec {
                    memory,
                    origin: origin.clone(),
                    ..job.spec().unwrap()
                };
                let plan = Plan::new(spec.on_threads(2)).unwrap();
                plan.cost(Party::new(1))
            };
            // Eight lanes fill bytes.
            let (cost, eight) = (cost(1 << 24), cost(8));
            assert_eq!(
                cost.online.bytes_sent,
                eight.online.bytes_sent << 21,
                "{origin}"
            );
            assert!(cost.online.rounds > eight.online.rounds);
            assert!(origin == Origin::Store || cost.setup.aes_blocks >> 18 > 0);
        }
    }
    let job = CircuitJob {
        lanes: 1 << 34,
        ..CircuitJob::new(circuit, 3)
    };
    let refused = Plan::new(PlanSpec {
        memory: 1 << 16,
        ..job.spec().unwrap()
    })
    .unwrap_err();
    assert!(
        matches!(refused, PlanError::TooManyBlocks { .. }),
        "{refused}"
    );
}

#[test]
fn every_number_of_parties_and_opening() {
    let seed = seed();
    for parties in 2..=5 {
        for opening in [Opening::Direct, Opening::Relay] {
            for to in [
                &[0][..],
                &[parties - 1],
                &[0, parties - 1],
                &[1, parties - 1],
                &(0..parties).collect::<Vec<_>>(),
            ] {
                Case {
                    parties,
                    opening,
                    to,
                    ..CASE
                }
                .check(seed);
            }
        }
    }
}

#[test]
fn parts_and_blocks_in_both_orders_of_phases() {
    let seed = seed();
    for parties in [2, 3] {
        for (phases, memory) in [
            (Phases::Sequential, 1 << 30),
            (Phases::Interleaved, 1 << 18),
            (Phases::Interleaved, 1 << 30),
        ] {
            for lanes in [1, 30, 20_000] {
                let circuit = "zero_equal.txt";
                Case {
                    parties,
                    lanes,
                    phases,
                    memory,
                    circuit,
                    to: &[0],
                    ..CASE
                }
                .check(seed);
            }
        }
    }
}

#[test]
fn circuits_without_ands_and_with_constants() {
    let seed = seed();
    for circuit in ["handmade_eq_const.txt", "handmade_mux8_mand.txt"] {
        for parties in [2, 3] {
            Case {
                circuit,
                parties,
                to: &[1],
                ..CASE
            }
            .check(seed);
        }
    }
}

#[test]
fn aes_garbled() {
    for lanes in [1, 7, 100] {
        Case {
            circuit: "aes_128.txt",
            lanes,
            ..CASE
        }
        .check(seed());
    }
}

/// A table for each AND, a bit for each bit of the evaluator's input, and one for each that is opened; it
/// takes the rounds of its messages, whatever the depth of the circuit.
#[test]
fn garbling_takes_three_rounds_and_a_table_for_each_and() {
    let netlist = netlist("aes_128.txt");
    let phases = Phases::Interleaved;
    let plan = crate::common::plan(&netlist, 2, 64, &[0], Opening::Direct, phases, 1 << 30);
    for (scheme, most) in schemes().into_iter().zip([32.0, 24.7]) {
        let plan = plan.in_protocol(scheme);
        let [garbler, evaluator] = [0, 1].map(|party| plan.cost(Party::new(party)).online);
        let each = garbler.bytes_sent as f64 / plan.job.ands() as f64;
        assert!((24.0..=most).contains(&each), "{each} bytes for an AND");
        assert_eq!(evaluator.bytes_sent, (128 + 128) * 64 / 8);
        assert_eq!([garbler.rounds, evaluator.rounds], [3, 3]);
    }
}

/// Tables in setup leave for online a label for each bit of the inputs.
#[test]
fn tables_in_setup_leave_labels_for_online() {
    let netlist = netlist("aes_128.txt");
    for (memory, lanes) in [(1 << 30, 64), (2 << 20, 64)] {
        let phases = Phases::Sequential;
        let plan = crate::common::plan(&netlist, 2, lanes, &[0], Opening::Direct, phases, memory);
        let plan = plan.in_protocol(Backend::of(Sharing::Y2));
        let [garbler, evaluator] = [0, 1].map(|party| plan.cost(Party::new(party)));
        let tables = 32 * plan.job.ands() as u64;
        assert_eq!(
            evaluator.online.bytes_sent,
            ((128 + 128) * lanes / 8) as u64
        );
        let labels = (16 * 256 * lanes) as u64;
        // Tables that do not fit are streamed.
        let kept = memory == 1 << 30;
        let online = if kept { labels } else { tables };
        assert_eq!(garbler.online.bytes_sent, online);
        assert_eq!(garbler.setup.bytes_sent > tables, kept);
        assert_eq!([garbler.online.rounds, evaluator.online.rounds], [3, 3]);
    }
}

#[test]
fn garbling_wants_two_parties_and_correlated_ots() {
    let netlist = netlist("adder64.txt");
    let phases = Phases::Sequential;
    let plan = crate::common::plan(&netlist, 3, 64, &[0], Opening::Direct, phases, 1 << 30);
    let garbled = Backend::of(Sharing::Y2);
    let parties = 3;
    for protocol in [garbled, Backend::of(Sharing::BETA)] {
        let job = CircuitJob {
            protocol,
            ..plan.job.clone()
        };
        let refused = job.spec().map(drop);
        assert_eq!(refused, Err(JobError::Parties { protocol, parties }));
    }
    let plan = crate::common::plan(&netlist, 2, 64, &[0], Opening::Direct, phases, 1 << 30);
    let plan = plan.in_protocol(garbled);
    for origin in [Origin::Dealer, Origin::Store] {
        let spec = PlanSpec {
            origin,
            ..plan.spec().clone()
        };
        let refused = Plan::new(spec).map(drop);
        let correlations = matches!(refused, Err(PlanError::Correlations { .. }));
        assert!(correlations, "{refused:?}");
    }
}

/// Nothing that is wrong with a job reaches a plan.
#[test]
fn jobs_that_do_not_fit_together_are_refused() {
    let job = CircuitJob::new(Arc::new(Circuit::new(&netlist("adder64.txt"))), 2);
    let refused = |change: &dyn Fn(&mut CircuitJob)| {
        let mut job = job.clone();
        change(&mut job);
        job.spec().map(drop).unwrap_err()
    };
    let protocol = Backend::of(Sharing::A);
    assert_eq!(
        refused(&|job| job.protocol = protocol),
        JobError::NoCircuits { protocol }
    );
    assert_eq!(
        refused(&|job| job.owners.truncate(1)),
        JobError::Owners {
            values: 2,
            owners: 1
        }
    );
    let (party, parties) = (2, 2);
    let nobody = JobError::NoSuchParty { party, parties };
    assert_eq!(refused(&|job| job.owners[1] = Some(Party::new(2))), nobody);
    assert_eq!(refused(&|job| job.to.push(Party::new(2))), nobody);
    assert_eq!(refused(&|job| job.to.clear()), JobError::NoReceiver);
    assert_eq!(refused(&|job| job.lanes = 0), JobError::NoLanes);
}

/// Nobody's outputs are lost without a word.
#[test]
fn rows_are_for_the_same_parties() {
    let mut graph = Graph::new(2);
    for owner in Party::all(2) {
        let value = graph.input(Sort::new(Sharing::clear(&[owner]), Element::Bits(1), 3));
        graph.output(value);
    }
    let plan = Plan::new(PlanSpec::new(graph)).unwrap();
    let session = Session::new(
        World::new(2, seed()).config(Party::new(0)),
        mesh(2).into_iter().next().unwrap(),
    );
    let refused = block_on(run_rows(&session, 1, &plan, Rows::new(1, 3), None, &|_| {}));
    let refused = refused.map(drop).unwrap_err().to_string();
    assert!(refused.contains("clear to 0 and clear to 1"), "{refused}");
}

/// A plan of numbers takes no rows.
#[test]
fn rows_are_for_bits() {
    let mut graph = Graph::new(2);
    let sharing = Sharing::clear(&[Party::new(0)]);
    let value = graph.input(Sort::new(sharing, Element::Ring(Width::W64), 3));
    graph.output(value);
    let plan = Plan::new(PlanSpec::new(graph)).unwrap();
    let session = Session::new(
        World::new(2, seed()).config(Party::new(0)),
        mesh(2).into_iter().next().unwrap(),
    );
    let refused = block_on(run_rows(&session, 1, &plan, Rows::new(0, 3), None, &|_| {}));
    let refused = refused.map(drop).unwrap_err();
    assert!(matches!(refused, RunError::Values { .. }), "{refused}");
}

#[test]
fn aes_for_three_parties() {
    Case {
        circuit: "aes_128.txt",
        parties: 3,
        lanes: 100,
        to: &[1],
        ..CASE
    }
    .check(seed());
}

/// Rows that are packed for a message, that are it as they lie, and messages made in pieces.
#[test]
fn sums_of_products_in_any_number_of_lanes() {
    let netlist = netlist("aes_128.txt");
    for lanes in [1, 7, 8, 63, 64, 65, 192, 1000, 2048] {
        let (direct, sequential) = (Opening::Direct, Phases::Sequential);
        let plan = crate::common::plan(&netlist, 3, lanes, &[2], direct, sequential, 1 << 30);
        let plan = crate::common::replicated(&plan);
        assert!(plan.job.circuit.sums().kept() > 0);
        check(&plan, &netlist, seed());
    }
}

/// One bit for each sum of ANDs from each party, nothing before the inputs.
#[test]
fn replicated_sharing_sends_a_bit_for_each_sum() {
    let plan = crate::common::plan(
        &netlist("aes_128.txt"),
        3,
        1024,
        &[0],
        Opening::Direct,
        Phases::Sequential,
        1 << 30,
    );
    let plan = crate::common::replicated(&plan);
    let cost = plan.cost(Party::new(1));
    assert_eq!(cost.setup, Default::default());
    let input = 128 * 1024 / 8;
    let sums = plan.job.circuit.sums().sum_count();
    assert!(sums * 4 < plan.job.circuit.layered().and_count() * 3);
    assert_eq!(cost.online.bytes_sent, (sums * 1024 / 8) as u64 + input);
    let outnumbered = CircuitJob {
        parties: 2,
        ..plan.job.clone()
    };
    let (protocol, parties) = (Backend::of(Sharing::R), 2);
    let refused = outnumbered.spec().map(drop);
    assert_eq!(refused, Err(JobError::Parties { protocol, parties }));
}

#[test]
fn more_lanes_than_can_be_counted_are_refused() {
    let job = CircuitJob::new(Arc::new(Circuit::new(&netlist("adder64.txt"))), 2);
    for lanes in [usize::MAX, usize::MAX / 64, usize::MAX / 400] {
        let refused = CircuitJob {
            lanes,
            ..job.clone()
        };
        let refused = refused.spec().map(drop);
        assert!(
            matches!(refused, Err(JobError::TooManyLanes { .. })),
            "{lanes}: {refused:?}"
        );
    }
}

#[test]
fn several_jobs_at_once_in_one_session() {
    let seed = seed();
    let world = World::new(3, seed);
    let netlist = netlist("adder64.txt");
    let plans = [
        (10, Opening::Direct),
        (700, Opening::Relay),
        (1, Opening::Direct),
    ]
    .map(|(lanes, opening)| {
        crate::common::plan(
            &netlist,
            3,
            lanes,
            &[0, 2],
            opening,
            Phases::Sequential,
            1 << 20,
        )
    });
    let mut prg = Prg::new(Block::new(seed, 3));
    let inputs = plans
        .each_ref()
        .map(|plan| random_rows(128, plan.job.lanes, &mut prg));
    std::thread::scope(|scope| {
        for (me, transport) in Party::all(3).zip(mesh(3)) {
            let (world, plans, inputs, netlist) = (&world, &plans, &inputs, &netlist);
            scope.spawn(move || {
                block_on(async {
                    let session = Session::new(world.config(me), transport);
                    session.greet().await.unwrap();
                    let jobs = plans
                        .iter()
                        .zip(inputs)
                        .zip(1..)
                        .map(|((plan, inputs), id)| {
                            let (session, own) = (&session, own(&plan.job, inputs, me));
                            async move {
                                run_rows(session, id, &plan.plan, own, None, &|_| {})
                                    .await
                                    .unwrap()
                            }
                        });
                    let reports = futures_util::future::join_all(jobs).await;
                    for ((report, plan), inputs) in reports.into_iter().zip(plans).zip(inputs) {
                        let spent = Cost {
                            setup: report.setup.spent,
                            online: report.online.spent,
                        };
                        assert_eq!(spent, plan.cost(me));
                        if let Some(outputs) = report.outputs {
                            assert!(outputs == netlist.evaluate(inputs).unwrap());
                        }
                    }
                    session.close().await;
                })
            });
        }
    });
}
