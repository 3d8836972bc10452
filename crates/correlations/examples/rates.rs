//! How many correlations per second this machine makes, all parties on its threads over the memory
//! transport: `rates [KIND [PARTIES [COUNT]]]`; for matrices COUNT is the number of rows and columns.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints a table"
)]

use std::time::Instant;

use madrigal_core::Ring;
use madrigal_correlations::{BitTripleSource, MatrixShape, OtSource, Source};
use madrigal_net::{Context, Result};
use madrigal_testkit::World;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default| {
        args.get(i)
            .map_or(default, |text| text.parse().unwrap_or(default))
    };
    let (parties, count) = (number(1, 2), number(2, 100_000));
    match args.first().map_or("triples64", String::as_str) {
        "bits" => bits(parties, count),
        "triples8" => triples::<u8>(parties, count),
        "triples16" => triples::<u16>(parties, count),
        "triples32" => triples::<u32>(parties, count),
        "triples64" => triples::<u64>(parties, count),
        "triples128" => triples::<u128>(parties, count),
        "squares64" => squares::<u64>(parties, count),
        "shared8" => shared::<u8>(parties, count),
        "shared32" => shared::<u32>(parties, count),
        "shared64" => shared::<u64>(parties, count),
        "matrix64" => matrix::<u64>(parties, number(2, 128)),
        "matrix32" => matrix::<u32>(parties, number(2, 128)),
        "vectors128" => vectors(parties, count, 128),
        "vectors1024" => vectors(parties, count, 1024),
        other => eprintln!("there is no kind {other}"),
    }
}

fn bits(parties: usize, count: usize) {
    measure("bits", parties, count, |mut source| async move {
        source.bit_triples(count, &|_| {}).await.map(|_| ())
    });
}

fn triples<T: Ring>(parties: usize, count: usize) {
    measure("triples", parties, count, |mut source| async move {
        source.ring_triples::<T>(count, &|_| {}).await.map(|_| ())
    });
}

fn squares<T: Ring>(parties: usize, count: usize) {
    measure("squares", parties, count, |mut source| async move {
        source.square_pairs::<T>(count, &|_| {}).await.map(|_| ())
    });
}

fn shared<T: Ring>(parties: usize, count: usize) {
    measure("shared bits", parties, count, |mut source| async move {
        source.shared_bits::<T>(count, &|_| {}).await.map(|_| ())
    });
}

fn matrix<T: Ring>(parties: usize, size: usize) {
    let shape = MatrixShape {
        rows: size,
        inner: size,
        columns: size,
    };
    let count = size.pow(3);
    measure(
        "products of elements",
        parties,
        count,
        |mut source| async move { source.matrix_triple::<T>(shape, &|_| {}).await.map(|_| ()) },
    );
}

fn vectors(parties: usize, count: usize, length: usize) {
    measure("vectors", parties, count, |mut source| async move {
        source
            .vector_triples(length, count, &|_| {})
            .await
            .map(|_| ())
    });
}

/// CPU time of this process so far, in seconds.
fn cpu_time() -> f64 {
    let tasks = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = tasks.rsplit(')').next().unwrap_or_default();
    let mut fields = after.split_whitespace().skip(11);
    let mut next = || fields.next().and_then(|text| text.parse::<f64>().ok());
    (next().unwrap_or(0.0) + next().unwrap_or(0.0)) / 100.0
}

fn measure<F: Future<Output = Result<()>>>(
    kind: &str,
    parties: usize,
    count: usize,
    make: impl Fn(OtSource) -> F + Sync,
) {
    let run = |context: Context| {
        let make = &make;
        async move {
            let source = OtSource::new(&context).await?;
            let start = Instant::now();
            make(source).await?;
            Ok(start.elapsed().as_secs_f64())
        }
    };
    let mut rates = Vec::new();
    let start = cpu_time();
    for seed in 0..5 {
        let results = World::new(parties, seed).run(run);
        let slowest = results.iter().map(|(time, _)| *time).fold(0.0, f64::max);
        let bytes: u64 = results.iter().map(|(_, cost)| cost.setup.bytes_sent).sum();
        rates.push((count as f64 / slowest, bytes as f64 / count as f64));
    }
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!(
        "{kind} n={parties}: {:.0} per second, best {:.0}; {:.0} ns CPU each, all parties and base \
         OTs together; {:.1} bytes each",
        rates[2].0,
        rates[4].0,
        (cpu_time() - start) * 1e9 / (5 * count) as f64,
        rates[4].1
    );
}
