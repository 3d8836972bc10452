//! The tests of this crate, in one executable: linking many takes longer than running them.

mod failures;
mod refused;
mod stores;

use madrigal_kernels::{Block, Prg};
use madrigal_okvs::Element;
use madrigal_ot::SeededRng;

/// Blocks that differ from one another.
fn blocks(seed: u64, n: usize) -> Vec<Block> {
    let mut out = vec![Block::ZERO; n];
    Prg::new(Block::new(seed, 0)).fill_blocks(&mut out);
    out
}

fn values<V: Element>(seed: u64, n: usize) -> Vec<V> {
    let mut out = vec![V::default(); n];
    Prg::new(Block::new(seed, 1)).fill(V::bytes_mut(&mut out));
    out
}

fn rng(seed: u64) -> SeededRng {
    SeededRng::from_seed(Block::new(seed, 2))
}
