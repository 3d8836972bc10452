//! Products of two bits in beta as elements in alpha.

#![allow(clippy::unwrap_used)] // helpers of tests

use madrigal_core::Party;
use madrigal_engine::{Plan, Shares, Sharing, Value, Width};
use madrigal_operations::{AlphaTool, BetaTool, Linear, MulBits, SumAxis};
use madrigal_testkit::seed;

use crate::numbers::check_without_dealer;
use crate::programs::{Built, check};
use crate::transcripts::ones_of_values;
use madrigal_testkit::transcripts::must_agree;

/// x y and y y, and how many of the former are 1, plus one.
fn built(width: Width, len: usize, seed: u64) -> (Built, [Value; 3]) {
    let mut built = Built::new(2, seed);
    let x = built.bits::<BetaTool>(1, len);
    let y = built.bits::<BetaTool>(1, len);
    let graph = &mut built.graph;
    let product = graph.add_one(MulBits::new(width), &[x, y]).unwrap();
    let square = graph.add_one(MulBits::new(width), &[y, y]).unwrap();
    let sum = SumAxis {
        count: 1,
        inner: len,
        prefixes: false,
    };
    let count = graph.add_one(sum, &[product]).unwrap();
    let more = Linear::<AlphaTool>::new(vec![1], 1);
    let more = graph.add_one(more, &[count]).unwrap();
    (built, [product, square, more])
}

/// Program with its results opened.
pub(crate) fn opened(width: Width, len: usize, seed: u64) -> Built {
    let (mut built, [product, square, count]) = built(width, len, seed);
    built.open_to_all::<AlphaTool>(product);
    built.open::<AlphaTool>(square, &[0]);
    built.open::<AlphaTool>(count, &[1]);
    built
}

#[test]
fn bits_times_bits_are_elements() {
    let seed = seed();
    for width in Width::ALL {
        for len in [1, 2, 7, 8, 63, 1000] {
            let built = opened(width, len, seed);
            if len == 7 {
                check_without_dealer(&built, seed);
            } else {
                check(&built, built.spec(), seed);
            }
        }
    }
}

/// Online an element of each party's for each pair, in the one round between the inputs and the opening, which is
/// local; all else is there before.
#[test]
fn one_round_and_one_element() {
    let len = 100;
    let (mut built, [product, ..]) = built(Width::W64, len, seed());
    built.open_to_all::<AlphaTool>(product);
    let plan = Plan::new(built.spec()).unwrap();
    for party in [0, 1].map(Party::new) {
        let all = plan.operations(party);
        let mine = all.iter().find(|one| {
            let name = one.name.as_deref();
            name.is_some_and(|name| name.starts_with("bit-times-bit/"))
        });
        assert_eq!(mine.unwrap().online.bytes_sent, 8 * len as u64);
        // The inputs of both, then this.
        assert_eq!(plan.cost(party).online.rounds, 2);
    }
}

/// Setup, and all that comes after it, looks alike to each party whatever the other one's bit is.
#[test]
fn transcripts_do_not_depend_on_bits() {
    for to in 0..2 {
        let seed = seed();
        let (mut built, [product, ..]) = built(Width::W8, 3, seed);
        built.open::<AlphaTool>(product, &[1 - to]);
        let plan = Plan::new(built.spec()).unwrap();
        let inputs = |others: u8| -> Vec<Shares> {
            let of = |owner: usize| {
                let bits = if owner == to { 0b101 } else { others };
                let mut rows = madrigal_circuit::Rows::new(1, 3);
                rows.row_mut(0)[0] = bits;
                Shares::rows(Sharing::clear(&[Party::new(owner)]), &rows)
            };
            [0, 1].map(of).into()
        };
        let a = ones_of_values(&plan, &inputs(0), Party::new(to), seed);
        let seed = seed ^ 0x5555_0000_0000_0000;
        let b = ones_of_values(&plan, &inputs(0b111), Party::new(to), seed);
        must_agree(&a, &b, &format!("products of bits, to party {to}"));
    }
}
