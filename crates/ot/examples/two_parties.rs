//! Two parties in one process: base OTs, extension, random bits, and a Boolean product from them.
//!
//! Run with `cargo run --release -p madrigal-ot --example two_parties`.
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::{
    error::Error,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Instant,
};

use madrigal_kernels::Block;
use madrigal_ot::{
    Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA, SeededRng,
    base::{BaseContext, BaseReceiver, BaseSender},
    flavour,
    iknp::{CHUNK, IknpReceiver, IknpSender, message_len},
};
use rand_core::Rng;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Party 0 sends OTs, party 1 receives them.
const EXTENSION: Instance = Instance {
    sender: 0,
    receiver: 1,
    stream: 0,
};
/// The base OTs run the other way.
const BASE: BaseContext = BaseContext {
    // Agreed by the parties when they connect, fresh each time.
    session: [0x2a; 32],
    instance: Instance {
        sender: 1,
        receiver: 0,
        stream: 0,
    },
};
const OTS: usize = 64 * CHUNK;

/// One end of a channel of messages.
struct Wire {
    to: Sender<Vec<u8>>,
    from: Receiver<Vec<u8>>,
}

fn main() -> Result<()> {
    let (to_one, from_zero) = channel();
    let (to_zero, from_one) = channel();
    let wires = [
        Wire {
            to: to_one,
            from: from_one,
        },
        Wire {
            to: to_zero,
            from: from_zero,
        },
    ];
    let [wire0, wire1] = wires;
    let (zero, one) = thread::scope(|scope| {
        let zero = scope.spawn(|| party_zero(wire0));
        let one = scope.spawn(|| party_one(wire1));
        (zero.join(), one.join())
    });
    let (a, x) = zero.map_err(|_| "party 0 panicked")??;
    let (r, y) = one.map_err(|_| "party 1 panicked")??;

    // Opening both sides is for the demonstration: x ^ y is a shared product a & r.
    let right = (0..a.len()).all(|i| x[i] ^ y[i] == a[i] & r[i]);
    println!("{OTS} shared products of bits, all right: {right}");
    Ok(())
}

/// A seed from the operating system belongs here; a fixed one keeps the example repeatable.
fn rng(party: u64) -> SeededRng {
    SeededRng::from_seed(Block::new(party, 1))
}

/// Holds the bits a; ends with a and its shares x.
fn party_zero(wire: Wire) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut rng = rng(0);
    let delta = Delta::random(&mut rng);
    let s = wire.from.recv()?;
    let receiver = BaseReceiver::new(BASE);
    let response = receiver.respond(&mut rng, &s, &delta.choice_bits(), KAPPA)?;
    wire.to.send(response.message)?;
    let mut sender = IknpSender::new(EXTENSION, delta, &response.keys)?;

    let (mut x, mut k1) = (vec![0; OTS / 8], vec![0; OTS / 8]);
    let start = Instant::now();
    for (x, k1) in x.chunks_mut(CHUNK / 8).zip(k1.chunks_mut(CHUNK / 8)) {
        sender.extend_bits(&wire.from.recv()?, CHUNK, x, k1)?;
    }
    let nanoseconds = start.elapsed().as_nanos() as f64 / OTS as f64;
    println!("{nanoseconds:.1} ns per random OT of bits, both parties at work");

    let mut a = vec![0; OTS / 8];
    rng.fill_bytes(&mut a);
    let mut corrections = vec![0; OTS / 8];
    flavour::sender_correlated_bits(OTS, &a, &x, &k1, &mut corrections)?;
    wire.to.send(corrections)?;
    Ok((a, x))
}

/// Holds the bits r; ends with r and its shares y.
fn party_one(wire: Wire) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut rng = rng(1);
    let (base, s) = BaseSender::new(&mut rng, BASE);
    wire.to.send(s.to_vec())?;
    let pairs = base.finish(&wire.from.recv()?, KAPPA)?;
    let mut receiver = IknpReceiver::new(EXTENSION, &pairs)?;

    let mut r = vec![0; OTS / 8];
    rng.fill_bytes(&mut r);
    let mut y = vec![0; OTS / 8];
    for (r, y) in r.chunks(CHUNK / 8).zip(y.chunks_mut(CHUNK / 8)) {
        let mut u = vec![0; message_len(CHUNK)];
        receiver.extend_bits(r, CHUNK, &mut u, y)?;
        wire.to.send(u)?;
    }
    flavour::receiver_correlated_bits(OTS, &r, &wire.from.recv()?, &mut y)?;
    Ok((r, y))
}
