//! Sums over bands, see [`crate::band`]: a column is read whether or not its bit is one, as part of a vector whose lanes
//! the bits choose.

use core::arch::x86_64::*;

use super::{Vector, load, splat, store, xor_vectors};
use crate::Block;
use crate::block::{blocks_as_bytes, blocks_as_bytes_mut, words_as_bytes, words_as_bytes_mut};
use crate::columns::{BAND, Band, Slot};
use crate::vector::instructions;

instructions! {
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni";
    /// The lowest four bits, each as both words of a block.
    fn four_blocks(bits: Vector) -> __mmask8 =
        _mm512_test_epi64_mask(bits, _mm512_set_epi64(8, 8, 4, 4, 2, 2, 1, 1));

    /// Adds the blocks whose bits are one, in two sums, so that neither waits for the other.
    fn add_blocks(sums: [Vector; 2], word: u64, blocks: &[[u8; 64]]) -> [Vector; 2] = {
        let (mut sums, mut bits) = (sums, _mm512_set1_epi64(word as i64));
        for (i, blocks) in blocks.iter().enumerate() {
            let choice = four_blocks(bits);
            sums[i % 2] = _mm512_mask_xor_epi64(sums[i % 2], choice, sums[i % 2], load(blocks));
            bits = _mm512_srli_epi64::<4>(bits);
        }
        sums
    };

    /// Adds the words whose bits are one, in two sums.
    fn add_words(sums: [Vector; 2], word: u64, words: &[[u8; 64]]) -> [Vector; 2] = {
        let (mut sums, mut bits) = (sums, word);
        for (i, words) in words.iter().enumerate() {
            sums[i % 2] = _mm512_mask_xor_epi64(sums[i % 2], bits as u8, sums[i % 2], load(words));
            bits >>= 8;
        }
        sums
    };

    /// The sum of a vector's blocks.
    fn join(x: Vector) -> __m128i = {
        let x = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));
        _mm_xor_si128(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x))
    };

    /// The sum of a vector's words.
    fn join_words(x: Vector) -> u64 = {
        let x = join(x);
        _mm_cvtsi128_si64(_mm_xor_si128(x, _mm_unpackhi_epi64(x, x))) as u64
    };

    fn block(x: __m128i) -> Block = {
        Block::new(_mm_cvtsi128_si64(x) as u64, _mm_extract_epi64::<1>(x) as u64)
    };

    fn vector_of(x: Block) -> __m128i = _mm_set_epi64x(x.hi() as i64, x.lo() as i64);
}

#[target_feature(
    enable = "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni"
)]
pub(crate) fn band_sums_blocks(store: &[Block], bands: &[Band], out: &mut [Block]) {
    for (band, out) in bands.iter().zip(out) {
        let columns = &store[band.start as usize..][..BAND];
        let vectors = blocks_as_bytes(columns).as_chunks().0;
        let mut sums = [splat(Block::ZERO); 2];
        for (&word, vectors) in band.bits.iter().zip(vectors.as_chunks::<16>().0) {
            sums = add_blocks(sums, word, vectors);
        }
        *out = block(join(xor_vectors(sums[0], sums[1])));
    }
}

#[target_feature(
    enable = "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni"
)]
pub(crate) fn band_sums_words(store: &[u64], bands: &[Band], out: &mut [u64]) {
    for (band, out) in bands.iter().zip(out) {
        let columns = &store[band.start as usize..][..BAND];
        let vectors = words_as_bytes(columns).as_chunks().0;
        let mut sums = [splat(Block::ZERO); 2];
        for (&word, vectors) in band.bits.iter().zip(vectors.as_chunks::<8>().0) {
            sums = add_words(sums, word, vectors);
        }
        *out = join_words(xor_vectors(sums[0], sums[1]));
    }
}

#[target_feature(
    enable = "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni"
)]
pub(crate) fn band_solve_blocks(columns: &mut [Block], slots: &[Slot<Block>]) {
    for (word, slots) in slots.as_chunks::<64>().0.iter().enumerate().rev() {
        let (own, later) = columns[64 * word..][..64 + BAND].split_at_mut(64);
        let later = blocks_as_bytes(later).as_chunks().0.as_chunks::<16>().0;
        let own = blocks_as_bytes_mut(own).as_chunks_mut().0;
        for (g, slots) in slots.as_chunks::<4>().0.iter().enumerate().rev() {
            // The four columns so far; zero where they are not known yet.
            let mut group = splat(Block::ZERO);
            for (lane, slot) in slots.iter().enumerate().rev() {
                let mut sums = [splat(Block::ZERO); 2];
                for (&bits, vectors) in slot.bits[1..].iter().zip(later) {
                    sums = add_blocks(sums, bits, vectors);
                }
                let bits = slot.bits[0].unbounded_shr(4 * g as u32 + 4);
                let sums = add_blocks(sums, bits, &own[g + 1..]);
                let far = _mm_xor_si128(join(xor_vectors(sums[0], sums[1])), vector_of(slot.value));
                let near = four_blocks(_mm512_set1_epi64((slot.bits[0] >> (4 * g)) as i64));
                let near = join(_mm512_maskz_mov_epi64(near, group));
                let column = _mm512_broadcast_i32x4(_mm_xor_si128(far, near));
                group = _mm512_mask_mov_epi64(group, 3 << (2 * lane), column);
            }
            store(&mut own[g], group);
        }
    }
}

#[target_feature(
    enable = "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni"
)]
pub(crate) fn band_solve_words(columns: &mut [u64], slots: &[Slot<u64>]) {
    for (word, slots) in slots.as_chunks::<64>().0.iter().enumerate().rev() {
        let (own, later) = columns[64 * word..][..64 + BAND].split_at_mut(64);
        let later = words_as_bytes(later).as_chunks().0.as_chunks::<8>().0;
        let own = words_as_bytes_mut(own).as_chunks_mut().0;
        for (g, slots) in slots.as_chunks::<8>().0.iter().enumerate().rev() {
            let mut group = splat(Block::ZERO);
            for (lane, slot) in slots.iter().enumerate().rev() {
                let mut sums = [splat(Block::ZERO); 2];
                for (&bits, vectors) in slot.bits[1..].iter().zip(later) {
                    sums = add_words(sums, bits, vectors);
                }
                let bits = slot.bits[0].unbounded_shr(8 * g as u32 + 8);
                let sums = add_words(sums, bits, &own[g + 1..]);
                let near = _mm512_maskz_mov_epi64((slot.bits[0] >> (8 * g)) as u8, group);
                let sums = xor_vectors(xor_vectors(sums[0], sums[1]), near);
                let column = join_words(sums) ^ slot.value;
                group = _mm512_mask_mov_epi64(group, 1 << lane, _mm512_set1_epi64(column as i64));
            }
            store(&mut own[g], group);
        }
    }
}
