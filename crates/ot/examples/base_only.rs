//! Base OTs and nothing else, over a channel of your own: here a TCP connection of the standard
//! library, between two threads.
//!
//! Each of 128 OTs gives the sender two random keys and the receiver the one that it chose. The
//! sender does not learn the choices, and the receiver not the other keys.
//!
//! `cargo run -p madrigal-ot --example base_only`
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

use madrigal_kernels::Block;
use madrigal_ot::base::{
    BaseReceiver, BaseSender, ELEMENT_BYTES, endemic, endemic::EndemicReceiver,
    endemic::EndemicSender, response_len,
};
use madrigal_ot::{Instance, SeededRng};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// All that the protocols need of what carries their messages. Every length is known beforehand, so
/// that nothing has to be believed about the other side.
trait Channel {
    fn send(&mut self, message: &[u8]) -> io::Result<()>;
    fn receive(&mut self, len: usize) -> io::Result<Vec<u8>>;
}

impl Channel for TcpStream {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.write_all(message)
    }

    fn receive(&mut self, len: usize) -> io::Result<Vec<u8>> {
        let mut message = vec![0; len];
        self.read_exact(&mut message)?;
        Ok(message)
    }
}

const OTS: usize = 128;

/// Names of the parties' parts and of their session: the hashes are bound to it, so an identifier must
/// never come twice. The parties agree on it when they meet.
const CONTEXT: Instance = Instance {
    session: [0x2a; 32],
    sender: 0,
    receiver: 1,
    stream: 0,
};

/// The keys of each OT.
fn sender(channel: &mut impl Channel, rng: &mut SeededRng) -> Result<Vec<[Block; 2]>> {
    let (sender, message) = BaseSender::new(rng, CONTEXT);
    channel.send(&message)?;
    let answer = channel.receive(response_len(OTS))?;
    Ok(sender.finish(&answer, OTS)?.to_vec())
}

/// The key of each OT that the packed `choices` select.
fn receiver(channel: &mut impl Channel, rng: &mut SeededRng, choices: &[u8]) -> Result<Vec<Block>> {
    let message = channel.receive(ELEMENT_BYTES)?;
    let response = BaseReceiver::new(CONTEXT).respond(rng, &message, choices, OTS)?;
    channel.send(&response.message)?;
    Ok(response.keys.to_vec())
}

/// Gives the instance for base OTs in one round, which is another one: the messages cross, for twice the bytes.
const CROSSING: Instance = Instance {
    stream: 1,
    ..CONTEXT
};

fn crossing_sender(channel: &mut impl Channel, rng: &mut SeededRng) -> Result<Vec<[Block; 2]>> {
    let (sender, message) = EndemicSender::new(rng, CROSSING);
    channel.send(&message)?;
    let theirs = channel.receive(endemic::message_len(OTS))?;
    Ok(sender.finish(&theirs, OTS)?.to_vec())
}

fn crossing_receiver(
    channel: &mut impl Channel,
    rng: &mut SeededRng,
    choices: &[u8],
) -> Result<Vec<Block>> {
    let (receiver, message) = EndemicReceiver::new(rng, CROSSING, choices, OTS)?;
    channel.send(&message)?;
    let theirs = channel.receive(ELEMENT_BYTES)?;
    Ok(receiver.finish(&theirs)?.to_vec())
}

/// A seed from the operating system belongs here; a fixed one keeps the example repeatable.
fn rng(party: u64) -> SeededRng {
    SeededRng::from_seed(Block::new(party, 1))
}

/// Both parties, each on a thread; how many OTs gave the receiver the key of its choice.
fn both() -> Result<[usize; 2]> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let choices = [0b0110_1001; OTS / 8];
    let party = thread::spawn(move || -> Result<_> {
        let (mut stream, mut rng) = (TcpStream::connect(address)?, rng(1));
        let keys = receiver(&mut stream, &mut rng, &choices)?;
        Ok([keys, crossing_receiver(&mut stream, &mut rng, &choices)?])
    });
    let (mut stream, mut rng) = (listener.accept()?.0, rng(0));
    let pairs = [
        sender(&mut stream, &mut rng)?,
        crossing_sender(&mut stream, &mut rng)?,
    ];
    let keys = party.join().map_err(|_| "the receiver panicked")??;
    // In earnest nobody holds both sides' keys, of course.
    let right = |pairs: &[[Block; 2]], keys: &[Block]| {
        let chosen = |i: usize| usize::from(choices[i / 8] >> (i % 8) & 1);
        let pairs = pairs.iter().zip(keys).enumerate();
        pairs
            .filter(|(i, (pair, key))| pair[chosen(*i)] == **key && pair[0] != pair[1])
            .count()
    };
    Ok([0, 1].map(|i| right(&pairs[i], &keys[i])))
}

fn main() -> Result<()> {
    let [two_rounds, one_round] = both()?;
    println!("Hauck-Loss: {two_rounds} of {OTS} OTs right");
    println!("endemic, one round: {one_round} of {OTS} OTs right");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_right() {
        assert_eq!(both().expect("both parties succeed"), [OTS; 2]);
    }
}
