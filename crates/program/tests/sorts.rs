//! Sorts of rows in as many rounds as suit the line, which all parties choose alike.

#![allow(clippy::unwrap_used)] // tests

use madrigal_circuit::Goal;
use madrigal_engine::PlanSpec;
use madrigal_program::lower::{Mix, SortRounds};
use madrigal_program::{Computation, Everyone, Inputs, Number, Party, Planned, Program, Tensor};

use crate::running::runs_planned;

/// A column in the order of a key of another party's.
fn program<K: Number>(rows: usize, parties: usize) -> Computation {
    let mut p = Program::new(parties);
    let key = p.input::<K>(Party::new(0), rows);
    let column = p.input::<u32>(Party::new(1), rows);
    let sorted = Tensor::sort_by(&[(&key.untyped(), true)], &[&column.untyped()]);
    let _ = p.open_tensor(None, &sorted[1], Everyone);
    p.finish().unwrap()
}

/// Plans for a line with this latency in seconds and rate in bytes a second.
fn planned(
    program: &Computation,
    mix: Mix,
    goal: Option<Goal>,
    latency: f64,
    rate: f64,
) -> Planned {
    let adjust = |spec: &mut PlanSpec| {
        (spec.line.latency, spec.line.bytes_per_second) = (latency, Some(rate));
    };
    program.plan(mix, goal, &adjust).unwrap()
}

fn rounds(planned: &Planned) -> u64 {
    planned.plan.cost(Party::new(0)).online.rounds
}

/// Names of what a plan does, which parties compare.
fn names(planned: &Planned) -> String {
    let facts = planned.plan.facts();
    facts.iter().map(|fact| format!("{fact:?}")).collect()
}

/// Sorts of many rows compare in a round for each bit over a line without latency. Over one with latency they compare in few rounds, and short keys
/// in R not at all.
#[test]
fn the_line_tells_how_many_rounds_a_sort_takes() {
    const ROWS: usize = 300_000;
    for goal in [None, Some(Goal::Size), Some(Goal::Depth)] {
        let wide = program::<u64>(ROWS, 3);
        let near = planned(&wide, Mix::R, goal, 0.0, 1e9);
        assert_eq!(near.sort_rounds, SortRounds::Many, "{goal:?}");
        let far = planned(&wide, Mix::R, goal, 0.02, 125e6);
        assert_eq!(far.sort_rounds, SortRounds::Few, "{goal:?}");
        assert!(3 * rounds(&far) < rounds(&near), "{}", rounds(&far));
        assert!(far.to_string().contains("sorts of few rounds"), "{far}");
        assert!(names(&far).contains(", tree"), "{}", names(&far));
        assert!(!names(&near).contains(", tree"), "{}", names(&near));
        let short = program::<u16>(ROWS, 3);
        let far = planned(&short, Mix::R, goal, 0.02, 125e6);
        assert_eq!(far.sort_rounds, SortRounds::Fewest, "{goal:?}");
        assert!(rounds(&far) < 60, "{}", rounds(&far));
        assert!(names(&far).contains(", digits"), "{}", names(&far));
        // Where bytes take long, comparisons send less.
        let slow = planned(&short, Mix::R, goal, 0.001, 1e6);
        assert_ne!(slow.sort_rounds, SortRounds::Fewest, "{goal:?}");
    }
    let two = program::<u64>(100_000, 2);
    let [near, far] = [0.0, 0.02].map(|latency| planned(&two, Mix::AB, None, latency, 125e6));
    assert_eq!(near.sort_rounds, SortRounds::Many);
    assert!(rounds(&far) < rounds(&near));
    assert!(names(&far).contains(", tree"), "{}", names(&far));
    // Without sorts nothing is said of them.
    let mut p = Program::new(3);
    let x = p.input::<u64>(Party::new(0), 9).untyped();
    let _ = p.open_tensor(None, &x.less(&x.reverse(0)), Everyone);
    let none = planned(&p.finish().unwrap(), Mix::R, Some(Goal::Depth), 0.02, 125e6);
    assert_eq!(none.sort_rounds, SortRounds::Many);
}

/// Each way gives the same, at its declared cost.
#[test]
fn all_ways_to_sort_give_the_same() {
    for (mix, parties) in [(Mix::R, 3), (Mix::AB, 2)] {
        let rows = if parties == 3 { 700 } else { 90 };
        let program = program::<i16>(rows, parties);
        let keys: Vec<i16> = (0..rows)
            .map(|row| (row * 7919 % 1000) as i16 - 500)
            .collect();
        let inputs = Inputs::new()
            .with(keys)
            .with((0..rows as u32).collect::<Vec<_>>());
        let lowered = program.lower(mix, Goal::Depth).unwrap();
        for rounds in SortRounds::ALL {
            let executable = lowered.with_sort_rounds(rounds).executable().unwrap();
            let plan = executable.plan().unwrap();
            let what = format!("a sort of {rounds:?} rounds in {mix}");
            runs_planned(&program, (&plan, &executable, mix), &inputs, &what);
        }
    }
}
