//! Biometric matching: which entry of a server's table is nearest to a client's sample. Distances are
//! arithmetic, the search for the least is on bits; the client alone learns the result.
//!
//! `cargo run --release -p madrigal-program --example nearest -- table.csv 12,7,130,44`, where each line
//! of the file is an entry: numbers with commas between them, as many as the sample has.
#![allow(clippy::print_stdout, reason = "a program for the command line")]

use std::error::Error;

use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Party, Program};

const SERVER: Party = Party::new(0);
const CLIENT: Party = Party::new(1);

/// The squared distance of the nearest entry, and its place. `table` has one entry after the other;
/// distances must stay below 2^32.
pub(crate) fn nearest(
    table: &[u32],
    sample: &[u32],
    mix: Mix,
    parties: usize,
) -> Result<(u32, usize), Box<dyn Error>> {
    let shape = [table.len() / sample.len().max(1), sample.len()];
    let mut p = Program::new(parties);
    let entries = p.input::<u32>(SERVER, shape);
    let query = p.input::<u32>(CLIENT, [sample.len()]);
    let distances = (entries - query).square().sum(1);
    let (least, place) = p.open(distances.min_with_place(), CLIENT);

    let inputs = Inputs::new().with((shape, table.to_vec())).with(sample);
    let outputs = p.finish()?.run_locally(&inputs, mix)?;
    let client = &outputs[CLIENT.index()];
    Ok((client.get(least)[0], client.get(place)[0] as usize))
}

/// Numbers with commas or line ends between them.
pub(crate) fn numbers(text: &str) -> Result<Vec<u32>, Box<dyn Error>> {
    let parts = text.trim().split([',', '\n']).map(str::trim);
    Ok(parts.map(str::parse).collect::<Result<_, _>>()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [path, sample] = &given[..] else {
        return Err("give a file of entries and a sample".into());
    };
    let table = numbers(&std::fs::read_to_string(path)?)?;
    let (distance, place) = nearest(&table, &numbers(sample)?, Mix::AB, 2)?;
    println!("entry {place}, at a squared distance of {distance}");
    Ok(())
}
