//! Times each side of base OTs and of the extension alone, on one thread.
//!
//! Run with `cargo run --release -p madrigal-ot --example measure`; `MADRIGAL_LEVEL` lowers the
//! kernels' level.
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::{error::Error, time::Instant};

use madrigal_kernels::Block;
use madrigal_ot::{
    Delta, Instance, KAPPA, SeededRng,
    base::{BaseContext, BaseReceiver, BaseSender},
    iknp::{CHUNK, IknpReceiver, IknpSender, message_len},
};
use rand_core::Rng;

const REPETITIONS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let instance = Instance {
        sender: 0,
        receiver: 1,
        stream: 0,
    };
    let context = BaseContext {
        session: [1; 32],
        instance,
    };
    let mut rng = SeededRng::from_seed(Block::new(1, 2));
    let delta = Delta::random(&mut rng);
    let choices = delta.choice_bits();

    let (mut best_sender, mut best_receiver) = (f64::MAX, f64::MAX);
    let mut keys = Vec::new();
    let mut pairs = Vec::new();
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        let (sender, s) = BaseSender::new(&mut rng, context);
        let first = milliseconds(start);
        let start = Instant::now();
        let receiver = BaseReceiver::new(context);
        let response = receiver.respond(&mut rng, &s, &choices, KAPPA)?;
        best_receiver = best_receiver.min(milliseconds(start));
        let start = Instant::now();
        pairs = sender.finish(&response.message, KAPPA)?.to_vec();
        best_sender = best_sender.min(first + milliseconds(start));
        keys = response.keys.to_vec();
    }
    println!("{KAPPA} base OTs: sender {best_sender:.2} ms, receiver {best_receiver:.2} ms");

    let mut sender = IknpSender::new(instance, delta, &keys)?;
    let mut receiver = IknpReceiver::new(instance, &pairs)?;
    let m = 1 << 18;
    let mut r = vec![0; m / 8];
    rng.fill_bytes(&mut r);
    let mut u = vec![0; message_len(m)];
    let mut rows = vec![Block::ZERO; CHUNK];
    let [mut k0, mut k1, mut k] = [(); 3].map(|()| vec![0; m / 8]);
    let mut best = [f64::MAX; 4];
    for _ in 0..REPETITIONS {
        let mut timed = |place: usize, start: Instant| {
            best[place] = best[place].min(milliseconds(start) * 1e6 / m as f64);
        };
        let start = Instant::now();
        for (u, r) in u.chunks_mut(message_len(CHUNK)).zip(r.chunks(CHUNK / 8)) {
            drop(receiver.extend(r, CHUNK, u, &mut rows)?);
        }
        timed(0, start);
        let start = Instant::now();
        for u in u.chunks(message_len(CHUNK)) {
            drop(sender.extend(u, CHUNK, &mut rows)?);
        }
        timed(1, start);
        let start = Instant::now();
        receiver.extend_bits(&r, m, &mut u, &mut k)?;
        timed(2, start);
        let start = Instant::now();
        sender.extend_bits(&u, m, &mut k0, &mut k1)?;
        timed(3, start);
    }
    let wrong = (0..k.len()).any(|i| k[i] != k0[i] ^ (r[i] & (k0[i] ^ k1[i])));
    let [receiver_rows, sender_rows, receiver_bits, sender_bits] = best;
    println!("rows:        sender {sender_rows:.2} ns, receiver {receiver_rows:.2} ns per OT");
    println!("random bits: sender {sender_bits:.2} ns, receiver {receiver_bits:.2} ns per OT");
    println!(
        "level {:?}; all outputs right: {}",
        madrigal_kernels::level(),
        !wrong
    );
    Ok(())
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
