//! Bits times numbers that one party knows: right for all numbers of parties, widths and owners, at the declared cost,
//! with transcripts that depend on neither.

#![allow(clippy::unwrap_used)] // helpers of tests

use madrigal_core::Party;
use madrigal_engine::{Element, Graph, Plan, PlanSpec, Shares, Sharing, Sort, Width};
use madrigal_operations::{ArithmeticGmwTool, BooleanGmwTool, KnownBitTimes, Mul, Open, Share};
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::must_agree;

use crate::known::clear;
use crate::programs::{Built, check, check_all};
use crate::transcripts::ones_of_values;

const BIT: Element = Element::Bits(1);

/// Random bits, and numbers at the ends of their range among random ones, times each other; then a product of products.
fn built(parties: usize, width: Width, len: usize, owner: Party, seed: u64) -> Built {
    let mut built = Built::new(parties, seed);
    let number = clear(&mut built, width, len, owner, seed);
    let [first, second] = [(); 2].map(|()| built.bits::<BooleanGmwTool>(1, len));
    let graph = &mut built.graph;
    let of = |graph: &mut Graph, bits| graph.add_one(KnownBitTimes::new(owner), &[bits, number]);
    let x = of(graph, first).unwrap();
    let y = of(graph, second).unwrap();
    let product = graph
        .add_one(Mul::<ArithmeticGmwTool>::new(), &[x, y])
        .unwrap();
    built.open_to_all::<ArithmeticGmwTool>(x);
    built.open::<ArithmeticGmwTool>(product, &[parties - 1]);
    built
}

#[test]
fn of_every_width_and_owner() {
    let seed = seed();
    for width in Width::ALL {
        for (parties, len) in [(2, 67), (3, 8), (5, 13)] {
            for owner in Party::all(parties) {
                let built = built(parties, width, len, owner, seed);
                check(&built, built.spec(), seed);
            }
        }
    }
}

#[test]
fn from_every_source_and_in_every_way() {
    let seed = seed();
    for (parties, len, owner) in [(2, 1, 1), (2, 2000, 0), (3, 130, 2)] {
        check_all(
            &built(parties, Width::W64, len, Party::new(owner), seed),
            seed,
        );
    }
}

/// An element for each product from the owner to each other party, and a bit back: nothing else.
#[test]
fn the_owner_sends_one_element_for_a_product() {
    for (parties, len) in [(2, 1000), (3, 1001), (5, 7)] {
        let plan = Plan::new(PlanSpec::new(graph(parties, Width::W64, len, &[], false))).unwrap();
        let others = parties as u64 - 1;
        for me in Party::all(parties) {
            let online = plan.cost(me).online;
            let bytes = if me.index() == 0 {
                8 * len
            } else {
                len.div_ceil(8)
            };
            assert_eq!(
                online.bytes_sent,
                others * bytes as u64,
                "{me} of {parties}"
            );
            assert_eq!(online.rounds, 1, "{me} of {parties}");
        }
    }
}

/// Bits of the last party times numbers of the first one, opened to some.
fn graph(parties: usize, width: Width, len: usize, open: &[Party], both: bool) -> Graph {
    let (owner, other) = (Party::new(0), Party::new(parties - 1));
    let mut graph = Graph::new(parties);
    let number = graph.input(Sort::new(
        Sharing::clear(&[owner]),
        Element::Ring(width),
        len,
    ));
    let bit = graph.input(Sort::new(Sharing::clear(&[other]), BIT, len));
    let bit = graph
        .add_one(Share::<BooleanGmwTool>::new(other), &[bit])
        .unwrap();
    let mut made = graph
        .add_one(KnownBitTimes::new(owner), &[bit, number])
        .unwrap();
    if both {
        made = graph
            .add_one(Mul::<ArithmeticGmwTool>::new(), &[made, made])
            .unwrap();
    }
    if !open.is_empty() {
        made = graph
            .add_one(Open::<ArithmeticGmwTool>::new(open.to_vec()), &[made])
            .unwrap();
    }
    graph.output(made);
    graph
}

/// No party's view depends on the others' bits or numbers, also of products that are opened to somebody else.
#[test]
fn transcripts_depend_on_neither_operand() {
    let seed = seed();
    for parties in [2, 3] {
        let (owner, other) = (Party::new(0), Party::new(parties - 1));
        for to in Party::all(parties) {
            let receiver = Party::new((to.index() + 1) % parties);
            let graph = graph(parties, Width::W8, 8, &[receiver], true);
            let plan = Plan::new(PlanSpec::new(graph)).unwrap();
            let inputs = |others: u8| -> Vec<Shares> {
                let of = |party: Party| if party == to { 0x5a } else { others };
                let numbers = Shares::ring_of(Sharing::clear(&[owner]), vec![of(owner); 8]);
                let mut bits = Shares::zeros(Sort::new(Sharing::clear(&[other]), BIT, 8));
                bits.plane_mut(0, 0)[0] = of(other);
                vec![numbers, bits]
            };
            let a = ones_of_values(&plan, &inputs(0), to, seed);
            let b = ones_of_values(&plan, &inputs(0xff), to, seed ^ 0x5555_0000_0000_0000);
            must_agree(&a, &b, &format!("{parties} parties, to {to}"));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |parties: usize, owner: usize, holder: usize, bits: Sort| {
        let mut graph = Graph::new(parties);
        let clear = Sharing::clear(&[Party::new(holder)]);
        let number = graph.input(Sort::new(clear, Element::Ring(Width::W32), 8));
        let bits = graph.input(bits);
        let of = KnownBitTimes::new(Party::new(owner));
        graph.add_one(of, &[bits, number]).unwrap_err().to_string()
    };
    let bit = Sort::new(Sharing::B, BIT, 8);
    assert!(refused(3, 0, 1, bit).contains("party 0 does not know"));
    assert!(refused(2, 2, 1, bit).contains("party 2 does not know"));
    assert!(refused(2, 1, 1, bit.of_len(9)).contains("times"));
    assert!(refused(2, 1, 1, Sort::new(Sharing::A, BIT, 8)).contains("a value in B wanted"));
}
