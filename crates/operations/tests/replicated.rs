//! Operations that R alone has: signs, tests for zero, quotients.

#![allow(clippy::unwrap_used)] // helpers of tests

use madrigal_core::{Party, Ring};
use madrigal_engine::{Plan, Shares, Sharing, Width, with_ring};
use madrigal_operations::{
    BitTimes, Depth, Mul, Predicate, ReplicatedTool, Rounding, Test, Truncate,
};
use madrigal_testkit::seed;

use crate::programs::{Built, check, check_all};
use crate::transcripts::ones_of_values;
use madrigal_testkit::transcripts::must_agree;

const PARTIES: usize = 3;

const TESTS: [Test; 4] = [
    Test::new(Predicate::Negative, Depth::Ripple),
    Test::new(Predicate::Negative, Depth::Tree),
    Test::new(Predicate::Zero, Depth::Ripple),
    Test::new(Predicate::Zero, Depth::Tree),
];

#[test]
fn truncation_rounds_as_it_says() {
    let seed = seed();
    for width in Width::ALL {
        let mut built = Built::new(PARTIES, seed);
        let x = built.ring::<ReplicatedTool>(width, 50);
        let exact = Truncate::new(width.bits() / 3, Rounding::Exact);
        let z = built.graph.add_one(exact, &[x]).unwrap();
        built.open_to_all::<ReplicatedTool>(z);
        check(&built, built.spec(), seed);
    }
}

/// Random numbers, the edges of the ring, and zeros and their neighbours among them; a product with the bit besides.
#[test]
fn signs_and_zeros_are_found() {
    let seed = seed();
    for width in Width::ALL {
        for len in [1, 7, 64, 1000] {
            let mut built = Built::new(PARTIES, seed);
            let x = built.ring::<ReplicatedTool>(width, len);
            let near = with_ring!(width, T => {
                let near = |i: usize| <T as Ring>::from_u128((i % 5) as u128).sub(<T as Ring>::from_u128(2));
                Shares::ring_of(Sharing::PUBLIC, (0..len).map(near).collect::<Vec<T>>())
            });
            let y = built.share::<ReplicatedTool>(near);
            for value in [x, y] {
                for test in TESTS {
                    let bit = built.graph.add_one(test, &[value]).unwrap();
                    let times = BitTimes::<ReplicatedTool>::new();
                    let chosen = built.graph.add_one(times, &[bit, x]).unwrap();
                    built.open_to_all::<ReplicatedTool>(bit);
                    built.open::<ReplicatedTool>(chosen, &[1]);
                }
            }
            check(&built, built.spec(), seed);
        }
    }
}

/// In blocks, in parts, on several threads, after and before products.
#[test]
fn long_vectors_of_signs() {
    let seed = seed();
    let mut built = Built::new(PARTIES, seed);
    let x = built.ring::<ReplicatedTool>(Width::W64, 30_011);
    let square = Mul::<ReplicatedTool>::new();
    let square = built.graph.add_one(square, &[x, x]).unwrap();
    for (value, test) in [x, square, x, square].into_iter().zip(TESTS) {
        let bit = built.graph.add_one(test, &[value]).unwrap();
        let times = BitTimes::<ReplicatedTool>::new();
        let chosen = built.graph.add_one(times, &[bit, square]).unwrap();
        built.open_to_all::<ReplicatedTool>(chosen);
    }
    check_all(&built, seed);
}

/// A ripple takes a round for each bit, a tree one for each doubling, and both one to share the first number.
#[test]
fn rounds_are_those_of_the_adder() {
    let rounds = TESTS.map(|test| {
        let mut built = Built::new(PARTIES, 1);
        let x = built.ring::<ReplicatedTool>(Width::W64, 40);
        let bit = built.graph.add_one(test, &[x]).unwrap();
        built.open_to_all::<ReplicatedTool>(bit);
        let plan = Plan::new(built.spec()).unwrap();
        let of = |party| plan.cost(party).online.rounds;
        Party::all(PARTIES).map(of).max().unwrap()
    });
    // And one to open. The input leaves together with the first number, both from party 0.
    assert_eq!(rounds, [63 + 2, 6 + 2, 6 + 2, 6 + 2]);
}

/// A party sees the same whatever the numbers of the party after it are.
#[test]
fn what_comes_says_nothing() {
    for to in 0..PARTIES {
        let seed = seed();
        let owner = (to + 1) % PARTIES;
        let built = |number: u16| {
            let mut built = Built::new(PARTIES, seed);
            let numbers = |number| Shares::ring_of(Sharing::PUBLIC, vec![number; 3]);
            // Each input is of the party after that of the one before.
            for _ in 0..owner {
                built.share::<ReplicatedTool>(numbers(0));
            }
            let x = built.share::<ReplicatedTool>(numbers(number));
            for test in TESTS {
                let bit = built.graph.add_one(test, &[x]).unwrap();
                let times = BitTimes::<ReplicatedTool>::new();
                let chosen = built.graph.add_one(times, &[bit, x]).unwrap();
                built.open::<ReplicatedTool>(chosen, &[owner]);
            }
            built
        };
        let [zeros, negative] = [0, 0xd555].map(built);
        let plan = Plan::new(zeros.spec()).unwrap();
        let to = Party::new(to);
        let a = ones_of_values(&plan, &zeros.inputs, to, seed);
        let seed = seed ^ 0x5555_0000_0000_0000;
        let b = ones_of_values(&plan, &negative.inputs, to, seed);
        must_agree(&a, &b, &format!("signs and tests for zero in R, to {to}"));
    }
}
