//! Prints the costs of the attacks known on the problem of silent OT and VOLE: LPN with regular noise and a sparse code.
//!
//! `cargo xtask lpn [--rows N] [--dimension K] [--errors T] [--locality D] [--bits B]` prints, for the stages
//! in use or for one problem, each attack's cost as a power of two of bit operations, the cheapest,
//! and how far it is above 2^128. With `--rows` and `--errors` alone it looks for the least dimension
//! that reaches the margin.
//!
//! # Conventions
//! All figures are lower bounds on what an attacker pays for an idea, not estimates of a machine:
//!
//! - Memory is free, and so is what an attacker does once for a code.
//! - Linear algebra of k unknowns costs k^2.8; where rows have d ones, the 2 d k^2 of Wiedemann's
//!   algorithm (2 k products with the matrix). Eliminating the columns with the fewest ones first
//!   saves nothing: at the densities that matter the matrix fills up at once.
//! - An entry of a list costs the bits that are compared, not the n bits of a row.
//! - The choice of columns in a dense minor costs nothing, and is better than any that exists
//!   ([`minors`]).
//!
//! Each iteration has a code of its own, so a try is made against one secret: that there are many
//! iterations changes neither a try's cost nor its chance, and the work for a first success is the
//! same whichever iterations are tried.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

mod algebra;
mod checks;
mod decoding;
mod interleaved;
mod minors;
mod problem;
mod report;
mod sparse;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use madrigal_kernels::Block;
use madrigal_kernels::lpn::LOCALITY;
use madrigal_ot::silent::{SilentParams, Stage};
use madrigal_ot::vole::VoleParams;

use crate::problem::Problem;
use crate::report::{Greedy, report};

/// Bits that every attack is to cost, and what we ask for beyond that.
const BITS: f64 = 128.0;
const MARGIN: f64 = 4.0;

const USAGE: &str = "\
usage: cargo xtask lpn [--rows N --errors T [--dimension K] [--locality D] [--bits B]]

Without options: the stages of silent OT and of VOLE. Without --dimension: the least that reaches the margin.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("lpn: {problem}\n{USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let [mut rows, mut dimension, mut errors, mut locality, mut bits] = [None; 5];
    for pair in words.chunks(2) {
        let [name, value] = pair else {
            return Err(format!("{} wants a number", pair[0]));
        };
        let place = match name.as_str() {
            "--rows" => &mut rows,
            "--dimension" => &mut dimension,
            "--errors" => &mut errors,
            "--locality" => &mut locality,
            "--bits" => &mut bits,
            _ => return Err(format!("there is no option {name}")),
        };
        let value = value.parse().map_err(|_| format!("{value} is no number"))?;
        *place = Some(value);
    }
    if words.is_empty() {
        for stage in stages() {
            println!("{}", report(&Problem::of(stage), Greedy::Simulated));
        }
        return Ok(());
    }
    let (Some(rows), Some(errors)) = (rows, errors) else {
        return Err("a problem has --rows and --errors".into());
    };
    let (locality, bits) = (locality.unwrap_or(LOCALITY), bits.unwrap_or(1));
    let problem = match dimension {
        Some(dimension) => Problem::new(rows, dimension, errors, locality)?.with_bits(bits),
        None => least_dimension(rows, errors, locality, bits)?,
    };
    println!("{}", report(&problem, Greedy::Simulated));
    Ok(())
}

/// Stages of silent OT, then those of VOLE.
fn stages() -> impl Iterator<Item = &'static Stage> {
    let ots = SilentParams::LARGE.stages();
    let words = VoleParams::<u64>::for_elements(u64::MAX).stages();
    let blocks = VoleParams::<Block>::for_elements(u64::MAX).stages();
    ots.iter().chain(words).chain(blocks)
}

/// The least dimension, a multiple of 128, that leaves the cheapest attack the margin.
fn least_dimension(
    rows: usize,
    errors: usize,
    locality: usize,
    bits: usize,
) -> Result<Problem, String> {
    let (mut low, mut high) = (errors / 128 + 1, rows / 256);
    let enough = |steps: usize| {
        let problem = Problem::new(rows, 128 * steps, errors, locality)?.with_bits(bits);
        let bits = report(&problem, Greedy::Left).cheapest().bits;
        Ok::<_, String>((problem, bits >= BITS + MARGIN))
    };
    while low < high {
        let middle = usize::midpoint(low, high);
        if enough(middle)?.1 {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    match enough(low)? {
        (problem, true) => Ok(problem),
        _ => Err("no dimension up to half the rows reaches the margin".into()),
    }
}
