//! Theorem 4.2 of Araki et al. (CCS 2016): a malicious server of R, of those that compute for clients, sees the same
//! whatever the clients' inputs are, however it deviates. What is looked at is the server that deviates, in each of its
//! messages, in every way that the fault wrapper and the test kit know; in circuits and rings of all widths, planned
//! and run by the engine, with shares that clients dealt and outputs that stay shared.
//!
//! What two kinds of runs are compared in: each bit of each message to the server, its sums with the bits next to it
//! and with those of the message before, and each message as a whole. Other joint distributions are not looked at.
//! `MADRIGAL_DEVIATIONS=10000` tries that many deviations.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // helpers of tests

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use madrigal_circuit::Builder;
use madrigal_core::{MatrixShape, Party, Product};
use madrigal_engine::{
    Given, Graph, Plan, PlanSpec, Shares, Sharing, Value, Width, evaluate_program,
};
use madrigal_kernels::{Block, Prg, meter::unmetered};
use madrigal_net::transport::{Fault, FaultKind, Faulty, mesh};
use madrigal_net::{Context, Error, Result};
use madrigal_operations::{Backend, Circuit, Depth, Predicate};
use madrigal_testkit::places::{Counts, Lengths, add, compare, compare_messages};
use madrigal_testkit::{Change, Deviating, Deviation, Transcript, World, seed};

const PARTIES: usize = 3;

/// Elements of each value: a byte for each row of bits.
const COUNT: usize = 8;

/// Runs of a way to deviate, for each of two inputs: enough that a message which is not masked is seen.
const RUNS: usize = 24;

/// Times that a bit must have been there.
const LEAST: u32 = 8;

/// The largest deviations that are chance: of a bit, and of a message. The first is passed by chance once in 10^10, the
/// second has wide tails since sums of bits are compared, too, which are not independent of the bits.
const LIMITS: [f64; 2] = [6.5, 12.0];

/// Everything in R that sends something, on inputs of clients.
struct Work {
    plan: Plan,
    /// Inputs of both kinds of runs.
    inputs: [Vec<Shares>; 2],
}

/// Numbers of `width` and bits of as many planes: zeros, or a pattern of mixed bits.
fn inputs(width: Width, mixed: bool) -> Vec<Shares> {
    let number = if mixed {
        0xa7ff_0180_5a5a_1234_8001_fe00_33cc_55a7_u128
    } else {
        0
    };
    let numbers: Vec<u128> = vec![number; COUNT];
    let bits = |planes| Shares::bits_of(Sharing::PUBLIC, planes, &numbers);
    let ring = madrigal_engine::with_ring!(width, T => {
        Shares::ring_of(Sharing::PUBLIC, vec![number as T; COUNT])
    });
    let bit = bits(1);
    vec![
        ring.clone(),
        ring,
        bits(width.bits()),
        bits(width.bits()),
        bit,
    ]
}

impl Work {
    fn new(width: Width) -> Self {
        let inputs = [false, true].map(|mixed| inputs(width, mixed));
        let mut graph = Graph::new(PARTIES);
        let mut shared = |value: &Shares| graph.input(value.sort().shared(Sharing::R));
        let values: Vec<Value> = inputs[0].iter().map(&mut shared).collect();
        let [x, y, a, b, bit] = values[..] else {
            panic!("five inputs")
        };
        let backend = Backend::of(Sharing::R);
        let (numbers, bits) = (backend.numbers(), backend.bits());
        let rings = numbers.rings;
        let shape = MatrixShape {
            rows: 2,
            inner: 4,
            columns: 2,
        };
        let keep = |values: Vec<Value>, graph: &mut Graph| {
            values.iter().for_each(|&value| graph.output(value));
            values[0]
        };
        let product = graph.add(rings.mul(), &[x, y]).unwrap();
        let product = keep(product, &mut graph);
        for (operation, operands) in [
            (rings.square(), vec![product]),
            (rings.dot(2), vec![x, product]),
            (rings.product(Product::Matrices(1, shape)), vec![x, y]),
            (rings.bit_times(), vec![bit, x]),
            (rings.compose(width, true), vec![a]),
        ] {
            let made = graph.add(operation, &operands).unwrap();
            keep(made, &mut graph);
        }
        for exact in [true, false] {
            let mut values = vec![x];
            for operation in (numbers.truncate)(width.bits() / 3, exact, PARTIES).unwrap() {
                values = graph.add(operation, &values).unwrap();
            }
            keep(values, &mut graph);
        }
        let test = bits.test.unwrap();
        for predicate in [Predicate::Negative, Predicate::Zero] {
            for depth in [Depth::Ripple, Depth::Tree] {
                let made = graph.add(test(predicate, depth), &[product]).unwrap();
                keep(made, &mut graph);
            }
        }
        // A sum of the parts of a number, and a sum and a comparison of numbers that clients shared as bits.
        let parts = graph
            .add(rings.addends(PARTIES, false), &[product])
            .unwrap();
        for operands in [&parts[..], &[a, b]] {
            let circuit = bits.circuits.circuit(sum_and_less(width), COUNT);
            let made = graph.add(circuit, operands).unwrap();
            keep(made, &mut graph);
        }
        Self {
            plan: Plan::new(PlanSpec::new(graph)).unwrap(),
            inputs,
        }
    }

    /// What the clients give a party.
    fn given(&self, mixed: bool, me: Party, run: u64) -> Given<'static> {
        let deal = |(number, value): (u64, &Shares)| {
            let kept = &Backend::of(Sharing::R).kept;
            let mut client = Prg::numbered(Block::new(run, 77), number);
            unmetered(|| kept.deal(value, PARTIES, &mut client)).swap_remove(me.index())
        };
        let inputs = &self.inputs[usize::from(mixed)];
        Given {
            inputs: (0..).zip(inputs).map(deal).collect(),
            ..Given::default()
        }
    }

    async fn compute(&self, context: Context, mixed: bool, run: u64) -> Result<()> {
        let given = self.given(mixed, context.me(), run);
        let ended = evaluate_program(&context, &self.plan, given, &|_| {}).await;
        ended.map(drop).map_err(|error| Error::Ended {
            reason: error.to_string(),
        })
    }
}

fn sum_and_less(width: Width) -> Arc<Circuit> {
    let mut builder = Builder::new("sum and less");
    let [a, b] = [0; 2].map(|_| builder.input(width.bits() as u32));
    let (sum, less) = (builder.add(&a, &b), builder.less(&a, &b));
    builder.output(&sum);
    builder.output(&[less]);
    Arc::new(Circuit::new(&builder.finish()))
}

/// A way to deviate.
#[derive(Clone, Copy, Debug)]
enum Way {
    Honest,
    Message(Change),
    Network(FaultKind),
    /// A leak on purpose: the next server tells its neighbour an input.
    Leak,
}

fn ways() -> Vec<Way> {
    let messages = Change::ALL.map(Way::Message);
    let network = FaultKind::ALL.map(Way::Network);
    [Way::Honest]
        .into_iter()
        .chain(messages)
        .chain(network)
        .collect()
}

/// A run of a server that deviates: what it received. `number` says which of the `sent` messages it deviates in, if
/// not in all.
fn transcript(
    work: &Work,
    server: Party,
    (way, number, sent): (Way, usize, usize),
    mixed: bool,
    seed: u64,
) -> Transcript {
    let (transcript, transports) = Transcript::of(server, mesh(PARTIES));
    let world = World::light(PARTIES, seed).with_limits(|limits| {
        if matches!(way, Way::Network(_)) {
            limits.silence = Duration::from_millis(400);
            limits.stall = Duration::from_millis(800);
            limits.patience = Duration::from_millis(800);
        }
    });
    let program = |context: Context| async move {
        if let Way::Leak = way {
            leak(&context, server, mixed).await?;
        }
        work.compute(context, mixed, seed).await
    };
    match way {
        Way::Honest | Way::Leak => {
            let ended = world.run_over(transports, program);
            assert!(ended.iter().all(Result::is_ok), "{ended:?}");
        }
        Way::Message(change) => {
            // Every second time it is all messages, else each of them in turn.
            let only = (!number.is_multiple_of(2)).then_some((number / 2 % sent) as u32);
            let deviation = Deviation { change, only, seed };
            let transports = Deviating::all(transports, server, Some(deviation), &transcript);
            let ended = world.run_over(transports, program);
            // Nobody notices.
            assert!(ended.iter().all(Result::is_ok), "{deviation:?}: {ended:?}");
        }
        Way::Network(kind) => {
            let fault = Fault {
                kind,
                party: server,
                peer: Party::new((server.index() + 1 + number % 2) % PARTIES),
                at: (number / 2 % sent) as u32,
                seed,
            };
            // How the session ends is no concern of this test.
            world.run_over(Faulty::all(transports, fault), program);
        }
    }
    transcript
}

/// The server after `server` tells it the clients' first input.
async fn leak(context: &Context, server: Party, mixed: bool) -> Result<()> {
    let teller = Party::new((server.index() + 1) % PARTIES);
    let step = context.step("leak");
    let told = bytes::Bytes::from(vec![if mixed { 0xa7 } else { 0 }; COUNT]);
    if context.me() == teller {
        step.channel(server)?.send(told).await?;
    } else if context.me() == server {
        step.channel(teller)?.recv(COUNT).await?;
    }
    Ok(())
}

/// One server, width and way: what it sees in runs with two inputs. Gives the statistics, of bits and of messages, and the
/// number of messages that were compared.
fn examine(
    work: &Work,
    server: Party,
    way: Way,
    first: usize,
    runs: usize,
    seed: u64,
) -> ([f64; 2], usize) {
    let honest = |to| transcript(work, to, (Way::Honest, 0, 1), false, seed).places();
    let lengths: Lengths = {
        let places = honest(server).into_iter();
        places.map(|(place, bytes)| (place, bytes.len())).collect()
    };
    let others = Party::all(PARTIES).filter(|&other| other != server);
    let places = others.flat_map(|other| honest(other).into_keys());
    let sent = places.filter(|&(from, ..)| from == server).count();
    let lengths = match way {
        Way::Leak => None,
        _ => Some(&lengths),
    };
    let mut counts = [Counts::new(), Counts::new()];
    for run in 0..runs {
        for (mixed, counts) in [false, true].into_iter().zip(&mut counts) {
            let number = first + run;
            let seed = seed.wrapping_add((2 * number + usize::from(mixed)) as u64);
            let seen = transcript(work, server, (way, number, sent), mixed, seed);
            add(counts, &seen, lengths);
        }
    }
    let [a, b] = &counts;
    let (bit, _) = compare(a, b);
    let (message, messages) = compare_messages(a, b, LEAST);
    ([bit, message], messages)
}

/// A server, a width and a way, and the number of the first of its runs.
type Case = (Party, Width, Way, usize);

/// Examines all cases on several threads: those whose sessions wait leave the processor to others.
fn examine_all(cases: &[Case], runs: usize) {
    let seed = seed();
    let works = Width::ALL.map(Work::new);
    let (next, worst) = (AtomicUsize::new(0), Mutex::new([0_f64; 2]));
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, Relaxed);
                    let Some(&(server, width, way, first)) = cases.get(case) else {
                        return;
                    };
                    let place = Width::ALL.into_iter().position(|one| one == width).unwrap();
                    let seed = seed.wrapping_add((case as u64) << 24);
                    // Other messages for each width.
                    let first = first + place * runs;
                    let (found, messages) = examine(&works[place], server, way, first, runs, seed);
                    for (found, limit) in found.into_iter().zip(LIMITS) {
                        assert!(
                            found < limit,
                            "{server} sees a difference of {found:.1} deviations: {width:?}, {way:?}, runs from {first}"
                        );
                    }
                    // A server that breaks its sessions sees little of them.
                    let least = if matches!(way, Way::Network(_)) { 0 } else { 30 };
                    assert!(messages >= least, "{messages} messages: {width:?}, {way:?}");
                    let mut worst = worst.lock().unwrap();
                    for (worst, found) in worst.iter_mut().zip(found) {
                        *worst = worst.max(found);
                    }
                }
            });
        }
    });
    let [bit, message] = worst.into_inner().unwrap();
    println!(
        "{} deviations: a bit differs by at most {bit:.1}, a message by {message:.1} deviations",
        cases.len() * runs
    );
}

/// Each way once, of servers and widths in turn; or, as often as asked for, of all of them.
#[test]
fn a_server_that_deviates_sees_nothing_of_the_inputs() {
    let asked = std::env::var("MADRIGAL_DEVIATIONS").ok();
    let asked: usize = asked.map_or(0, |asked| asked.parse().unwrap());
    let mut cases: Vec<Case> = Vec::new();
    let ways = ways();
    let all = Party::all(PARTIES).flat_map(|server| Width::ALL.map(|width| (server, width)));
    let all: Vec<(Party, Width)> = all.collect();
    match asked {
        0 => {
            let of = |(i, &way): (usize, &Way)| {
                let (server, width) = all[(4 * i + i / all.len()) % all.len()];
                (server, width, way, 0)
            };
            cases.extend(ways.iter().enumerate().map(of));
        }
        _ => {
            let once = all.len() * ways.len() * RUNS;
            for round in 0..asked.div_ceil(once) {
                for &way in &ways {
                    let of = |&(server, width): &(Party, Width)| (server, width, way, round * RUNS);
                    cases.extend(all.iter().map(of));
                }
            }
        }
    }
    examine_all(&cases, RUNS);
}

/// The comparison finds a server that is told an input, in as many runs as the tests take.
#[test]
fn a_leak_would_be_seen() {
    let seed = seed();
    let work = Work::new(Width::W8);
    let (found, _) = examine(&work, Party::new(1), Way::Leak, 0, RUNS, seed);
    assert!(found[1] > 2.0 * LIMITS[1], "{found:?}");
}
