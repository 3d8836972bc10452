//! Prints the times of the number-theoretic transform on this machine, at every level:
//! `cargo run --release --example ntt`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::hint::black_box;
use std::time::Instant;

use madrigal_kernels::{Kernels, Level};

const N: usize = 8192;
/// The largest prime below 2^50 that is 1 mod 65536.
const PRIME: u64 = 1_125_899_904_679_937;

fn main() {
    for kernels in Level::available().filter_map(Kernels::at) {
        println!("{}, n = {N}, p = {PRIME}", kernels.level());
        let ntt = kernels.ntt(PRIME, N);
        let mut x: Vec<u64> = (0..N as u64).map(|i| i * i * i * 7919 % PRIME).collect();
        let y: Vec<u64> = x.iter().rev().copied().collect();
        let mut z = vec![0; N];
        let mut sums = kernels.sums(N);
        time("forward", || ntt.forward(&mut x));
        time("inverse", || ntt.inverse(&mut x));
        time("multiply", || ntt.multiply(&x, &y, &mut z));
        time("scale", || ntt.scale(&mut z, y[5]));
        time("add_assign", || ntt.add_assign(&mut x, &y));
        time("sub_assign", || ntt.sub_assign(&mut x, &y));
        time("Sums::add", || sums.add(&x, &y));
        time("Sums::take", || sums.take(&ntt, &mut z));
        black_box((&x, &z));
    }
}

/// Prints the median time of one call, of eleven batches.
fn time(name: &str, mut call: impl FnMut()) {
    const CALLS: u32 = 200;
    let mut times: Vec<f64> = (0..11)
        .map(|_| {
            let start = Instant::now();
            (0..CALLS).for_each(|_| call());
            start.elapsed().as_secs_f64() / f64::from(CALLS)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (micro, nano) = (times[5] * 1e6, times[5] * 1e9 / N as f64);
    println!("  {name:<12} {micro:>8.2} us {nano:>8.3} ns each");
}
