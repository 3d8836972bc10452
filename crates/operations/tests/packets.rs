//! Independent messages travel together: packets are counted, over a line with a round trip of 20 ms.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use madrigal_core::Party;
use madrigal_core::time::Link;
use madrigal_engine::{Given, Origin, Phases, Plan, PlanSpec, Width, run_program, serve};
use madrigal_net::transport::{Profile, Shaped, mesh};
use madrigal_net::{Session, block_on};
use madrigal_operations::{ArithmeticGmwTool, Concat, Mul};
use madrigal_testkit::{Counting, World, seed};

use crate::programs::{Built, equal, own};

const PARTIES: usize = 3;

/// `count` products of single numbers, none of which needs another one, opened to all.
fn products(count: usize, origin: Origin, seed: u64) -> (Built, PlanSpec) {
    let mut built = Built::new(PARTIES, seed);
    let mut products = Vec::new();
    for _ in 0..count {
        let [x, y] = [(); 2].map(|()| built.ring::<ArithmeticGmwTool>(Width::W64, 1));
        let product = Mul::<ArithmeticGmwTool>::new();
        products.push(built.graph.add_one(product, &[x, y]).unwrap());
    }
    let all = built.graph.add_one(Concat { rows: 1 }, &products).unwrap();
    built.open_to_all::<ArithmeticGmwTool>(all);
    let spec = PlanSpec {
        origin,
        phases: Some(Phases::Sequential),
        line: Link {
            latency: 0.01,
            bytes_per_second: None,
        },
        ..built.spec()
    };
    (built, spec)
}

/// Packets that each party sends for `count` products, and rounds online; results are checked.
fn packets(count: usize, origin: Origin, seed: u64) -> (Vec<u64>, u64) {
    let (built, spec) = products(count, origin, seed);
    let expected = built.graph.simulate(&built.inputs).unwrap();
    let plan = Plan::new(spec).unwrap();
    let all = PARTIES + plan.spec().origin.helpers();
    let world = World::new(all, seed);
    let line = Profile::from_round_trip(Duration::from_millis(20), 1_000_000_000);
    let (transports, counts): (Vec<_>, Vec<Arc<AtomicU64>>) = mesh(all)
        .into_iter()
        .map(|transport| Counting::new(Shaped::new(transport, line)))
        .unzip();
    std::thread::scope(|scope| {
        for (me, transport) in Party::all(all).zip(transports) {
            let (world, plan, built, expected) = (&world, &plan, &built, &expected);
            scope.spawn(move || {
                block_on(async {
                    let session = Session::new(world.config(me), transport);
                    session.greet().await.unwrap();
                    if me.index() == PARTIES {
                        assert_eq!(serve(&session, None).await, Ok(1));
                    } else {
                        let given = Given {
                            inputs: own(&built.graph, &built.inputs, me),
                            ..Given::default()
                        };
                        let done = run_program(&session, 1, plan, given, None, &|_| {}).await;
                        assert!(equal(&done.unwrap().outputs[0], &expected[0]));
                    }
                    session.close().await;
                });
            });
        }
    });
    let counts = counts[..PARTIES].iter();
    let counts = counts.map(|count| count.load(Ordering::Relaxed)).collect();
    (counts, plan.cost(Party::new(0)).online.rounds)
}

/// Two hundred products take the rounds of one, and its packets, give or take a fifth. From a dealer, of whom one party
/// asks for each by itself, that holds online, and so for the others.
#[test]
fn two_hundred_products_take_the_packets_of_one() {
    let seed = seed();
    for (origin, askers) in [(Origin::default(), 0), (Origin::Dealer, 1)] {
        let (one, rounds) = packets(1, origin.clone(), seed);
        // A party that the system does not let go on for a while finds less to put into a packet: the least counts.
        let mut least = vec![u64::MAX; one.len()];
        let few = (0..8).any(|_| {
            let (many, same) = packets(200, origin.clone(), seed);
            assert_eq!((rounds, same), (2, 2));
            for (least, many) in least.iter_mut().zip(many) {
                *least = many.min(*least);
            }
            let mut all = one.iter().zip(&least).skip(askers);
            all.all(|(one, many)| 5 * many <= 6 * one + 5)
        });
        assert!(
            few,
            "at least {least:?} packets for 200 products, {one:?} for one, with {origin:?}"
        );
    }
}
