//! Programs one after another in a session: kept values against the meaning in the clear, costs, parties that
//! would go on differently, shares of other runs, faults.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;
use std::time::{Duration, Instant};

use madrigal_core::{Cost, Party};
use madrigal_engine::{
    Given, Graph, KeptShares, Opening, Origin, Plan, PlanSpec, RunError, Shares, Sharing, Sort,
    StageOutcome, Stages, Width, run_program, serve,
};
use madrigal_net::transport::{Fault, mesh};
use madrigal_net::{Error, Session, block_on};
use madrigal_operations::{
    ArithmeticGmwTool, Boolean, BooleanGmwTool, Mul, Open, Protocol, ReplicatedTool, Rings, Share,
};
use madrigal_testkit::{World, impatient, must_end_well, run_session_with_fault, seed};

use crate::programs::{Built, equal};

/// All parties, each with a session of its own; a dealer after them if there is one.
fn parties<T: Send>(
    world: &World,
    dealt: bool,
    work: impl AsyncFn(&Session) -> T + Sync,
) -> Vec<T> {
    let work = &work;
    let computing = world.parties() - usize::from(dealt);
    std::thread::scope(|scope| {
        let all = Party::all(world.parties()).zip(mesh(world.parties()));
        let threads: Vec<_> = all
            .map(|(me, transport)| {
                scope.spawn(move || {
                    block_on(async {
                        let session = Session::new(world.config(me), transport);
                        session.greet().await.unwrap();
                        let done = match me.index() < computing {
                            true => Some(work(&session).await),
                            false => {
                                serve(&session, None).await.unwrap();
                                None
                            }
                        };
                        session.close().await;
                        done
                    })
                })
            })
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.collect::<Vec<_>>().into_iter().flatten().collect()
    })
}

/// A stage: its plan, the values of its clear inputs, and what it should open and keep.
struct Stage {
    plan: Plan,
    inputs: Vec<Shares>,
    expected: Vec<Shares>,
}

fn is_shared(value: &Sort) -> bool {
    !value.sharing.is_clear()
}

impl Stage {
    fn new(graph: Graph, clear: &[Shares], kept: &[Shares], spec: &Spec) -> Self {
        let mut given = (clear.iter(), kept.iter());
        let of = |value: &_| match is_shared(graph.sort(*value)) {
            true => given.1.next().unwrap().clone(),
            false => given.0.next().unwrap().clone(),
        };
        let all: Vec<Shares> = graph.inputs().iter().map(of).collect();
        let expected = graph.simulate(&all).unwrap();
        let spec = PlanSpec {
            opening: spec.opening,
            origin: spec.origin.clone(),
            threads: spec.threads,
            ..PlanSpec::new(graph)
        };
        Self {
            plan: Plan::new(spec).unwrap(),
            inputs: clear.to_vec(),
            expected,
        }
    }

    fn graph(&self) -> &Graph {
        &self.plan.spec().graph
    }

    /// Kept values, in the clear.
    fn kept(&self) -> Vec<Shares> {
        let outputs = self.expected.iter().zip(self.graph().outputs());
        let kept = outputs.filter(|(_, value)| is_shared(self.graph().sort(**value)));
        kept.map(|(shares, _)| shares.clone()).collect()
    }

    fn given(&self, me: Party) -> Given<'static> {
        let sorts = self.graph().inputs().iter();
        let sorts = sorts.map(|&value| *self.graph().sort(value));
        let clear = sorts.filter(|sort| !is_shared(sort)).zip(&self.inputs);
        let of = |(sort, shares): (Sort, &Shares)| match sort.sharing.is_known_to(me) {
            true => shares.clone(),
            false => Shares::unknown(sort),
        };
        Given {
            inputs: clear.map(of).collect(),
            ..Given::default()
        }
    }

    async fn run(
        &self,
        stages: &mut Stages,
        me: Party,
        kept: &[&KeptShares],
    ) -> Result<StageOutcome, RunError> {
        let (given, graph) = (self.given(me), self.graph());
        let shared = graph.inputs().iter().copied();
        let shared = shared.filter(|value| is_shared(graph.sort(*value)));
        let kept: Vec<_> = shared.zip(kept.iter().copied()).collect();
        stages.run(&self.plan, given, &kept, None, &|_| {}).await
    }

    fn must_be(&self, me: Party, done: &StageOutcome) {
        let outputs = self.expected.iter().zip(self.graph().outputs());
        let opened = outputs.filter(|(_, value)| !is_shared(self.graph().sort(**value)));
        let opened: Vec<_> = opened.map(|(expected, _)| expected).collect();
        assert_eq!(opened.len(), done.outcome.outputs.len());
        for (expected, found) in opened.iter().zip(&done.outcome.outputs) {
            assert!(equal(found, expected), "{me}: {:?}", self.plan);
        }
        let spent = Cost {
            setup: done.outcome.setup.spent,
            online: done.outcome.online.spent,
        };
        assert_eq!(spent, self.plan.cost(me));
    }
}

#[derive(Clone)]
struct Spec {
    opening: Opening,
    origin: Origin,
    threads: usize,
}

impl Spec {
    fn usual() -> Self {
        Self {
            opening: Opening::Direct,
            origin: Origin::default(),
            threads: 1,
        }
    }
}

fn open_to_all<P: Protocol>(graph: &mut Graph, value: madrigal_engine::Value) {
    let all = Party::all(graph.parties()).collect();
    let opened = graph.add_one(Open::<P>::new(all), &[value]).unwrap();
    graph.output(opened);
}

/// Two inputs are multiplied; the product, an input itself and bits are kept, the other input is opened.
fn first<P: Rings, B: Boolean>(
    sharings: [Sharing; 2],
    width: Width,
    len: usize,
    size: usize,
    seed: u64,
    spec: &Spec,
) -> Stage {
    let mut built = Built::new(size, seed);
    let x = built.ring::<P>(width, len);
    let y = built.ring::<P>(width, len);
    let bits = built.bits::<B>(3, len);
    let graph = &mut built.graph;
    let product = graph.add_one(Mul::<P>::new(), &[x, y]).unwrap();
    for (kept, sharing) in [
        (product, sharings[0]),
        (x, sharings[0]),
        (bits, sharings[1]),
    ] {
        assert_eq!(graph.sort(kept).sharing, sharing);
        graph.output(kept);
    }
    open_to_all::<P>(graph, y);
    Stage::new(built.graph, &built.inputs, &[], spec)
}

/// Kept values are multiplied and opened; one is kept once more as it is, with a new product.
fn later<P: Rings, B: Boolean>(before: &Stage, seed: u64, spec: &Spec) -> Stage {
    later_by::<P, B>(before, 0, seed, spec)
}

/// Later stage that multiplies this one of the kept values.
fn later_by<P: Rings, B: Boolean>(before: &Stage, by: usize, seed: u64, spec: &Spec) -> Stage {
    let size = before.graph().parties();
    let outputs = before.graph().outputs().iter();
    let sorts: Vec<Sort> = outputs
        .map(|&value| *before.graph().sort(value))
        .filter(is_shared)
        .collect();
    let mut built = Built::new(size, seed);
    let product = built.graph.input(sorts[0]);
    let x = built.graph.input(sorts[1]);
    let madrigal_engine::Element::Ring(width) = sorts[0].element else {
        panic!("ring elements are kept first")
    };
    let fresh = built.ring::<P>(width, sorts[0].len);
    let bits = built.graph.input(sorts[2]);
    let graph = &mut built.graph;
    let factor = [product, x][by];
    let again = graph.add_one(Mul::<P>::new(), &[factor, fresh]).unwrap();
    for kept in [again, x, bits] {
        graph.output(kept);
    }
    open_to_all::<B>(graph, bits);
    open_to_all::<P>(graph, again);
    Stage::new(built.graph, &built.inputs, &before.kept(), spec)
}

fn chain<P: Rings, B: Boolean>(sharings: [Sharing; 2], size: usize, len: usize, spec: &Spec) {
    let seed = seed();
    let width = [Width::W8, Width::W32, Width::W64, Width::W128][seed as usize % 4];
    let mut all = vec![first::<P, B>(sharings, width, len, size, seed, spec)];
    for stage in 1..4 {
        let next = later::<P, B>(all.last().unwrap(), seed + stage, spec);
        all.push(next);
    }
    let helpers = spec.origin.helpers();
    let world = World::light(size + helpers, seed);
    parties(&world, helpers > 0, async |session| {
        let me = session.me();
        let mut stages = Stages::new(session, 1);
        let mut kept: Vec<KeptShares> = Vec::new();
        for stage in &all {
            let shares: Vec<&KeptShares> = kept.iter().collect();
            let done = stage.run(&mut stages, me, &shares).await;
            let done = done.unwrap_or_else(|error| panic!("{me}: {error}"));
            stage.must_be(me, &done);
            kept = done.kept;
        }
        assert_eq!(stages.ended(), 4);
    });
}

#[test]
fn kept_values_are_what_later_stages_compute_with() {
    let relay = Spec {
        opening: Opening::Relay,
        threads: 2,
        ..Spec::usual()
    };
    let dealt = Spec {
        origin: Origin::Dealer,
        ..Spec::usual()
    };
    for spec in [Spec::usual(), relay, dealt] {
        for size in [2, 3, 5] {
            for len in [1, 7, 100] {
                chain::<ArithmeticGmwTool, BooleanGmwTool>(
                    [Sharing::A, Sharing::B],
                    size,
                    len,
                    &spec,
                );
            }
        }
        for len in [1, 7, 100] {
            chain::<ReplicatedTool, ReplicatedTool>([Sharing::R; 2], 3, len, &spec);
        }
    }
}

fn two_stages(size: usize, seed: u64) -> [Stage; 2] {
    type A = ArithmeticGmwTool;
    type B = BooleanGmwTool;
    let spec = Spec::usual();
    let first = first::<A, B>([Sharing::A, Sharing::B], Width::W32, 5, size, seed, &spec);
    let second = later::<A, B>(&first, seed + 1, &spec);
    [first, second]
}

/// Equal inputs are shared twice: what is drawn for one stage is not drawn for another.
#[test]
fn shares_differ_between_stages_and_are_not_shown() {
    let seed = seed();
    let [stage, _] = two_stages(2, seed);
    let world = World::new(2, seed);
    parties(&world, false, async |session| {
        let me = session.me();
        let run = async |job| {
            let done = run_program(session, job, &stage.plan, stage.given(me), None, &|_| {});
            done.await.unwrap().outputs
        };
        let (a, b) = (run(1).await, run(2).await);
        for (a, b) in a[..2].iter().zip(&b[..2]) {
            assert_eq!(a.sort().sharing, Sharing::A);
            assert_ne!(a.component::<u32>(0), b.component::<u32>(0), "{me}: {a:?}");
        }
        let mut stages = Stages::new(session, 3);
        let done = stage.run(&mut stages, me, &[]).await.unwrap();
        let shown = format!("{:?}", done.kept[1]);
        assert_eq!(shown, "KeptShares(stage 0 value 1: 5 x u32 (A))");
    });
}

/// Error that each of three parties has where the last one goes on with another program, or other values.
fn differing(
    world: &World,
    go_on: impl AsyncFn(&mut Stages, Party, Vec<KeptShares>, &[Stage; 2]) -> RunError + Sync,
) -> Vec<RunError> {
    let stages = two_stages(3, 7);
    let begin = Instant::now();
    let errors = parties(world, false, async |session| {
        let me = session.me();
        let mut run = Stages::new(session, 1);
        let kept = stages[0].run(&mut run, me, &[]).await.unwrap().kept;
        let error = go_on(&mut run, me, kept, &stages).await;
        // It is over for this party, whatever is asked for next.
        let again = stages[0].run(&mut run, me, &[]).await.unwrap_err();
        assert_eq!(again, error);
        error
    });
    assert!(begin.elapsed() < Duration::from_secs(5), "no party hangs");
    errors
}

#[test]
fn parties_that_go_on_with_other_programs_learn_which_operation_differs() {
    let world = World::new(3, seed());
    let spec = Spec::usual();
    let first = &two_stages(3, 7)[0];
    let other = later_by::<ArithmeticGmwTool, BooleanGmwTool>(first, 1, 8, &spec);
    let errors = differing(&world, async |run, me, kept, stages| {
        let kept: Vec<&KeptShares> = kept.iter().collect();
        let next = if me.index() == 2 { &other } else { &stages[1] };
        next.run(run, me, &kept).await.unwrap_err()
    });
    // Whoever compares first gives up, and the others may hear of that before they have compared.
    let found = |error: &RunError| matches!(error, RunError::Net(Error::Program { what, .. }) if what.starts_with("operation "));
    assert!(errors.iter().any(found), "{errors:?}");
    for error in &errors {
        let text = error.to_string();
        assert!(
            text.contains("operation ") && text.contains("mul"),
            "{text}"
        );
    }
}

#[test]
fn parties_that_take_other_kept_values_learn_which() {
    let world = World::new(3, seed());
    let errors = differing(&world, async |run, me, kept, _| {
        let mut graph = Graph::new(3);
        let input = graph.input(*kept[0].sort());
        open_to_all::<ArithmeticGmwTool>(&mut graph, input);
        let plan = Plan::new(PlanSpec::new(graph)).unwrap();
        // Values of one sort: the parties compare where they come from.
        let kept = [(input, &kept[usize::from(me.index() == 2)])];
        let done = run.run(&plan, Given::default(), &kept, None, &|_| {}).await;
        done.unwrap_err()
    });
    for error in errors {
        let told = error.to_string();
        assert!(
            told.contains("stage 0 value 0") && told.contains("stage 0 value 1"),
            "{told}"
        );
    }
}

#[test]
fn values_of_another_run_are_refused_before_anything_is_sent() {
    let seed = seed();
    let all = two_stages(2, seed);
    let world = World::new(2, seed);
    parties(&world, false, async |session| {
        let me = session.me();
        let mut one = Stages::new(session, 1);
        let kept = all[0].run(&mut one, me, &[]).await.unwrap().kept;
        let mut other = Stages::new(session, 2);
        all[0].run(&mut other, me, &[]).await.unwrap();
        let kept: Vec<&KeptShares> = kept.iter().collect();
        let sent = session.wire_bytes_sent();
        let error = all[1].run(&mut other, me, &kept).await.unwrap_err();
        assert!(error.to_string().contains("another run"), "{error}");
        assert_eq!(session.wire_bytes_sent(), sent);
        // As are too few of them, and shares where clear values are asked for.
        let mut third = Stages::new(session, 3);
        let error = all[1].run(&mut third, me, &kept[..2]).await.unwrap_err();
        assert!(
            error.to_string().contains("kept values are 2; 1 others"),
            "{error}"
        );
        let mut graph = Graph::new(2);
        let value = Shares::ring_of(Sharing::A, vec![1_u32, 2]);
        let input = graph.input(value.sort().shared(Sharing::clear(&[me])));
        let shared = graph
            .add_one(Share::<ArithmeticGmwTool>::new(me), &[input])
            .unwrap();
        open_to_all::<ArithmeticGmwTool>(&mut graph, shared);
        let plan = Plan::new(PlanSpec::new(graph)).unwrap();
        let given = Given {
            inputs: vec![value],
            ..Given::default()
        };
        let run = run_program(session, 9, &plan, given, None, &|_| {});
        let error = run.await.unwrap_err();
        assert!(matches!(error, RunError::Values { .. }), "{error}");
    });
}

/// One that has left between stages is named by the others at once.
#[test]
fn a_party_that_leaves_between_stages_is_named() {
    let seed = seed();
    let stages = two_stages(3, seed);
    let world = World::new(3, seed);
    let begin = Instant::now();
    let ended = parties(&world, false, async |session| {
        let me = session.me();
        let mut run = Stages::new(session, 1);
        let kept = stages[0].run(&mut run, me, &[]).await.unwrap().kept;
        let kept: Vec<&KeptShares> = kept.iter().collect();
        match me.index() {
            2 => None,
            _ => Some(stages[1].run(&mut run, me, &kept).await.unwrap_err()),
        }
    });
    let errors: Vec<RunError> = ended.into_iter().flatten().collect();
    assert_eq!(errors.len(), 2);
    // Whoever hears of it second may hear it from the other one, or first that this one has left because of it.
    let lost = |error: &&RunError| match error {
        RunError::Net(Error::Lost { peer, .. }) => *peer == Party::new(2),
        _ => false,
    };
    let told = format!("{} {}", errors[0], errors[1]);
    assert!(errors.iter().any(|error| lost(&error)), "{told}");
    let network = |error: &RunError| {
        matches!(
            error,
            RunError::Net(Error::Lost { .. } | Error::Aborted { .. })
        )
    };
    assert!(errors.iter().all(network), "{told}");
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn stages_under_random_faults_end_right_or_with_an_error() {
    crate::faults::under_random_faults([2, 3], |size, seed| {
        let fault = Fault {
            at: (seed >> 8) as u32 % 36,
            ..Fault::random(seed, size)
        };
        let stages = Arc::new(two_stages(size, seed));
        let trial = |patience| {
            let (world, limit) = impatient(size, seed, patience);
            let (judge, stages) = (Arc::clone(&stages), Arc::clone(&stages));
            let right = move |_: Party, opened: &Vec<Shares>| {
                let outputs = judge[1].expected.iter().zip(judge[1].graph().outputs());
                let expected =
                    outputs.filter(|(_, value)| !is_shared(judge[1].graph().sort(**value)));
                let mut both = expected.zip(opened);
                both.all(|((expected, _), found)| equal(found, expected))
            };
            let work = move |session: Session| {
                let stages = Arc::clone(&stages);
                async move {
                    let mut run = Stages::new(&session, 1);
                    let (mut kept, mut opened) = (Vec::new(), Vec::new());
                    for stage in &*stages {
                        let shares: Vec<&KeptShares> = kept.iter().collect();
                        let done = match stage.run(&mut run, session.me(), &shares).await {
                            Ok(done) => done,
                            Err(RunError::Net(error)) => return Err(error),
                            Err(other) => panic!("{other}"),
                        };
                        (kept, opened) = (done.kept, done.outcome.outputs);
                    }
                    Ok(opened)
                }
            };
            run_session_with_fault(&world, fault, limit, work, right)
        };
        must_end_well(&format!("MADRIGAL_FAULT={size},{seed}"), trial).fired
    });
}
