//! Rates of stores on this machine: `cargo run --release -p madrigal-okvs --example rates [KEYS...]`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::time::Instant;

use madrigal_kernels::{Block, Prg};
use madrigal_okvs::{Element, Shape, decode, decode_each, encode, failure_bits};
use madrigal_ot::SeededRng;

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes = Vec::new();
    for word in std::env::args().skip(1) {
        sizes.push(word.parse()?);
    }
    if sizes.is_empty() {
        sizes = vec![1 << 20, 10_000_000];
    }
    for keys in sizes {
        one::<u64>(keys)?;
        one::<Block>(keys)?;
    }
    Ok(())
}

fn one<V: Element>(n: usize) -> Result<(), Box<dyn Error>> {
    let shape = Shape::for_keys(n as u64)?;
    let mut prg = Prg::new(Block::new(n as u64, 1));
    let mut keys = vec![Block::ZERO; n];
    prg.fill_blocks(&mut keys);
    let mut values = vec![V::default(); n];
    prg.fill(V::bytes_mut(&mut values));
    let mut rng = SeededRng::from_seed(Block::new(1, 2));
    println!(
        "{n} keys, values of {} bits: {} columns ({:.4} a key), {:.2} bytes a key, failure 2^-{:.1}",
        V::BITS,
        shape.columns(),
        shape.columns() as f64 / n as f64,
        (shape.columns() * V::BITS / 8) as f64 / n as f64,
        failure_bits(n as u64, shape.columns() as u64),
    );
    let seed = Block::new(3, 4);
    let tell = |what: &str, begun: Instant| {
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "  {what:<28} {seconds:>7.3} s, {:>6.1} ns a key",
            1e9 * seconds / n as f64
        );
    };
    let begun = Instant::now();
    let store = encode(&shape, seed, &keys, &values, &mut rng)?;
    tell("encode", begun);
    let mut found = vec![V::default(); n];
    let begun = Instant::now();
    decode(&shape, seed, &keys, &store, &mut found)?;
    tell("decode", begun);
    assert!(found == values, "decoding gives back what was encoded");
    let mut sum = V::default();
    let begun = Instant::now();
    decode_each(&shape, seed, &keys, &store, |found| {
        let values = found.values;
        for &value in values {
            sum ^= value;
        }
    })?;
    tell("decode, in any order", begun);
    assert!(sum == values.iter().fold(V::default(), |sum, &value| sum ^ value));
    Ok(())
}
