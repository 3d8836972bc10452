//! Yao's millionaires: which of two is richer, and nothing else.
//!
//! `cargo run --release -p madrigal-program --example millionaires -- 1500000 2300000`
#![allow(clippy::print_stdout, reason = "a program for the command line")]

use std::error::Error;

use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party, Program};

/// Whether the first is richer, as both learn it.
pub(crate) fn first_is_richer(
    fortunes: [u64; 2],
    mix: Mix,
    parties: usize,
) -> Result<bool, Box<dyn Error>> {
    let mut p = Program::new(parties);
    let first = p.input::<u64>(Party::new(0), ());
    let second = p.input::<u64>(Party::new(1), ());
    let richer = p.open(first.gt(&second), Everyone);

    let inputs = Inputs::new().with(fortunes[0]).with(fortunes[1]);
    let outputs = p.finish()?.run_locally(&inputs, mix)?;
    Ok(outputs[1].get(richer) == [true])
}

fn main() -> Result<(), Box<dyn Error>> {
    let fortunes: Vec<u64> = std::env::args()
        .skip(1)
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let fortunes = fortunes
        .try_into()
        .map_err(|_| "give two fortunes, as numbers below 2^64")?;
    let richer = match first_is_richer(fortunes, Mix::B, 2)? {
        true => "the first is richer",
        false => "the first is not richer",
    };
    println!("{richer}");
    Ok(())
}
