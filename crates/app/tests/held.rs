//! Parties that stay in one session: job after job, stages between them, and what ends it.

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use clap::{Args as _, Command, FromArgMatches as _};
use madrigal_app::from_file::ProgramFlags;
use madrigal_app::held::{Ending, Held, Job, StageFailure, StageRun, StageTask};
use madrigal_program::{Computation, Everyone, Inputs, Outputs, Party, Program, StageMaker, Type};

const PARTIES: usize = 3;
const LONG: Duration = Duration::from_secs(20);

fn flags() -> ProgramFlags {
    let command = ProgramFlags::augment_args(Command::new("test")).no_binary_name(true);
    let words = ["--local", "3", "--quiet", "--transport", "memory"];
    let matches = command
        .try_get_matches_from(words)
        .expect("flags are known");
    ProgramFlags::from_arg_matches(&matches).expect("flags are complete")
}

/// Adds what two parties bring to `more`, of numbers above 9.
fn sum(more: u64) -> Computation {
    let mut p = Program::new(PARTIES);
    let [a, b] =
        [("a", 0), ("b", 2)].map(|(name, party)| p.input_named::<u64>(name, Party::new(party), ()));
    p.require(&a.gt(9));
    p.open_named("sum", a + b + more, Everyone);
    p.finish().expect("the program is sound")
}

fn run(held: &Held, seat: usize, program: Computation, a: u64) -> Receiver<Result<u64, Ending>> {
    let (send, receive) = channel();
    let (outputs, opened) = channel();
    let inputs = Inputs::new().with_named("a", a).with_named("b", 5u64);
    let job = Job {
        name: "sum".to_owned(),
        program,
        lengths: Vec::new(),
        inputs,
        flags: flags(),
    };
    let sink = move |_: &str, array: &madrigal_program::Array| {
        let _ = outputs.send(array.codes().next().unwrap_or_default() as u64);
        Ok(true)
    };
    let done = move |told: Result<String, Ending>| {
        let sum = told.map(|_| opened.recv().expect("the sum is opened to all"));
        let _ = send.send(sum);
    };
    held.program(seat, job, sink, done);
    receive
}

/// What all parties get of a program each.
fn all(held: &Held, programs: [Computation; PARTIES], a: u64) -> Vec<Result<u64, Ending>> {
    let asked = programs.into_iter().enumerate();
    let asked: Vec<_> = asked
        .map(|(seat, program)| run(held, seat, program, a))
        .collect();
    let told = asked.iter().map(|told| told.recv_timeout(LONG));
    told.map(|told| told.expect("told in time")).collect()
}

fn each(more: u64) -> [Computation; PARTIES] {
    [more; PARTIES].map(sum)
}

fn sums(told: Vec<Result<u64, Ending>>) -> Vec<u64> {
    told.into_iter().map(|one| one.expect("a sum")).collect()
}

/// Waits until the threads are gone.
fn is_over(held: &Held) -> bool {
    let until = Instant::now() + LONG;
    while !held.is_over() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    held.is_over()
}

fn stage(
    run: &StageRun,
    program: Program,
    inputs: Inputs,
) -> Receiver<Result<Outputs, StageFailure>> {
    let (send, receive) = channel();
    let program = program.finish().expect("the stage is sound");
    run.stage(StageTask {
        program,
        inputs,
        last: false,
        done: Box::new(move |opened| drop(send.send(opened))),
    });
    receive
}

#[test]
fn jobs_and_stages_follow_each_other_in_one_session() {
    let held = Held::new(flags()).expect("the parties sit down");
    assert_eq!(sums(all(&held, each(1), 10)), [16; PARTIES]);
    // All know that it is not met, and go on.
    for told in all(&held, each(1), 9) {
        assert_eq!(told.expect_err("too small a number").status as u8, 6);
    }
    let makers = [(); PARTIES].map(|()| StageMaker::new(PARTIES));
    let runs: Vec<StageRun> = (makers.iter().enumerate())
        .map(|(seat, maker)| held.stages(seat, "stages".to_owned(), maker, flags(), 7))
        .collect();
    // Asked for while the stages are under way: done after them.
    let later: Vec<_> = (0..PARTIES)
        .map(|seat| run(&held, seat, sum(2), 10))
        .collect();
    let mut kept = Vec::new();
    let first: Vec<_> = (makers.iter().zip(&runs))
        .map(|(maker, run)| {
            let mut p = maker.program();
            let a = p.tensor_input(
                Some("a"),
                Party::new(1),
                "u64".parse::<Type>().expect("a type"),
                &[],
            );
            kept.push(p.keep_tensor(&a));
            stage(run, p, Inputs::new().with_named("a", 41u64))
        })
        .collect();
    for told in first {
        assert!(told.recv_timeout(LONG).expect("told in time").is_ok());
    }
    let second: Vec<_> = (makers.iter().zip(&runs).zip(&kept))
        .map(|((maker, run), kept)| {
            let mut p = maker.program();
            let a = p.kept_tensor(kept);
            p.open_tensor(None, &a.plus(&a), Everyone);
            stage(run, p, Inputs::new())
        })
        .collect();
    for told in second {
        let opened = told
            .recv_timeout(LONG)
            .expect("told in time")
            .expect("a stage");
        let array = opened.arrays().next().flatten().expect("opened to all");
        assert_eq!(array.codes().next(), Some(82));
    }
    runs.iter().for_each(StageRun::end);
    let later = later
        .iter()
        .map(|told| told.recv_timeout(LONG).expect("told in time"));
    assert_eq!(sums(later.collect()), [17; PARTIES]);
    let report = StageRun::report("stages", &flags(), &runs.iter().collect::<Vec<_>>());
    assert_eq!(
        report
            .expect("a report")
            .matches("\"total_spread\"")
            .count(),
        3 * PARTIES
    );
    held.close();
    assert!(is_over(&held));
    for told in all(&held, each(1), 10) {
        let ending = told.expect_err("they have left");
        assert!(ending.text.contains("was closed"), "{}", ending.text);
    }
}

#[test]
fn a_job_that_fails_between_parties_ends_the_session() {
    let held = Held::new(flags()).expect("the parties sit down");
    let told = all(&held, [1, 1, 2].map(sum), 10);
    assert!(told.iter().all(Result::is_err), "{told:?}");
    let first: Vec<String> = told
        .into_iter()
        .filter_map(|one| Some(one.err()?.text))
        .collect();
    assert!(
        first.iter().any(|text| text.contains("another program")),
        "{first:?}"
    );
    for (ending, first) in all(&held, each(1), 10).into_iter().zip(&first) {
        let text = ending.expect_err("the session has ended").text;
        assert!(
            text.contains("has ended") && text.contains(&**first),
            "{text}"
        );
    }
    assert!(is_over(&held));
}

#[test]
fn parties_that_are_stopped_leave_at_once_and_others_stay() {
    let (stopped, stays) = (Held::new(flags()), Held::new(flags()));
    let (stopped, stays) = (stopped.expect("a session"), stays.expect("a session"));
    // Two of three: they wait for the third.
    let waiting: Vec<_> = (0..2).map(|seat| run(&stopped, seat, sum(1), 10)).collect();
    std::thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    stopped.stop();
    for told in waiting {
        let ending = told.recv_timeout(LONG).expect("told in time");
        assert!(ending.is_err());
    }
    assert!(is_over(&stopped) && began.elapsed() < Duration::from_secs(2));
    assert_eq!(sums(all(&stays, each(3), 10)), [18; PARTIES]);
}
