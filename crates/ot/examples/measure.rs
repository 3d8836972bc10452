//! Times each side of base OTs and of every extension alone, on one thread, and holds the rates
//! against the ceiling that this machine's AES sets.
//!
//! Run with `cargo run --release -p madrigal-ot --example measure`; `MADRIGAL_LEVEL` lowers the
//! kernels' level. An argument picks the lines whose name contains it; `both` runs the two sides at
//! the same time on two threads, joined by a channel of messages.
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::{error::Error, sync::mpsc, thread, time::Instant};

use madrigal_kernels::{Block, Kernels, ceilings, level, words_as_bytes};
use madrigal_ot::{
    Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA, SeededRng,
    base::{
        BaseContext, BaseReceiver, BaseSender,
        endemic::{EndemicReceiver, EndemicSender},
    },
    cost::{self, Cost},
    flavour::{self, OneOf},
    softspoken::{CHUNK, FieldBits, SoftSpokenReceiver, SoftSpokenSender},
};
use rand_core::Rng;
use zeroize::Zeroizing;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const REPETITIONS: usize = 7;
/// Of each side alone, short ones: the best is then free of what else the machine does.
const SHORT_REPETITIONS: usize = 60;
/// OTs of one call.
const CALL: usize = 2 * CHUNK;
/// OTs of one repetition, each side alone.
const ALONE: usize = 4 * CALL;
/// OTs of one repetition, both sides at work.
const BOTH: usize = 10_000_000 / CALL * CALL;
/// Messages that may wait in the channel: bounds its memory.
const AHEAD: usize = 8;

const INSTANCE: Instance = Instance {
    sender: 0,
    receiver: 1,
    stream: 0,
};

/// What is made of the rows.
#[derive(Clone, Copy, PartialEq)]
enum Output {
    /// Rows unhashed: correlated OT with the one correlation Delta.
    Rows,
    /// Random bits, packed.
    Bits,
    /// Random blocks.
    Blocks,
}

impl Output {
    const ALL: [Self; 3] = [Self::Rows, Self::Bits, Self::Blocks];

    fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Bits => "bits",
            Self::Blocks => "blocks",
        }
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let both = arguments.iter().any(|a| a == "both");
    let wanted = |name: &str| {
        let mut filters = arguments.iter().filter(|a| *a != "both").peekable();
        filters.peek().is_none() || filters.any(|filter| name.contains(filter.as_str()))
    };
    let mut rng = SeededRng::from_seed(Block::new(1, 2));
    let delta = Delta::random(&mut rng).expose();
    let (keys, pairs) = base(&mut rng, &Delta::from_block(delta))?;
    let aes = ceilings::measure(Kernels::detect()).aes.rate;
    println!("level {:?}, {:.2} G AES blocks/s", level(), aes / 1e9);
    println!(
        "{:16} {:>17} {:>17} {:>9} {:>13} {:>13}",
        "", "sender", "receiver", "B/OT", "AES/OT", "of ceiling"
    );
    for k in FieldBits::all() {
        let start = Instant::now();
        let (mut receiver, setup) = SoftSpokenReceiver::new(INSTANCE, k, &pairs)?;
        let grown = milliseconds(start);
        let start = Instant::now();
        let offset = Delta::from_block(delta);
        let mut sender = SoftSpokenSender::new(INSTANCE, k, offset, &keys, &setup)?;
        let name = format!("k={}", k.get());
        if wanted(&name) {
            let ms = milliseconds(start);
            let bytes = setup.len();
            println!("{name} set-up: sender {ms:.2} ms, receiver {grown:.2} ms, {bytes} bytes");
        }
        for output in Output::ALL {
            let name = format!("{}/k={}", output.name(), k.get());
            if !wanted(&name) {
                continue;
            }
            let times = if both {
                both_sides(&mut sender, &mut receiver, output)?
            } else {
                alone(&mut sender, &mut receiver, output)?
            };
            let m = CALL as u64;
            let hashed = if output == Output::Rows {
                Cost::default()
            } else {
                cost::random(m)
            };
            report(&name, times, cost::softspoken(k, m) + hashed, aes);
        }
    }
    if !both {
        flavours(&wanted, &keys, &pairs, delta, aes)?;
    }
    Ok(())
}

/// What is made of rows, without the extension: correlated OTs from the first hash to the outputs.
fn flavours(
    wanted: &dyn Fn(&str) -> bool,
    keys: &[Block],
    pairs: &[[Block; 2]],
    delta: Block,
    aes: f64,
) -> Result<()> {
    const ROWS: usize = 4096;
    let k = FieldBits::MIN;
    let (mut receiver, setup) = SoftSpokenReceiver::new(INSTANCE, k, pairs)?;
    let delta = Delta::from_block(delta);
    let mut sender = SoftSpokenSender::new(INSTANCE, k, delta, keys, &setup)?;
    let choices = vec![0x5a; ROWS / 8];
    let (mut t, mut q) = (vec![Block::ZERO; ROWS], vec![Block::ZERO; ROWS]);
    let mut u = vec![0; receiver.message_len(ROWS)];
    for (name, len) in [("strings/64", 64), ("u64 x 1", 8), ("u64 x 16", 128)] {
        if !wanted(name) {
            continue;
        }
        let bytes = ROWS * len;
        let (a, mut x) = (vec![3u64; bytes / 8], vec![0u64; bytes / 8]);
        let mut best = [f64::MAX; 2];
        for _ in 0..REPETITIONS {
            let t_tweaks = receiver.extend(&choices, ROWS, &mut u, &mut t)?;
            let q_tweaks = sender.extend(&u, ROWS, &mut q)?;
            let [mut k0, mut k1, mut k] = [(); 3].map(|()| Zeroizing::new(vec![0; bytes]));
            let start = Instant::now();
            let offset = sender.delta();
            flavour::sender_random_strings(offset, q_tweaks, &q, len, &mut k0, &mut k1)?;
            let message = if name == "strings/64" {
                flavour::sender_correlated_strings(words_as_bytes(&a), &k0, k1)?
            } else {
                flavour::sender_additive(&a, k0, k1, &mut x)?
            };
            best[0] = best[0].min(milliseconds(start) * 1e6 / ROWS as f64);
            let start = Instant::now();
            flavour::receiver_random_strings(t_tweaks, &t, len, &mut k)?;
            if name == "strings/64" {
                flavour::receiver_correlated_strings(&choices, len, &message, &mut k)?;
            } else {
                flavour::receiver_additive(&choices, len / 8, &message, k, &mut x)?;
            }
            best[1] = best[1].min(milliseconds(start) * 1e6 / ROWS as f64);
        }
        let m = CALL as u64;
        let cost = cost::random_strings(m, len as u64) + cost::correlated_strings(m, len as u64);
        report(name, best, cost, aes);
    }
    for n in [16usize, 256] {
        let (name, n) = (format!("1-of-{n}"), OneOf::new(n)?);
        if !wanted(&name) {
            continue;
        }
        let ots = ROWS / n.rows();
        let mut best = [f64::MAX; 2];
        let (mut masks, mut out) = (vec![Block::ZERO; ots * n.get()], vec![Block::ZERO; ots]);
        for _ in 0..REPETITIONS {
            let t_tweaks = receiver.extend(&choices, ROWS, &mut u, &mut t)?;
            let q_tweaks = sender.extend(&u, ROWS, &mut q)?;
            let start = Instant::now();
            flavour::sender_random_one_of(n, sender.delta(), q_tweaks, &q, &mut masks)?;
            best[0] = best[0].min(milliseconds(start) * 1e6 / ots as f64);
            let start = Instant::now();
            flavour::receiver_random_one_of(n, t_tweaks, &t, &mut out)?;
            best[1] = best[1].min(milliseconds(start) * 1e6 / ots as f64);
        }
        report(&name, best, cost::random_one_of(CALL as u64, n), aes);
    }
    Ok(())
}

fn base(rng: &mut SeededRng, delta: &Delta) -> Result<(Vec<Block>, Vec<[Block; 2]>)> {
    let context = BaseContext {
        session: [1; 32],
        instance: INSTANCE,
    };
    let (mut best_sender, mut best_receiver) = (f64::MAX, f64::MAX);
    let mut keys = Vec::new();
    let mut pairs = Vec::new();
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        let (sender, s) = BaseSender::new(rng, context);
        let first = milliseconds(start);
        let start = Instant::now();
        let receiver = BaseReceiver::new(context);
        let response = receiver.respond(rng, &s, &delta.choice_bits(), KAPPA)?;
        best_receiver = best_receiver.min(milliseconds(start));
        let start = Instant::now();
        pairs = sender.finish(&response.message, KAPPA)?.to_vec();
        best_sender = best_sender.min(first + milliseconds(start));
        keys = response.keys.to_vec();
    }
    println!("{KAPPA} base OTs: sender {best_sender:.2} ms, receiver {best_receiver:.2} ms");

    let mut best = [f64::MAX; 2];
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        let choices = delta.choice_bits();
        let (receiver, m) = EndemicReceiver::new(rng, context, &choices, KAPPA)?;
        let first = milliseconds(start);
        let start = Instant::now();
        let (sender, b) = EndemicSender::new(rng, context);
        sender.finish(&m, KAPPA)?;
        best[0] = best[0].min(milliseconds(start));
        let start = Instant::now();
        receiver.finish(&b)?;
        best[1] = best[1].min(first + milliseconds(start));
    }
    let [sender, receiver] = best;
    println!("{KAPPA} endemic base OTs: sender {sender:.2} ms, receiver {receiver:.2} ms");
    #[cfg(feature = "ml-kem")]
    {
        use madrigal_ot::base::kem::{KemReceiver, respond};
        let mut best = [f64::MAX; 2];
        for _ in 0..REPETITIONS {
            let start = Instant::now();
            let choices = delta.choice_bits();
            let (receiver, keys) = KemReceiver::new(rng, context, &choices, KAPPA)?;
            let first = milliseconds(start);
            let start = Instant::now();
            let response = respond(context, &keys, KAPPA)?;
            best[0] = best[0].min(milliseconds(start));
            let start = Instant::now();
            receiver.finish(&response.message)?;
            best[1] = best[1].min(first + milliseconds(start));
        }
        let [sender, receiver] = best;
        println!("{KAPPA} ML-KEM base OTs: sender {sender:.2} ms, receiver {receiver:.2} ms");
    }
    Ok((keys, pairs))
}

/// One line: nanoseconds per OT and million OTs per second of each side, bytes, AES blocks, and
/// the rates as parts of what the AES blocks alone would allow.
fn report(name: &str, [sender, receiver]: [f64; 2], cost: Cost, aes: f64) {
    let per_ot = |x: u64| x as f64 / CALL as f64;
    let (sender_aes, receiver_aes) = (per_ot(cost.sender_aes), per_ot(cost.receiver_aes));
    let ratio = |blocks: f64, nanoseconds: f64| 100.0 * blocks / aes * 1e9 / nanoseconds;
    println!(
        "{name:16} {sender:6.2} ns {:5.0} M/s {receiver:6.2} ns {:5.0} M/s {:9.3} {sender_aes:6.2} \
         {receiver_aes:6.2} {:5.0}% {:5.0}%",
        1e3 / sender,
        1e3 / receiver,
        per_ot(cost.receiver_bytes + cost.sender_bytes),
        ratio(sender_aes, sender),
        ratio(receiver_aes, receiver),
    );
}

/// Buffers of one side's outputs for a call.
struct Outputs {
    bits: [Vec<u8>; 2],
    blocks: [Vec<Block>; 2],
}

impl Outputs {
    fn new() -> Self {
        Outputs {
            bits: [(); 2].map(|()| vec![0; CALL / 8]),
            blocks: [(); 2].map(|()| vec![Block::ZERO; CALL]),
        }
    }

    fn send(&mut self, sender: &mut impl ExtensionSender, u: &[u8], output: Output) -> Result<()> {
        let ([bits0, bits1], [blocks0, blocks1]) = (&mut self.bits, &mut self.blocks);
        match output {
            Output::Rows => drop(sender.extend(u, CALL, blocks0)?),
            Output::Bits => sender.extend_bits(u, CALL, bits0, bits1)?,
            Output::Blocks => sender.extend_blocks(u, CALL, blocks0, blocks1)?,
        }
        Ok(())
    }

    fn receive(
        &mut self,
        receiver: &mut impl ExtensionReceiver,
        choices: &[u8],
        u: &mut [u8],
        output: Output,
    ) -> Result<()> {
        match output {
            Output::Rows => drop(receiver.extend(choices, CALL, u, &mut self.blocks[0])?),
            Output::Bits => receiver.extend_bits(choices, CALL, u, &mut self.bits[0])?,
            Output::Blocks => receiver.extend_blocks(choices, CALL, u, &mut self.blocks[0])?,
        }
        Ok(())
    }
}

/// Nanoseconds per OT of sender and receiver, one after the other; the best repetition. The message
/// is the same buffer again and again, so that the computation alone counts: its content does not
/// matter to the time.
fn alone(
    sender: &mut impl ExtensionSender,
    receiver: &mut impl ExtensionReceiver,
    output: Output,
) -> Result<[f64; 2]> {
    let (mut left, mut right) = (Outputs::new(), Outputs::new());
    let mut choices = vec![0; CALL / 8];
    SeededRng::from_seed(Block::new(3, 4)).fill_bytes(&mut choices);
    let message_len = receiver.message_len(CALL);
    let mut u = vec![0; message_len];
    let mut best = [f64::MAX; 2];
    for _ in 0..SHORT_REPETITIONS {
        let start = Instant::now();
        for _ in 0..ALONE / CALL {
            right.receive(receiver, &choices, &mut u, output)?;
        }
        best[1] = best[1].min(milliseconds(start) * 1e6 / ALONE as f64);
        let start = Instant::now();
        for _ in 0..ALONE / CALL {
            left.send(sender, &u, output)?;
        }
        best[0] = best[0].min(milliseconds(start) * 1e6 / ALONE as f64);
    }
    Ok(best)
}

/// The same with both sides at work at once: wall time, hence the same for both; the median.
fn both_sides(
    sender: &mut (impl ExtensionSender + Send),
    receiver: &mut (impl ExtensionReceiver + Send),
    output: Output,
) -> Result<[f64; 2]> {
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let (to, from) = mpsc::sync_channel::<Vec<u8>>(AHEAD);
        let (back, empty) = mpsc::channel::<Vec<u8>>();
        let start = Instant::now();
        thread::scope(|scope| {
            let receiving = scope.spawn(|| -> Result<()> {
                let (to, empty) = (to, empty);
                let mut outputs = Outputs::new();
                let mut choices = vec![0; CALL / 8];
                let mut rng = SeededRng::from_seed(Block::new(5, 6));
                let message_len = receiver.message_len(CALL);
                for _ in 0..BOTH / CALL {
                    let mut u = empty.try_recv().unwrap_or_else(|_| vec![0; message_len]);
                    rng.fill_bytes(&mut choices);
                    outputs.receive(receiver, &choices, &mut u, output)?;
                    to.send(u)?;
                }
                Ok(())
            });
            let mut outputs = Outputs::new();
            for u in from {
                outputs.send(sender, &u, output)?;
                // The other side may have finished.
                back.send(u).ok();
            }
            receiving.join().map_err(|_| "the receiver panicked")?
        })?;
        times.push(milliseconds(start) * 1e6 / BOTH as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok([times[REPETITIONS / 2]; 2])
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
