//! Prints what the kernels reach on this machine: `cargo run --release --example kernels [LEVEL...]
//! [--only TEXT]`, by default at every level there is and of all kernels.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what it is for"
)]

use std::process::ExitCode;

use madrigal_kernels::ceilings::{Ceiling, measure, measure_kernels};
use madrigal_kernels::{Kernels, Level, level};

fn main() -> ExitCode {
    let mut levels = Vec::new();
    let mut only = String::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        if name == "--only" {
            only = arguments.next().unwrap_or_default();
            continue;
        }
        match name.parse::<Level>() {
            Ok(level) => levels.push(level),
            Err(_) => {
                eprintln!(
                    "{name} is no level: name some of portable, aesni, avx2, vaes256, vaes512, neon"
                );
                return ExitCode::FAILURE;
            }
        }
    }
    if levels.is_empty() {
        levels.extend(Level::available());
    }
    println!("default level: {}", level());
    for level in levels {
        let Some(kernels) = Kernels::at(level) else {
            println!("\n{level}: this machine lacks its instructions");
            continue;
        };
        println!("\n{level}");
        let ceilings = only.is_empty().then(|| measure(kernels).all());
        for ceiling in ceilings.into_iter().flatten() {
            let giga = ceiling.rate / 1e9;
            println!(
                "  {:<32} {giga:>9.3} G{}",
                ceiling.name,
                ceiling.unit.per_second()
            );
        }
        for one in measure_kernels(kernels, &only) {
            let Ceiling {
                name, rate, unit, ..
            } = one.kernel;
            let (giga, allowed) = (rate / 1e9, one.allowed / 1e9);
            println!(
                "  {name:<34} {giga:>9.3} G{:<11} {:>4.0} % of {allowed:.3} G: {}",
                unit.per_second(),
                100.0 * rate / one.allowed,
                one.bound.name(),
            );
        }
    }
    ExitCode::SUCCESS
}
