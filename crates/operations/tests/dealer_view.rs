//! View of a dealer: it does not depend on constants, public inputs or opened values: whoever sees a digest of few bits
//! tests every guess.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::{Arc, Mutex};

use madrigal_core::Party;
use madrigal_engine::{
    Given, Origin, Outcome, Phases, Plan, PlanSpec, RunError, Shares, Sharing, Stages,
    evaluate_program, run_program, serve,
};
use madrigal_net::frame::{Frame, FrameKind};
use madrigal_net::transport::{Inbox, MemoryTransport, Packet, Transport, mesh};
use madrigal_net::{Error, Session, block_on};
use madrigal_operations::{BooleanGmwTool, Circuit, Constant, Netlist, Open, Public};
use madrigal_testkit::{World, seed};

use crate::common::netlist;
use crate::programs::{Built, own};

const PARTIES: usize = 2;
const DEALER: usize = PARTIES;

/// Notes what leaves for the dealer.
struct Tapped(MemoryTransport, Arc<Mutex<Vec<Frame>>>);

impl Transport for Tapped {
    fn attach(&self, inbox: Inbox) {
        self.0.attach(inbox);
    }
    fn send(&self, to: Party, packet: Packet) {
        if to.index() == DEALER {
            self.1.lock().unwrap().extend(packet.frames.iter().cloned());
        }
        self.0.send(to, packet);
    }
    fn close(&self) {
        self.0.close();
    }
}

/// Frames that the dealer hears of jobs from each party, in order, and how all ended.
struct View {
    heard: [Vec<(bool, u64, Vec<u8>)>; PARTIES],
    ended: Vec<Result<(), String>>,
}

impl View {
    fn must_be_well(&self) {
        assert!(self.ended.iter().all(Result::is_ok), "{:?}", self.ended);
    }

    fn shows(&self, text: &str) -> bool {
        let mut payloads = self.heard.iter().flatten();
        payloads.any(|(_, _, bytes)| bytes.windows(text.len()).any(|at| at == text.as_bytes()))
    }
}

/// Runs as all parties with one dealer; each run has the same randomness.
fn watched(
    seed: u64,
    party: impl AsyncFn(&Session) -> Result<(), String> + Sync,
    dealer: impl AsyncFn(&Session) -> Result<(), String> + Sync,
) -> View {
    let world = World::light(PARTIES + 1, seed);
    let heard: Vec<Arc<Mutex<Vec<Frame>>>> = (0..=PARTIES).map(|_| Arc::default()).collect();
    let ended = std::thread::scope(|scope| {
        let all = Party::all(PARTIES + 1).zip(mesh(PARTIES + 1)).zip(&heard);
        let threads: Vec<_> = all
            .map(|((me, transport), heard)| {
                let (world, party, dealer) = (&world, &party, &dealer);
                scope.spawn(move || {
                    block_on(async {
                        let transport = Tapped(transport, Arc::clone(heard));
                        let session = Session::new(world.config(me), transport);
                        session.greet().await.unwrap();
                        let done = match me.index() {
                            DEALER => dealer(&session).await,
                            _ => party(&session).await,
                        };
                        session.close().await;
                        done
                    })
                })
            })
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.collect()
    });
    let heard = std::array::from_fn(|party| {
        let frames = heard[party].lock().unwrap();
        // Frames of a job; acknowledgements and signs of life depend on time.
        let said = frames.iter().filter(|frame| frame.header.job > 0);
        let said =
            said.filter(|frame| matches!(frame.header.kind, FrameKind::Control | FrameKind::Data));
        let of = |frame: &Frame| {
            let control = frame.header.kind == FrameKind::Control;
            (control, frame.header.step, frame.payload.to_vec())
        };
        said.map(of).collect()
    });
    View { heard, ended }
}

async fn deals(session: &Session) -> Result<(), String> {
    let served = serve(session, None).await;
    served.map(drop).map_err(|error| error.to_string())
}

/// A sum of a secret byte and a constant of the program, with a public input beside it, both shown to nobody but the
/// computing parties.
fn program(constant: u8, public: u8, secret: u8) -> (Built, Plan) {
    let byte = |value: u8| {
        let mut rows = madrigal_circuit::Rows::new(8, 1);
        (0..8).for_each(|bit| rows.row_mut(bit)[0] = value >> bit & 1);
        Shares::rows(Sharing::PUBLIC, &rows)
    };
    let mut built = Built::new(PARTIES, 0);
    let x = built.share::<BooleanGmwTool>(byte(secret));
    let public = built.public(byte(public));
    let graph = &mut built.graph;
    let constant = graph.add_one(Public::new(byte(constant)), &[]).unwrap();
    let [constant, public] = [constant, public].map(|value| {
        let shared = Constant::<BooleanGmwTool>::new();
        graph.add_one(shared, &[value]).unwrap()
    });
    let circuit = Arc::new(Circuit::new(&netlist("int_add8_size.bristol")));
    let sum = |graph: &mut madrigal_engine::Graph, a, b| {
        let circuit = Netlist::<BooleanGmwTool>::new(Arc::clone(&circuit), 1);
        graph.add_one(circuit, &[a, b]).unwrap()
    };
    let sum_of_two = sum(graph, x, constant);
    let all = sum(graph, sum_of_two, public);
    let opened = Open::<BooleanGmwTool>::new(Party::all(PARTIES).collect());
    let opened = graph.add_one(opened, &[all]).unwrap();
    graph.output(opened);
    let spec = PlanSpec {
        origin: Origin::Dealer,
        phases: Some(Phases::Sequential),
        ..built.spec()
    };
    let plan = Plan::new(spec).unwrap();
    (built, plan)
}

fn given<'a>(built: &Built, me: Party) -> Given<'a> {
    Given {
        inputs: own(&built.graph, &built.inputs, me),
        ..Given::default()
    }
}

fn told(done: Result<Outcome, RunError>) -> Result<(), String> {
    done.map(drop).map_err(|error| error.to_string())
}

/// The facts of a job had SHA-256 of each constant and of public inputs, which the dealer heard with all others.
#[test]
fn a_dealer_cannot_tell_constants_and_public_inputs() {
    let seed = seed();
    let [first, second] = [(1, 2), (77, 200)].map(|(constant, public)| {
        let (built, plan) = program(constant, public, 5);
        let view = watched(
            seed,
            async |session| {
                let given = given(&built, session.me());
                told(run_program(session, 1, &plan, given, None, &|_| {}).await)
            },
            deals,
        );
        view.must_be_well();
        for name in ["operation", "program", "public"] {
            assert!(!view.shows(name), "the dealer hears of {name}");
        }
        view.heard
    });
    assert!(first.iter().all(|said| said.len() > 2));
    assert!(first == second, "the dealer sees other bytes");
}

/// Within a job that is open, they were among what is compared when it ends.
#[test]
fn a_dealer_cannot_tell_public_inputs_of_a_job_that_was_open() {
    let seed = seed();
    let [first, second] = [2, 200].map(|public| {
        let (built, plan) = program(1, public, 5);
        let view = watched(
            seed,
            async |session| {
                let facts = [("correlations".to_owned(), Origin::Dealer.to_string())];
                let job = session.job(1, &facts, None).await.unwrap();
                let given = given(&built, session.me());
                let context = job.context();
                evaluate_program(&context, &plan, given, &|_| {})
                    .await
                    .unwrap();
                job.finish().await.map_err(|error| error.to_string())
            },
            deals,
        );
        view.must_be_well();
        view.heard
    });
    assert!(first == second, "the dealer sees other bytes");
}

/// Values that one stage opens are part of what the parties compare before the next.
#[test]
fn a_dealer_cannot_tell_values_that_stages_open() {
    let seed = seed();
    let [first, second] = [5, 9].map(|secret| {
        let (built, plan) = program(1, 2, secret);
        let view = watched(
            seed,
            async |session| {
                let mut stages = Stages::new(session, 1);
                for _ in 0..2 {
                    let given = given(&built, session.me());
                    let done = stages.run(&plan, given, &[], None, &|_| {}).await;
                    told(done.map(|stage| stage.outcome))?;
                }
                Ok(())
            },
            deals,
        );
        view.must_be_well();
        view.heard
    });
    assert!(first == second, "the dealer sees other bytes");
}

/// Parties with different constants still hear in which operation they differ, and the dealer only that they do.
#[test]
fn parties_with_other_constants_are_told_and_the_dealer_is_not() {
    let plans = [1, 77].map(|constant| program(constant, 2, 5));
    let view = watched(
        seed(),
        async |session| {
            let (built, plan) = &plans[session.me().index()];
            let given = given(built, session.me());
            told(run_program(session, 1, plan, given, None, &|_| {}).await)
        },
        deals,
    );
    let told: Vec<String> = view
        .ended
        .iter()
        .map(|end| end.clone().unwrap_err())
        .collect();
    for told in &told[..PARTIES] {
        assert!(
            told.contains("operation ") && told.contains("public/1"),
            "{told}"
        );
    }
    assert!(
        told[DEALER].contains("the computing parties ended the job"),
        "{}",
        told[DEALER]
    );
    assert!(!view.shows("public/1") && !view.shows("operation "));
}

/// Public inputs, of which each party brings its copy, are told to the computing parties alone.
#[test]
fn parties_with_other_public_inputs_are_told_and_the_dealer_is_not() {
    let plans = [2, 200].map(|public| program(1, public, 5));
    for open in [false, true] {
        let view = watched(
            seed(),
            async |session| {
                let (built, plan) = &plans[session.me().index()];
                let given = given(built, session.me());
                if !open {
                    return told(run_program(session, 1, plan, given, None, &|_| {}).await);
                }
                let facts = [("correlations".to_owned(), Origin::Dealer.to_string())];
                let job = session.job(1, &facts, None).await.unwrap();
                let context = job.context();
                let done = evaluate_program(&context, plan, given, &|_| {}).await;
                let done = done.map_err(|error| error.to_string());
                let end: Result<(), Error> = job.finish().await;
                done.and(end.map_err(|error| error.to_string()))
            },
            deals,
        );
        for end in &view.ended[..PARTIES] {
            let told = end.clone().unwrap_err();
            assert!(told.contains("public values"), "{told}");
        }
        assert!(!view.shows("public values"));
    }
}
