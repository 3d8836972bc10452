//! Protocol Y by itself: right against the plain circuits, at the declared cost, for 2, 3 and 5 parties, both
//! openings, and numbers of lanes that fill no byte.
#![allow(clippy::unwrap_used)] // tests

use madrigal_circuit::{Layered, Rows};
use madrigal_core::Party;
use madrigal_net::MIN_WINDOW;
use madrigal_protocols::bmr::{Bmr, CHUNK, Gates, Shape, messages_of_column, paper_setup_bits};
use madrigal_protocols::{Opening, Rounds};
use madrigal_testkit::{World, seed};

use crate::common::additive::{OPENINGS, PARTIES};
use crate::common::bmr::{GATES, cost, job, offset, plain, random_circuit, read};

fn sum(shares: &[Rows]) -> Rows {
    let mut sum = shares[0].clone();
    for share in &shares[1..] {
        let bytes = sum.as_bytes_mut().iter_mut().zip(share.as_bytes());
        bytes.for_each(|(sum, share)| *sum ^= share);
    }
    sum
}

/// One job, of which all is checked.
fn check(world: World, seed: u64, opening: Opening, layered: &Layered, lanes: usize, to: &[Party]) {
    for gates in GATES {
        check_with(&world, seed, (opening, gates), layered, lanes, to);
    }
}

fn check_with(
    world: &World,
    seed: u64,
    how: (Opening, Gates),
    layered: &Layered,
    lanes: usize,
    to: &[Party],
) {
    let parties = world.parties();
    let inputs = plain(seed, layered.input_bits(), lanes);
    let expected = layered.interpret(&inputs).unwrap();
    let results = world.run(|context| job(context, how, seed, layered, &inputs, to, None));
    let mut shares = Vec::new();
    for (me, ((opened, share), spent)) in Party::all(parties).zip(results) {
        let about = format!("{me} of {parties}, {how:?}, {lanes} lanes to {to:?}");
        assert_eq!(opened.is_some(), to.contains(&me), "{about}");
        assert!(opened.is_none_or(|opened| opened == expected), "{about}");
        let declared = cost(how, me, parties, layered, lanes, to);
        assert_eq!(spent, declared, "{about}");
        shares.push(share);
    }
    assert!(sum(&shares) == expected, "in B, {parties} parties, {how:?}");
}

#[test]
fn random_circuits() {
    let seed = seed();
    for case in 0..40 {
        let seed = seed.wrapping_add(case);
        let (parties, opening) = (PARTIES[case as usize % 3], OPENINGS[case as usize % 2]);
        let layered = random_circuit(seed, 60);
        let all: Vec<Party> = Party::all(parties).collect();
        let to = [&all[..], &all[..1], &all[1..], &all[parties - 1..]][case as usize % 4];
        let lanes = [1, 7, 8, 64, 100, 3][case as usize % 6];
        check(
            World::light(parties, seed),
            seed,
            opening,
            &layered,
            lanes,
            to,
        );
    }
}

#[test]
fn aes() {
    let seed = seed();
    let layered = read("aes_128.txt");
    for (parties, opening, lanes) in [
        (2, Opening::Direct, 1),
        (2, Opening::Direct, 7),
        (2, Opening::Relay, 64),
        (2, Opening::Direct, 100),
        (3, Opening::Direct, 9),
        (3, Opening::Direct, 64),
        (3, Opening::Relay, 1),
        (5, Opening::Direct, 2),
        (5, Opening::Relay, 1),
    ] {
        let all: Vec<Party> = Party::all(parties).collect();
        check(
            World::light(parties, seed),
            seed,
            opening,
            &layered,
            lanes,
            &all,
        );
    }
}

/// Tables of many windows, in both directions at once.
#[test]
fn tables_longer_than_a_window() {
    let seed = seed();
    let layered = read("aes_128.txt");
    for opening in OPENINGS {
        let world = World::light(3, seed).with_limits(|limits| limits.window = MIN_WINDOW);
        check(world, seed, opening, &layered, 8, &[Party::new(1)]);
    }
}

/// A gate of many lanes is one message, here of two windows: whoever sends takes what comes meanwhile.
#[test]
fn messages_longer_than_a_window() {
    let seed = seed();
    let mut circuits = (0..).map(|case| random_circuit(seed.wrapping_add(case), 40));
    let layered = circuits.find(|layered| layered.and_count() > 3);
    let layered = layered.expect("some circuit has ANDs");
    for opening in OPENINGS {
        let world = World::light(3, seed).with_limits(|limits| limits.window = MIN_WINDOW);
        check(world, seed, opening, &layered, 20_000, &[Party::new(1)]);
    }
}

/// Rounds and bytes as the paper and the module say, and as seen in the counters above: the formulas are
/// compared with numbers worked out by hand.
#[test]
fn costs_by_hand() {
    let layered = read("aes_128.txt");
    let ands = 6400;
    for opening in [Opening::Direct, Opening::Relay] {
        for parties in PARTIES {
            let all: Vec<Party> = Party::all(parties).collect();
            let of = |me: &Party| cost((opening, Gates::TwoOts), *me, parties, &layered, 64, &all);
            let (n, m) = (parties as u64, ands * 64);
            let most = |rounds: &dyn Fn(&Party) -> u64| all.iter().map(rounds).max();
            // In 64 lanes a column has 19 MiB.
            let garble = if parties == 2 { 3 } else { 4 };
            let open = if opening == Opening::Direct { 1 } else { 2 };
            assert_eq!(most(&|me| of(me).setup.rounds), Some(garble + open));
            let mut input = Rounds::new(parties);
            Bmr::share_rounds(&mut input, Party::new(1), parties);
            assert_eq!(most(&|me| input.of(*me)), Some(2));
            let mut shared = Rounds::new(parties);
            Bmr::from_boolean_rounds(&mut shared, opening, parties);
            let expected = if opening == Opening::Direct { 2 } else { 3 };
            assert_eq!(most(&|me| shared.of(*me)), Some(expected));
            let total: u64 = all.iter().map(|me| of(me).setup.bytes_sent).sum();
            let pairs = n * (n - 1);
            let told = pairs * (2 * m + 256 * 64) / 8;
            let tables = n * (2 * n - 3) * 48 * m;
            let opened = match opening {
                Opening::Direct => pairs,
                Opening::Relay => 2 * (n - 1),
            };
            let masks = opened * 128 * 64 / 8;
            assert_eq!(total, tables + told + masks, "{parties}, {opening}");
            // Less than the paper's, without what the correlated OTs themselves send.
            assert!(8 * total < paper_setup_bits(n, m, true));
        }
    }
    assert_eq!(paper_setup_bits(2, 1, false), 2 * (15 * 128 + 1));
    assert_eq!(paper_setup_bits(3, 10, true), 10 * 6 * (16 * 128 + 1));
}

/// Three OTs for an AND in place of two, and none for inputs: a bit more travels for each of them, and the OTs with IKNP are
/// what the paper counts for three, without the strings of its C-OTs; tables, rounds and all that is online are the same.
#[test]
fn three_ots_for_an_and_by_hand() {
    let layered = read("aes_128.txt");
    let (ands, inputs, lanes) = (6400, 256, 64);
    for parties in PARTIES {
        let all: Vec<Party> = Party::all(parties).collect();
        let [two, three] = GATES.map(|gates| {
            let how = (Opening::Direct, gates);
            let shape = Shape {
                parties,
                rows: layered.rows(),
                lanes,
                gates,
            };
            let cost = cost(how, all[1], parties, &layered, lanes, &all);
            (cost, shape.products(&layered))
        });
        assert_eq!(two.1, (2 * ands + inputs) * lanes);
        assert_eq!(three.1, 3 * ands * lanes);
        assert_eq!(two.0.online, three.0.online);
        assert_eq!(two.0.setup.rounds, three.0.setup.rounds);
        assert_eq!(two.0.setup.messages, three.0.setup.messages);
        let more = three.0.setup.bytes_sent - two.0.setup.bytes_sent;
        let told = (2 * ands - inputs) * lanes / 8;
        assert_eq!(more, ((parties - 1) * told) as u64);
        // By table 6 the paper's own optimisation saves three strings of kappa bits.
        let (n, m) = (parties as u64, (ands * lanes) as u64);
        let saved = paper_setup_bits(n, m, false) - paper_setup_bits(n, m, true);
        assert_eq!(saved, n * (n - 1) * 3 * 128 * m);
    }
}

/// Messages are not small where a circuit has much to send.
#[test]
fn messages_are_long() {
    let layered = read("aes_128.txt");
    for lanes in [1, 7, 16, 64] {
        let shape = Shape {
            parties: 2,
            rows: layered.rows(),
            lanes,
            gates: Gates::TwoOts,
        };
        let total = shape.column_bytes(layered.and_count()) as u64;
        let messages = messages_of_column(shape, &layered);
        assert!(
            messages <= total.div_ceil(CHUNK as u64),
            "{lanes}: {messages}"
        );
    }
}

/// Masks of inputs are shared among all. The mask of an output that is the XOR of two parties' inputs is shared among all three
/// parties at random: whoever is sent the shares learns the sum, and neither input.
#[test]
fn masks_of_inputs_are_shared_among_all() {
    let seed = seed();
    let results = World::light(3, seed).run(|context| async move {
        let own = offset(seed, context.me().index());
        let mut bmr = Bmr::open(context, Opening::Direct, &own)?;
        let of = [0, 1].map(|owner| bmr.fresh_input(Party::new(owner), 2, 100));
        let masks = of.each_ref().map(|input| input.mask().cloned());
        Ok((of.map(|input| input.part().masks().clone()), masks))
    });
    for owner in 0..2 {
        let shares: Vec<Rows> = results.iter().map(|((s, _), _)| s[owner].clone()).collect();
        for (me, ((_, masks), _)) in results.iter().enumerate() {
            assert_eq!(masks[owner].is_some(), me == owner);
        }
        let mask = results[owner].0.1[owner].clone().unwrap();
        assert!(sum(&shares) == mask);
        // Each is random, and no two of them are the mask.
        let ones = |rows: &Rows| {
            rows.as_bytes()
                .iter()
                .map(|byte| byte.count_ones())
                .sum::<u32>()
        };
        for me in 0..3 {
            let pair = sum(&[
                shares[me].clone(),
                shares[(me + 1) % 3].clone(),
                mask.clone(),
            ]);
            for rows in [&shares[me], &pair] {
                assert!(
                    (50..150).contains(&ones(rows)),
                    "{} ones of 200",
                    ones(rows)
                );
            }
        }
    }
}
