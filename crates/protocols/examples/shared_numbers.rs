//! Protocol R by hand: three parties share numbers of 64 bits, multiply, compare and shorten them, and
//! open the results. Each is a thread here; the cost that was declared is compared with the counters.
//!
//! `cargo run --release -p madrigal-protocols --example shared_numbers`
#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;
use std::thread;

use madrigal_core::{Party, Phase, PhaseCost};
use madrigal_net::transport::{MemoryTransport, mesh};
use madrigal_net::{Context, Session, SessionConfig, block_on};
use madrigal_protocols::replicated::{PARTIES, ReplicatedRings, Tally};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Numbers of parties 0 and 1, in two's complement; party 2 has none.
const NUMBERS: [&[i64]; PARTIES] = [&[5, 100, 1 << 40, -7], &[6, 99, 1 << 20, 3], &[]];
/// Bits that are cut off.
const SHIFT: usize = 2;

/// Results that all get to know of the numbers x of party 0 and y of party 1.
#[derive(Debug, PartialEq)]
struct Opened {
    /// x y mod 2^64.
    products: Vec<i64>,
    /// x < y.
    less: Vec<bool>,
    /// x / 4, rounded down.
    quarters: Vec<i64>,
}

/// Computes as each party does: all make the same calls, with batches of the same lengths.
async fn compute(context: Context) -> madrigal_net::Result<Opened> {
    let mut worker = ReplicatedRings::new(context)?;
    let own = words(NUMBERS[worker.me().index()]);
    let all: Vec<Party> = Party::all(PARTIES).collect();
    let [x, y, _] = worker.share(&own, NUMBERS.map(<[_]>::len)).await?;

    let products = worker.mul(&x, &y).await?;
    let less = worker.less_than(&x, &y).await?;
    let quarters = worker.truncate(&x, SHIFT).await?;

    // From here on all know the values. Whoever is not in the list gets `None`.
    let products = worker.open(&products, &all).await?.unwrap_or_default();
    let less = worker.open_bits(&less, &all).await?.unwrap_or_default();
    let quarters = worker.open(&quarters, &all).await?.unwrap_or_default();
    Ok(Opened {
        products: numbers(&products),
        // One row of bits, packed.
        less: (0..x.len())
            .map(|i| less[i / 8] >> (i % 8) & 1 == 1)
            .collect(),
        quarters: numbers(&quarters),
    })
}

/// Makes the same calls, for what they cost `me`.
fn declared(me: Party) -> PhaseCost {
    let (count, all) = (NUMBERS[0].len(), Party::all(PARTIES).collect::<Vec<_>>());
    let mut tally = Tally::new(me);
    tally.share::<u64>(NUMBERS.map(<[_]>::len));
    tally.mul::<u64>(count);
    tally.less_than::<u64>(count);
    tally.truncate::<u64>(count, SHIFT);
    tally.open::<u64>(count, &all);
    tally.open_bits(1, count, &all);
    tally.open::<u64>(count, &all);
    tally.total()
}

fn words(numbers: &[i64]) -> Vec<u64> {
    numbers
        .iter()
        .map(|number| number.cast_unsigned())
        .collect()
}

fn numbers(words: &[u64]) -> Vec<i64> {
    words.iter().map(|word| word.cast_signed()).collect()
}

fn party(me: Party, transport: MemoryTransport) -> Result<(Opened, PhaseCost)> {
    block_on(async {
        let session = Session::new(SessionConfig::new(me, PARTIES), transport);
        session.greet().await?;
        // All that decides what is sent: the parties compare it.
        let facts = [("lengths".into(), format!("{:?}", NUMBERS.map(<[_]>::len)))];
        let job = session.job(1, &facts, None).await?;
        let online = job.context().enter(Phase::Online, "numbers");
        let opened = compute(online).await?;
        let spent = job.spent(Phase::Online);
        job.finish().await?;
        session.close().await;
        Ok((opened, spent))
    })
}

/// All parties, each on a thread.
fn everybody() -> Result<Vec<(Opened, PhaseCost)>> {
    thread::scope(|scope| {
        let parties: Vec<_> = Party::all(PARTIES)
            .zip(mesh(PARTIES))
            .map(|(me, transport)| scope.spawn(move || party(me, transport)))
            .collect();
        let joined = parties.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .map(|done| done.map_err(|_| "a party panicked")?)
            .collect()
    })
}

fn main() -> Result<()> {
    for (me, (opened, spent)) in Party::all(PARTIES).zip(everybody()?) {
        println!("{me} got {opened:?}");
        println!("  spent    {spent:?}\n  declared {:?}", declared(me));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_right_and_costs_what_was_declared() {
        let expected = || Opened {
            products: vec![30, 9900, 1 << 60, -21],
            less: vec![true, false, false, true],
            quarters: vec![1, 25, 1 << 38, -2],
        };
        for (me, done) in Party::all(PARTIES).zip(everybody().expect("all parties succeed")) {
            assert_eq!(done, (expected(), declared(me)));
        }
    }
}
