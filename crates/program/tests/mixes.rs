//! Mixes of several sharings of bits: by hand, and as the plan chooses.

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_program::generator::Recipe;
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{Computation, Everyone, Inputs, Number, Planned, Program, Secret};

use crate::random::Random;
use crate::running::{runs, runs_planned};

fn mix(name: &str) -> Mix {
    name.parse().expect("a mix")
}

fn planned(program: &Computation, mix: Mix, latency: f64, rate: Option<f64>) -> Planned {
    let planned = program.plan(mix, None, &|spec| {
        (spec.line.latency, spec.line.bytes_per_second) = (latency, rate);
    });
    planned.expect("a plan that can be")
}

fn rounds(planned: &Planned) -> u64 {
    planned.plan.cost(Party::new(0)).online.rounds
}

/// Time of a plan as the search compares it.
fn seconds(planned: &Planned) -> f64 {
    planned.seconds_at(&madrigal_core::time::Rates::ZEN_5)
}

#[test]
fn names_say_which_sharings_a_mix_has() {
    let written = [
        "A+B+Y",
        "A+B+Y2",
        "A+Y+Y2",
        "A+B+Y+Y2",
        "alpha+beta+Y2",
        "B+Y",
        "B+Y2",
        "auto",
    ];
    for name in written {
        assert_eq!(mix(name).to_string(), name);
    }
    for wrong in [
        "A+Y+B", "A+B+B", "A+B+R", "R+B", "alpha+B", "A+beta", "A+B+", "A+auto", "+B",
    ] {
        let error = wrong.parse::<Mix>().expect_err(wrong);
        assert!(error.to_string().contains("A+B+Y"), "{error}");
    }
    let singles: Vec<Mix> = mix("A+B+Y2").singles().collect();
    assert_eq!(singles, [Mix::AB, Mix::AY2]);
    assert_eq!(mix("A+Y2").and(Sharing::B), Some(mix("A+B+Y2")));
    assert!(mix("A+B+Y2").is_for(2) && !mix("A+B+Y2").is_for(3));
    assert_eq!(mix("A+B+Y").withstands(5), 4);
    // All that the parties can run, and no mix twice.
    let of = |parties| -> Vec<String> {
        let all = Mix::of_several(parties).into_iter();
        all.map(|mix| mix.to_string()).collect()
    };
    assert_eq!(of(2), ["A+B+Y+Y2", "alpha+beta+Y2", "B+Y+Y2"]);
    assert_eq!(of(3), ["A+B+Y", "B+Y"]);
}

/// MOTION, 7.5: from A to B through Y, whose circuit adds the shares in a number of rounds that does not grow with the
/// numbers.
#[test]
fn numbers_go_from_a_to_b_through_garbled_circuits_in_constant_rounds() {
    fn program<T: Number + From<u8>>(parties: usize, through: &[Sharing]) -> (Computation, Inputs) {
        let mut p = Program::new(parties);
        let x: Secret<T> = p.input(Party::new(0), [3]);
        let mut x = (&x + &x).to(Sharing::A);
        for &sharing in through {
            x = x.to(sharing);
        }
        let _ = p.open(x, Everyone);
        let numbers: Vec<T> = [0, 1, 200].map(T::from).into();
        (
            p.finish().expect("a program"),
            Inputs::new().with::<T>(numbers),
        )
    }
    for (name, garbled, parties) in [
        ("A+B+Y", Sharing::Y, 2),
        ("A+B+Y", Sharing::Y, 3),
        ("A+B+Y", Sharing::Y, 5),
        ("A+B+Y2", Sharing::Y2, 2),
    ] {
        let online = |(program, inputs): (Computation, Inputs), what: &str| {
            runs(&program, &inputs, mix(name), Goal::Depth, what);
            let lowered = program
                .executable(mix(name), Goal::Depth)
                .expect("it can be");
            let plan = lowered.plan().expect("a plan");
            let costs = Party::all(parties).map(|party| plan.cost(party).online.rounds);
            costs.max().expect("there are parties")
        };
        let through = &[garbled, Sharing::B][..];
        let narrow = online(program::<u8>(parties, through), "u8 through Y");
        for wide in [
            online(program::<u16>(parties, through), "u16 through Y"),
            online(program::<u32>(parties, through), "u32 through Y"),
            online(program::<u64>(parties, through), "u64 through Y"),
            online(program::<u128>(parties, through), "u128 through Y"),
        ] {
            assert_eq!(wide, narrow, "{name}, {parties} parties");
        }
        let direct = &[Sharing::B][..];
        let in_b = [
            online(program::<u8>(parties, direct), "u8 directly"),
            online(program::<u128>(parties, direct), "u128 directly"),
        ];
        assert!(in_b[0] < in_b[1], "{in_b:?}");
        assert!(
            narrow < in_b[1],
            "{name}, {parties} parties: {narrow}, {in_b:?}"
        );
    }
}

#[test]
fn random_programs_run_in_mixes_of_several_sharings_of_bits() {
    let mut random = Random::fresh();
    let mixes = [
        ("A+B+Y", 2),
        ("A+B+Y2", 2),
        ("A+B+Y", 3),
        ("alpha+beta+Y2", 2),
        ("B+Y2", 2),
        ("A+B+Y", 5),
        ("A+B+Y+Y2", 2),
    ];
    for round in 0..14 {
        let (name, parties) = mixes[round % mixes.len()];
        let recipe = Recipe {
            seed: random.half(),
            parties,
            operations: if round % 4 == 0 { 20 } else { 6 },
            mix: mix(name),
            functions: round % 3 == 1,
        };
        let (program, inputs) = recipe.cook().expect("a program that can be");
        let what = format!("{recipe:?}");
        let goal = [Goal::Size, Goal::Depth][round / mixes.len() % 2];
        runs(&program, &inputs, mix(name), goal, &what);
        // As the plan chooses, on a line that is near, farther, or far and narrow.
        let lines = [
            (1e-4, Some(1.25e9)),
            (1e-2, Some(1.25e8)),
            (0.05, Some(1.25e7)),
        ];
        let (latency, rate) = lines[random.half() as usize % lines.len()];
        let planned = planned(&program, mix(name), latency, rate);
        let what = format!("{what} planned over {latency} s");
        runs_planned(
            &program,
            (&planned.plan, &planned.executable, planned.mix),
            &inputs,
            &what,
        );
        let single = planned.single.as_ref().expect("what it is compared with");
        assert!(seconds(&planned) <= seconds(single), "{what}");
    }
}

#[test]
fn random_programs_run_in_the_mix_that_the_plan_chooses() {
    let mut random = Random::fresh();
    for round in 0..6 {
        let parties = [2, 3, 5][round % 3];
        let recipe = Recipe {
            seed: random.half(),
            parties,
            operations: 8,
            mix: Mix::AB,
            functions: false,
        };
        let (program, inputs) = recipe.cook().expect("a program that can be");
        let (latency, rate) = [(1e-4, 1.25e9), (0.05, 1.25e8)][round / 3 % 2];
        let planned = planned(&program, Mix::AUTO, latency, Some(rate));
        let what = format!("{recipe:?} in {}, chosen over {latency} s", planned.mix);
        runs_planned(
            &program,
            (&planned.plan, &planned.executable, planned.mix),
            &inputs,
            &what,
        );
        let line = |mix| {
            program.plan(mix, None, &|spec| {
                (spec.line.latency, spec.line.bytes_per_second) = (latency, Some(rate));
            })
        };
        // Clients share values in the forms of A+B: mixes with others are not compared, if there are clients.
        let types = program.inputs().iter().map(|port| port.tensor_type.element);
        let types = types.chain(
            program
                .outputs()
                .iter()
                .map(|port| port.tensor_type.element),
        );
        let types: Vec<_> = types.collect();
        let clients = (program.inputs().iter()).any(|port| port.owner.client().is_some())
            || program
                .outputs()
                .iter()
                .any(|port| port.clients().next().is_some());
        let suits = |mix: &Mix| {
            let alike = |element| mix.kept_form(element) == Mix::AB.kept_form(element);
            !clients || types.iter().all(|&element| alike(element))
        };
        let mixes = Mix::all().filter(|mix| mix.is_for(parties));
        for mix in mixes.filter(suits) {
            // Where a program names a sharing, it cannot be had in mixes without it.
            if let Ok(single) = line(mix) {
                assert!(
                    seconds(&planned) <= seconds(&single),
                    "{what}, against {mix}"
                );
            }
        }
    }
}

/// Neighbours in one sharing become one circuit, those in different ones do not.
#[test]
fn operators_of_one_sharing_become_one_circuit() {
    let circuits = |sharings: [Sharing; 2]| {
        let mut p = Program::new(2);
        let [x, y] = [0, 1].map(|party| p.input::<u32>(Party::new(party), [4]));
        let sum = x.to(sharings[0]) ^ (y.to(sharings[0]) + 1);
        let less = sum.to(sharings[1]).lt(y.to(sharings[1]));
        let _ = p.open(less, Everyone);
        let program = p.finish().expect("a program that can be");
        let lowered = program.lower(mix("B+Y2"), Goal::Size).expect("it can be");
        let lines = lowered.describe();
        lines
            .iter()
            .filter(|line| line.contains("circuit of"))
            .count()
    };
    assert_eq!(circuits([Sharing::B, Sharing::B]), 1);
    assert_eq!(circuits([Sharing::Y2, Sharing::Y2]), 1);
    assert_eq!(circuits([Sharing::B, Sharing::Y2]), 2);
}

/// Where conversions are to be written, one between sharings of bits is asked for as any other.
#[test]
fn bits_in_another_sharing_are_told_where_conversions_are_written() {
    let program = |convert: bool| {
        let mut p = Program::new(2);
        let [x, y] = [0, 1].map(|party| p.input::<u32>(Party::new(party), ()));
        let (x, mut y) = (x.to(Sharing::B), y.to(Sharing::Y2).rotate_left(1).square());
        if convert {
            y = y.to(Sharing::B);
        }
        let _ = p.open(x.lt(&y), Everyone);
        p.finish().expect("a program that can be")
    };
    let mix = mix("B+Y2").manual();
    assert!(program(true).lower(mix, Goal::Size).is_ok());
    let error = program(false)
        .lower(mix, Goal::Size)
        .expect_err("it is in Y2");
    let told = error.to_string();
    assert!(
        told.contains("mixes.rs") && told.contains("in Y2"),
        "{told}"
    );
    let missing = program(true).lower(Mix::B, Goal::Size).expect_err("no Y2");
    assert!(missing.to_string().contains("does not have"), "{missing}");
}

/// A comparison that waits for another, again and again, of few numbers.
fn chain(parties: usize, lanes: usize) -> Computation {
    let mut p = Program::new(parties);
    let x: Secret<u32> = p.input(Party::new(0), [lanes]);
    let mut y: Secret<u32> = p.input(Party::new(1), [lanes]);
    for turn in 0..12_u32 {
        let less = x.lt(&y);
        y = less.select(y.rotate_left(3), &(&y ^ (turn * 77)));
    }
    let _ = p.open(y, Everyone);
    p.finish().expect("a program that can be")
}

#[test]
fn a_deep_chain_of_comparisons_is_garbled_where_rounds_take_long() {
    // Many lanes: bytes cost more than rounds where the line is near, and less where it is far.
    let program = chain(2, 20_000);
    let near = planned(&program, mix("A+B+Y2"), 1e-4, Some(1.25e8));
    let far = planned(&program, mix("A+B+Y2"), 0.5, Some(1.25e9));
    assert_eq!(near.mix, Mix::AB, "{near}");
    assert_eq!(far.mix, Mix::AY2, "{far}");
    assert!(rounds(&far) < rounds(&near));
    let [near, far] = [(1e-4, 1.25e8), (0.5, 1.25e9)]
        .map(|(latency, rate)| planned(&program, Mix::AUTO, latency, Some(rate)).mix);
    assert_ne!(near, far);
}

/// Parts of a program that want different sharings get them: wide ANDs, and comparisons in a chain.
#[test]
fn wide_and_deep_parts_of_a_program_are_in_different_sharings() {
    let mut p = Program::new(2);
    let wide: [Secret<u64>; 2] = [0, 1].map(|party| p.input(Party::new(party), [100_000]));
    let _ = p.open(&wide[0] & &wide[1], Everyone);
    let x: Secret<u32> = p.input(Party::new(0), [10]);
    let mut y: Secret<u32> = p.input(Party::new(1), [10]);
    for turn in 0..12_u32 {
        let less = x.lt(&y);
        y = less.select(y.rotate_left(3), &(&y ^ (turn * 77)));
    }
    let _ = p.open(y, Everyone);
    let program = p.finish().expect("a program that can be");
    let chosen = planned(&program, mix("A+B+Y2"), 0.02, Some(1.25e8));
    let single = chosen.single.as_ref().expect("what it is compared with");
    assert!(seconds(&chosen) < 0.9 * seconds(single), "{chosen}");
    assert_eq!(chosen.mix, mix("A+B+Y2"), "{chosen}");
    let sharings: Vec<Sharing> = chosen.held.iter().map(|held| held.sharing).collect();
    assert_eq!(sharings, [Sharing::B, Sharing::Y2], "{chosen}");
    let text = chosen.to_string();
    assert!(
        text.contains(": and in B\n") && text.contains("alone: about"),
        "{text}"
    );
    let inputs = Inputs::new()
        .with(vec![7_u64; 100_000])
        .with(vec![13_u64; 100_000])
        .with([5_u32; 10])
        .with([9_u32; 10]);
    runs_planned(
        &program,
        (&chosen.plan, &chosen.executable, chosen.mix),
        &inputs,
        "both parts",
    );
}
