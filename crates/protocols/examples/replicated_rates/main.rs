//! Rates of protocol R over rings, all three parties on threads of this machine:
//! `replicated_rates [WORKLOAD [TRANSPORT [COUNT [BATCHES]]]]`, with workloads mul64, mul32, lt64, lt32,
//! trunc64, inject64, matrix64, matrix32 and `local64`, `local32` (the products of a matrix product alone), over
//! memory, tcp or tls. COUNT is elements per batch, or rows and columns; all are there before the clock
//! starts.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a program for people"
)]

mod workloads;

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use madrigal_core::{Party, Phase, Ring};
use madrigal_kernels::rings;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::{Security, connect};
use madrigal_net::{Context, Result};
use madrigal_protocols::replicated::PARTIES;
use madrigal_testkit::{PartyResult, World};

const RUNS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let text = |i: usize, default: &'static str| args.get(i).map_or(default, String::as_str);
    let number = |i: usize, default: usize| args.get(i).map_or(default, |n| n.parse().unwrap());
    let (workload, way) = (text(0, "mul64"), text(1, "memory"));
    let large = workload.starts_with("matrix") || workload.starts_with("local");
    // Of products, what stays in the caches, as in a longer computation on pieces; beyond them the
    // memory's rate is measured.
    let usual = match workload {
        _ if large => 1000,
        "mul64" | "mul32" => 1 << 16,
        _ => 1 << 18,
    };
    let count = number(2, usual);
    let batches = number(
        3,
        if large {
            1
        } else {
            ((1 << 26) / count).clamp(1, 64)
        },
    );
    let rate = Rate {
        name: format!("{workload}/{way}"),
        way,
        items: batches * if large { count.pow(3) } else { count },
    };
    match workload {
        "mul64" => rate.of(|context| workloads::products::<u64>(context, count, batches)),
        "mul32" => rate.of(|context| workloads::products::<u32>(context, count, batches)),
        "lt64" => rate.of(|context| workloads::comparisons::<u64>(context, count, batches)),
        "lt32" => rate.of(|context| workloads::comparisons::<u32>(context, count, batches)),
        "trunc64" => rate.of(|context| workloads::truncations::<u64>(context, count, batches)),
        "inject64" => rate.of(|context| workloads::injections::<u64>(context, count, batches)),
        "matrix64" => rate.of(|context| workloads::matrices::<u64>(context, count, batches)),
        "matrix32" => rate.of(|context| workloads::matrices::<u32>(context, count, batches)),
        "local64" => local::<u64>(count),
        "local32" => local::<u32>(count),
        other => eprintln!("there is no workload {other}"),
    }
}

struct Rate<'a> {
    name: String,
    way: &'a str,
    items: usize,
}

impl Rate<'_> {
    fn of<F: Future<Output = Result<f64>>>(&self, work: impl Fn(Context) -> F + Sync) {
        let mut seconds = Vec::new();
        let mut bytes = 0.0;
        let cpu = cpu_time();
        for seed in 0..RUNS {
            let world = World::new(PARTIES, seed as u64);
            let run = |context: Context| work(context.enter(Phase::Online, "rates"));
            let results = match self.way {
                "memory" => world.run(run),
                "tcp" => over_sockets(&world, false, run),
                "tls" => over_sockets(&world, true, run),
                other => panic!("there is no transport {other}"),
            };
            let slowest = results.iter().map(|(time, _)| *time).fold(0.0, f64::max);
            bytes = results
                .iter()
                .map(|(_, cost)| cost.online.bytes_sent as f64)
                .sum();
            seconds.push(slowest);
        }
        seconds.sort_by(f64::total_cmp);
        let items = self.items as f64;
        println!(
            "{}: {:.2} M/s, best {:.2}; {:.2} ns CPU each (all parties, preparation too), {:.2} bytes \
             sent each (mean of the parties)",
            self.name,
            items / seconds[RUNS / 2] / 1e6,
            items / seconds[0] / 1e6,
            (cpu_time() - cpu) * 1e9 / (items * RUNS as f64),
            bytes / 3.0 / items,
        );
    }
}

/// The local part of a matrix product, by three threads that do nothing else.
fn local<T: Ring>(size: usize) {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..PARTIES {
            scope.spawn(|| {
                let mut x = vec![T::ZERO; size * size];
                for (i, x) in x.iter_mut().enumerate() {
                    *x = T::from_u128(i as u128 * 0x9e37_79b9_7f4a_7c15);
                }
                let (y, mut z) = (x.clone(), x.clone());
                rings::multiply_add(&x, &y, &mut z, size, size);
                rings::multiply_add(&x, &y, &mut z, size, size);
                std::hint::black_box(z);
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let products = 2.0 * PARTIES as f64 * (size as f64).powi(3);
    println!(
        "local: {seconds:.3} s for three parties, {:.2} G products/s",
        products / seconds / 1e9
    );
}

fn over_sockets<T: Send, F: Future<Output = Result<T>>>(
    world: &World,
    tls: bool,
    work: impl Fn(Context) -> F + Sync,
) -> Vec<(T, madrigal_core::Cost)> {
    let listeners: Vec<TcpListener> = (0..PARTIES)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let addresses: Vec<String> = listeners
        .iter()
        .map(|listener| listener.local_addr().unwrap().to_string())
        .collect();
    let identities: Vec<Identity> = (0..PARTIES)
        .map(|_| Identity::generate(Validity::days(1).unwrap()).unwrap())
        .collect();
    let entries = addresses.iter().zip(&identities);
    let roster = Roster::local(
        entries.map(|(address, identity)| (address.parse().unwrap(), identity.fingerprint())),
    );
    let roster = Arc::new(roster.unwrap());
    let (work, addresses) = (&work, &addresses);
    std::thread::scope(|scope| {
        let threads: Vec<_> = Party::all(PARTIES)
            .zip(listeners)
            .zip(&identities)
            .map(|((me, listener), identity)| {
                let roster = Arc::clone(&roster);
                scope.spawn(move || -> PartyResult<T> {
                    let security = if tls {
                        Security::Tls(TlsParty::new(identity, roster).unwrap())
                    } else {
                        Security::Clear
                    };
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .enable_all()
                        .build()
                        .unwrap();
                    runtime.block_on(async {
                        listener.set_nonblocking(true).unwrap();
                        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                        let patience = Duration::from_secs(20);
                        let transport = connect(me, addresses, listener, &security, patience)
                            .await
                            .unwrap();
                        world.take_part(me, transport, work).await
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap().unwrap())
            .collect()
    })
}

/// CPU time of this process so far, in seconds.
fn cpu_time() -> f64 {
    let tasks = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = tasks.rsplit(')').next().unwrap_or_default();
    let mut fields = after.split_whitespace().skip(11);
    let mut next = || fields.next().and_then(|text| text.parse::<f64>().ok());
    (next().unwrap_or(0.0) + next().unwrap_or(0.0)) / 100.0
}
