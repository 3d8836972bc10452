//! The tests of this crate, in one executable.
#![allow(clippy::print_stdout, reason = "seeds that a failure is repeated with")]
#![allow(clippy::unwrap_used)] // helpers of tests

mod failures;
mod hints;
mod placed;

use madrigal_kernels::{Block, Prg};
use madrigal_ot::SeededRng;

/// A seed that is printed, unless `MADRIGAL_TEST_SEED` sets it.
fn seed() -> u64 {
    let given = std::env::var("MADRIGAL_TEST_SEED");
    let seed = match given {
        Ok(text) => text.parse().expect("a decimal number"),
        Err(_) => std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(1, |time| time.as_nanos() as u64),
    };
    println!("MADRIGAL_TEST_SEED={seed}");
    seed
}

/// Blocks that differ from one another.
fn blocks(seed: u64, n: usize) -> Vec<Block> {
    let mut out = vec![Block::ZERO; n];
    Prg::new(Block::new(seed, 0)).fill_blocks(&mut out);
    out
}

fn rng(seed: u64) -> SeededRng {
    SeededRng::from_seed(Block::new(seed, 2))
}
