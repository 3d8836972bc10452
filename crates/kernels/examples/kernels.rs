//! Prints what the kernels reach on this machine: `cargo run --release --example kernels [LEVEL...]`,
//! by default at every level there is.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what it is for"
)]

use std::process::ExitCode;

use madrigal_kernels::ceilings::measure;
use madrigal_kernels::{Kernels, Level, level};

fn main() -> ExitCode {
    let mut levels = Vec::new();
    for name in std::env::args().skip(1) {
        match name.parse::<Level>() {
            Ok(level) => levels.push(level),
            Err(_) => {
                eprintln!(
                    "{name} is no level: name some of portable, aesni, vaes256, vaes512, neon"
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
        for ceiling in measure(kernels).all() {
            let giga = ceiling.rate / 1e9;
            println!(
                "  {:<32} {giga:>9.3} G{}",
                ceiling.name,
                ceiling.unit.per_second()
            );
        }
    }
    ExitCode::SUCCESS
}
