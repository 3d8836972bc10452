//! Circuits with secret branches, in each scheme: against the oracle, at the declared cost, under faults, and with
//! transcripts that tell nothing of the active branch.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_circuit::Builder;
use madrigal_circuit::branches::{Branching, Draft, Layering, Random, nested};
use madrigal_core::Party;
use madrigal_engine::{Opening, Phases, Plan, PlanSpec};
use madrigal_operations::{BooleanGmwTool, Branch, Scheme};
use madrigal_testkit::seed;

use crate::programs::{Built, check};

type B = BooleanGmwTool;

/// Branches of very different sizes, three of four possible numbers, with a conditional in one of them.
pub(crate) fn uneven() -> Branching {
    let part = |ands: usize| {
        let mut builder = Builder::new("part");
        let mut bits = builder.input(4);
        for and in 0..ands {
            let (a, b) = (and % 4, (and + 1) % 4);
            let both = builder.and(bits[a], bits[b]);
            bits[a] = builder.not(both);
        }
        builder.output(&bits[..2]);
        Branching::netlist(Arc::new(builder.finish()))
    };
    let mut inner = Draft::new("inner", &[4]);
    let branches = vec![Arc::new(part(2)), Arc::new(part(5))];
    let chosen = inner.choice(&[3], &[0, 1, 2, 3], branches).unwrap();
    let inner = inner.finish(&[&chosen]).unwrap();
    let branches = vec![Arc::new(part(0)), Arc::new(part(7)), Arc::new(inner)];
    Branching::conditional("uneven", branches).unwrap()
}

/// A program that shares random inputs, evaluates the circuit, and opens what it gives.
pub(crate) fn built(
    branching: &Arc<Branching>,
    scheme: Scheme,
    parties: usize,
    lanes: usize,
    seed: u64,
) -> Built {
    let operation = Branch::new(Arc::clone(branching), scheme);
    built_of(branching, operation, parties, lanes, seed)
}

/// A program that shares random inputs, does this operation, and opens what it gives.
fn built_of(
    branching: &Branching,
    operation: Branch,
    parties: usize,
    lanes: usize,
    seed: u64,
) -> Built {
    let mut built = Built::new(parties, seed);
    let widths = branching.inputs().to_vec();
    let inputs: Vec<_> = widths
        .iter()
        .map(|&width| built.bits::<B>(width as usize, lanes))
        .collect();
    let outputs = built.graph.add(Arc::new(operation), &inputs).unwrap();
    for output in outputs {
        built.open_to_all::<B>(output);
    }
    built
}

#[test]
fn branches_of_different_sizes() {
    let seed = seed();
    let branching = Arc::new(uneven());
    for scheme in Scheme::ALL {
        for parties in [2, 3, 5] {
            let built = built(&branching, scheme, parties, 130, seed);
            check(&built, spec(&built, seed >> parties), seed);
        }
    }
}

fn spec(built: &Built, seed: u64) -> PlanSpec {
    PlanSpec {
        opening: [Opening::Direct, Opening::Relay][seed as usize % 2],
        phases: Some([Phases::Sequential, Phases::Interleaved][(seed >> 1) as usize % 2]),
        ..built.spec()
    }
}

#[test]
fn nested_conditionals_are_right_at_the_declared_cost() {
    let seed = seed();
    for round in 0..14 {
        let random = seed.wrapping_add(round);
        let of = |list: &[usize], by: u64| list[(random / by) as usize % list.len()];
        let depth = of(&[1, 2, 3, 4], 1);
        let (parties, lanes) = (of(&[2, 3, 5, 8], 4), of(&[1, 2, 7, 8, 64, 100], 16));
        let branching = Arc::new(nested(random, 6, 5, depth));
        for scheme in Scheme::ALL {
            println!("seed {random}: depth {depth}, {parties} parties, {lanes} lanes, {scheme:?}");
            let built = built(&branching, scheme, parties, lanes, random);
            check(&built, spec(&built, random), random);
        }
    }
}

#[test]
fn conditionals_of_many_branches() {
    let seed = seed();
    let random = Random {
        inputs: 24,
        outputs: 11,
        layers: 4,
        ands: 60,
        xors: 50,
    };
    for (branches, parties) in [(2, 2), (3, 3), (32, 2), (16, 5), (8, 8)] {
        let branching = Arc::new(random.conditional(branches, seed).unwrap());
        for scheme in Scheme::ALL {
            let built = built(&branching, scheme, parties, 9, seed);
            check(&built, spec(&built, seed >> branches), seed);
        }
    }
}

/// Seeds are expanded where masks are long.
#[test]
fn many_lanes_in_blocks() {
    let seed = seed();
    let random = Random {
        inputs: 32,
        outputs: 8,
        layers: 5,
        ands: 200,
        xors: 100,
    };
    let branching = Arc::new(random.conditional(4, seed).unwrap());
    for scheme in Scheme::ALL {
        for (parties, phases) in [
            (2, Phases::Sequential),
            (2, Phases::Interleaved),
            (3, Phases::Sequential),
        ] {
            let built = built(&branching, scheme, parties, 1000, seed);
            let spec = PlanSpec {
                phases: Some(phases),
                memory: 4 << 20,
                ..built.spec()
            };
            check(&built, spec, seed);
        }
    }
}

/// Three parties have long masks from seeds too.
#[test]
fn three_parties_and_long_masks() {
    let seed = seed();
    let random = Random {
        inputs: 40,
        outputs: 9,
        layers: 6,
        ands: 2500,
        xors: 500,
    };
    for (branches, lanes) in [(2, 1), (3, 5)] {
        let branching = Arc::new(random.conditional(branches, seed).unwrap());
        for scheme in [Scheme::Masked, Scheme::Merged] {
            let built = built(&branching, scheme, 3, lanes, seed);
            let plan = Plan::new(built.spec()).unwrap();
            let corrections = plan.cost(Party::new(0)).setup.bytes_sent;
            println!("{branches} branches, {scheme:?}: {corrections} bytes of setup");
            check(&built, spec(&built, seed >> branches), seed);
        }
    }
}

#[test]
fn a_conditional_takes_the_triples_of_its_largest_branch() {
    let random = Random {
        inputs: 64,
        outputs: 16,
        layers: 8,
        ands: 3000,
        xors: 1000,
    };
    for branches in [2, 8, 16] {
        let branching = Arc::new(random.conditional(branches, 1).unwrap());
        let cost = |scheme| {
            let built = built(&branching, scheme, 2, 1, 1);
            let plan = Plan::new(built.spec()).unwrap();
            let triples = Branch::new(Arc::clone(&branching), scheme).triples();
            (triples, plan.cost(Party::new(0)).online.bytes_sent as usize)
        };
        let (masked, opened) = cost(Scheme::Masked);
        assert_eq!(masked, 3000);
        assert!(opened >= branches * 2 * 3000 / 8, "{opened}");
        let (merged, opened) = cost(Scheme::Merged);
        assert_eq!(merged, 3000);
        // Once for all branches: two bits for each AND, and the inputs.
        assert!(opened < 2 * 3300 / 8 + 100, "{opened}");
        let (vectors, opened) = cost(Scheme::Vectors);
        assert!((3000..3300).contains(&vectors), "{vectors}");
        assert!(opened < (branches + 1) * 3300 / 8 + 100, "{opened}");
    }
}

/// Masked triples are as many in any layers; products of vectors are those of MOTIF's own merging, which takes more.
#[test]
fn layers_by_depth_are_right_and_take_more_products_of_vectors() {
    let seed = seed();
    for round in 0..6 {
        let random = seed.wrapping_add(round);
        let branching = Arc::new(nested(random, 6, 5, 1 + round as usize % 3));
        for scheme in Scheme::ALL {
            for parties in [2, 3, 5] {
                println!("seed {random}: {parties} parties, {scheme:?}");
                let operation = Branch::layered(Arc::clone(&branching), scheme, Layering::ByDepth);
                let built = built_of(&branching, operation, parties, 65, random);
                check(&built, spec(&built, random), random);
            }
        }
    }
    let branching = Arc::new(Random::PAPER.conditional(2, seed).unwrap());
    let triples =
        |scheme, layering| Branch::layered(Arc::clone(&branching), scheme, layering).triples();
    let [aligned, by_depth] =
        [Layering::Aligned, Layering::ByDepth].map(|layering| triples(Scheme::Vectors, layering));
    assert!(aligned < by_depth, "{aligned} {by_depth}");
    let masked =
        [Layering::Aligned, Layering::ByDepth].map(|layering| triples(Scheme::Masked, layering));
    assert_eq!(masked[0], masked[1]);
}
