//! Rates of bins and hints on this machine: `cargo run --release -p madrigal-psi-bins --example bins [ITEMS...]`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::time::Instant;

use madrigal_kernels::{Aes128, Block, Prg};
use madrigal_ot::SeededRng;
use madrigal_psi_bins::{Bins, CHOICES, Found, Shape, Targets, failure_bits};

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes = Vec::new();
    for word in std::env::args().skip(1) {
        sizes.push(word.parse()?);
    }
    if sizes.is_empty() {
        sizes = vec![1_000_000, 10_000_000];
    }
    sizes.into_iter().try_for_each(one)
}

fn one(n: usize) -> Result<(), Box<dyn Error>> {
    let shape = Shape::for_items(n as u64)?;
    println!(
        "{n} items each, {} bins, failure 2^-{:.1}",
        shape.bins(),
        failure_bits(n as u64, shape.bins() as u64)
    );
    let tell = |what: &str, begun: Instant| {
        let seconds = begun.elapsed().as_secs_f64();
        let each = 1e9 * seconds / n as f64;
        println!("  {what:<28} {seconds:>7.3} s, {each:>6.1} ns an item");
    };
    let mut digests = vec![Block::ZERO; n + n / 2];
    Prg::new(Block::new(n as u64, 1)).fill_blocks(&mut digests);
    let (ours, theirs) = (&digests[..n], &digests[n / 2..]);
    let payloads: Vec<u64> = (0..n as u64).collect();
    let mut rng = SeededRng::from_seed(Block::new(1, 2));
    let function = Aes128::new(Block::new(3, 4));
    let pads_of = |keys: &[Block]| {
        let mut pads = keys.to_vec();
        function.encrypt_blocks(&mut pads);
        pads
    };
    let bins = Bins::new(shape, Block::new(5, 6));

    let begun = Instant::now();
    let placed = bins.place(ours)?;
    tell("place", begun);
    let begun = Instant::now();
    let spread = bins.spread(theirs);
    tell("spread", begun);
    let begun = Instant::now();
    let targets = Targets::draw(bins.shape(), &mut rng);
    tell("draw targets", begun);
    let made = spread.keys.each_ref().map(|keys| pads_of(keys));
    let begun = Instant::now();
    let mut hints = Vec::with_capacity(CHOICES);
    for (choice, pads) in made.iter().enumerate() {
        hints.push(targets.hints(&spread, choice, pads, &mut rng)?);
    }
    tell("hints", begun);
    let begun = Instant::now();
    let mut with = Vec::with_capacity(CHOICES);
    for (choice, pads) in made.iter().enumerate() {
        with.push(targets.hints_with(&spread, choice, &payloads, pads, &mut rng)?);
    }
    tell("hints with payloads", begun);
    let pads = pads_of(&placed.keys);
    let begun = Instant::now();
    let mut found = Found::nothing(&placed, false, &mut rng);
    for (choice, hints) in hints.iter().enumerate() {
        found.find(&placed, choice, n as u64, hints, &pads)?;
    }
    tell("find", begun);
    let begun = Instant::now();
    let mut also = Found::nothing(&placed, true, &mut rng);
    for (choice, with) in with.iter().enumerate() {
        also.find_with(&placed, choice, n as u64, with, &pads)?;
    }
    tell("find with payloads", begun);
    for found in [found, also] {
        let both = found.tags.iter().zip(targets.tags.iter());
        assert_eq!(both.filter(|(a, t)| a == t).count(), n - n / 2);
    }
    let each = |bytes: usize| bytes as f64 / n as f64;
    println!(
        "  {:.1} bytes an item, {:.1} with payloads",
        each(8 * CHOICES * hints[0].store.len()),
        each(16 * CHOICES * with[0].store.len())
    );
    Ok(())
}
