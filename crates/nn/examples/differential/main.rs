//! Runs random programs and random networks as all of their parties, and compares what they open with the oracle, and
//! what they spend with the plan.
//!
//! ```sh
//! cargo run --release -p madrigal-nn --example differential -- --programs 1000 --seed 7
//! ```
//!
//! `cargo xtask differential` is this.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal, which shares code with tests"
)]

#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "../../tests/common.rs"]
mod common;
mod networks;
mod trials;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use trials::{MIXES, Tally, trial};

/// Time between two reports of the count.
const EVERY: Duration = Duration::from_secs(20);

const HELP: &str = "\
differential [--programs N] [--seed S] [--first I] [--mix MIX] [--keep-going]

  --programs N   so many random programs and networks (1000), each in one mix, all mixes in turn
  --seed S       what all of them follow from (of the clock)
  --first I      begin with number I (0), to repeat one that failed
  --mix MIX      in this mix alone
  --keep-going   go on after one that failed
";

/// Tells the number of trials, and how fast they were.
fn told_of(tally: &Tally, time: Duration) -> String {
    let Tally {
        programs,
        networks,
        refused,
    } = tally;
    let rate = (programs + networks) as f64 / time.as_secs_f64();
    format!(
        "{programs} programs and {networks} networks, {rate:.1} a second; {refused} networks refused"
    )
}

struct Wanted {
    programs: u64,
    seed: u64,
    first: u64,
    mix: Option<String>,
    keep_going: bool,
}

fn wanted() -> Result<Wanted, String> {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut wanted = Wanted {
        programs: 1000,
        seed: clock.map_or(1, |time| time.as_secs()),
        first: 0,
        mix: None,
        keep_going: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--keep-going" {
            wanted.keep_going = true;
            continue;
        }
        let flags = ["--programs", "--seed", "--first", "--mix"];
        if !flags.contains(&word.as_str()) {
            return Err(format!("there is no {word}\n{HELP}"));
        }
        let value = words
            .next()
            .ok_or(format!("{word} takes a value\n{HELP}"))?;
        let number = || {
            value
                .parse()
                .map_err(|_| format!("{word} takes a number, not {value}"))
        };
        match word.as_str() {
            "--programs" => wanted.programs = number()?,
            "--seed" => wanted.seed = number()?,
            "--first" => wanted.first = number()?,
            _ if MIXES.iter().any(|(mix, _)| mix.to_string() == value) => wanted.mix = Some(value),
            _ => return Err(format!("--mix takes one of the mixes, as A+B, not {value}")),
        }
    }
    Ok(wanted)
}

fn main() -> ExitCode {
    let wanted = match wanted() {
        Ok(wanted) => wanted,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    println!("seed {}", wanted.seed);
    let (began, mut told) = (Instant::now(), Instant::now());
    let (mut tally, mut wrong) = (Tally::default(), 0_u64);
    for number in wanted.first..wanted.first.saturating_add(wanted.programs) {
        if let Err(what) = trial(wanted.seed, number, wanted.mix.as_deref(), &mut tally) {
            wrong += 1;
            println!(
                "{what}\nto repeat: cargo xtask differential --seed {} --first {number} --programs 1{}",
                wanted.seed,
                wanted
                    .mix
                    .as_ref()
                    .map(|mix| format!(" --mix {mix}"))
                    .unwrap_or_default(),
            );
            if !wanted.keep_going {
                break;
            }
        }
        if told.elapsed() > EVERY {
            told = Instant::now();
            println!("{}", told_of(&tally, began.elapsed()));
        }
    }
    println!("{}, {wrong} wrong", told_of(&tally, began.elapsed()));
    match wrong {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
