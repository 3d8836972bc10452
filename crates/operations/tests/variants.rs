//! Variants of papers beside the chosen ways: ANDs in B by OTs made before, three OTs for an AND in Y, and the
//! straightforward conversions from B to Y and to A.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_circuit::{Builder, Goal};
use madrigal_core::Party;
use madrigal_engine::{
    Element, Extension, Graph, Matrices, Opening, Operation, Origin, Phases, Plan, PlanError,
    PlanSpec, Shares, Sharing, Sort, Value, Width,
};
use madrigal_operations::{
    Ands, ArithmeticGmwTool, BmrTool, Boolean, BooleanGmwTool, Circuit, Compose, ComposeMasked,
    Conversion, FromKeys, Gates, Netlist, Open, Protocol, Share, ShareToKeys, ToKeys, Variants,
};
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::must_agree;

use crate::common::netlist;
use crate::programs::{Built, check};
use crate::transcripts::ones_of_values;

type A = ArithmeticGmwTool;
type B = BooleanGmwTool;
type Y = BmrTool;

const CHOSEN: Variants = Variants {
    ands: Ands::Triples,
    gates: Gates::TwoOts,
    to_garbled: Conversion::Chosen,
    to_numbers: Conversion::Chosen,
};
pub(crate) const BY_OTS: Variants = Variants {
    ands: Ands::Ots,
    ..CHOSEN
};
pub(crate) const THREE: Variants = Variants {
    gates: Gates::ThreeOts,
    ..CHOSEN
};

/// Circuits with NOT, constants, outputs that are inputs, ANDs with operands in common, and layers of several kinds.
fn circuits() -> Vec<Circuit> {
    let mut builder = Builder::new("mixed");
    let [x, y] = [(); 2].map(|()| builder.input(8));
    let less = builder.less(&x, &y);
    let sum = builder.add(&x, &y);
    let mut chosen = builder.select(less, &sum, &y);
    let one = builder.constant(true);
    let not = builder.not(chosen[3]);
    let same = builder.and(not, less);
    chosen.extend([one, not, same, x[2]]);
    builder.output(&chosen);
    builder.output(&[less]);
    let mixed = Circuit::new(&builder.finish());
    let mut builder = Builder::new("no ANDs");
    let [x, y] = [(); 2].map(|()| builder.input(3));
    let sum: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| builder.xor(x, y)).collect();
    builder.output(&sum);
    let none = Circuit::new(&builder.finish());
    vec![mixed, none, Circuit::new(&netlist("int_add8_size.bristol"))]
}

/// A circuit on inputs of the parties in turn, opened to all.
pub(crate) fn built<P: Boolean>(circuit: &Circuit, parties: usize, len: usize, seed: u64) -> Built {
    let mut built = Built::new(parties, seed);
    let widths = circuit.inputs().to_vec();
    let inputs = widths
        .iter()
        .map(|&width| built.bits::<P>(width as usize, len));
    let inputs: Vec<_> = inputs.collect();
    let operation = Arc::new(Netlist::<P>::new(Arc::new(circuit.clone()), 1));
    for made in built.graph.add(operation, &inputs).unwrap() {
        built.open_to_all::<P>(made);
    }
    built
}

/// Bits that two parties share in B, in Y by an operation, and there with an AND; opened from Y, and from B again.
pub(crate) fn to_keys(
    conversion: Arc<dyn Operation>,
    parties: usize,
    len: usize,
    seed: u64,
) -> Built {
    let mut built = Built::new(parties, seed);
    let shared = [0, 1].map(|_| built.bits::<B>(8, len));
    let keys = built.graph.add(conversion, &shared).unwrap();
    let mut builder = Builder::new("sum");
    let [x, y] = [(); 2].map(|()| builder.input(8));
    let sum = builder.add(&x, &y);
    builder.output(&sum);
    let sum = Arc::new(Netlist::<Y>::new(
        Arc::new(Circuit::new(&builder.finish())),
        1,
    ));
    let made = built.graph.add(sum, &keys).unwrap()[0];
    built.open_to_all::<Y>(made);
    built.open::<Y>(keys[0], &[1]);
    let bits = built.graph.add_one(FromKeys::new(), &[keys[1]]).unwrap();
    built.open_to_all::<B>(bits);
    built
}

/// Checks one graph with all that a specification can vary in where OTs are the parties' own; a dealer has none.
fn check_ways(built: &Built, seed: u64) {
    let relay = PlanSpec {
        opening: Opening::Relay,
        ..built.spec()
    };
    let threads = PlanSpec {
        threads: 2,
        ..built.spec()
    };
    let interleaved = PlanSpec {
        phases: Some(Phases::Interleaved),
        ..built.spec()
    };
    let in_blocks = PlanSpec {
        memory: 1 << 14,
        ..interleaved.clone()
    };
    for spec in [built.spec(), relay, threads, interleaved, in_blocks] {
        check(built, spec, seed);
    }
}

#[test]
fn no_dealer_has_the_ots_of_variants() {
    for built in [
        built::<B>(&circuits()[0].with_variants(BY_OTS), 3, 1, 1),
        built::<Y>(&circuits()[0].with_variants(THREE), 3, 1, 1),
    ] {
        let dealt = PlanSpec {
            origin: Origin::Dealer,
            ..built.spec()
        };
        let refused = Plan::new(dealt).unwrap_err();
        assert!(
            matches!(refused, PlanError::Correlations { .. }),
            "{refused}"
        );
    }
}

#[test]
fn circuits_are_right_and_cost_what_they_say() {
    let seed = seed();
    for (at, circuit) in circuits().iter().enumerate() {
        let by_ots = circuit.with_variants(BY_OTS);
        let three = circuit.with_variants(THREE);
        for (parties, len) in [(2, 1), (2, 9), (2, 200), (3, 7), (3, 65), (5, 13)] {
            let of_b = built::<B>(&by_ots, parties, len, seed);
            check(&of_b, of_b.spec(), seed);
            let of_y = built::<Y>(&three, parties, len, seed);
            check(&of_y, of_y.spec(), seed);
        }
        if at == 0 {
            for parties in [2, 3] {
                check_ways(&built::<B>(&by_ots, parties, 300, seed), seed);
                check_ways(&built::<Y>(&three, parties, 300, seed), seed);
            }
        }
    }
}

#[test]
fn conversions_are_right_and_cost_what_they_say() {
    let seed = seed();
    for (parties, len) in [(2, 1), (2, 200), (3, 7), (5, 13)] {
        let built = to_keys(Arc::new(ShareToKeys::new()), parties, len, seed);
        match len {
            7 => check_ways(&built, seed),
            _ => {
                check(&built, built.spec(), seed);
            }
        }
        for width in [Width::W8, Width::W32, Width::W64] {
            let mut built = Built::new(parties, seed);
            for (bits, signed) in [(1, false), (5, true), (5, false), (width.bits(), true)] {
                let value = built.bits::<B>(bits, len);
                let goal = [Goal::Depth, Goal::Size][bits % 2];
                let compose = ComposeMasked::new(width, signed, goal);
                let made = built.graph.add_one(compose, &[value]).unwrap();
                built.open_to_all::<A>(made);
            }
            match (len, width) {
                (7, Width::W8) => check_ways(&built, seed),
                _ => {
                    check(&built, built.spec(), seed);
                }
            }
        }
    }
}

/// Parties that do it in two ways do not compute: names tell them apart, and in other protocols nothing changes.
#[test]
fn names_tell_variants_apart() {
    let circuit = &circuits()[0];
    let name = |circuit: &Circuit, of: fn(Arc<Circuit>) -> Box<dyn Operation>| {
        of(Arc::new(circuit.clone())).name()
    };
    let of_b = |circuit| Box::new(Netlist::<B>::new(circuit, 1)) as Box<dyn Operation>;
    let of_y = |circuit| Box::new(Netlist::<Y>::new(circuit, 1)) as Box<dyn Operation>;
    let [ots, three] = [BY_OTS, THREE].map(|variants| circuit.with_variants(variants));
    assert_ne!(name(circuit, of_b), name(&ots, of_b));
    assert_ne!(name(circuit, of_y), name(&three, of_y));
    assert_eq!(name(circuit, of_y), name(&ots, of_y));
    assert_eq!(name(circuit, of_b), name(&three, of_b));
    assert_ne!(ShareToKeys::new().name(), ToKeys::new().name());
    let [masked, opened]: [Box<dyn Operation>; 2] = [
        Box::new(ComposeMasked::new(Width::W8, false, Goal::Depth)),
        Box::new(Compose::<A>::new(Width::W8, false)),
    ];
    assert_ne!(masked.name(), opened.name());
    // Without triples there are none of vectors.
    assert!(ots.in_vectors().is_none());
}

/// Rows of one party's bits in P, something made of them, and that opened in Q.
fn of_one<P: Protocol, Q: Protocol>(
    parties: usize,
    bits: &[usize],
    len: usize,
    make: impl FnOnce(&mut Graph, &[Value]) -> Value,
    to: &[Party],
) -> Graph {
    let mut graph = Graph::new(parties);
    let shared = bits.iter().enumerate().map(|(at, &bits)| {
        let owner = Party::new(at % parties);
        let sort = Sort::new(Sharing::clear(&[owner]), Element::Bits(bits), len);
        let input = graph.input(sort);
        graph.add_one(Share::<P>::new(owner), &[input]).unwrap()
    });
    let shared: Vec<_> = shared.collect();
    let made = make(&mut graph, &shared);
    let opened = graph.add_one(Open::<Q>::new(to.to_vec()), &[made]).unwrap();
    graph.output(opened);
    graph
}

fn with(operation: impl Operation + 'static) -> impl Fn(&mut Graph, &[Value]) -> Value {
    with_this(Arc::new(operation))
}

fn with_this(operation: Arc<dyn Operation>) -> impl Fn(&mut Graph, &[Value]) -> Value {
    move |graph, shared| graph.add(Arc::clone(&operation), shared).unwrap()[0]
}

fn adder(variants: Variants) -> Arc<Circuit> {
    let mut builder = Builder::new("sum");
    let [x, y] = [(); 2].map(|()| builder.input(4));
    let sum = builder.add(&x, &y);
    builder.output(&sum);
    Arc::new(Circuit::new(&builder.finish()).with_variants(variants))
}

/// No party's view depends on the others' inputs.
#[test]
fn transcripts_do_not_depend_on_inputs() {
    let seed = seed();
    for parties in [2, 3] {
        for to in Party::all(parties) {
            let receiver = [Party::new((to.index() + 1) % parties)];
            let (three, four) = ([4, 4], [4]);
            let graphs = [
                (
                    "ANDs by OTs",
                    of_one::<B, B>(
                        parties,
                        &three,
                        3,
                        with(Netlist::<B>::new(adder(BY_OTS), 1)),
                        &receiver,
                    ),
                ),
                (
                    "three OTs for an AND",
                    of_one::<Y, Y>(
                        parties,
                        &three,
                        3,
                        with(Netlist::<Y>::new(adder(THREE), 1)),
                        &receiver,
                    ),
                ),
                (
                    "B to Y",
                    of_one::<B, Y>(parties, &four, 3, with(ShareToKeys::new()), &receiver),
                ),
                (
                    "B to A",
                    of_one::<B, A>(
                        parties,
                        &four,
                        3,
                        with(ComposeMasked::new(Width::W8, false, Goal::Depth)),
                        &receiver,
                    ),
                ),
            ];
            for (about, graph) in graphs {
                let plan = Plan::new(PlanSpec::new(graph)).unwrap();
                let graph = &plan.spec().graph;
                let inputs = |others: u8| -> Vec<Shares> {
                    let of = |(owner, &value): (usize, &Value)| {
                        let sort = *graph.sort(value);
                        let mut value = Shares::zeros(sort);
                        let byte = if owner == to.index() { 0x5 } else { others };
                        for plane in 0..sort.element.bits() {
                            value.plane_mut(plane, 0)[0] = byte;
                        }
                        value
                    };
                    graph.inputs().iter().enumerate().map(of).collect()
                };
                let a = ones_of_values(&plan, &inputs(0), to, seed);
                let b = ones_of_values(&plan, &inputs(7), to, seed ^ 0x5555_0000_0000_0000);
                must_agree(&a, &b, &format!("{about}, {parties} parties, to {to}"));
            }
        }
    }
}

/// Bytes that party 1 sends in setup and online, and rounds of both, of a plan by IKNP with setup before online.
fn costs(graph: Graph) -> [[u64; 2]; 2] {
    let spec = PlanSpec {
        origin: Origin::Ot {
            extension: Extension::IKNP,
            threads: 1,
            matrices: Matrices::Ot,
        },
        phases: Some(Phases::Sequential),
        memory: usize::MAX >> 8,
        ..PlanSpec::new(graph)
    };
    let cost = Plan::new(spec).unwrap().cost(Party::new(1));
    [cost.setup, cost.online].map(|phase| [phase.bytes_sent, phase.rounds])
}

/// The comparisons of docs/PAPERS.md, from the bills: what each variant sends and waits for beside the chosen way.
#[test]
fn comparisons_with_the_chosen_ways() {
    let count = 1024;
    for parties in [2, 3, 5] {
        let all: Vec<Party> = Party::all(parties).collect();
        let (n, peers) = (parties as u64, parties as u64 - 1);
        let and = |variants| {
            let mut builder = Builder::new("and");
            let [x, y] = [(); 2].map(|()| builder.input(1));
            let and = builder.and(x[0], y[0]);
            builder.output(&[and]);
            Arc::new(Circuit::new(&builder.finish()).with_variants(variants))
        };
        let in_b = |variants| {
            let make = with(Netlist::<B>::new(and(variants), 1));
            costs(of_one::<B, B>(parties, &[1, 1], count, make, &all))
        };
        let [triples, ots] = [Variants::default(), BY_OTS].map(in_b);
        assert_eq!(triples[1], ots[1], "as much online");
        // Triples of three and more parties have N - 2 corrections of a bit, in a message that waits for the extension's.
        let bits = (n - 2) * count as u64;
        assert_eq!(triples[0][0] - ots[0][0], bits / 8);
        assert_eq!(triples[0][1] - ots[0][1], u64::from(parties > 2));

        let in_y = |variants| {
            let make = with(Netlist::<Y>::new(and(variants), 1));
            costs(of_one::<Y, Y>(parties, &[1, 1], count, make, &all))
        };
        let [two, three] = [Variants::default(), THREE].map(in_y);
        assert_eq!(two[1], three[1], "as much online");
        assert_eq!(two[0][1], three[0][1], "as many rounds");
        // An AND of two fresh inputs takes 4 OTs by the chosen way, and 3: what saves OTs are wires that are read again.
        assert!(three[0][0] < two[0][0]);
        let chain = |variants| {
            // One operand goes into all ANDs of a row.
            let mut builder = Builder::new("row");
            let [x, y] = [1, 16].map(|bits| builder.input(bits));
            let row = builder.mask(&y, x[0]);
            let mut last = row.clone();
            for _ in 0..3 {
                last = builder.mask(&last, x[0]);
                last.rotate_left(1);
            }
            builder.output(&last);
            let circuit = Circuit::new(&builder.finish());
            let ands = circuit.layered().and_count() as u64;
            let make = with(Netlist::<Y>::new(
                Arc::new(circuit.with_variants(variants)),
                1,
            ));
            let costs = costs(of_one::<Y, Y>(parties, &[1, 16], count, make, &all));
            (costs, ands)
        };
        let [(two, ands), (three, _)] = [Variants::default(), THREE].map(chain);
        let lanes = count as u64;
        // An OT more for each AND and none for the 17 inputs: kappa bits by IKNP, and two bits more told in place of one.
        let ots = (ands - 17) * lanes * 16;
        let told = (2 * ands - 17) * lanes / 8;
        assert_eq!(three[0][0] - two[0][0], peers * (ots + told));

        let to_y = |operation| {
            let make = with_this(operation);
            costs(of_one::<B, Y>(parties, &[1], count, make, &all))
        };
        let chosen = to_y(Arc::new(ToKeys::new()));
        let naive = to_y(Arc::new(ShareToKeys::new()));
        // N (N-1) (kappa + 1) bits and N (N-1) (N kappa + 1), as in table 6 and section 7.2.
        assert_eq!(chosen[1], [peers * (16 * lanes + lanes / 8), 2]);
        assert_eq!(naive[1], [peers * (16 * n * lanes + lanes / 8), 2]);
        assert_eq!(chosen[0], naive[0]);

        let to_a = |operation| {
            let make = with_this(operation);
            costs(of_one::<B, A>(parties, &[32], count, make, &all))
        };
        let chosen = to_a(Arc::new(Compose::<A>::new(Width::W32, false)));
        let masked = ComposeMasked::new(Width::W32, false, Goal::Depth);
        let naive = to_a(Arc::new(masked));
        let opened = peers * 4 * lanes;
        // A round and 32 bits; then the result is opened in another.
        assert_eq!(chosen[1], [2 * opened, 2]);
        // 6 rounds of a subtraction of 32 bits, and its ANDs.
        assert!(naive[1][1] > 6 && naive[1][0] > 4 * opened, "{naive:?}");
        assert!(naive[0][0] > chosen[0][0]);
    }
}
