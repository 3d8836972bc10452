//! The protocols at work, for Memcheck to watch: `cargo xtask secrets` runs this under Valgrind.
//!
//! Every path runs with its secrets marked (`madrigal_kernels::marks`): the seeds of private generators
//! where they are drawn, in the libraries, and here inputs and what stands for another step's outcome. A
//! mark goes along with what is computed, also through messages to other parties in this process: what a
//! party receives may be a secret to everybody else. Each path ends with a look at what came out: it is
//! right, what should be hidden is marked as secret to the last bit, and what was opened is not. So a
//! path whose marks were lost on the way does not pass for one without leaks.
//!
//! `secrets` lists the paths, `secrets NAME...` runs some. Those of module `plants` leak on purpose.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for one command"
)]

mod arithmetic;
mod circuits;
mod correlations;
mod ot;
mod plants;
mod replicated;
mod stores;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use madrigal_kernels::{Block, Prg, marks};
use madrigal_testkit::World;

type Outcome = Result<(), Box<dyn Error>>;
type Path = (&'static str, fn() -> Outcome);

fn paths() -> impl Iterator<Item = &'static Path> {
    let all = [
        plants::PATHS,
        ot::PATHS,
        correlations::PATHS,
        stores::PATHS,
        circuits::PATHS,
        replicated::PATHS,
        arithmetic::PATHS,
    ];
    all.into_iter().flatten()
}

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        paths().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    if marks::secret_bits(&0_u8).is_none() {
        println!("nobody looks on: `cargo xtask secrets` runs this as it wants to be run");
        return ExitCode::FAILURE;
    }
    for name in names {
        let Some((_, path)) = paths().find(|(known, _)| *known == name) else {
            println!("there is no path {name}");
            return ExitCode::FAILURE;
        };
        if let Err(error) = path() {
            println!("{name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// A number for whatever is drawn here: the run is the same each time.
const SEED: u64 = 1;

/// A generator whose seed is marked as secret.
fn generator(label: u64) -> Prg {
    let mut seed = Block::new(SEED, label);
    marks::secret(&mut seed);
    Prg::new(seed)
}

/// Secret bytes.
fn drawn(label: u64, bytes: usize) -> Vec<u8> {
    let mut drawn = vec![0; bytes];
    generator(label).fill(&mut drawn);
    drawn
}

/// All parties in this process, with the patience of who is thirty times as slow as usual.
fn world(parties: usize) -> World {
    World::new(parties, SEED).with_limits(|limits| {
        limits.silence = Duration::from_secs(3000);
        limits.stall = Duration::from_secs(3000);
        limits.patience = Duration::from_secs(3000);
    })
}

/// Fails unless every bit is marked as secret.
fn hidden<T>(what: &str, values: &[T]) -> Outcome {
    let bits = 8 * size_of_val(values);
    match marks::secret_bits(values) {
        Some(secret) if secret == bits => Ok(()),
        secret => Err(format!("{what}: of {bits} bits {secret:?} are marked as secret").into()),
    }
}

/// Fails unless no bit is marked as secret.
fn opened<T>(what: &str, values: &[T]) -> Outcome {
    match marks::secret_bits(values) {
        Some(0) => Ok(()),
        secret => {
            Err(format!("{what}: {secret:?} bits are marked as secret, though opened").into())
        }
    }
}

/// Copies values that this test alone opens, to see whether they are right.
fn shown<T: Clone>(values: &[T]) -> Vec<T> {
    let mut shown = values.to_vec();
    marks::public(shown.as_mut_slice());
    shown
}

/// Fails unless it is so.
fn right(what: &str, so: bool) -> Outcome {
    so.then_some(())
        .ok_or_else(|| format!("{what}: wrong").into())
}
