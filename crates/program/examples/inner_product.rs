//! The inner product of two parties' vectors, in arithmetic sharing alone.
//!
//! `cargo run --release -p madrigal-program --example inner_product -- 1,2,3 4,-5,6`
#![allow(clippy::print_stdout, reason = "a program for the command line")]

use std::error::Error;

use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party, Program};

/// The inner product, modulo 2^64, as both learn it.
pub(crate) fn inner_product(
    vectors: [&[i64]; 2],
    mix: Mix,
    parties: usize,
) -> Result<i64, Box<dyn Error>> {
    let mut p = Program::new(parties);
    let left = p.input::<i64>(Party::new(0), [vectors[0].len()]);
    let right = p.input::<i64>(Party::new(1), [vectors[1].len()]);
    let product = p.open(left.dot(&right), Everyone);

    let inputs = Inputs::new().with(vectors[0]).with(vectors[1]);
    let outputs = p.finish()?.run_locally(&inputs, mix)?;
    Ok(outputs[0].get(product)[0])
}

fn main() -> Result<(), Box<dyn Error>> {
    let vector = |text: String| {
        text.split(',')
            .map(str::parse)
            .collect::<Result<Vec<i64>, _>>()
    };
    let vectors: Vec<_> = std::env::args()
        .skip(1)
        .map(vector)
        .collect::<Result<_, _>>()?;
    let [left, right] = &vectors[..] else {
        return Err("give two vectors, as integers with commas between them".into());
    };
    println!("{}", inner_product([left, right], Mix::AB, 2)?);
    Ok(())
}
