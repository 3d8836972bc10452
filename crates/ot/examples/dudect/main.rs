//! Looks for time that depends on a secret, in the way of dudect (Reparaz, Balasch and Verbauwhede,
//! "Dude, is my code constant time?", DATE 2017): each piece of work is timed many times with inputs
//! of two classes in random order, a fixed secret and fresh random ones, and Welch's t-test tells
//! whether the two sets of times have the same mean.
//!
//! `cargo xtask dudect [--measurements N] [NAME...]`; a NAME is a part of a target's name. It prints
//! t for each target and fails if one is past [`LIMIT`]. A test like this can find a leak, and cannot
//! prove that there is none: it is the machine's word on what the reader of the code already believes.
//! The first target is a control, which leaks on purpose and has to be found.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it finds"
)]

mod ntt;
mod statistics;
mod targets;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use madrigal_kernels::{Block, level};
use madrigal_ot::SeededRng;
use rand_core::Rng;

use statistics::{Times, largest_t};
use targets::{CONTROL, Draw, Target, all};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Past this the means differ, says dudect: with 10^4 measurements by a tenth of their deviation. An
/// honest target stays below 5.
const LIMIT: f64 = 10.0;
const MEASUREMENTS: usize = 20_000;
/// Time after which a target must do with what it has, if that is [`ENOUGH`]: at the portable level some
/// take long.
const PATIENCE: Duration = Duration::from_secs(60);
const ENOUGH: usize = 1_000;
/// Measurements before the first that counts.
const WARM_UP: usize = 200;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("dudect: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether nothing leaks but what should.
fn run() -> Result<bool> {
    let mut measurements = MEASUREMENTS;
    let mut names = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--measurements" {
            let number = words.next().and_then(|number| number.parse().ok());
            measurements = number.ok_or("--measurements wants a number")?;
        } else {
            names.push(word);
        }
    }
    let wanted = |target: &Target| {
        target.name == CONTROL
            || names.is_empty()
            || names.iter().any(|name| target.name.contains(name.as_str()))
    };
    let targets: Vec<Target> = all().into_iter().filter(wanted).collect();
    if targets.len() < 2 {
        let all: Vec<_> = all().iter().map(|target| target.name).collect();
        return Err(format!("nothing is called {names:?}; there are {}", all.join(", ")).into());
    }
    println!("level {}; |t| above {LIMIT} is a leak", level());
    let mut seed = SeededRng::from_seed(Block::from_bytes(seed_of_this_run()));
    let mut good = true;
    for target in &targets {
        let times = measure(target, measurements, &mut seed)?;
        let t = largest_t(&times);
        let leaks = t.abs() > LIMIT;
        let verdict = match (leaks, target.name == CONTROL) {
            (true, true) => "leaks, as it should",
            (false, true) => "NOT FOUND: too much noise, or too few measurements",
            (true, false) => "LEAKS",
            (false, false) => "",
        };
        good &= leaks == (target.name == CONTROL);
        println!(
            "{:28} t = {t:8.2} of {:>6} times, median {:>9.2} us   {verdict}",
            target.name,
            times.len(),
            times.median() as f64 / 1e3
        );
    }
    Ok(good)
}

fn measure(target: &Target, measurements: usize, rng: &mut SeededRng) -> Result<Times> {
    let begun = Instant::now();
    let mut times = Times::default();
    let mut draw = Draw::new(Block::new(rng.next_u64(), rng.next_u64()));
    for i in 0..WARM_UP + measurements {
        if times.len() >= ENOUGH && begun.elapsed() > PATIENCE {
            break;
        }
        let fixed = rng.next_u64() & 1 == 1;
        let work = (target.prepare)(&mut draw, fixed)?;
        let start = Instant::now();
        let done = work();
        let time = start.elapsed();
        done?;
        if i >= WARM_UP {
            times.push(fixed, u64::try_from(time.as_nanos())?);
        }
    }
    Ok(times)
}

/// The classes and inputs of each run are others; none of them is worth a secret.
fn seed_of_this_run() -> [u8; 16] {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |since| since.as_nanos()).to_le_bytes()
}
