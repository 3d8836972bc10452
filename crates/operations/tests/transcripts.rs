//! Transcripts of parties, which are independent of the others' inputs: with fixed inputs A and B of the
//! others, the bits of its transcript are equally distributed, each by itself, and so are those of
//! the sums that it opens and of their differences. Other joint distributions are not looked at. Base
//! OTs are looked at in crates/ot: here their keys come from each run's seed.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::Arc;

use crate::common::{Planned, netlist, own, plan, schemes};
use crate::programs::{Built, conversions, own as own_values};
use madrigal_circuit::Rows;
use madrigal_core::{Party, Phase};
use madrigal_correlations_make::deal;
use madrigal_engine::{
    Element, Given, Graph, Opening, Operation, Origin, Phases, Plan, PlanSpec, RunError, Shares,
    Sharing, Sort, Width, evaluate_program,
};
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Error};
use madrigal_operations::{
    AlphaTool, ArithmeticGmwTool, BetaTool, BmrTool, Boolean, BooleanGmwTool, Circuit, Gated, Mul,
    Open, ReplicatedTool, Rings, Share, YaoTool, evaluate_rows,
};
use madrigal_testkit::transcripts::{must_agree, must_see_a_leak, ones_of};
use madrigal_testkit::{Transcript, World, seed};

/// How often each bit of what `to` receives, and opens, is 1, over all runs with these inputs.
fn ones(plan: &Planned, inputs: &Rows, to: Party, seed: u64) -> Vec<u32> {
    let parties = plan.job.parties;
    let all = parties + plan.spec().origin.helpers();
    ones_of(all, to, seed, async |context: Context, _| {
        if context.me().index() == parties {
            deal(&context.enter(Phase::Setup, "setup")).await?;
            return Ok(Vec::new());
        }
        let own = own(&plan.job, inputs, context.me());
        let ended = evaluate_rows(&context, plan, own, &|_| {}).await;
        ended.map(|_| Vec::new()).map_err(ended_with)
    })
}

/// Counts the ones in transcripts of a program.
pub(crate) fn ones_of_values(plan: &Plan, inputs: &[Shares], to: Party, seed: u64) -> Vec<u32> {
    let graph = &plan.spec().graph;
    let all = graph.parties() + plan.spec().origin.helpers();
    ones_of(all, to, seed, async |context: Context, _| {
        if context.me().index() == graph.parties() {
            deal(&context.enter(Phase::Setup, "setup")).await?;
            return Ok(Vec::new());
        }
        let given = Given {
            inputs: own_values(graph, inputs, context.me()),
            ..Given::default()
        };
        let ended = evaluate_program(&context, plan, given, &|_| {}).await;
        ended.map(|_| Vec::new()).map_err(ended_with)
    })
}

fn ended_with(error: RunError) -> Error {
    Error::Ended {
        reason: error.to_string(),
    }
}

fn check(parties: usize, to: usize, receivers: &[usize], opening: Opening) {
    check_as(parties, to, receivers, opening, Planned::clone);
}

fn check_as(
    parties: usize,
    to: usize,
    receivers: &[usize],
    opening: Opening,
    change: impl Fn(&Planned) -> Planned,
) {
    let seed = seed();
    let netlist = netlist("int_add8_size.bristol");
    let plan = plan(
        &netlist,
        parties,
        3,
        receivers,
        opening,
        Phases::Sequential,
        1 << 20,
    );
    let plan = change(&plan);
    // Party `to` has the same input in both; everyone else's bits are all 0 in A and all 1 in B.
    let inputs = |others: u8| {
        let mut rows = Rows::new(netlist.input_bits() as usize, 3);
        for wire in 0..rows.rows() {
            let owner = wire / 8 % parties;
            rows.row_mut(wire)[0] = if owner == to { 0b101 } else { others };
        }
        rows
    };
    let a = ones(&plan, &inputs(0b000), to_party(to), seed);
    let b = ones(
        &plan,
        &inputs(0b111),
        to_party(to),
        seed ^ 0x5555_0000_0000_0000,
    );
    let about = format!(
        "protocol {}, correlations by {}, {parties} parties, to party {to}, {opening}, {} bits",
        plan.job.protocol.name,
        plan.spec().origin,
        a.len(),
    );
    must_agree(&a, &b, &about);
}

/// Products, addends, a circuit, numbers from bits and bits times numbers, on values of the first two
/// parties; the party after `to` gets the results.
fn check_program<P: Rings, B: Boolean>(parties: usize, to: usize, opening: Opening) {
    let seed = seed();
    let mut built = Built::new(parties, seed);
    let (width, len) = (Width::W8, 3);
    let x = built.ring::<P>(width, len);
    let y = built.ring::<P>(width, len);
    let product = built.graph.add_one(Mul::<P>::new(), &[x, y]).unwrap();
    let [less, chosen, back] = conversions::<P, B>(&mut built.graph, width, [product, y]);
    let receiver = (to + 1) % parties;
    built.open::<B>(less, &[receiver]);
    built.open::<P>(chosen, &[receiver]);
    built.open::<P>(back, &[receiver]);
    let plan = Plan::new(PlanSpec {
        opening,
        ..PlanSpec::new(built.graph.clone())
    })
    .unwrap();
    let inputs = |others: u8| -> Vec<Shares> {
        let of = |owner: usize| {
            let element = if owner == to { 0x5a } else { others };
            let sharing = Sharing::clear(&[Party::new(owner)]);
            Shares::ring_of(sharing, vec![element; len])
        };
        [0, 1].map(of).into()
    };
    let to_party = Party::new(to);
    let a = ones_of_values(&plan, &inputs(0), to_party, seed);
    let b = ones_of_values(&plan, &inputs(0xff), to_party, seed ^ 0x5555_0000_0000_0000);
    let about = format!(
        "a program in {}, {parties} parties, to party {to}, {opening}, {} bits",
        P::SHARING,
        a.len(),
    );
    must_agree(&a, &b, &about);
}

/// Party `to` has what the branches work on, another one the number of the active branch, and another one gets
/// the result. Whichever branch is active, one of them or none, `to` sees the same.
fn check_branches(
    scheme: madrigal_operations::Scheme,
    parties: usize,
    to: usize,
    opening: Opening,
) {
    let seed = seed();
    let (lanes, chooser) = (3, (to + 1) % parties);
    let branching = Arc::new(crate::branches::uneven());
    let mut graph = Graph::new(parties);
    let clear = |owner: usize| Sharing::clear(&[Party::new(owner)]);
    let shared = [(chooser, 2), (to, 4)].map(|(owner, bits)| {
        let input = graph.input(Sort::new(clear(owner), Element::Bits(bits), lanes));
        let share = Share::<BooleanGmwTool>::new(Party::new(owner));
        graph.add_one(share, &[input]).unwrap()
    });
    let branch = madrigal_operations::Branch::new(branching, scheme);
    let made = graph.add_one(branch, &shared).unwrap();
    let open = Open::<BooleanGmwTool>::new(vec![Party::new(chooser)]);
    let opened = graph.add_one(open, &[made]).unwrap();
    graph.output(opened);
    // Messages of base OTs and extensions are looked at elsewhere.
    let plan = Plan::new(PlanSpec {
        opening,
        origin: Origin::Dealer,
        ..PlanSpec::new(graph)
    })
    .unwrap();
    let inputs = |active: usize| -> Vec<Shares> {
        let mut index = Rows::new(2, lanes);
        for (bit, lane) in (0..2).flat_map(|bit| (0..lanes).map(move |lane| (bit, lane))) {
            index.set(bit, lane, active >> bit & 1 == 1);
        }
        let mut data = Rows::new(4, lanes);
        (0..4).for_each(|bit| data.set(bit, bit % lanes, true));
        let index = Shares::rows(clear(chooser), &index);
        vec![index, Shares::rows(clear(to), &data)]
    };
    let transcript = |active: usize| {
        let seed = seed ^ (active as u64) << 60;
        ones_of_values(&plan, &inputs(active), Party::new(to), seed)
    };
    let first = transcript(0);
    for active in 1..4 {
        let about = format!("{scheme:?}, {parties} parties, to {to}, {opening}, branch {active}");
        must_agree(&first, &transcript(active), &about);
    }
}

#[test]
fn which_branch_is_active() {
    for scheme in madrigal_operations::Scheme::ALL {
        check_branches(scheme, 2, 0, Opening::Direct);
        check_branches(scheme, 2, 1, Opening::Direct);
        check_branches(scheme, 3, 0, Opening::Relay);
    }
}

/// Checks branches of ring elements.
fn check_ring_branches(gated: Gated, parties: usize, to: usize, opening: Opening) {
    let seed = seed();
    let (lanes, chooser) = (2, (to + 1) % parties);
    let mut graph = Graph::new(parties);
    let clear = |owner: usize| Sharing::clear(&[Party::new(owner)]);
    let index = graph.input(Sort::new(clear(chooser), Element::Bits(2), lanes));
    let share = Share::<BooleanGmwTool>::new(Party::new(chooser));
    let mut shared = vec![graph.add_one(share, &[index]).unwrap()];
    for _ in 0..2 {
        let sort = Sort::new(clear(to), Element::Ring(Width::W32), lanes);
        let input = graph.input(sort);
        let share = Share::<ArithmeticGmwTool>::new(Party::new(to));
        shared.push(graph.add_one(share, &[input]).unwrap());
    }
    let branch = madrigal_operations::RingBranch::new(crate::ring_branches::uneven(), gated);
    let made = graph.add_one(branch, &shared).unwrap();
    let open = Open::<ArithmeticGmwTool>::new(vec![Party::new(chooser)]);
    let opened = graph.add_one(open, &[made]).unwrap();
    graph.output(opened);
    // Messages of base OTs and extensions are looked at elsewhere.
    let plan = Plan::new(PlanSpec {
        opening,
        origin: Origin::Dealer,
        ..PlanSpec::new(graph)
    })
    .unwrap();
    let inputs = |active: usize| -> Vec<Shares> {
        let mut index = Rows::new(2, lanes);
        for (bit, lane) in (0..2).flat_map(|bit| (0..lanes).map(move |lane| (bit, lane))) {
            index.set(bit, lane, active >> bit & 1 == 1);
        }
        let mut values = vec![Shares::rows(clear(chooser), &index)];
        values.extend([3u32, 5].map(|x| Shares::ring_of(clear(to), vec![x, x << 20])));
        values
    };
    let transcript = |active: usize| {
        let seed = seed ^ (active as u64) << 60;
        ones_of_values(&plan, &inputs(active), Party::new(to), seed)
    };
    let first = transcript(0);
    for active in 1..4 {
        let about = format!("{gated:?}, {parties} parties, to {to}, {opening}, branch {active}");
        must_agree(&first, &transcript(active), &about);
    }
}

#[test]
fn which_branch_of_ring_elements_is_active() {
    for gated in Gated::ALL {
        check_ring_branches(gated, 2, 0, Opening::Direct);
        check_ring_branches(gated, 2, 1, Opening::Direct);
        check_ring_branches(gated, 3, 0, Opening::Relay);
    }
    check_ring_branches(Gated::Triples, 3, 2, Opening::Direct);
}

/// Bits of the first two parties, garbled, whose sum becomes a number; the party after `to` gets it.
fn check_numbers<P: Boolean>(
    parties: usize,
    to: usize,
    opening: Opening,
    compose: Arc<dyn Operation>,
) {
    let seed = seed();
    let (mut graph, len) = (Graph::new(parties), 3);
    let clear = |owner: usize| Sharing::clear(&[Party::new(owner)]);
    let shared = [0, 1].map(|owner| {
        let input = graph.input(Sort::new(clear(owner), Element::Bits(4), len));
        graph
            .add_one(Share::<P>::new(Party::new(owner)), &[input])
            .unwrap()
    });
    let mut builder = madrigal_circuit::Builder::new("sum");
    let [x, y] = [4, 4].map(|bits| builder.input(bits));
    let sum = builder.add(&x, &y);
    builder.output(&sum);
    let sum = Arc::new(Circuit::new(&builder.finish()));
    let sum = graph
        .add_one(madrigal_operations::Netlist::<P>::new(sum, 1), &shared)
        .unwrap();
    let number = graph.add(compose, &[sum]).unwrap()[0];
    let receiver = Party::new((to + 1) % parties);
    let open = Open::<ArithmeticGmwTool>::new(vec![receiver]);
    let opened = graph.add_one(open, &[number]).unwrap();
    graph.output(opened);
    let plan = Plan::new(PlanSpec {
        opening,
        ..PlanSpec::new(graph)
    })
    .unwrap();
    let inputs = |others: u8| -> Vec<Shares> {
        let of = |owner: usize| {
            let mut rows = Rows::new(4, len);
            for row in 0..4 {
                rows.row_mut(row)[0] = if owner == to { 0b101 } else { others };
            }
            Shares::rows(clear(owner), &rows)
        };
        [0, 1].map(of).into()
    };
    let a = ones_of_values(&plan, &inputs(0), Party::new(to), seed);
    let seed = seed ^ 0x5555_0000_0000_0000;
    let b = ones_of_values(&plan, &inputs(7), Party::new(to), seed);
    let about = format!(
        "numbers in A from {}, {parties} parties, to {to}",
        P::SHARING
    );
    must_agree(&a, &b, &about);
}

#[test]
fn numbers_from_garbled_bits() {
    for to in 0..2 {
        let compose = madrigal_operations::ComposeLabels::<madrigal_operations::HalfGates>::new(
            Width::W8,
            false,
        );
        check_numbers::<YaoTool>(2, to, Opening::Direct, Arc::new(compose));
    }
    for (parties, to, opening) in [(2, 1, Opening::Direct), (3, 2, Opening::Relay)] {
        let compose = Arc::new(madrigal_operations::ComposeKeys::new(Width::W8, true));
        check_numbers::<BmrTool>(parties, to, opening, compose);
    }
}

/// The sum of two parties' numbers goes to Y2 and comes back; the one that is not `to` gets it.
fn check_split<P: Rings>(to: usize, phases: Phases) {
    let seed = seed();
    let (width, len) = (Width::W8, 3);
    let mut built = Built::new(2, seed);
    let x = built.ring::<P>(width, len);
    let y = built.ring::<P>(width, len);
    let graph = &mut built.graph;
    let sum = madrigal_operations::Linear::<P>::new(vec![1, 1], 0);
    let sum = graph.add_one(sum, &[x, y]).unwrap();
    let parts = graph
        .add(
            Arc::new(madrigal_operations::SplitLabels::<P>::new(false)),
            &[sum],
        )
        .unwrap();
    let mut builder = madrigal_circuit::Builder::new("sum");
    let [x, y] = [8, 8].map(|bits| builder.input(bits));
    let bits = builder.add(&x, &y);
    builder.output(&bits);
    let adder = Arc::new(Circuit::new(&builder.finish()));
    let adder = Arc::new(madrigal_operations::Netlist::<YaoTool>::new(adder, 1));
    let bits = graph.add(adder, &parts).unwrap()[0];
    let compose =
        madrigal_operations::ComposeLabels::<madrigal_operations::HalfGates>::new(width, false);
    let number = graph.add_one(compose, &[bits]).unwrap();
    built.open::<ArithmeticGmwTool>(number, &[1 - to]);
    built.open::<YaoTool>(bits, &[1 - to]);
    let plan = Plan::new(PlanSpec {
        phases: Some(phases),
        ..built.spec()
    })
    .unwrap();
    let inputs = |others: u8| -> Vec<Shares> {
        let of = |owner: usize| {
            let element = if owner == to { 0x5a } else { others };
            let sharing = Sharing::clear(&[Party::new(owner)]);
            Shares::ring_of(sharing, vec![element; len])
        };
        [0, 1].map(of).into()
    };
    let a = ones_of_values(&plan, &inputs(0), Party::new(to), seed);
    let seed = seed ^ 0x5555_0000_0000_0000;
    let b = ones_of_values(&plan, &inputs(0xff), Party::new(to), seed);
    let about = format!("{} to Y2 and A, {phases}, to party {to}", P::SHARING);
    must_agree(&a, &b, &about);
}

#[test]
fn numbers_to_garbled_bits_and_back() {
    for to in 0..2 {
        check_split::<ArithmeticGmwTool>(to, Phases::Sequential);
        check_split::<AlphaTool>(to, Phases::Sequential);
    }
    check_split::<ArithmeticGmwTool>(1, Phases::Interleaved);
}

#[test]
fn programs_in_a_and_b() {
    type A = ArithmeticGmwTool;
    type B = BooleanGmwTool;
    check_program::<A, B>(2, 0, Opening::Direct);
    check_program::<A, B>(2, 1, Opening::Direct);
    check_program::<A, B>(3, 0, Opening::Relay);
}

#[test]
fn programs_in_alpha_and_beta() {
    for to in 0..2 {
        check_program::<AlphaTool, BetaTool>(2, to, Opening::Direct);
    }
}

#[test]
fn programs_in_r() {
    for to in 0..3 {
        check_program::<ReplicatedTool, ReplicatedTool>(3, to, Opening::Direct);
    }
}

fn to_party(index: usize) -> Party {
    Party::new(index)
}

#[test]
fn two_parties_one_of_which_gets_the_output() {
    check(2, 0, &[1], Opening::Direct);
}

#[test]
fn three_parties_and_the_one_in_the_middle_of_a_relay() {
    check(3, 0, &[1], Opening::Relay);
}

#[test]
fn three_parties_and_one_without_input() {
    check(3, 2, &[0, 1], Opening::Direct);
}

#[test]
fn three_parties_with_replicated_shares() {
    for to in 0..3 {
        check_as(
            3,
            to,
            &[(to + 1) % 3],
            Opening::Direct,
            crate::common::replicated,
        );
    }
}

/// The garbler sees masked bits and colours, the evaluator labels and tables.
#[test]
fn two_parties_of_which_one_garbles() {
    let [half, three_halves] = schemes();
    for (to, scheme) in [(0, half), (1, half), (1, three_halves)] {
        check_as(2, to, &[1 - to], Opening::Direct, |plan| {
            plan.in_protocol(scheme)
        });
    }
}

#[test]
fn parties_that_garble_together() {
    for (parties, to, opening) in [(2, 1, Opening::Direct), (3, 0, Opening::Relay)] {
        let receiver = (to + 1) % parties;
        let change = crate::common::garbled_by_all;
        check_as(parties, to, &[receiver], opening, change);
    }
}

#[test]
fn parties_with_masks() {
    for to in 0..2 {
        check_as(2, to, &[1 - to], Opening::Direct, crate::common::masked);
    }
}

#[test]
fn parties_with_a_dealer() {
    for to in 0..2 {
        check_as(2, to, &[1 - to], Opening::Direct, crate::common::dealt);
    }
}

/// Whoever adds up shares learns the sum: only a receiver may.
#[test]
fn who_gets_no_output_receives_no_shares_of_it() {
    let seed = seed();
    // Without an AND, all that is sent is the opening of the output.
    let netlist = netlist("handmade_eq_const.txt");
    for opening in [Opening::Direct, Opening::Relay] {
        for receivers in [&[1, 2][..], &[2, 3], &[0, 2], &[1, 2, 3], &[3]] {
            let plan = plan(
                &netlist,
                4,
                9,
                receivers,
                opening,
                Phases::Sequential,
                1 << 20,
            );
            let inputs = Rows::new(netlist.input_bits() as usize, 9);
            for bystander in (0..4).filter(|party| !receivers.contains(party)) {
                let (transcript, transports) = Transcript::of(to_party(bystander), mesh(4));
                let (plan, inputs) = (&plan, &inputs);
                let results = World::new(4, seed).run_over(transports, |context| async move {
                    let own = own(&plan.job, inputs, context.me());
                    let ended = evaluate_rows(&context, plan, own, &|_| {}).await;
                    ended.map(drop).map_err(|error| Error::Ended {
                        reason: error.to_string(),
                    })
                });
                assert!(results.iter().all(Result::is_ok), "{results:?}");
                let got = transcript.bytes().len();
                assert_eq!(
                    got, 0,
                    "party {bystander}, {opening}, receivers {receivers:?}"
                );
            }
        }
    }
}

/// Whoever gets a result that depends on the others' inputs has a transcript that depends on them.
#[test]
#[should_panic(expected = "standard deviations")]
fn an_opened_result_is_seen() {
    check(2, 0, &[0, 1], Opening::Direct);
}

/// A single opened bit is seen.
#[test]
#[should_panic(expected = "one bit differs")]
fn one_opened_bit_is_seen() {
    let seed = seed();
    let mut graph = Graph::new(2);
    let clear = |owner: usize| Sharing::clear(&[Party::new(owner)]);
    let [mine, theirs] = [0, 1].map(|owner| {
        let input = graph.input(Sort::new(clear(owner), Element::Bits(64), 1));
        let share = Share::<BooleanGmwTool>::new(Party::new(owner));
        graph.add_one(share, &[input]).unwrap()
    });
    let mut builder = madrigal_circuit::Builder::new("one of many");
    let [x, y] = [64, 64].map(|bits| builder.input(bits));
    let bit = builder.and(x[5], y[40]);
    builder.output(&[bit]);
    let circuit = Arc::new(Circuit::new(&builder.finish()));
    let netlist = madrigal_operations::Netlist::<BooleanGmwTool>::new(circuit, 1);
    let bit = graph.add_one(netlist, &[mine, theirs]).unwrap();
    // To both, as sums are of what both send.
    let open = Open::<BooleanGmwTool>::new(Party::all(2).collect());
    let opened = graph.add_one(open, &[bit]).unwrap();
    graph.output(opened);
    let plan = Plan::new(PlanSpec::new(graph)).unwrap();
    let transcript = |bit: bool, seed: u64| {
        let mut rows = [0, 1].map(|_| Rows::new(64, 1));
        rows[0].set(5, 0, true);
        rows[1].set(40, 0, bit);
        let shares = |(owner, rows): (usize, &Rows)| Shares::rows(clear(owner), rows);
        let inputs: Vec<Shares> = rows.iter().enumerate().map(shares).collect();
        ones_of_values(&plan, &inputs, Party::new(0), seed)
    };
    let (a, b) = (transcript(false, seed), transcript(true, !seed));
    must_agree(&a, &b, "one bit of 64");
}

#[test]
fn a_leak_would_be_seen() {
    must_see_a_leak();
}
