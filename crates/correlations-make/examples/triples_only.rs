//! Multiplication triples and nothing else, for three parties, over connections of your own: here
//! TCP of the standard library, a thread for each direction, no runtime.
//!
//! A carrier of bytes from party to party implements [`Transport`]; everything above it (order, flow
//! control, failures, costs) is the session's business. The parties end with shares of random
//! a, b and a b mod 2^64, and of bits likewise, that no two of them can put together without the
//! third.
//!
//! `cargo run --release -p madrigal-correlations-make --example triples_only`
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use madrigal_core::Party;
use madrigal_correlations::{BitTriples, RingTriples, Source};
use madrigal_correlations_make::{Extension, OtSource};
use madrigal_net::transport::{Inbox, Packet, Transport};
use madrigal_net::{Context, Session, SessionConfig, block_on};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Longer packets than this are not ours.
const MOST: u64 = 1 << 26;

/// One party's connections to all others. They vouch for who is at the other end: in real use they
/// would be encrypted and authenticated, by TLS or whatever you have.
struct Connections {
    streams: BTreeMap<Party, TcpStream>,
    /// To the threads that write; none once all is closed.
    writers: Mutex<BTreeMap<Party, Sender<Packet>>>,
}

impl Transport for Connections {
    /// From now on a thread for each peer reads, and one writes: `send` must not wait.
    fn attach(&self, inbox: Inbox) {
        let mut writers = self.writers();
        for (&peer, stream) in &self.streams {
            let (to, packets) = channel::<Packet>();
            let (Ok(mut reader), Ok(mut writer)) = (stream.try_clone(), stream.try_clone()) else {
                inbox.lost(peer, "no handle is left");
                continue;
            };
            writers.insert(peer, to);
            let news = inbox.clone();
            thread::spawn(move || {
                loop {
                    match read_packet(&mut reader) {
                        Ok(packet) => news.deliver(peer, packet.into()),
                        Err(error) => return news.lost(peer, &error.to_string()),
                    }
                }
            });
            let inbox = inbox.clone();
            thread::spawn(move || {
                for packet in packets {
                    if let Err(error) = write_packet(&mut writer, &packet.to_bytes()) {
                        return inbox.lost(peer, &error.to_string());
                    }
                }
                // Everything has left.
                let _ = writer.shutdown(Shutdown::Write);
            });
        }
    }

    fn send(&self, to: Party, packet: Packet) {
        if let Some(writer) = self.writers().get(&to) {
            // A writer that has gone has said why.
            let _ = writer.send(packet);
        }
    }

    fn close(&self) {
        self.writers().clear();
    }
}

impl Connections {
    fn writers(&self) -> std::sync::MutexGuard<'_, BTreeMap<Party, Sender<Packet>>> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A packet on the stream: its length in 8 bytes, and its bytes.
fn write_packet(stream: &mut TcpStream, packet: &[u8]) -> io::Result<()> {
    stream.write_all(&(packet.len() as u64).to_le_bytes())?;
    stream.write_all(packet)
}

fn read_packet(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    stream.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MOST {
        return Err(io::Error::other("a packet is longer than any of ours"));
    }
    // It grows with what comes, not with what is announced.
    let mut packet = Vec::new();
    stream.take(length).read_to_end(&mut packet)?;
    if packet.len() as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(packet)
}

/// Dials the parties before us, who know us by the first byte, and answers those after us.
fn meet(me: Party, addresses: &[SocketAddr], listener: &TcpListener) -> Result<Connections> {
    let mut streams = BTreeMap::new();
    for (peer, address) in Party::all(addresses.len()).zip(addresses) {
        if peer < me {
            let mut stream = TcpStream::connect(address)?;
            stream.write_all(&[u8::try_from(me.index())?])?;
            streams.insert(peer, stream);
        }
    }
    while streams.len() + 1 < addresses.len() {
        let (mut stream, _) = listener.accept()?;
        let mut number = [0];
        stream.read_exact(&mut number)?;
        let peer = Party::checked(number[0].into(), addresses.len())?;
        streams.insert(peer, stream);
    }
    for stream in streams.values() {
        stream.set_nodelay(true)?;
    }
    Ok(Connections {
        streams,
        writers: Mutex::default(),
    })
}

const BITS: usize = 100_000;
const WORDS: usize = 1_000;

/// Makes the triples of one party.
async fn triples(context: Context) -> madrigal_net::Result<(BitTriples, RingTriples<u64>)> {
    let mut source = OtSource::new(&context, Extension::default()).await?;
    let bits = source.bit_triples(BITS, &|_| {}).await?;
    let words = source.ring_triples::<u64>(WORDS, &|_| {}).await?;
    Ok((bits, words))
}

fn party(
    me: Party,
    addresses: &[SocketAddr],
    listener: &TcpListener,
) -> Result<(BitTriples, RingTriples<u64>)> {
    let connections = meet(me, addresses, listener)?;
    let made = block_on(async {
        let session = Session::new(SessionConfig::new(me, addresses.len()), connections);
        session.greet().await?;
        // Facts that the parties must agree on; whoever says something else is found out. All that decides
        // how much is sent belongs here: who made four triples more might not be noticed otherwise.
        let facts = [
            ("program".into(), "triples".into()),
            ("extension".into(), Extension::default().to_string()),
            ("triples".into(), format!("bits={BITS},u64={WORDS}")),
        ];
        let job = session.job(1, &facts, None).await?;
        let made = triples(job.context()).await?;
        job.finish().await?;
        session.close().await;
        Ok::<_, madrigal_net::Error>(made)
    })?;
    Ok(made)
}

/// All parties, each on a thread: how many triples of bits and of words are right.
fn everybody(parties: usize) -> Result<[usize; 2]> {
    let mut listeners = Vec::new();
    for _ in 0..parties {
        listeners.push(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?);
    }
    let addresses: Vec<SocketAddr> = listeners
        .iter()
        .map(TcpListener::local_addr)
        .collect::<io::Result<_>>()?;
    let results: Vec<_> = thread::scope(|scope| {
        let addresses = &addresses;
        let threads: Vec<_> = Party::all(parties)
            .zip(&listeners)
            .map(|(me, listener)| scope.spawn(move || party(me, addresses, listener)))
            .collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    let mut all_bits = vec![[0u8; 3]; BITS];
    let mut all_words = vec![[0u64; 3]; WORDS];
    // Putting the shares together is for the demonstration.
    for result in results {
        let (mut bits, mut words) = result.map_err(|_| "a party panicked")??;
        let mut scratch = Default::default();
        let shares = bits.take(BITS, &mut scratch)?;
        for (i, sum) in all_bits.iter_mut().enumerate() {
            for (sum, shares) in sum.iter_mut().zip([shares.a, shares.b, shares.c]) {
                *sum ^= shares[i / 8] >> (i % 8) & 1;
            }
        }
        let shares = words.take(WORDS);
        for (i, sum) in all_words.iter_mut().enumerate() {
            for (sum, shares) in sum.iter_mut().zip([shares.a, shares.b, shares.c]) {
                *sum = sum.wrapping_add(shares[i]);
            }
        }
    }
    Ok([
        all_bits.iter().filter(|[a, b, c]| a & b == *c).count(),
        all_words
            .iter()
            .filter(|[a, b, c]| a.wrapping_mul(*b) == *c)
            .count(),
    ])
}

fn main() -> Result<()> {
    let [bits, words] = everybody(3)?;
    println!("{bits} of {BITS} triples of bits and {words} of {WORDS} of 64 bits are right");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_right() {
        for parties in [2, 3] {
            let right = everybody(parties).expect("all parties succeed");
            assert_eq!(right, [BITS, WORDS], "{parties} parties");
        }
    }
}
