//! Circuits in B whose ANDs with an operand in common take vector triples.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use madrigal_circuit::{Builder, Netlist, Wire};
use madrigal_core::Party;
use madrigal_engine::{Element, Graph};
use madrigal_engine::{Plan, PlanSpec, Shares, Sharing, Sort};
use madrigal_operations::{BooleanGmwTool, Circuit, Open, Share};
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::must_agree;

use crate::programs::{Built, check, check_all};
use crate::transcripts::ones_of_values;

type B = BooleanGmwTool;

fn circuit(widths: &[u32], of: impl Fn(&mut Builder, &[Vec<Wire>]) -> Vec<Wire>) -> Netlist {
    let mut builder = Builder::new("vectors");
    let inputs: Vec<Vec<Wire>> = widths.iter().map(|&width| builder.input(width)).collect();
    let made = of(&mut builder, &inputs);
    builder.output(&made);
    builder.finish()
}

fn multiplexer(bits: u32) -> Netlist {
    circuit(&[1, bits, bits], |b, x| b.select(x[0][0], &x[1], &x[2]))
}

/// Inputs of all parties in turn through a circuit, opened to all.
fn built(circuit: Circuit, parties: usize, len: usize, seed: u64) -> Built {
    let mut built = Built::new(parties, seed);
    let widths = circuit.inputs().to_vec();
    let inputs = widths
        .iter()
        .map(|&width| built.bits::<B>(width as usize, len));
    let inputs: Vec<_> = inputs.collect();
    let made = madrigal_operations::Netlist::<B>::new(Arc::new(circuit), 1);
    let made = built.graph.add_one(made, &inputs).unwrap();
    built.open_to_all::<B>(made);
    built
}

fn in_vectors(netlist: &Netlist) -> Circuit {
    Circuit::new(netlist)
        .in_vectors()
        .expect("ANDs with an operand in common")
}

#[test]
fn results_are_right_and_cost_what_they_say() {
    let seed = seed();
    let circuits = [
        multiplexer(12),
        multiplexer(45),
        multiplexer(512),
        // All products of two bits, which are cut into vectors of both.
        circuit(&[17, 33], |b, x| {
            let rows = x[0].iter().map(|&bit| b.mask(&x[1], bit));
            rows.collect::<Vec<_>>().concat()
        }),
        // Layers with vectors, without, and with nothing else.
        circuit(&[64, 64, 40], |b, x| {
            let less = b.less(&x[0], &x[1]);
            let masked = b.mask(&x[2], less);
            let last = masked[39];
            let mut all = b.mask(&x[0], last);
            let none = b.all(&all);
            all.push(none);
            all
        }),
    ];
    for netlist in &circuits {
        for (parties, len) in [(2, 1), (2, 9), (2, 200), (3, 7), (3, 65), (5, 13)] {
            let built = built(in_vectors(netlist), parties, len, seed);
            check(&built, built.spec(), seed);
        }
    }
    for netlist in &circuits[2..] {
        check_all(&built(in_vectors(netlist), 2, 700, seed), seed);
        check_all(&built(in_vectors(netlist), 3, 60, seed), seed);
    }
}

/// A multiplexer of 512 bits takes a twentieth of the bytes at most, both phases together, by whichever extension.
#[test]
fn a_long_multiplexer_takes_a_twentieth() {
    let bytes = |circuit: Circuit, parties: usize| {
        let plan = Plan::new(built(circuit, parties, 1000, seed()).spec()).unwrap();
        let shares = plan.cost(Party::new(0));
        // What is opened at the end is the same.
        let opened = (parties as u64 - 1) * 512 * 1000 / 8;
        [shares.setup.bytes_sent, shares.online.bytes_sent - opened]
    };
    let netlist = multiplexer(512);
    let bases = {
        let mut needless = Built::new(2, 1);
        let bit = needless.bits::<B>(1, 1);
        needless.open_to_all::<B>(bit);
        Plan::new(needless.spec())
            .unwrap()
            .cost(Party::new(0))
            .setup
            .bytes_sent
    };
    assert_eq!(bases, 0, "no OTs, no base OTs");
    let [plain_setup, plain_online] = bytes(Circuit::new(&netlist), 2);
    let [setup, online] = bytes(in_vectors(&netlist), 2);
    // 1,000 OTs in place of 512,000, and half of what is opened.
    let base = 128 * 64;
    assert!(
        plain_setup > 2_000_000 && setup < base + 5_000,
        "{plain_setup} {setup}"
    );
    assert_eq!([plain_online, online], [2 * 64_000, 513 * 1000 / 8]);
    assert!(
        20 * (setup + online) < plain_setup + plain_online,
        "{setup} {online}"
    );
}

/// Short vectors, and ANDs that have nothing in common, are as before.
#[test]
fn what_has_no_vectors_stays() {
    let sum = circuit(&[64, 64], |b, x| b.add(&x[0], &x[1]));
    assert!(Circuit::new(&sum).in_vectors().is_none());
    assert!(Circuit::new(&multiplexer(11)).in_vectors().is_none());
    assert!(Circuit::new(&multiplexer(12)).in_vectors().is_some());
}

/// No party's view depends on the others' inputs.
#[test]
fn transcripts_do_not_depend_on_inputs() {
    let seed = seed();
    for parties in [2, 3] {
        for to in Party::all(parties) {
            let mut graph = Graph::new(parties);
            let owners = [0, 1, parties - 1].map(Party::new);
            let sorts = owners.into_iter().zip([1, 12, 12]);
            let sorts: Vec<Sort> = sorts
                .map(|(owner, bits)| Sort::new(Sharing::clear(&[owner]), Element::Bits(bits), 3))
                .collect();
            let shared = sorts.iter().zip(owners).map(|(sort, owner)| {
                let input = graph.input(*sort);
                graph.add_one(Share::<B>::new(owner), &[input]).unwrap()
            });
            let shared: Vec<_> = shared.collect();
            let circuit = Arc::new(in_vectors(&multiplexer(12)));
            let made = madrigal_operations::Netlist::<B>::new(circuit, 1);
            let made = graph.add_one(made, &shared).unwrap();
            let receiver = Party::new((to.index() + 1) % parties);
            let opened = graph
                .add_one(Open::<B>::new(vec![receiver]), &[made])
                .unwrap();
            graph.output(opened);
            let plan = Plan::new(PlanSpec::new(graph)).unwrap();
            let inputs = |others: u8| -> Vec<Shares> {
                let of = |(sort, owner): (&Sort, Party)| {
                    let mut value = Shares::zeros(*sort);
                    let byte = if owner == to { 0x5 } else { others };
                    for plane in 0..sort.element.bits() {
                        value.plane_mut(plane, 0)[0] = byte;
                    }
                    value
                };
                sorts.iter().zip(owners).map(of).collect()
            };
            let a = ones_of_values(&plan, &inputs(0), to, seed);
            let b = ones_of_values(&plan, &inputs(7), to, seed ^ 0x5555_0000_0000_0000);
            must_agree(&a, &b, &format!("{parties} parties, to {to}"));
        }
    }
}
