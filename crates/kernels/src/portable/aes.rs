//! AES-128 bitsliced: no table, no branch, no index depends on key or data.
//!
//! Four blocks are eight words, one per bit of a byte ("plane"): bit `16 r + 4 c + k` of plane `i`
//! is bit `i` of the byte in row `r`, column `c` of the state of block `k`. ShiftRows then rotates
//! within 16-bit rows and MixColumns rotates the whole word. A plane may have several such words, so
//! that the compiler can make vectors of them.

use core::array::from_fn;

use super::planes::{Plane, Planes};
use super::sbox::sub_bytes;
use super::transpose::transpose_8_words;
use crate::Block;
use crate::block::RoundKeys;

/// Words per plane for bulk work.
const WORDS: usize = 4;

/// Blocks that go through the cipher at once in bulk.
pub(super) const WIDE: usize = 4 * WORDS;

pub(crate) fn encrypt(keys: &RoundKeys, blocks: &mut [Block]) {
    let keys: [Planes<1>; 11] = from_fn(|round| to_planes(&[[keys[round]; 4]]));
    let (wide, rest) = blocks.as_chunks_mut::<WIDE>();
    for blocks in wide {
        encrypt_batch::<WORDS>(&keys, blocks);
    }
    for blocks in rest.chunks_mut(4) {
        encrypt_batch::<1>(&keys, blocks);
    }
}

/// Runs AES at the rate that the level allows at most: encrypts blocks again and again, `times` times.
pub(crate) fn aes_registers(keys: &RoundKeys, times: usize) -> Block {
    let mut blocks = [Block::ZERO; crate::sizes::REGISTER_BLOCKS];
    for _ in 0..times {
        encrypt(keys, &mut blocks);
    }
    blocks[0]
}

/// FIPS 197, section 5.2. The words of a round key are the columns of the state.
pub(crate) fn expand_key(key: Block) -> RoundKeys {
    let mut keys = [key; 11];
    let mut round_constant = 1_u32;
    for round in 1..11 {
        let previous = u128::from(keys[round - 1]);
        let last = (previous >> 96) as u32;
        let mut word = sub_word(last.rotate_right(8)) ^ round_constant;
        round_constant = (round_constant << 1) ^ ((round_constant >> 7) * 0x11b);
        let mut next = 0;
        for column in 0..4 {
            word ^= (previous >> (32 * column)) as u32;
            next |= u128::from(word) << (32 * column);
        }
        keys[round] = Block::from(next);
    }
    keys
}

pub(crate) fn sub_word(word: u32) -> u32 {
    let mut planes = to_planes(&[[Block::new(u64::from(word), 0); 4]]);
    sub_bytes(&mut planes);
    from_planes(&planes)[0][0].lo() as u32
}

/// Encrypts up to `4 * W` blocks.
fn encrypt_batch<const W: usize>(keys: &[Planes<1>; 11], blocks: &mut [Block]) {
    let block = |i: usize| blocks.get(i).copied().unwrap_or_default();
    let input: [[Block; 4]; W] = from_fn(|word| from_fn(|k| block(4 * word + k)));
    let mut state = to_planes(&input);
    add_round_key(&mut state, &keys[0]);
    for key in &keys[1..10] {
        sub_bytes(&mut state);
        state = state.map(shift_rows);
        mix_columns(&mut state);
        add_round_key(&mut state, key);
    }
    sub_bytes(&mut state);
    state = state.map(shift_rows);
    add_round_key(&mut state, &keys[10]);
    let output = from_planes(&state);
    for (block, out) in blocks.iter_mut().zip(output.as_flattened()) {
        *block = *out;
    }
}

#[inline(always)]
fn add_round_key<const W: usize>(state: &mut Planes<W>, key: &Planes<1>) {
    for (plane, key) in state.iter_mut().zip(key) {
        *plane ^= Plane([key.0[0]; W]);
    }
}

/// Row `r` of the state rotates left by `r` columns (FIPS 197, section 5.1.2).
#[inline(always)]
fn shift_rows<const W: usize>(plane: Plane<W>) -> Plane<W> {
    Plane(plane.0.map(|x| {
        (x & 0x0000_0000_0000_ffff)
            | ((x >> 4) & 0x0000_0000_0fff_0000)
            | ((x << 12) & 0x0000_0000_f000_0000)
            | ((x >> 8) & 0x0000_00ff_0000_0000)
            | ((x << 8) & 0x0000_ff00_0000_0000)
            | ((x >> 12) & 0x000f_0000_0000_0000)
            | ((x << 4) & 0xfff0_0000_0000_0000)
    }))
}

/// `out[r] = 2 (a[r] + a[r+1]) + a[r+1] + a[r+2] + a[r+3]`, rows modulo 4 (FIPS 197, section 5.1.3).
#[inline(always)]
fn mix_columns<const W: usize>(state: &mut Planes<W>) {
    let next = state.map(|plane| plane.rotate_rows(1));
    let sum: Planes<W> = from_fn(|i| state[i] ^ next[i]);
    for i in 0..8 {
        let doubled = match i {
            0 => sum[7],
            1 | 3 | 4 => sum[i - 1] ^ sum[7],
            _ => sum[i - 1],
        };
        state[i] = doubled ^ next[i] ^ sum[i].rotate_rows(2);
    }
}

/// A block's columns 0 and 2 interleaved byte by byte give the words before transposition, columns 1
/// and 3 their partners; see the layout above.
#[inline(always)]
fn to_planes<const W: usize>(blocks: &[[Block; 4]; W]) -> Planes<W> {
    let mut planes = [Plane([0; W]); 8];
    for (w, blocks) in blocks.iter().enumerate() {
        let mut words = [0; 8];
        for (k, block) in blocks.iter().enumerate() {
            let column = |c: usize| spread((block.0[c / 2] >> (32 * (c % 2))) as u32);
            words[k] = column(0) | column(2) << 8;
            words[4 + k] = column(1) | column(3) << 8;
        }
        transpose_8_words(&mut words);
        for (plane, word) in planes.iter_mut().zip(words) {
            plane.0[w] = word;
        }
    }
    planes
}

#[inline(always)]
fn from_planes<const W: usize>(planes: &Planes<W>) -> [[Block; 4]; W] {
    from_fn(|w| {
        let mut words = planes.map(|plane| plane.0[w]);
        transpose_8_words(&mut words);
        from_fn(|k| {
            let (even, odd) = (words[k], words[4 + k]);
            let pair = |low: u64, high: u64| u64::from(gather(low)) | u64::from(gather(high)) << 32;
            Block::new(pair(even, odd), pair(even >> 8, odd >> 8))
        })
    })
}

/// The four bytes of `x` in the even bytes of the result.
#[inline(always)]
fn spread(x: u32) -> u64 {
    let x = u64::from(x);
    let x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    (x | x << 8) & 0x00ff_00ff_00ff_00ff
}

/// The even bytes of `x`: the inverse of [`spread`].
#[inline(always)]
fn gather(x: u64) -> u32 {
    let x = x & 0x00ff_00ff_00ff_00ff;
    let x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) as u32
}

/// Cuts blocks into planes, and puts them together again.
pub(crate) fn through_planes(blocks: &[[Block; 4]; 2]) -> [[Block; 4]; 2] {
    from_planes(&to_planes(blocks))
}
