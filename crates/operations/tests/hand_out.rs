//! Shares handed out to clients: they add up to the value, cost what is declared, and tell nothing else.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_engine::{
    Element, Given, Graph, Operation, Plan, PlanSpec, Shares, Sharing, Sort, Value, Width,
    evaluate_program, with_ring,
};
use madrigal_net::{Context, Error};
use madrigal_operations::{
    ArithmeticGmwTool, Boolean, BooleanGmwTool, Constant, HandOut, Protocol, ReplicatedTool, Rings,
};
use madrigal_testkit::{World, seed};

use crate::programs::{Built, check, check_all};

fn handed(graph: &mut Graph, value: Value) -> Value {
    graph.add_one(HandOut, &[value]).unwrap()
}

fn numbers<P: Rings>(parties: usize, width: Width, len: usize, seed: u64) -> Built {
    let mut built = Built::new(parties, seed);
    let value = built.ring::<P>(width, len);
    let value = handed(&mut built.graph, value);
    built.open_to_all::<ArithmeticGmwTool>(value);
    built
}

fn bits<P: Boolean>(parties: usize, planes: usize, len: usize, seed: u64) -> Built {
    let mut built = Built::new(parties, seed);
    let value = built.bits::<P>(planes, len);
    let value = handed(&mut built.graph, value);
    built.open_to_all::<BooleanGmwTool>(value);
    built
}

#[test]
fn handed_shares_add_up_at_the_declared_cost() {
    let seed = seed();
    for parties in [2, 3, 5] {
        check_all(
            &numbers::<ArithmeticGmwTool>(parties, Width::W64, 100, seed),
            seed,
        );
        check_all(&bits::<BooleanGmwTool>(parties, 7, 100, seed), seed);
    }
    check_all(&numbers::<ReplicatedTool>(3, Width::W32, 100, seed), seed);
    check_all(&bits::<ReplicatedTool>(3, 7, 100, seed), seed);
    for width in Width::ALL {
        for len in [0, 1, 1025] {
            let built = numbers::<ArithmeticGmwTool>(3, width, len, seed);
            check(&built, built.spec(), seed);
            let built = numbers::<ReplicatedTool>(3, width, len, seed);
            check(&built, built.spec(), seed);
        }
        for len in [0, 1, 65] {
            let built = bits::<BooleanGmwTool>(5, width.bits(), len, seed);
            check(&built, built.spec(), seed);
            let built = bits::<ReplicatedTool>(3, width.bits(), len, seed);
            check(&built, built.spec(), seed);
        }
    }
}

/// What all parties hand out, of a value that is the same at each run.
fn views<P: Protocol>(parties: usize, value: &Shares, runs: u64, seed: u64) -> Vec<Vec<Shares>> {
    let mut graph = Graph::new(parties);
    let input = graph.input(value.sort().shared(Sharing::PUBLIC));
    let shared = graph.add_one(Constant::<P>::new(), &[input]).unwrap();
    let shared = handed(&mut graph, shared);
    graph.output(shared);
    let plan = Arc::new(Plan::new(PlanSpec::new(graph)).unwrap());
    let run = |run: u64| {
        let (plan, value) = (Arc::clone(&plan), value.clone());
        let work = move |context: Context| {
            let (plan, value) = (Arc::clone(&plan), value.clone());
            async move {
                let given = Given {
                    inputs: vec![value],
                    ..Given::default()
                };
                let ended = evaluate_program(&context, &plan, given, &|_| {}).await;
                let ended = ended.map_err(|error| Error::bug(error.to_string()))?;
                Ok::<_, Error>(ended.into_iter().next().unwrap())
            }
        };
        let ended = World::light(parties, seed.wrapping_add(run)).run(work);
        ended.into_iter().map(|(shares, _)| shares).collect()
    };
    (0..runs).map(run).collect()
}

/// A public value is shared as itself and zeros: whoever saw that would know how it was computed.
#[test]
fn a_client_sees_random_shares_of_whatever_it_is() {
    const RUNS: u64 = 64;
    let seed = seed();
    let value = Shares::ring_of(Sharing::PUBLIC, vec![0x0123_4567_89ab_cdefu64; 8]);
    let check = |views: Vec<Vec<Shares>>, parties: usize| {
        // All shares but the last are uniform, so each of their bits is 1 in half of the runs: 64 runs, six
        // standard deviations.
        let mut ones = vec![0u32; (parties - 1) * 8 * 64];
        for view in &views {
            let mut sum = vec![0u64; 8];
            for (party, share) in view.iter().enumerate() {
                for (place, &part) in share.component::<u64>(0).iter().enumerate() {
                    sum[place] = sum[place].wrapping_add(part);
                    for bit in (0..64).filter(|_| party + 1 < parties) {
                        ones[(party * 8 + place) * 64 + bit] += (part >> bit & 1) as u32;
                    }
                }
            }
            assert_eq!(sum, value.component::<u64>(0));
        }
        for count in ones {
            assert!((8..=56).contains(&count), "{count} of {RUNS}, seed {seed}");
        }
    };
    for parties in [2, 3, 5] {
        check(
            views::<ArithmeticGmwTool>(parties, &value, RUNS, seed),
            parties,
        );
    }
    check(views::<ReplicatedTool>(3, &value, RUNS, seed), 3);
}

#[test]
fn what_cannot_be_handed_out_is_refused() {
    let ring = Element::Ring(Width::W32);
    let refused =
        |sort: Sort, parties: usize| HandOut.sorts(&[sort], parties).unwrap_err().to_string();
    let masked = refused(Sort::new(Sharing::ALPHA, ring, 3), 2);
    assert!(masked.starts_with("a value in A or R wanted"), "{masked}");
    let bits = refused(Sort::new(Sharing::A, Element::Bits(3), 3), 2);
    assert!(bits.starts_with("a value in B or R wanted"), "{bits}");
    refused(Sort::new(Sharing::A, ring, 3), 1);
    assert!(HandOut.sorts(&[], 2).is_err());
    // A handed-out value of every width is in the sharing that has its elements.
    for width in Width::ALL {
        with_ring!(width, T => {
            let sort = Sort::new(Sharing::R, Element::Ring(Width::of::<T>()), 3);
            assert_eq!(HandOut.sorts(&[sort], 3).unwrap(), [sort.shared(Sharing::A)]);
        });
    }
}
