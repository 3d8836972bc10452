//! Rates of silent VOLE on this machine, each side by itself, beside those of silent OT.
//!
//! `cargo run --release -p madrigal-ot --example vole_rates [ELEMENTS...]`
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::time::Instant;

use madrigal_kernels::{Block, Element, Kernels, Prg};
use madrigal_ot::silent::{SilentParams, SilentReceiver, SilentSender};
use madrigal_ot::vole::{VoleParams, VoleReceiver, VoleSender, mask_elements};
use madrigal_ot::{Delta, Instance, OtError, SeededRng};

const INSTANCE: Instance = Instance {
    session: [0x2a; 32],
    sender: 0,
    receiver: 1,
    stream: 1,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes = Vec::new();
    for word in std::env::args().skip(1) {
        sizes.push(word.parse()?);
    }
    if sizes.is_empty() {
        sizes = vec![1 << 20, 11_000_000];
    }
    for m in sizes {
        ots(m)?;
        vole::<u64>(m)?;
        vole::<Block>(m)?;
    }
    Ok(())
}

/// Both sides of silent OTs, whose base is dealt in the clear: what that would cost is not measured here.
fn silent(params: SilentParams) -> Result<(SilentSender, SilentReceiver), OtError> {
    let n = params.base_rows();
    let mut prg = Prg::new(Block::new(1, 1));
    let (mut q, mut choices) = (vec![Block::ZERO; n], vec![0; n.div_ceil(8)]);
    prg.fill_blocks(&mut q);
    prg.fill(&mut choices);
    let mut rng = SeededRng::from_seed(Block::new(2, 2));
    let delta = Delta::random_odd(&mut rng);
    let bit = |i: usize| choices[i / 8] >> (i % 8) & 1 == 1;
    let add = |(i, &q): (usize, &Block)| q ^ delta.expose() & Block::mask(bit(i));
    let t: Vec<Block> = q.iter().enumerate().map(add).collect();
    Ok((
        SilentSender::new(&mut rng, INSTANCE, params, delta, &q)?,
        SilentReceiver::new(INSTANCE, params, &choices, &t)?,
    ))
}

fn tell(what: &str, m: usize, begun: Instant) {
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "  {what:<10} {:>8.1} ms {:>8.1} M/s {:>6.1} ns each",
        1e3 * seconds,
        m as f64 / seconds / 1e6,
        1e9 * seconds / m as f64
    );
}

fn ots(m: usize) -> Result<(), OtError> {
    let (mut sender, mut receiver) = silent(SilentParams::for_ots(m as u64))?;
    let mut message = vec![0; sender.message_len(m)];
    println!(
        "{m} silent OTs: {:.3} bytes each",
        message.len() as f64 / m as f64
    );
    // Written once, so that the pages are there.
    let (mut q, mut t, mut r) = (
        vec![Block::ONES; m],
        vec![Block::ONES; m],
        vec![1; m.div_ceil(8)],
    );
    let begun = Instant::now();
    let _ = sender.extend(m, &mut message, &mut q)?;
    tell("sender", m, begun);
    let begun = Instant::now();
    let _ = receiver.extend(&message, m, &mut r, &mut t)?;
    tell("receiver", m, begun);
    Ok(())
}

fn vole<V: Element>(m: usize) -> Result<(), OtError> {
    let params = VoleParams::<V>::for_elements(m as u64);
    let (sender, receiver) = silent(params.silent(m as u64))?;
    let mut rng = SeededRng::from_seed(Block::new(3, 3));
    println!("{m} elements, values of {} bits", V::BITS);
    let begun = Instant::now();
    let (mut sender, setup) = VoleSender::new(&mut rng, params, sender)?;
    tell("setup", params.setup_ots(), begun);
    let begun = Instant::now();
    let mut receiver = VoleReceiver::new(params, receiver, &setup)?;
    tell("setup", params.setup_ots(), begun);
    let mut message = vec![0; sender.message_len(m)];
    println!(
        "  {} bytes of setup, {:.3} bytes each",
        setup.len(),
        message.len() as f64 / m as f64
    );
    let (mut keys, mut tags) = (vec![Block::ONES; m], vec![Block::ONES; m]);
    let mut values = vec![V::default(); m];
    V::bytes_mut(&mut values).fill(1);
    let begun = Instant::now();
    sender.extend(m, &mut message, &mut keys)?;
    tell("sender", m, begun);
    let begun = Instant::now();
    receiver.extend(&message, m, &mut values, &mut tags)?;
    tell("receiver", m, begun);
    // The mask of a check: the last elements.
    let (n, seed) = (m - mask_elements::<V>(), Block::new(4, 4));
    let begun = Instant::now();
    let elements = (&values[..n], &tags[..n]);
    let (challenge, expected) = receiver.challenge(seed, elements, (&values[n..], &tags[n..]))?;
    tell("challenge", m, begun);
    let begun = Instant::now();
    let answer = sender.answer(&challenge, &keys[..n], &keys[n..])?;
    tell("answer", m, begun);
    assert!(expected.check(&answer), "the keys are those of the tags");
    let begun = Instant::now();
    Kernels::detect().field_multiply_add(sender.delta().expose(), &values, &mut keys);
    tell("products", m, begun);
    assert!(keys == tags, "tags are keys plus values times Delta");
    Ok(())
}
