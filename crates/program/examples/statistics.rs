//! Mean, variance and median of numbers that several parties have some of each.
//!
//! `cargo run --release -p madrigal-program --example statistics -- 31,45,28 52,39 47`
#![allow(clippy::print_stdout, reason = "a program for the command line")]

use std::error::Error;

use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party, Program, Secret};

/// What all learn of the numbers of all.
#[derive(Debug, PartialEq)]
pub(crate) struct Summary {
    /// Of all numbers.
    pub(crate) mean: f64,
    /// Of all numbers, divided by how many there are.
    pub(crate) variance: f64,
    /// The number in the middle, the upper one of two.
    pub(crate) median: u32,
}

/// `lists[i]` are the numbers of party i. Sums of squares must stay below 2^64.
pub(crate) fn summary(lists: &[Vec<u32>], mix: Mix) -> Result<Summary, Box<dyn Error>> {
    let mut p = Program::new(lists.len());
    let parts: Vec<Secret<u32>> = Party::all(lists.len())
        .zip(lists)
        .map(|(party, list)| p.input(party, [list.len()]))
        .collect();
    let numbers = p.concat(&parts, 0);
    let count = numbers.elements();
    let wide = numbers.cast::<u64>();
    let sum = wide.sum_all();
    // Count times count times the variance: with the sum it tells no more than mean and variance do.
    let spread = wide.square().sum_all().times(i64::try_from(count)?) - sum.square();
    let median = numbers.sort().at(0, count / 2);
    let (sum, spread, median) = p.open((sum, spread, median), Everyone);

    let inputs = lists
        .iter()
        .fold(Inputs::new(), |inputs, list| inputs.with(list));
    let outputs = p.finish()?.run_locally(&inputs, mix)?;
    let count = count as f64;
    Ok(Summary {
        mean: outputs[0].get(sum)[0] as f64 / count,
        variance: outputs[0].get(spread)[0] as f64 / (count * count),
        median: outputs[0].get(median)[0],
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let list = |text: String| {
        text.split(',')
            .map(str::parse)
            .collect::<Result<Vec<u32>, _>>()
    };
    let lists: Vec<_> = std::env::args()
        .skip(1)
        .map(list)
        .collect::<Result<_, _>>()?;
    if lists.len() < 2 {
        return Err("give the numbers of two parties or more, with commas between them".into());
    }
    let Summary {
        mean,
        variance,
        median,
    } = summary(&lists, Mix::AB)?;
    println!("mean {mean:.2}, variance {variance:.2}, median {median}");
    Ok(())
}
