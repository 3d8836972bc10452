//! Products of GF(2^128) in plain Rust, see [`crate::field`].

use crate::Block;
use crate::field::{inner_blocks, inner_words, product, scaled};

/// The carry-less product, bit by bit and without a branch.
#[inline(always)]
fn multiply(a: u64, b: u64) -> u128 {
    let mut sum = 0;
    for i in 0..64 {
        sum ^= (u128::from(a) & u128::from(b >> i & 1).wrapping_neg()) << i;
    }
    sum
}

pub(crate) fn field_add_blocks(factor: Block, x: &[Block], out: &mut [Block]) {
    for (&x, out) in x.iter().zip(out) {
        *out ^= product(factor, x, multiply);
    }
}

pub(crate) fn field_add_words(factor: Block, x: &[u64], out: &mut [Block]) {
    for (&x, out) in x.iter().zip(out) {
        *out ^= scaled(factor, x, multiply);
    }
}

pub(crate) fn field_inner_blocks(factors: &[Block], x: &[Block]) -> Block {
    inner_blocks(factors, x, multiply)
}

pub(crate) fn field_inner_words(factors: &[Block], x: &[u64]) -> Block {
    inner_words(factors, x, multiply)
}
