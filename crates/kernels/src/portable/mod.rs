//! The kernels in plain Rust: the fallback everywhere, and the oracle that tests compare with.

pub(crate) mod aes;
mod band;
mod bmr;
mod crc;
mod field;
mod fold;
mod garble;
mod lanes;
mod lpn;
pub(crate) mod ntt;
mod planes;
mod rings;
mod rows;
mod sbox;
mod transpose;

use zeroize::Zeroize;

use crate::Block;
use crate::block::RoundKeys;

pub(crate) use aes::{aes_registers, encrypt, expand_key};
pub(crate) use band::{band_solve_blocks, band_solve_words, band_sums_blocks, band_sums_words};
pub(crate) use bmr::{active_keys, clear_colours, evaluate_column, garble_column};
pub(crate) use crc::crc32;
pub(crate) use field::{field_add_blocks, field_add_words, field_inner_blocks, field_inner_words};
pub(crate) use fold::{fold_punctured, fold_whole};
pub(crate) use garble::{
    evaluate_half, evaluate_three, expand_keys, garble_half, garble_three, label_rows,
};
pub(crate) use lanes::{
    local_rows, local_words, replicated_and, replicated_carry, replicated_sums, sum_words,
};
pub(crate) use lpn::{
    ggm_add_blocks, ggm_add_words, ggm_correct, ggm_expand, ggm_mark, lpn_gather_blocks,
    lpn_gather_words,
};
#[cfg(target_arch = "x86_64")]
pub(crate) use rings::{BAND, INNER, ROWS, multiply_row};
pub(crate) use rings::{
    add_flipped, add_into, add_shifted, add_strings, beaver_dots, beaver_products, beaver_squares,
    correct_strings, flip_from, mul_into, multiply_add, multiply_registers, offer_strings,
    pack_bits, replicated_dots, replicated_products, sub_into, unpack_bits,
};
pub(crate) use rows::{and, beaver, not_into, xor, xor_into};
pub(crate) use transpose::transpose_strip;

/// Blocks per batch of the modes below: what the bitsliced AES takes at once.
const BATCH: usize = aes::WIDE;

pub(crate) fn ctr_fill(keys: &RoundKeys, first: u64, out: &mut [u8]) {
    ctr(keys, first, out, |out, stream| out.copy_from_slice(stream));
}

pub(crate) fn ctr_xor(keys: &RoundKeys, first: u64, data: &mut [u8]) {
    ctr(keys, first, data, xor_into);
}

fn ctr(keys: &RoundKeys, first: u64, out: &mut [u8], combine: impl Fn(&mut [u8], &[u8])) {
    for (batch, out) in out.chunks_mut(16 * BATCH).enumerate() {
        let start = u128::from(first) + (batch * BATCH) as u128;
        let mut stream: [Block; BATCH] = core::array::from_fn(|i| Block::from(start + i as u128));
        let blocks = &mut stream[..out.len().div_ceil(16)];
        encrypt(keys, blocks);
        combine(out, &crate::blocks_as_bytes(blocks)[..out.len()]);
    }
}

/// MMO of `x ^ offset`: `pi(x) ^ x`.
pub(crate) fn hash_blocks(keys: &RoundKeys, offset: Block, x: &[Block], out: &mut [Block]) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = x ^ offset;
    }
    encrypt(keys, out);
    for (out, &x) in out.iter_mut().zip(x) {
        *out ^= x ^ offset;
    }
}

pub(crate) fn hash_pairs(
    keys: &RoundKeys,
    offset: Block,
    x: &[Block],
    k0: &mut [Block],
    k1: &mut [Block],
) {
    hash_blocks(keys, Block::ZERO, x, k0);
    hash_blocks(keys, offset, x, k1);
}

pub(crate) fn hash_bits(keys: &RoundKeys, offset: Block, x: &[Block], out: &mut [u8]) {
    out.fill(0);
    let mut hashes = [Block::ZERO; BATCH];
    for (x, out) in x.chunks(BATCH).zip(out.chunks_mut(BATCH / 8)) {
        hash_blocks(keys, offset, x, &mut hashes[..x.len()]);
        for (i, hash) in hashes[..x.len()].iter().enumerate() {
            out[i / 8] |= ((hash.lo() & 1) as u8) << (i % 8);
        }
    }
    hashes.zeroize();
}

/// MMO of the points `seed ^ j`, from `j = first` on.
pub(crate) fn stretch(keys: &RoundKeys, seed: Block, first: u64, out: &mut [u8]) {
    for (batch, out) in out.chunks_mut(16 * BATCH).enumerate() {
        let point = |i| Block::new(first + (batch * BATCH + i) as u64, 0);
        let points: [Block; BATCH] = core::array::from_fn(point);
        let mut stream = [Block::ZERO; BATCH];
        hash_blocks(keys, seed, &points, &mut stream);
        out.copy_from_slice(&crate::blocks_as_bytes(&stream)[..out.len()]);
        stream.zeroize();
    }
}
