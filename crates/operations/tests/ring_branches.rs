//! Secret branches of ring elements: against the oracle and numbers computed here, at the declared cost.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_engine::{Opening, Phases, Plan, PlanSpec, Shares, Sharing, Width, with_ring};
use madrigal_operations::{
    ArithmeticGmwTool, BooleanGmwTool, Formula, FormulaStep, Formulas, Gated, RingBranch,
};
use madrigal_testkit::seed;

use crate::programs::{Built, check};

type A = ArithmeticGmwTool;
type B = BooleanGmwTool;

/// Numbers as random as a test needs them.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u128 {
        let mut half = || {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            u128::from(z ^ z >> 31)
        };
        half() << 64 | half()
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u128) as usize
    }
}

/// A branch of `products` products among sums, of values near its beginning or near its end.
fn formula(draw: &mut Draw, inputs: u32, outputs: usize, products: usize) -> Formula {
    let mut formula = Formula::new(inputs);
    let deep = draw.below(2) == 0;
    let mut left = products;
    while left > 0 || draw.below(3) > 0 {
        let known = formula.values() as usize;
        let mut any = || match deep {
            true => (known - 1 - draw.below(known.min(3))) as u32,
            false => draw.below(known) as u32,
        };
        let (x, y) = (any(), any());
        if left > 0 && draw.below(4) > 0 {
            formula.product(x, y);
            left -= 1;
        } else {
            let terms = match draw.below(4) {
                0 => vec![],
                1 => vec![(x, draw.next())],
                _ => vec![(x, draw.next()), (y, u128::MAX)],
            };
            formula.linear(terms, draw.next() * (draw.below(2) as u128));
        }
    }
    for output in 0..outputs {
        let known = formula.values() as usize;
        formula.output(match output {
            0 => known - 1,
            _ => draw.below(known),
        } as u32);
    }
    formula
}

fn formulas(draw: &mut Draw, width: Width, branches: usize, products: usize) -> Arc<Formulas> {
    let inputs = 1 + draw.below(5) as u32;
    let outputs = 1 + draw.below(3);
    let branches = (0..branches)
        .map(|_| {
            let products = draw.below(products + 1);
            formula(draw, inputs, outputs, products)
        })
        .collect();
    Arc::new(Formulas::new(width, branches))
}

/// A program that shares random inputs, evaluates the branches, and opens what they give.
pub(crate) fn built(
    formulas: &Arc<Formulas>,
    gated: Gated,
    parties: usize,
    lanes: usize,
    seed: u64,
) -> Built {
    let mut built = Built::new(parties, seed);
    let mut inputs = vec![built.bits::<B>(formulas.index_bits(), lanes)];
    for _ in 0..formulas.inputs() {
        inputs.push(built.ring::<A>(formulas.width(), lanes));
    }
    let operation = RingBranch::new(Arc::clone(formulas), gated);
    let outputs = built.graph.add(Arc::new(operation), &inputs).unwrap();
    for output in outputs {
        built.open_to_all::<A>(output);
    }
    built
}

/// Three branches of four possible numbers, of very different shapes.
pub(crate) fn uneven() -> Arc<Formulas> {
    let mut power = Formula::new(2);
    let mut value = 0;
    for _ in 0..3 {
        let product = power.product(value, 0);
        value = power.linear(vec![(product, 1), (1, u128::MAX)], 7);
    }
    power.output(value);
    let mut wide = Formula::new(2);
    let products = [(0, 0), (0, 1), (1, 1), (1, 0)].map(|(x, y)| (wide.product(x, y), 3));
    let sum = wide.linear(products.to_vec(), 0);
    wide.output(sum);
    let mut constant = Formula::new(2);
    let value = constant.linear(vec![], 1000);
    constant.output(value);
    Arc::new(Formulas::new(Width::W32, vec![power, wide, constant]))
}

fn spec(built: &Built, seed: u64) -> PlanSpec {
    PlanSpec {
        opening: [Opening::Direct, Opening::Relay][seed as usize % 2],
        phases: Some([Phases::Sequential, Phases::Interleaved][(seed >> 1) as usize % 2]),
        ..built.spec()
    }
}

#[test]
fn ring_branches_of_different_shapes() {
    let seed = seed();
    for parties in [2, 3, 5] {
        for lanes in [1, 130] {
            for gated in Gated::ALL {
                let built = built(&uneven(), gated, parties, lanes, seed);
                check(&built, spec(&built, seed >> parties), seed);
            }
        }
    }
}

#[test]
fn random_ring_branches_are_right_at_the_declared_cost() {
    let seed = seed();
    for round in 0..60 {
        let random = seed.wrapping_add(round);
        let draw = &mut Draw(random);
        let width = Width::ALL[draw.below(5)];
        let branches = [2, 2, 3, 4, 7, 8, 16, 32][draw.below(8)];
        let parties = [2, 2, 3, 5][draw.below(4)];
        let lanes = [1, 2, 7, 8, 64, 100][draw.below(if branches > 8 { 4 } else { 6 })];
        let products = [0, 1, 5, 12][draw.below(4)];
        println!("seed {random}: {branches} branches, {parties} parties, {lanes} lanes, {width:?}");
        let formulas = formulas(draw, width, branches, products);
        for gated in Gated::ALL {
            let built = built(&formulas, gated, parties, lanes, random);
            check(&built, spec(&built, random), random);
        }
    }
}

#[test]
fn ring_branches_in_blocks() {
    let seed = seed();
    let draw = &mut Draw(seed);
    let formulas = formulas(draw, Width::W64, 4, 20);
    for (parties, phases, lanes) in [
        (2, Phases::Sequential, 1000),
        (2, Phases::Interleaved, 1000),
        (3, Phases::Sequential, 600),
    ] {
        let gated = Gated::ALL[parties % 2];
        let built = built(&formulas, gated, parties, lanes, seed);
        let spec = PlanSpec {
            phases: Some(phases),
            memory: 4 << 20,
            ..built.spec()
        };
        check(&built, spec, seed);
    }
}

/// With arithmetic of its own, in place of what both the operation and its plain version take a formula to be.
#[test]
fn what_a_formula_means() {
    let seed = seed();
    let draw = &mut Draw(seed);
    for width in Width::ALL {
        let (lanes, formulas) = (40, formulas(draw, width, 3, 6));
        let mask = u128::MAX >> (128 - width.bits());
        let mut built = Built::new(2, seed);
        let index: Vec<u128> = (0..lanes).map(|_| draw.next() % 4).collect();
        let mut rows = madrigal_circuit::Rows::new(2, lanes);
        for (lane, index) in index.iter().enumerate() {
            (0..2).for_each(|bit| rows.set(bit, lane, index >> bit & 1 == 1));
        }
        let mut inputs = vec![built.share::<B>(Shares::rows(Sharing::PUBLIC, &rows))];
        let mut numbers = Vec::new();
        for _ in 0..formulas.inputs() {
            let values: Vec<u128> = (0..lanes).map(|_| draw.next() & mask).collect();
            let shares = with_ring!(width, T => {
                let of = <T as madrigal_core::Ring>::from_u128;
                Shares::ring_of(Sharing::PUBLIC, values.iter().map(|&x| of(x)).collect::<Vec<T>>())
            });
            inputs.push(built.share::<A>(shares));
            numbers.push(values);
        }
        let gated = Gated::ALL[width as usize % 2];
        let operation = RingBranch::new(Arc::clone(&formulas), gated);
        for output in built.graph.add(Arc::new(operation), &inputs).unwrap() {
            built.open_to_all::<A>(output);
        }
        let outcomes = check(&built, built.spec(), seed);
        for (lane, &index) in index.iter().enumerate() {
            let branch = formulas.branches().get(index as usize);
            let made = branch.map(|branch| {
                let mut values: Vec<u128> = numbers.iter().map(|row| row[lane]).collect();
                for step in branch.steps() {
                    let value = match step {
                        FormulaStep::Product(x, y) => {
                            values[*x as usize].wrapping_mul(values[*y as usize])
                        }
                        FormulaStep::Linear { terms, constant } => {
                            terms.iter().fold(*constant, |sum, (x, factor)| {
                                sum.wrapping_add(values[*x as usize].wrapping_mul(*factor))
                            })
                        }
                    };
                    values.push(value & mask);
                }
                let outputs = branch.outputs().iter();
                outputs.map(|&x| values[x as usize]).collect::<Vec<_>>()
            });
            for (number, output) in outcomes[0].outputs.iter().enumerate() {
                let expected = made.as_ref().map_or(0, |made| made[number]);
                let found = with_ring!(width, T => {
                    madrigal_core::Ring::to_u128(output.component::<T>(0)[lane])
                });
                assert_eq!(found, expected, "branch {index}, u{}", width.bits());
            }
        }
    }
}

#[test]
fn ring_branches_take_the_triples_of_the_largest() {
    let draw = &mut Draw(1);
    let cost = |formulas: &Arc<Formulas>, gated| {
        let built = built(formulas, gated, 2, 1, 1);
        let plan = Plan::new(built.spec()).unwrap();
        let triples = plan
            .needs()
            .of(madrigal_correlations::Kind::RingTriples(Width::W32));
        (triples, plan.cost(Party::new(0)).online.bytes_sent)
    };
    let mut online = Vec::new();
    for branches in [2, 8, 32] {
        let branches = (0..branches)
            .map(|_| {
                let mut formula = Formula::new(4);
                for _ in 0..10 {
                    let made: Vec<u32> = (0..10)
                        .map(|_| formula.product(draw.below(4) as u32, draw.below(4) as u32))
                        .collect();
                    formula.linear(made.iter().map(|&x| (x, 1)).collect(), 0);
                }
                formula.output(formula.values() - 1);
                formula
            })
            .collect();
        let formulas = Arc::new(Formulas::new(Width::W32, branches));
        let (triples, sent) = cost(&formulas, Gated::Triples);
        let (also, more) = cost(&formulas, Gated::Products);
        assert_eq!([triples, also], [100; 2]);
        assert_eq!(more - sent, 4 * 100, "a product opened once more");
        online.push(sent);
    }
    // Inputs, two elements for each product, the result, and bits of a number.
    let expected = 4 * (4 + 2 * 100 + 1);
    assert!(
        online
            .iter()
            .all(|&sent| (expected..expected + 2).contains(&sent)),
        "{online:?}"
    );
}
