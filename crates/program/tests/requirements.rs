//! Requirements: what is opened where they hold, that nothing is where they do not, what that costs, and who is named.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::ops::RangeBounds;

use madrigal_circuit::Goal;
use madrigal_engine::{Given, RunError, Shares, evaluate_program};
use madrigal_kernels::meter::unmetered;
use madrigal_kernels::{Block, Prg};
use madrigal_net::Error;
use madrigal_program::lower::Mix;
use madrigal_program::{
    Client, Computation, Everyone, Fault, Fixed, InputError, Inputs, LocalError, Number, Party,
    Program, StageError, Stages,
};
use madrigal_testkit::transcripts::{must_agree, must_see_a_leak, ones_of};
use madrigal_testkit::{World, seed};

use crate::running::{MIXES, runs};

fn clinic() -> Client {
    Client::new("clinic")
}

/// Ages of a client and limits of a party, to all kinds of receivers if the ages are in order.
fn ages(parties: usize, opened: bool) -> Computation {
    let mut p = Program::new(parties);
    let ages = p.input_named::<u8>("ages", clinic(), [4]);
    let limit = p.input::<u8>(Party::new(0), ());
    let old = ages.gt(&limit);
    p.require_named("ages are below 130", &ages.within(..130));
    p.require(&old.any(0));
    if opened {
        p.open_named("old", &old.any(0), Party::new(parties - 1));
        p.open_named("all", &old.any(0), Everyone);
        p.open_named("for clients", &old.any(0), clinic());
    }
    p.finish().unwrap()
}

fn inputs(ages: [u8; 4], limit: u8) -> Inputs {
    Inputs::new().with(ages).with(limit)
}

#[test]
fn everything_is_opened_where_requirements_hold() {
    for (mix, parties) in MIXES {
        let program = ages(parties, true);
        for goal in [Goal::Size, Goal::Depth] {
            let inputs = inputs([0, 129, 17, 80], 128);
            runs(&program, &inputs, mix, goal, "requirements that hold");
        }
    }
}

/// What each party says of the requirements, and what it has sent, received and waited for.
fn fails(program: &Computation, inputs: &Inputs, mix: Mix) -> Vec<(String, madrigal_core::Cost)> {
    let planned = program.plan(mix, Some(Goal::Size), &|_| {}).unwrap();
    let mut random = Prg::new(Block::new(seed(), 9));
    let dealt = program.deal(inputs, mix, &mut random).unwrap();
    let (planned, dealt) = (&planned, &dealt);
    let world = World::light(program.parties(), seed());
    world.run(|context| async move {
        let me = context.me();
        let executable = &planned.executable;
        let given = Given {
            inputs: executable.given(program, &dealt[me.index()], me).unwrap(),
            ..Given::default()
        };
        let values = evaluate_program(&context, &planned.plan, given, &|_| {}).await;
        let values = values.map_err(|error| Error::bug(error.to_string()))?;
        // Not even where somebody looks at the values that the error keeps back.
        let count = executable.graph().outputs().len() - 2;
        for value in values[..count].iter().filter(|value| value.is_known()) {
            assert!(value.plane_bytes().iter().all(|&byte| byte == 0), "{mix}");
        }
        match executable.outputs(&values) {
            Err(RunError::Unmet { requirements }) => Ok(requirements),
            other => panic!("{me} in {mix}: {other:?}"),
        }
    })
}

/// A failed run costs what requirements cost: it is as long as a program that opens nothing else.
#[test]
fn nothing_is_sent_for_openings_where_a_requirement_does_not_hold() {
    for (mix, parties) in MIXES {
        let (program, bare) = (ages(parties, true), ages(parties, false));
        let bare = bare.plan(mix, Some(Goal::Size), &|_| {}).unwrap();
        let failed = fails(&program, &inputs([0, 130, 17, 80], 128), mix);
        for (me, (requirements, cost)) in Party::all(parties).zip(failed) {
            let expected = bare.plan.cost(me);
            assert_eq!(
                [cost.setup.bytes_sent, cost.online.bytes_sent],
                [expected.setup.bytes_sent, expected.online.bytes_sent],
                "{me} in {mix}"
            );
            assert_eq!(
                [cost.setup.rounds, cost.online.rounds],
                [expected.setup.rounds, expected.online.rounds],
                "{me} in {mix}"
            );
            assert!(
                requirements.starts_with("\"ages are below 130\" (")
                    && requirements.ends_with(", of input 0 (\"ages\") of client clinic"),
                "{requirements}"
            );
        }
    }
}

/// All that do not hold are named, each with the inputs that it depends on.
#[test]
fn each_requirement_that_does_not_hold_is_named() {
    let program = ages(3, true);
    for (ages, limit, expected) in [
        ([129, 1, 1, 1], 128, [false, false]),
        ([130, 1, 1, 1], 128, [true, false]),
        ([128, 1, 1, 1], 128, [false, true]),
        ([255, 1, 1, 1], 255, [true, true]),
        ([0, 0, 0, 255], 254, [true, false]),
    ] {
        let given = inputs(ages, limit);
        let requirements = match program.simulate(&given) {
            Ok(_) => String::new(),
            Err(InputError::Unmet { requirements }) => requirements,
            Err(other) => panic!("{other}"),
        };
        let named = requirements.contains("ages are below 130");
        let other =
            requirements.contains("of input 0 (\"ages\") of client clinic, input 1 of party 0");
        assert_eq!([named, other], expected, "{requirements}");
        if let Err(error) = program.check(&given) {
            assert_eq!(
                error,
                InputError::Unmet {
                    requirements: requirements.clone()
                }
            );
        }
        match program.run_locally(&given) {
            Ok(_) => assert_eq!(expected, [false, false]),
            Err(LocalError::Run { party, error }) => {
                assert_eq!(error, RunError::Unmet { requirements });
                assert_eq!(party, Party::new(0));
            }
            Err(other) => panic!("{other}"),
        }
    }
    let [first, second] = program.requirements() else {
        panic!("two requirements");
    };
    assert!(first.at.file().ends_with("requirements.rs"), "{}", first.at);
    assert_eq!(second.at.line(), first.at.line() + 1);
}

/// A value that the last party would learn, if the difference of what clients bring were not what it is.
fn compared(parties: usize) -> Computation {
    let mut p = Program::new(parties);
    let x = p.input::<u16>(clinic(), ());
    let y = p.input::<u16>(Client::new("registry"), ());
    p.require(&x.gt(&y));
    p.open(&x + &y, (Party::new(parties - 1), clinic()));
    p.open(&x.min(&y), Party::new(parties - 1));
    p.finish().unwrap()
}

/// The bits of what the last party sees when clients bring these: messages that it receives, and its shares.
fn view(mix: Mix, parties: usize, [x, y]: [u16; 2], seed: u64) -> Vec<u32> {
    let program = compared(parties);
    let planned = program.plan(mix, Some(Goal::Size), &|_| {}).unwrap();
    let inputs = Inputs::new().with(x).with(y);
    let (program, planned, inputs) = (&program, &planned, &inputs);
    let last = Party::new(parties - 1);
    ones_of(parties, last, seed, async |context, run| {
        let me = context.me();
        let mut random = Prg::new(Block::new(seed, run));
        let dealt = unmetered(|| program.deal(inputs, mix, &mut random)).unwrap();
        let executable = &planned.executable;
        let given = Given {
            inputs: executable.given(program, &dealt[me.index()], me).unwrap(),
            ..Given::default()
        };
        let shares: Vec<Shares> = given.inputs.clone();
        let ended = evaluate_program(&context, &planned.plan, given, &|_| {}).await;
        let values = ended.map_err(|error| Error::bug(error.to_string()))?;
        assert!(executable.outputs(&values).is_err(), "{mix}: not required");
        Ok(shares.iter().flat_map(crate::clients::bytes_of).collect())
    })
}

/// Whoever would have learnt a result sees nothing of it where a requirement does not hold: neither in messages of the
/// opening nor in those that prepare it.
#[test]
fn receivers_see_nothing_where_a_requirement_does_not_hold() {
    let seed = seed();
    must_see_a_leak();
    for (mix, parties) in [(Mix::AB, 2), (Mix::R, 3), (Mix::AY2, 2), (Mix::BETA, 2)] {
        let a = view(mix, parties, [7, 0xfff0], seed);
        let b = view(mix, parties, [0x8009, 0x8009], !seed);
        must_agree(&a, &b, &format!("{mix}, {parties} parties, seed {seed}"));
    }
}

/// A stage whose requirement does not hold ends the run, and nothing is kept.
#[test]
fn stages_end_where_a_requirement_does_not_hold() {
    let drive = async |mut stages: Stages<'_>| {
        let mut p = stages.program();
        let x = p.input::<i32>(Party::new(1), [2]);
        p.require(&x.within(-5..5));
        let kept = p.keep(&x);
        let opened = p.open(x.sum_all(), Everyone);
        let inputs = Inputs::new().with([4, -6]);
        let ended = stages.run_with(p, &inputs).await;
        let mut p = stages.program();
        let x = p.kept(&kept);
        p.open(x, Everyone);
        let Err(after) = stages.run(p).await else {
            panic!("the value was kept");
        };
        let StageError::Program(after) = after else {
            panic!("{after}");
        };
        assert_eq!(after.fault, Fault::NotKept);
        ended.map(|outputs| outputs.get(opened))
    };
    let clear = Stages::simulate(3, drive).unwrap_err();
    assert!(
        matches!(&clear, StageError::Inputs(InputError::Unmet { requirements }) if requirements.contains("party 1")),
        "{clear}"
    );
    let run = Stages::locally(3, drive).unwrap_err();
    assert!(
        matches!(&run, StageError::Run(RunError::Unmet { requirements }) if requirements.contains("party 1")),
        "{run}"
    );
}

/// In loops and branches nothing is required, and requirements are part of what parties compare.
#[test]
fn requirements_are_part_of_a_program() {
    let digest = |bound: Option<u8>, name: &str| {
        let mut p = Program::new(2);
        let x = p.input::<u8>(Party::new(0), ());
        if let Some(bound) = bound {
            p.require_named(name, &x.within(..bound));
        }
        p.open(x, Everyone);
        p.finish().unwrap().digest()
    };
    let all = [
        digest(None, ""),
        digest(Some(7), "a"),
        digest(Some(8), "a"),
        digest(Some(7), "b"),
    ];
    for (at, one) in all.iter().enumerate() {
        assert!(!all[..at].contains(one), "{at}");
    }
    let mut p = Program::new(2);
    let x = p.input::<u8>(Party::new(0), [3]);
    let rows = p.map(x, |p, row| {
        p.require(&row.within(..5));
        row
    });
    p.open(rows, Everyone);
    let error = p.finish().unwrap_err();
    assert_eq!(
        error.fault,
        Fault::InLoop {
            what: "a requirement"
        }
    );
}

/// Numbers that are in the range, by the program and by Rust.
#[track_caller]
fn agrees<T: Number + PartialOrd>(numbers: &[T], range: impl RangeBounds<T> + Clone) {
    let mut p = Program::new(2);
    let x = p.input::<T>(Party::new(0), [numbers.len()]);
    let inside = p.open(x.within(range.clone()), Everyone);
    let program = p.finish().unwrap();
    let inputs = Inputs::new().with(numbers.to_vec());
    let found = program.simulate(&inputs).unwrap().get(inside);
    let expected: Vec<bool> = numbers
        .iter()
        .map(|number| range.contains(number))
        .collect();
    assert_eq!(found, expected, "{numbers:?}");
}

#[test]
fn numbers_are_within_ranges_as_in_rust() {
    let bytes: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    let ends = [i8::MIN, -127, -1, 0, 1, 126, i8::MAX];
    for start in ends {
        agrees(&bytes, start..);
        agrees(&bytes, ..start);
        agrees(&bytes, ..=start);
        for end in ends {
            agrees(&bytes, start..end);
            agrees(&bytes, start..=end);
        }
    }
    agrees(&bytes, ..);
    for (start, end) in [
        (0, u128::MAX),
        (1, u128::MAX),
        (0, 0),
        (5, 4),
        (1 << 127, 1 << 127),
    ] {
        let numbers = [
            0,
            1,
            4,
            5,
            (1 << 127) - 1,
            1 << 127,
            u128::MAX - 1,
            u128::MAX,
        ];
        agrees(&numbers, start..end);
        agrees(&numbers, start..=end);
    }
    type Small = Fixed<i16, 4>;
    let numbers: Vec<Small> = [i16::MIN, -17, -16, 0, 15, 16, i16::MAX]
        .map(Small::from_raw)
        .into();
    let [low, high] = [-1.0, 1.0].map(|end| Small::from_f64(end).unwrap());
    agrees(&numbers, low..high);
    agrees(&numbers, low..=high);
}

/// Bytes sent in setup and online, by the party that sends most, for 1,000 numbers of 8 bits of a client that must be at most 100:
/// as the documentation of `require` says.
#[test]
fn a_range_check_costs_what_is_said() {
    for (mix, parties, said) in [
        (Mix::R, 3, [0, 5_800]),
        (Mix::B, 2, [44_000, 2_300]),
        (Mix::AB, 2, [128_000, 7_600]),
    ] {
        let sent = |checked: bool| {
            let mut p = Program::new(parties);
            let x = p.input::<u8>(clinic(), [1000]);
            if checked {
                p.require(&x.within(..=100));
            }
            p.open(&x, clinic());
            let program = p.finish().unwrap();
            let planned = program.plan(mix, None, &|_| {}).unwrap();
            [madrigal_core::Phase::Setup, madrigal_core::Phase::Online].map(|phase| {
                let of = |me| planned.plan.cost(me).phase(phase).bytes_sent;
                Party::all(parties).map(of).max().unwrap()
            })
        };
        let (with, without) = (sent(true), sent(false));
        assert_eq!(without, [0, 0], "{mix}");
        for (sent, said) in with.into_iter().zip(said) {
            assert!(
                (said * 9 / 10..=said).contains(&sent),
                "{mix}: {sent}, not {said}"
            );
        }
    }
}
