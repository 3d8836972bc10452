//! An OT extension and nothing else, over a channel of your own: here one of the standard library,
//! between two threads.
//!
//! The keys that it starts from are those of 128 base OTs from wherever one has them
//! (`examples/base_only.rs`); the example deals them. From them come any number of random OTs of
//! bits, in calls whose size bounds the memory. At the end they serve for something: party 0 has bits
//! a, party 1 has bits r, and they come to hold shares x, y with x ^ y = a & r, from which neither
//! learns what the other has.
//!
//! `cargo run --release -p madrigal-ot --example extension_only`
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use madrigal_kernels::Block;
use madrigal_ot::softspoken::{CHUNK, FieldBits, SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA, SeededRng, flavour};
use rand_core::Rng;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// All that the protocols need of what carries their messages. Messages that come are judged by those who
/// read them: a message of the wrong length is an error.
trait Channel {
    fn send(&mut self, message: Vec<u8>) -> Result<()>;
    fn receive(&mut self) -> Result<Vec<u8>>;
}

struct InMemory {
    to: SyncSender<Vec<u8>>,
    from: Receiver<Vec<u8>>,
}

impl Channel for InMemory {
    fn send(&mut self, message: Vec<u8>) -> Result<()> {
        Ok(self.to.send(message)?)
    }

    fn receive(&mut self) -> Result<Vec<u8>> {
        Ok(self.from.recv()?)
    }
}

/// Messages under way in each direction at most.
const AHEAD: usize = 4;

fn channels() -> (InMemory, InMemory) {
    let ((to_one, from_zero), (to_zero, from_one)) = (sync_channel(AHEAD), sync_channel(AHEAD));
    let end = |to, from| InMemory { to, from };
    (end(to_one, from_one), end(to_zero, from_zero))
}

/// Party 0 sends OTs, party 1 receives them.
const INSTANCE: Instance = Instance {
    // Fresh for every run, and the same for both: they may hash what each of them drew.
    session: [7; 32],
    sender: 0,
    receiver: 1,
    stream: 0,
};
/// OTs of a call.
const CALL: usize = 2 * CHUNK;
const OTS: usize = 64 * CALL;

/// 2^4: 32 bits of communication for each OT.
fn k() -> Result<FieldBits> {
    Ok(FieldBits::new(4)?)
}

/// Deals the result of base OTs: party 0 has Delta and the keys that its bits select, party 1 has both.
fn dealt_keys() -> (Delta, Vec<Block>, Vec<[Block; 2]>) {
    let mut rng = rng(2);
    let delta = Delta::random(&mut rng);
    let mut block = || Block::new(rng.next_u64(), rng.next_u64());
    let pairs: Vec<[Block; 2]> = (0..KAPPA).map(|_| [block(), block()]).collect();
    let bits = delta.choice_bits();
    let bit = |i: usize| usize::from(bits[i / 8] >> (i % 8) & 1);
    let keys = pairs.iter().enumerate().map(|(i, pair)| pair[bit(i)]);
    (delta, keys.collect(), pairs)
}

/// A seed from the operating system belongs here; a fixed one keeps the example repeatable.
fn rng(party: u64) -> SeededRng {
    SeededRng::from_seed(Block::new(party, 1))
}

/// Holds the bits a; ends with its shares x of the products.
fn party_zero(
    channel: &mut impl Channel,
    delta: Delta,
    keys: &[Block],
    a: &[u8],
) -> Result<Vec<u8>> {
    let setup = channel.receive()?;
    let mut sender = SoftSpokenSender::new(INSTANCE, k()?, delta, keys, &setup)?;
    let (mut k0, mut k1) = (vec![0; OTS / 8], vec![0; OTS / 8]);
    for (k0, k1) in k0.chunks_mut(CALL / 8).zip(k1.chunks_mut(CALL / 8)) {
        sender.extend_bits(&channel.receive()?, CALL, k0, k1)?;
    }
    // The random bits k0 and k1 are masks now; x = k0.
    let mut corrections = vec![0; OTS / 8];
    flavour::sender_correlated_bits(OTS, a, &k0, &k1, &mut corrections)?;
    channel.send(corrections)?;
    Ok(k0)
}

/// Holds the bits r; ends with its shares y of the products.
fn party_one(channel: &mut impl Channel, pairs: &[[Block; 2]], r: &[u8]) -> Result<Vec<u8>> {
    let (mut receiver, setup) = SoftSpokenReceiver::new(INSTANCE, k()?, pairs)?;
    channel.send(setup)?;
    let mut y = vec![0; OTS / 8];
    for (r, y) in r.chunks(CALL / 8).zip(y.chunks_mut(CALL / 8)) {
        let mut message = vec![0; receiver.message_len(CALL)];
        receiver.extend_bits(r, CALL, &mut message, y)?;
        channel.send(message)?;
    }
    flavour::receiver_correlated_bits(OTS, r, &channel.receive()?, &mut y)?;
    Ok(y)
}

/// Both parties, each on a thread: how many products are right.
fn both() -> Result<usize> {
    let (delta, keys, pairs) = dealt_keys();
    let (mut a, mut r) = (vec![0; OTS / 8], vec![0; OTS / 8]);
    rng(0).fill_bytes(&mut a);
    rng(1).fill_bytes(&mut r);
    let (mut zero, mut one) = channels();
    let (x, y) = thread::scope(|scope| {
        let (a, r) = (&a, &r);
        // Each takes its end along, so that the other one notices if it fails.
        let one = scope.spawn(move || party_one(&mut one, &pairs, r));
        let zero = scope.spawn(move || party_zero(&mut zero, delta, &keys, a));
        (zero.join(), one.join())
    });
    let x = x.map_err(|_| "party 0 panicked")??;
    let y = y.map_err(|_| "party 1 panicked")??;
    // Opening both sides is for the demonstration.
    let wrong = |i: usize| (x[i] ^ y[i] ^ a[i] & r[i]).count_ones() as usize;
    Ok(OTS - (0..OTS / 8).map(wrong).sum::<usize>())
}

fn main() -> Result<()> {
    let start = Instant::now();
    let right = both()?;
    let nanoseconds = start.elapsed().as_nanos() as f64 / OTS as f64;
    println!("{right} of {OTS} shared products of bits are right; {nanoseconds:.1} ns each");
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
