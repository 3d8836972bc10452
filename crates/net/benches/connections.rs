//! Rate of two parties that send to each other from several threads over loopback, by transport and number of connections.
//!
//! `cargo bench -p madrigal-net --bench connections [THREADS...]` prints, for each number of threads a party, GB/s
//! (10^9 bytes of messages per second, both directions together), seconds of processor time per GB, and
//! microseconds of a round trip of 16 bytes on each thread.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for people"
)]

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use madrigal_core::Party;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::{ConnectConfig, Security, connect};
use madrigal_net::{Context, Result, Session, SessionConfig, block_on, on_threads};

/// Bytes of a message.
const MESSAGE: usize = 1 << 20;
/// Bytes that each party sends, all its threads together.
const VOLUME: usize = 2 << 30;
/// Number of round trips of each thread.
const TRIPS: usize = 5000;
/// Number of measurements, the best of which counts: other programs only ever slow one down.
const RUNS: usize = 3;

/// Times that one run took.
#[derive(Clone, Copy)]
struct Took {
    bulk: Duration,
    processor: f64,
    trip: Duration,
}

fn main() {
    let threads: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let threads = if threads.is_empty() {
        vec![1, 2, 4, 8]
    } else {
        threads
    };
    println!(
        "{:>9} {:>7} {:>11} {:>7} {:>7} {:>9}",
        "transport", "threads", "connections", "GB/s", "s / GB", "trip, us"
    );
    for secure in [false, true] {
        for &threads in &threads {
            for connections in [1, 2, 4, 8] {
                if connections <= threads {
                    report(secure, threads, connections);
                }
            }
        }
    }
}

fn report(secure: bool, threads: usize, connections: usize) {
    let runs: Vec<Took> = (0..RUNS)
        .map(|_| run(secure, threads, connections))
        .collect();
    let best = runs.iter().min_by_key(|took| took.bulk).unwrap();
    let trip = runs.iter().map(|took| took.trip).min().unwrap();
    let gigabytes = 2.0 * VOLUME as f64 / 1e9;
    println!(
        "{:>9} {threads:>7} {connections:>11} {:7.2} {:7.3} {:9.1}",
        if secure { "TLS" } else { "TCP" },
        gigabytes / best.bulk.as_secs_f64(),
        best.processor / gigabytes,
        trip.as_secs_f64() * 1e6,
    );
}

fn run(secure: bool, threads: usize, connections: usize) -> Took {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let addresses = listeners
        .each_ref()
        .map(|listener| listener.local_addr().unwrap().to_string());
    let keys = [(); 2].map(|()| Identity::generate(Validity::days(1).unwrap()).unwrap());
    let entries = addresses.iter().zip(&keys);
    let entries = entries.map(|(address, key)| (address.parse().unwrap(), key.fingerprint()));
    let roster = Arc::new(Roster::local(entries).unwrap());
    let parties = Party::all(2).zip(listeners).zip(&keys);
    std::thread::scope(|scope| {
        let start = |((me, listener), key): ((Party, TcpListener), &Identity)| {
            let security = match secure {
                true => Security::Tls(TlsParty::new(key, Arc::clone(&roster)).unwrap()),
                false => Security::Clear,
            };
            let addresses = &addresses;
            scope.spawn(move || party(me, addresses, listener, &security, threads, connections))
        };
        let both: Vec<_> = parties.map(start).collect();
        let mut took = both.into_iter().map(|party| party.join().unwrap());
        let (one, _) = (took.next().unwrap(), took.next().unwrap());
        one
    })
}

fn party(
    me: Party,
    addresses: &[String],
    listener: TcpListener,
    security: &Security,
    threads: usize,
    connections: usize,
) -> Took {
    let mut builder = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(connections).enable_all().build();
    runtime.unwrap().block_on(async {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let config = ConnectConfig {
            connections,
            ..ConnectConfig::new(me, addresses, security)
        };
        let transport = connect(config, listener).await.unwrap();
        let session = Session::new(SessionConfig::new(me, 2), transport);
        session.greet().await.unwrap();
        let job = session.job(1, &[], None).await.unwrap();
        let context = job.context();
        on_all(&context.step("warm up"), threads, 20, MESSAGE / 2).await;
        let (begin, before) = (Instant::now(), processor());
        on_all(
            &context.step("bulk"),
            threads,
            VOLUME / MESSAGE / threads,
            MESSAGE,
        )
        .await;
        let (bulk, processor) = (begin.elapsed(), processor() - before);
        let begin = Instant::now();
        on_all(&context.step("trips"), threads, TRIPS, 16).await;
        let trip = begin.elapsed() / TRIPS as u32;
        job.finish().await.unwrap();
        session.close().await;
        Took {
            bulk,
            processor,
            trip,
        }
    })
}

/// Exchanges `messages` messages on each thread; a single thread is this one.
async fn on_all(context: &Context, threads: usize, messages: usize, bytes: usize) {
    if threads == 1 {
        return exchange(context.step("0"), messages, bytes).await.unwrap();
    }
    let work = (0..threads).map(|number| {
        let context = context.step(&number.to_string());
        move |_: &dyn Fn(())| block_on(exchange(context, messages, bytes))
    });
    on_threads(context, work, |()| {}).await.unwrap();
}

/// Sends and receives messages, one ahead of the other.
async fn exchange(context: Context, messages: usize, bytes: usize) -> Result<()> {
    let mut channel = context.channel(context.peers().next().unwrap())?;
    let message = madrigal_net::bytes::Bytes::from(vec![7; bytes]);
    for _ in 0..messages {
        channel.send(message.clone()).await?;
        let came = channel.recv(bytes).await?;
        assert_eq!(came.len(), bytes);
    }
    Ok(())
}

/// Seconds of processor time of this process, where the system tells them.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok());
    // A hundred ticks a second on every Linux.
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
}
