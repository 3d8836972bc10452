//! A sum of secrets over carrier pigeons: a transport in your own code, for any way in which bytes
//! get from one party to another. Here a packet is a letter in the other party's loft, letters are
//! taken out in any order, and everything above works all the same.
//!
//! `cargo run -p madrigal-net --example pigeon`
#![allow(clippy::print_stdout)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use madrigal_core::Party;
use madrigal_net::transport::{Inbox, Packet, Transport};
use madrigal_net::{Context, Result, Session, SessionConfig, block_on, exchange};

/// Loft where the letters for one party arrive: sender and bytes, or no bytes when its last pigeon has
/// flown.
type Loft = Arc<Mutex<Vec<(Party, Option<Vec<u8>>)>>>;

/// One party's place among the lofts.
struct Pigeons {
    me: Party,
    lofts: Vec<Loft>,
    closed: Arc<AtomicBool>,
}

impl Transport for Pigeons {
    /// Looks after the loft from now on, on a thread of its own.
    fn attach(&self, inbox: Inbox) {
        let loft = Arc::clone(&self.lofts[self.me.index()]);
        let closed = Arc::clone(&self.closed);
        std::thread::spawn(move || {
            let mut chaos = 1u64;
            while !closed.load(Ordering::Relaxed) {
                let letter = {
                    let mut letters = loft.lock().expect("no panic with a loft open");
                    // Any letter, but a farewell only after the others.
                    chaos = chaos.wrapping_mul(6364136223846793005).wrapping_add(1);
                    letters.sort_by_key(|(_, letter)| letter.is_none());
                    let news = letters
                        .iter()
                        .filter(|(_, letter)| letter.is_some())
                        .count();
                    let choice = (chaos >> 33) as usize % news.max(1);
                    (!letters.is_empty()).then(|| letters.remove(choice))
                };
                match letter {
                    Some((from, Some(bytes))) => inbox.deliver(from, bytes.into()),
                    Some((from, None)) => inbox.lost(from, "its last pigeon has flown"),
                    None => std::thread::sleep(Duration::from_micros(200)),
                }
            }
        });
    }

    fn send(&self, to: Party, packet: Packet) {
        let letter = (self.me, Some(packet.to_bytes()));
        let mut loft = self.lofts[to.index()]
            .lock()
            .expect("no panic with a loft open");
        loft.push(letter);
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        for other in self.me.others(self.lofts.len()) {
            let mut loft = self.lofts[other.index()]
                .lock()
                .expect("no panic with a loft open");
            loft.push((self.me, None));
        }
    }
}

/// Everybody's secret plus masks that cancel in the sum: party i adds what it shares with each later
/// party and takes off what it shares with each earlier one. All but the sum stays hidden, from any
/// number of parties that put together what they know.
async fn sum(context: Context, secret: u64) -> Result<u64> {
    let step = context.step("sum");
    let mut masked = secret;
    for peer in step.peers() {
        let mask = step.shared_prg(peer)?.next_block().lo();
        masked = if step.me() < peer {
            masked.wrapping_add(mask)
        } else {
            masked.wrapping_sub(mask)
        };
    }
    let mut channels = step.channels()?;
    let others = exchange(&mut channels, masked.to_le_bytes().to_vec(), 8).await?;
    let word = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    Ok(others
        .iter()
        .fold(masked, |sum, bytes| sum.wrapping_add(word(bytes))))
}

/// Sums the secrets, each of which one party has, and returns what each party learns.
fn sum_by_pigeon(secrets: &[u64]) -> Vec<Result<u64>> {
    let lofts: Vec<Loft> = secrets.iter().map(|_| Loft::default()).collect();
    let party = |(me, secret): (Party, u64)| {
        let (lofts, parties) = (lofts.clone(), secrets.len());
        move || {
            block_on(async {
                let closed = Arc::default();
                let pigeons = Pigeons { me, lofts, closed };
                let session = Session::new(SessionConfig::new(me, parties), pigeons);
                session.greet().await?;
                let job = session
                    .job(1, &[("program".into(), "sum".into())], None)
                    .await?;
                let result = sum(job.context(), secret).await?;
                job.finish().await?;
                session.close().await;
                Ok(result)
            })
        }
    };
    std::thread::scope(|scope| {
        let everybody = Party::all(secrets.len()).zip(secrets.iter().copied());
        let threads: Vec<_> = everybody
            .map(party)
            .map(|party| scope.spawn(party))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    })
}

fn main() {
    for (i, result) in sum_by_pigeon(&[11, 20, 11]).into_iter().enumerate() {
        match result {
            Ok(sum) => println!("party {i}: the sum is {sum}"),
            Err(error) => println!("party {i}: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pigeons_carry_a_sum() {
        for secrets in [vec![1, 2], vec![u64::MAX, 5, 100], vec![7; 6]] {
            let expected = secrets.iter().fold(0u64, |sum, &x| sum.wrapping_add(x));
            for result in sum_by_pigeon(&secrets) {
                assert_eq!(result, Ok(expected));
            }
        }
    }
}
