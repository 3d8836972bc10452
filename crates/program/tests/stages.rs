//! Stages decided by opened values, by the protocols and in the clear: kept values of all types, loops of a length
//! that data decide, parties that decide differently.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::cell::RefCell;

use madrigal_core::Cost;
use madrigal_engine::RunError;
use madrigal_net::Error;
use madrigal_program::lower::{Mix, Sharing};
use madrigal_program::{
    Everyone, Fault, Fixed, Inputs, Party, ProgramError, StageError, StageReport, Stages,
};
use madrigal_testkit::seed;

const FIRST: Party = Party::new(0);
const SECOND: Party = Party::new(1);

/// Checks that a stage has cost what was declared.
fn cost_is_as_declared(report: &StageReport<'_>) {
    let (Some(party), Some(outcome)) = (report.party, report.outcome) else {
        return;
    };
    let spent = Cost {
        setup: outcome.setup.spent,
        online: outcome.online.spent,
    };
    let plan = &report.planned.unwrap().plan;
    assert_eq!(spent, plan.cost(party), "stage {}", report.stage);
}

/// All outputs of a run in words, of the simulation and then of all parties, which must agree.
fn by_all_and_in_the_clear(
    parties: usize,
    drive: impl AsyncFn(Stages<'_>) -> Result<(), StageError> + Sync,
) -> Vec<String> {
    let told = async |stages: Stages<'_>| {
        let lines = RefCell::new(Vec::new());
        let tell = |report: &StageReport<'_>| {
            cost_is_as_declared(report);
            for array in report.outputs.arrays() {
                let texts: Vec<String> = array.unwrap().texts().collect();
                lines.borrow_mut().push(texts.join(" "));
            }
        };
        drive(stages.telling(tell)).await?;
        Ok(lines.into_inner())
    };
    let expected = Stages::simulate(parties, told).unwrap();
    for (party, found) in Stages::locally(parties, told).unwrap().iter().enumerate() {
        assert_eq!(*found, expected, "party {party}");
    }
    expected
}

type Price = Fixed<i64, 16>;

/// Values of all types are kept as they are and as they are computed, taken, computed with, and kept again.
async fn all_types(mut stages: Stages<'_>, mixes: [Mix; 3], seed: u64) -> Result<(), StageError> {
    let random = |at: u64| {
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(at as u32 * 7)
    };
    let bits: Vec<bool> = (0..9).map(|at| random(at) & 1 == 1).collect();
    let wide = [u128::MAX, 1 << 127, u128::from(random(3))];
    let inputs = Inputs::new()
        .with(&bits)
        .with([0_u8, 255, random(1) as u8])
        .with([[i16::MIN, -1, 0], [1, i16::MAX, random(2) as i16]])
        .with(wide)
        .with(Price::from_raw(random(4) as i32 as i64))
        .with([random(5), u64::MAX, 0]);
    let mut p = stages.program().with_default(mixes[0]);
    let flags = p.input::<bool>(FIRST, [9]);
    let bytes = p.input::<u8>(SECOND, [3]);
    let table = p.input::<i16>(FIRST, [2, 3]);
    let wide = p.input::<u128>(SECOND, [3]);
    let price = p.input::<Price>(FIRST, ());
    let longs = p.input::<u64>(SECOND, [3]);
    let none = p.keep(&table.slice(0, 0..0));
    let kept = (
        p.keep(&!&flags),
        p.keep(&bytes),
        p.keep(&(&table * 3i16)),
        p.keep(&wide.min(7u128)),
        p.keep(&(&price * &price)),
        p.keep(&(&longs + 1u64)),
    );
    let public = p.constant([5u32, 6]);
    let (as_it_is, of_public) = (p.keep(&table), p.keep(&public));
    p.open((flags.any(0), longs.sum_all()), Everyone);
    stages.run_with(p, &inputs).await?;
    let shown = format!("{:?} {:?}", kept.2, kept.4);
    assert_eq!(shown, "Kept<i16>[2, 3] Kept<Fixed<i64, 16>>[]");

    let mut p = stages.program().with_default(mixes[1]);
    let flags = p.kept(&kept.0);
    let bytes = p.kept(&kept.1);
    let table = p.kept(&kept.2);
    let longs = p.kept(&kept.5);
    let (before, none) = (p.kept(&as_it_is), p.kept(&none));
    let again = (
        p.keep(&flags),
        p.keep(&(&bytes * &bytes)),
        p.keep(&table.lt(&before)),
        p.keep(&longs),
    );
    p.open((table.sum_all(), none), Everyone);
    stages.run(p).await?;

    let mut p = stages.program().with_default(mixes[2]);
    let values = (p.kept(&kept.3), p.kept(&kept.4), p.kept(&of_public));
    p.open(values, Everyone);
    let values = (
        p.kept(&again.0),
        p.kept(&again.1),
        p.kept(&again.2),
        p.kept(&again.3),
    );
    p.open(values, Everyone);
    stages.last(p).await?;
    Ok(())
}

#[test]
fn kept_values_of_all_types_are_what_they_were() {
    let seed = seed();
    for parties in [2, 3, 5] {
        let same: &[Mix] = match parties {
            2 => &[
                Mix::AB,
                Mix::B,
                Mix::AY2,
                Mix::Y2,
                Mix::ALPHA_BETA,
                Mix::ALPHA_Y2,
                Mix::BETA,
                Mix::Y,
            ],
            3 => &[Mix::AB, Mix::B, Mix::R, Mix::AY],
            _ => &[Mix::AB, Mix::B],
        };
        for &mix in same {
            let drive = async |stages: Stages<'_>| all_types(stages, [mix; 3], seed).await;
            let lines = by_all_and_in_the_clear(parties, drive);
            assert_eq!(lines.len(), 11, "{mix}: {lines:?}");
        }
    }
    // From one mix to another.
    let two = [
        [Mix::AB, Mix::B, Mix::AB],
        [Mix::ALPHA_BETA, Mix::AY2, Mix::B],
        [Mix::Y2, Mix::AB, Mix::ALPHA_BETA],
    ];
    for mixes in two {
        by_all_and_in_the_clear(2, async |stages: Stages<'_>| {
            all_types(stages, mixes, seed).await
        });
    }
}

/// The k-th smallest of all parties' numbers below 64: a stage for each bit that is looked for.
async fn ranked(
    mut stages: Stages<'_>,
    mix: Mix,
    sharing: Option<Sharing>,
    numbers: &[Vec<u16>],
    rank: u32,
) -> Result<u16, StageError> {
    let mut p = stages.program().with_default(mix);
    let mut inputs = Inputs::new();
    let mut parts = Vec::new();
    for (party, own) in Party::all(numbers.len()).zip(numbers) {
        parts.push(p.input::<u16>(party, [own.len()]));
        inputs = inputs.with(own);
    }
    let all = p.concat(&parts, 0);
    let all = sharing.map_or(all.clone(), |sharing| all.to(sharing));
    let kept = p.keep(&all);
    stages.run_with(p, &inputs).await?;
    let (mut least, mut most) = (0_u16, 63);
    while least < most {
        let middle = least + (most - least) / 2;
        let mut p = stages.program().with_default(mix);
        let below = p.kept(&kept).le(middle).cast::<u32>().sum(0);
        let enough = p.open(below.ge(rank), Everyone);
        match stages.run(p).await?.get(enough)[0] {
            true => most = middle,
            false => least = middle + 1,
        }
    }
    Ok(least)
}

#[test]
fn opened_values_decide_how_many_stages_there_are() {
    let seed = seed();
    for (parties, mix, sharing) in [
        (2, Mix::AB, None),
        (2, Mix::AB, Some(Sharing::B)),
        (3, Mix::R, None),
        (5, Mix::B, None),
    ] {
        let number = |at: usize| (seed.rotate_left(at as u32 * 11) >> 3) as u16 % 50;
        let numbers: Vec<Vec<u16>> = (0..parties)
            .map(|party| (0..3).map(|at| number(party * 3 + at)).collect())
            .collect();
        let mut all = numbers.concat();
        all.sort_unstable();
        for rank in [1, 2 * parties] {
            let drive = async |stages: Stages<'_>| {
                ranked(stages, mix, sharing, &numbers, rank as u32).await
            };
            let expected = all[rank - 1];
            assert_eq!(Stages::simulate(parties, drive).unwrap(), expected);
            let found = Stages::locally(parties, drive).unwrap();
            assert_eq!(found, vec![expected; parties], "{mix}");
        }
    }
}

/// A root by Newton's steps until they change nothing: as many stages as that takes.
#[test]
fn stages_go_on_until_nothing_changes() {
    let root = async |mut stages: Stages<'_>, square: f64| {
        let mut p = stages.program();
        let input = p.input::<Price>(FIRST, ());
        let (target, mut guess) = (p.keep(&input), p.keep(&input));
        let given = Inputs::new().with(Price::from_f64(square).unwrap());
        stages.run_with(p, &given).await?;
        loop {
            let mut p = stages.program();
            let (target, last) = (p.kept(&target), p.kept(&guess));
            let next = (&last + &target / &last) * Price::from_f64(0.5).unwrap();
            let close = (&next - &last).abs().lt(Price::from_raw(64));
            guess = p.keep(&next);
            let (close, next) = p.open((close, next), Everyone);
            let opened = stages.run(p).await?;
            if opened.get(close)[0] {
                return Ok((stages.ended(), opened.get(next)[0].to_f64()));
            }
        }
    };
    let mut lengths = Vec::new();
    for square in [2.0, 100.0] {
        let drive = async |stages: Stages<'_>| root(stages, square).await;
        let (length, found) = Stages::simulate(2, drive).unwrap();
        assert!((found - square.sqrt()).abs() < 0.01, "{found}");
        lengths.push(length);
        let all = Stages::locally(2, drive).unwrap();
        assert_eq!(all, [(length, found); 2]);
    }
    assert!(lengths[0] < lengths[1], "{lengths:?}");
}

/// A simulation tells exactly what a stage would cost.
#[test]
fn estimates_of_stages_are_exact() {
    let numbers = [vec![3, 9], vec![4, 1]];
    let costs = async |stages: Stages<'_>| {
        let costs = RefCell::new(Vec::new());
        let tell = |report: &StageReport<'_>| {
            let plan = &report.planned.unwrap().plan;
            costs.borrow_mut().push(plan.cost(FIRST));
            cost_is_as_declared(report);
        };
        ranked(stages.telling(tell), Mix::AB, None, &numbers, 2).await?;
        Ok(costs.into_inner())
    };
    let estimated = madrigal_net::block_on(costs(Stages::estimated(2))).unwrap();
    assert_eq!(estimated.len(), 7);
    assert_eq!(
        Stages::locally(2, costs).unwrap(),
        [estimated.clone(), estimated]
    );
}

#[test]
fn parties_that_decide_differently_all_learn_it() {
    let drive = async |mut stages: Stages<'_>| {
        let mut p = stages.program();
        let secret = p.input::<u32>(FIRST, ());
        let kept = p.keep(&secret);
        stages.run_with(p, &Inputs::new().with(3u32)).await?;
        let mut p = stages.program();
        let secret = p.kept(&kept);
        // As if it had opened something else.
        let next = match stages.me() == Some(Party::new(2)) {
            true => secret.lt(7u32),
            false => secret.gt(7u32),
        };
        p.open(next, Everyone);
        let error = stages.run(p).await.unwrap_err();
        Ok::<_, StageError>(error)
    };
    // Whoever compares first gives up, and the others may hear of that before they have compared.
    let errors = Stages::locally(3, drive).unwrap();
    let found = |error: &StageError| {
        matches!(error, StageError::Run(RunError::Net(Error::Program { what, .. }))
            if what.starts_with("operation"))
    };
    assert!(errors.iter().any(found), "{errors:?}");
    for error in &errors {
        let text = error.to_string();
        assert!(text.contains("runs another program: operation"), "{text}");
    }
}

#[test]
fn a_party_that_fails_between_stages_ends_the_run_for_all() {
    let drive = async |mut stages: Stages<'_>| {
        let mut p = stages.program();
        let secret = p.input::<u32>(FIRST, ());
        let kept = p.keep(&secret);
        stages.run_with(p, &Inputs::new().with(3u32)).await?;
        let mut p = stages.program();
        let secret = p.kept(&kept);
        let other = p.input::<u32>(SECOND, ());
        p.open(secret + other, Everyone);
        // One party has no input.
        let error = stages.run(p).await.unwrap_err();
        Ok::<_, StageError>((stages.me(), error))
    };
    for (me, error) in Stages::locally(3, drive).unwrap() {
        match me == Some(SECOND) {
            true => assert!(matches!(error, StageError::Inputs(_)), "{error}"),
            false => assert!(error.to_string().contains("left"), "{error}"),
        }
    }
}

fn fault(error: StageError) -> Fault {
    let StageError::Program(ProgramError { at, fault }) = error else {
        panic!("{error}");
    };
    assert!(at.file().ends_with("stages.rs"));
    fault
}

#[test]
fn what_cannot_be_is_told_with_its_line() {
    let of = |drive: &dyn Fn(Stages<'_>) -> Result<(), StageError>| {
        fault(drive(Stages::simulated(2)).unwrap_err())
    };
    let run = |stages: &mut Stages<'_>, p| madrigal_net::block_on(stages.run(p));
    // An opening to some decides nothing.
    let to_some = of(&|mut stages| {
        let mut p = stages.program();
        let secret = p.constant(3u32);
        p.open(secret, SECOND);
        run(&mut stages, p).map(drop)
    });
    assert!(
        to_some.to_string().contains("to party 1 alone"),
        "{to_some}"
    );
    let other_run = of(&|mut stages| {
        let mut other = Stages::simulated(2);
        let mut p = other.program();
        let secret = p.constant(3u32);
        let kept = p.keep(&secret);
        run(&mut other, p)?;
        let mut p = stages.program();
        let secret = p.kept(&kept);
        p.open(secret, Everyone);
        run(&mut stages, p).map(drop)
    });
    assert_eq!(other_run, Fault::OtherRun);
    let whole_program = of(&|mut stages| {
        let mut p = Stages::simulated(2).program();
        let secret = p.constant(3u32);
        let _ = p.keep(&secret);
        run(&mut stages, p).map(drop)
    });
    assert_eq!(whole_program, Fault::OtherRun);
    let too_soon = of(&|mut stages| {
        let mut p = stages.program();
        let secret = p.constant(3u32);
        let kept = p.keep(&secret);
        let _ = p.kept(&kept);
        run(&mut stages, p).map(drop)
    });
    assert_eq!(too_soon, Fault::NotKept);
    let no_stage = of(&|_| {
        let mut p = madrigal_program::Program::new(2);
        let secret = p.constant(3u32);
        let _ = p.keep(&secret);
        p.finish()?;
        Ok(())
    });
    assert!(matches!(no_stage, Fault::NoStage { .. }), "{no_stage}");
    let in_loop = of(&|mut stages| {
        let mut p = stages.program();
        let secret = p.constant(3u32);
        let _ = p.repeat(2, secret, |p, _, state| {
            let _ = p.keep(&state);
            state
        });
        run(&mut stages, p).map(drop)
    });
    assert!(matches!(in_loop, Fault::InLoop { .. }), "{in_loop}");
    // Replicated shares are none of A or B.
    let drive = async |mut stages: Stages<'_>| {
        let mut p = stages.program().with_default(Mix::R);
        let secret = p.constant(3u32);
        let kept = p.keep(&secret);
        stages.run(p).await?;
        let mut p = stages.program().with_default(Mix::AB);
        let secret = p.kept(&kept);
        p.open(secret, Everyone);
        stages.run(p).await.map(drop)
    };
    let mixed = fault(Stages::locally(3, drive).unwrap_err());
    assert!(mixed.to_string().contains("keeps in R"), "{mixed}");
}

#[test]
fn the_last_stage_may_open_to_some() {
    let drive = async |mut stages: Stages<'_>| {
        let mut p = stages.program();
        let secret = p.input::<u32>(FIRST, ());
        let kept = p.keep(&secret);
        stages.run_with(p, &Inputs::new().with(3u32)).await?;
        let mut p = stages.program();
        let double = p.kept(&kept) * 2u32;
        let double = p.open(double, SECOND);
        Ok::<_, StageError>(stages.last(p).await?.get_if_known(double))
    };
    assert_eq!(Stages::locally(2, drive).unwrap(), [None, Some(vec![6])]);
    assert_eq!(Stages::simulate(2, drive).unwrap(), Some(vec![6]));
}
