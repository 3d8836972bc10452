//! A million silent OTs from nothing, over a channel of your own: here a TCP connection of the
//! standard library, between two threads.
//!
//! Three steps: base OTs, a small extension with the same Delta for the first rows, and the silent
//! extension, in which the sender alone speaks. Each OT gives the sender two random blocks, the receiver
//! a random choice and the block that it selects.
//!
//! `cargo run --release -p madrigal-ot --example silent_only`
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

use madrigal_kernels::Block;
use madrigal_ot::base::{BaseReceiver, BaseSender, ELEMENT_BYTES, response_len};
use madrigal_ot::extension::{Choices, Chosen, Pairs, Selected};
use madrigal_ot::silent::{
    QueuedReceiver, QueuedSender, SilentParams, SilentReceiver, SilentSender,
};
use madrigal_ot::softspoken::{FieldBits, SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA, SeededRng};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// OTs in all, and of an offer: what bounds the memory.
const OTS: usize = 1_000_000;
const OFFER: usize = 1 << 16;

const PARAMS: SilentParams = SilentParams::for_ots(OTS as u64);

/// Fresh for every run, and the same for both parties: they may hash what each of them drew.
const SESSION: [u8; 32] = [0x2a; 32];

/// Party 0 sends OTs, party 1 receives them. The two extensions are two streams.
const fn instance(stream: u32) -> Instance {
    Instance {
        session: SESSION,
        sender: 0,
        receiver: 1,
        stream,
    }
}

/// Instance of the base OTs, in which the roles are reversed.
const BASE: Instance = Instance {
    session: SESSION,
    sender: 1,
    receiver: 0,
    stream: 0,
};

fn k() -> Result<FieldBits> {
    Ok(FieldBits::new(4)?)
}

fn receive(channel: &mut TcpStream, len: usize) -> io::Result<Vec<u8>> {
    let mut message = vec![0; len];
    channel.read_exact(&mut message)?;
    Ok(message)
}

/// The offers of both sides, in OTs.
fn offers() -> impl Iterator<Item = std::ops::Range<usize>> {
    let end = |start: usize| OTS.min(start + OFFER);
    (0..OTS).step_by(OFFER).map(move |start| start..end(start))
}

/// Both blocks of each OT.
fn sender(channel: &mut TcpStream, rng: &mut SeededRng) -> Result<[Vec<Block>; 2]> {
    // Silent OT keeps a choice in a row's lowest bit.
    let delta = Delta::random_odd(rng);
    let message = receive(channel, ELEMENT_BYTES)?;
    let base = BaseReceiver::new(BASE).respond(rng, &message, &delta.choice_bits(), KAPPA)?;
    channel.write_all(&base.message)?;

    let setup = receive(channel, k()?.setup_len())?;
    let mut first = SoftSpokenSender::new(instance(0), k()?, delta, &base.keys, &setup)?;
    let n = PARAMS.base_rows();
    let mut rows = vec![Block::ZERO; n];
    let message = receive(channel, first.random_message_len(n))?;
    // These rows are never hashed, so that their tweaks are dropped.
    let _ = first.extend_random(&message, n, &mut rows)?;
    let delta = Delta::from_block(first.delta().expose());

    let silent = SilentSender::new(rng, instance(1), PARAMS, delta, &rows)?;
    let mut silent = QueuedSender::new(silent);
    let (mut k0, mut k1) = (vec![Block::ZERO; OTS], vec![Block::ZERO; OTS]);
    for ots in offers() {
        channel.write_all(&silent.offer(ots.len())?)?;
        let (k0, k1) = (&mut k0[ots.clone()], &mut k1[ots.clone()]);
        silent.extend_masks(Choices::Random, &[], ots.len(), Pairs::Blocks([k0, k1]))?;
    }
    Ok([k0, k1])
}

/// The packed choices and the chosen blocks.
fn receiver(channel: &mut TcpStream, rng: &mut SeededRng) -> Result<(Vec<u8>, Vec<Block>)> {
    let (base, message) = BaseSender::new(rng, BASE);
    channel.write_all(&message)?;
    let keys = base.finish(&receive(channel, response_len(KAPPA))?, KAPPA)?;

    let (mut first, setup) = SoftSpokenReceiver::new(instance(0), k()?, &keys)?;
    channel.write_all(&setup)?;
    let n = PARAMS.base_rows();
    let (mut choices, mut rows) = (vec![0; n.div_ceil(8)], vec![Block::ZERO; n]);
    let mut message = vec![0; first.random_message_len(n)];
    let _ = first.extend_random(rng, n, &mut choices, &mut message, &mut rows)?;
    channel.write_all(&message)?;

    let silent = SilentReceiver::new(instance(1), PARAMS, &choices, &rows)?;
    let mut silent = QueuedReceiver::new(silent);
    let (mut choices, mut chosen) = (vec![0; OTS.div_ceil(8)], vec![Block::ZERO; OTS]);
    for ots in offers() {
        let offer = receive(channel, silent.offer_len(ots.len()))?;
        silent.accept(&offer, ots.len())?;
        let choices = &mut choices[ots.start / 8..ots.end.div_ceil(8)];
        let chosen = &mut chosen[ots.clone()];
        let random = Chosen::Random(rng, choices);
        silent.extend_masks(random, ots.len(), &mut [], Selected::Blocks(chosen))?;
    }
    Ok((choices, chosen))
}

/// A seed from the operating system belongs here; a fixed one keeps the example repeatable.
fn rng(party: u64) -> SeededRng {
    SeededRng::from_seed(Block::new(party, 1))
}

/// Both parties, each on a thread: how many OTs are right.
fn both() -> Result<usize> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let party = thread::spawn(move || receiver(&mut TcpStream::connect(address)?, &mut rng(1)));
    let [k0, k1] = sender(&mut listener.accept()?.0, &mut rng(0))?;
    let (choices, chosen) = party.join().map_err(|_| "the receiver panicked")??;
    // In earnest nobody holds both sides' blocks, of course.
    let right = |&i: &usize| {
        let (mine, other) = match choices[i / 8] >> (i % 8) & 1 {
            0 => (k0[i], k1[i]),
            _ => (k1[i], k0[i]),
        };
        chosen[i] == mine && chosen[i] != other
    };
    Ok((0..OTS).filter(right).count())
}

fn main() -> Result<()> {
    println!("{} of {OTS} silent OTs are right", both()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_right() {
        assert_eq!(both().expect("both parties succeed"), OTS);
    }
}
