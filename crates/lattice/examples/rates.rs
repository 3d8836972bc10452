//! Measures how long each step of a product takes on one thread: `cargo run --release -p madrigal-lattice
//! --example rates -- 64 128 128 128` (bits, rows, inner, columns).

#![allow(clippy::print_stdout, reason = "it prints its figures")]

use std::time::{Duration, Instant};

use madrigal_kernels::{Block, Prg};
use madrigal_lattice::{Layout, Owner, Responder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes = [64, 128, 128, 128];
    for (size, given) in sizes.iter_mut().zip(std::env::args().skip(1)) {
        *size = given.parse()?;
    }
    match sizes {
        [8, p, k, q] => rates::<u8>(p, k, q),
        [16, p, k, q] => rates::<u16>(p, k, q),
        [32, p, k, q] => rates::<u32>(p, k, q),
        [_, p, k, q] => rates::<u64>(p, k, q),
    }
}

fn rates<T: madrigal_core::Ring>(
    p: usize,
    k: usize,
    q: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let layout = Layout::new(T::BITS, p, k, q).ok_or("8, 16, 32 or 64 bits")?;
    let mut prg = Prg::new(Block::new(1, 0));
    let mut random = |count: usize| -> Vec<T> {
        (0..count)
            .map(|_| T::from_u128(prg.next_block().into()))
            .collect()
    };
    let (x, y) = (random(p * k), random(k * q));
    let mut owner = Owner::new(T::BITS, Block::new(2, 0), 2).ok_or("a width")?;
    let key = owner.public_key();
    let mut responder = Responder::new(T::BITS, &key, Block::new(3, 0), 3)?;
    println!("{layout:?}: {} bytes", layout.bytes());
    for _ in 0..5 {
        let mut times = [Duration::ZERO; 4];
        let mut z = vec![T::ZERO; p * q];
        let mut w = vec![T::ZERO; p * q];
        for request in layout.requests() {
            let mut clock = Instant::now();
            let mut lap = |step: usize| {
                times[step] += clock.elapsed();
                clock = Instant::now();
            };
            let message = owner.request(&layout, &request, &x);
            lap(0);
            let asked = responder.read(&layout, &request, &message)?;
            lap(1);
            for columns in layout.answers() {
                let answer = responder.answer(&asked, &columns, &y, &mut w);
                lap(2);
                owner.open(&layout, &request, &columns, &answer, &mut z)?;
                lap(3);
            }
        }
        let all: Duration = times.iter().sum();
        let rate = (p * k * q) as f64 / all.as_secs_f64() / 1e6;
        println!(
            "request {:?}, read {:?}, answer {:?}, open {:?}: {rate:.1} M products/s",
            times[0], times[1], times[2], times[3]
        );
    }
    Ok(())
}
