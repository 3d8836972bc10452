//! Costs of functions of secrets: the tables of docs/FUNCTIONS.md, from plans alone. `functions`.

#![allow(clippy::print_stdout, reason = "it prints tables")]

use std::error::Error;
use std::fmt::Write;

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Fixed, Program, Secret};

type Number = Fixed<i64, 16>;
type Numbers = Secret<Number>;
type Function = fn(&Numbers) -> Numbers;

/// Values that bytes are for, and rounds, which grow where many values are done in blocks. Functions of rows
/// take these by rows.
const VALUES: [usize; 2] = [10_000, 100];
const MIXES: [(Mix, usize); 4] = [
    (Mix::AB, 2),
    (Mix::AY2, 2),
    (Mix::ALPHA_BETA, 2),
    (Mix::R, 3),
];

const FUNCTIONS: [(&str, Function); 26] = [
    ("`relu`", |x| x.relu()),
    ("`leaky_relu`", |x| x.leaky_relu(0.01)),
    ("`sign`", |x| x.sign()),
    ("`abs`", |x| x.abs()),
    ("`clip`", |x| x.clip(-1.0, 1.0)),
    ("`sigmoid`", |x| x.sigmoid()),
    ("`tanh`", |x| x.tanh()),
    ("`erf`", |x| x.erf()),
    ("`gelu`", |x| x.gelu()),
    ("`gelu_tanh`", |x| x.gelu_tanh()),
    ("`silu`", |x| x.silu()),
    ("`softplus`", |x| x.softplus()),
    ("`exp`", |x| x.exp()),
    ("`ln`", |x| x.ln()),
    ("`reciprocal`", |x| x.reciprocal()),
    ("`sqrt`", |x| x.sqrt()),
    ("`inverse_sqrt`", |x| x.inverse_sqrt()),
    ("`x * x`", |x| x.square()),
    ("`divided_by` 3", |x| x.divided_by(3.0)),
    ("`divided_by_secret`", |x| x.divided_by_secret(x + 1.0)),
    ("`divided_by_secret` of 100", |x| {
        let rows = x.reshape([x.elements() / 100, 100]);
        rows.divided_by_secret(rows.slice(1, ..1)).flatten()
    }),
    ("`/`", |x| x / (x + 1.0)),
    ("`softmax` of 10", |x| {
        x.reshape([x.elements() / 10, 10]).softmax(1).flatten()
    }),
    ("`log_softmax` of 10", |x| {
        x.reshape([x.elements() / 10, 10]).log_softmax(1).flatten()
    }),
    ("`layer_norm` of 100", |x| {
        let rows = x.reshape([x.elements() / 100, 100]);
        rows.layer_norm(1, 1e-3).flatten()
    }),
    ("`max_pool` of 4", |x| {
        let rows = x.reshape([x.elements() / 100, 100]);
        rows.max_pool([1, 4], [1, 4]).flatten()
    }),
];

/// Costs of all parties together, and the rounds of the party that waits longest.
#[derive(Default)]
struct Cost {
    setup_bytes: u64,
    online_bytes: u64,
    rounds: u64,
}

/// A program that has its numbers as they come out of a sum, and leaves its results in the ring.
fn cost(
    (mix, parties): (Mix, usize),
    goal: Goal,
    values: usize,
    function: Function,
) -> Result<Cost, Box<dyn Error>> {
    let mut p = Program::new(parties);
    let [x, y] = [0, 1].map(|party| p.input::<Number>(Party::new(party), [values]));
    let result = function(&(x + y)).to(mix.ring());
    p.open(result, Everyone);
    let plan = p.finish()?.executable(mix, goal)?.plan()?;
    let mut cost = Cost::default();
    for party in Party::all(parties) {
        let of = plan.cost(party);
        cost.setup_bytes += of.setup.bytes_sent;
        cost.online_bytes += of.online.bytes_sent;
        cost.rounds = cost.rounds.max(of.online.rounds);
    }
    Ok(cost)
}

fn table(goal: Goal) -> Result<String, Box<dyn Error>> {
    let mut table = String::from("| |");
    for (mix, _) in MIXES {
        write!(table, " {mix} |")?;
    }
    table += "\n|---|";
    table += &"---|".repeat(MIXES.len());
    for (name, function) in FUNCTIONS {
        write!(table, "\n| {name} |")?;
        for mix in MIXES {
            let [none, few] =
                [VALUES[0], VALUES[1]].map(|values| cost(mix, goal, values, |x| x.clone()));
            let [all, all_few] = VALUES.map(|values| cost(mix, goal, values, function));
            let (none, few, all, all_few) = (none?, few?, all?, all_few?);
            let per_value = |all: u64, none: u64| {
                let bytes = all.saturating_sub(none) as f64 / VALUES[0] as f64;
                thousands(bytes.round() as u64)
            };
            write!(
                table,
                " {} / {} / {} |",
                all_few.rounds - few.rounds,
                per_value(all.setup_bytes, none.setup_bytes),
                per_value(all.online_bytes, none.online_bytes)
            )?;
        }
    }
    Ok(table)
}

fn thousands(number: u64) -> String {
    match number / 1000 {
        0 => number.to_string(),
        thousands => format!("{thousands},{:03}", number % 1000),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for goal in [Goal::Size, Goal::Depth] {
        println!("{goal:?}\n\n{}\n", table(goal)?);
    }
    Ok(())
}

#[test]
fn the_documentation_tells_what_functions_cost() {
    let stated = include_str!("../../../docs/FUNCTIONS.md");
    for goal in [Goal::Size, Goal::Depth] {
        let table = table(goal).expect("programs that can be");
        for line in table.lines() {
            assert!(
                stated.contains(line),
                "docs/FUNCTIONS.md should say\n{line}"
            );
        }
    }
}
