//! x86-64 with AES-NI and PCLMULQDQ: one block per vector.

use core::arch::x86_64::*;

use crate::transpose::assert_within;
use crate::vector::choice::masked_choices;
use crate::vector::crc::single_crc;
use crate::vector::loops::{band, field, lpn};
use crate::vector::modes::single_modes;
use crate::vector::unpack::{interleave, unpack_transpose};
use crate::vector::{hold, instructions, level};

use super::matrix::matrix;

type Vector = __m128i;

const LANES: usize = 1;

/// Number of vectors that the processor has.
const REGISTERS: usize = 16;

level!("sse4.1,ssse3,aes,pclmulqdq", self, multiply_words);
single_modes!("sse4.1,ssse3,aes,pclmulqdq");
single_crc!("sse4.1,ssse3,aes,pclmulqdq");
lpn!("sse4.1,ssse3,aes,pclmulqdq");
band!("sse4.1,ssse3,aes,pclmulqdq");
field!("sse4.1,ssse3,aes,pclmulqdq", multiply);
hold!("sse4.1,ssse3,aes,pclmulqdq", "/* {0} */", xmm_reg);
matrix!("sse4.1,ssse3,aes,pclmulqdq", {
    low: _mm_mul_epu32, halves: _mm_mullo_epi32, add: _mm_add_epi64, add_halves: _mm_add_epi32,
    swap: _mm_shuffle_epi32, spread: _mm_set1_epi64x, left: _mm_slli_epi64, right: _mm_srli_epi64,
});
unpack_transpose!("sse4.1,ssse3,aes,pclmulqdq", 16, {
    lo8: _mm_unpacklo_epi8, hi8: _mm_unpackhi_epi8,
    lo16: _mm_unpacklo_epi16, hi16: _mm_unpackhi_epi16,
    lo32: _mm_unpacklo_epi32, hi32: _mm_unpackhi_epi32,
    lo64: _mm_unpacklo_epi64, hi64: _mm_unpackhi_epi64,
    and: _mm_and_si128, set: _mm_set1_epi64x, left: _mm_slli_epi64, right: _mm_srli_epi64,
    pairs: |even, odd| [even, odd],
});

#[target_feature(enable = "sse4.1,ssse3,aes,pclmulqdq")]
pub(crate) fn transpose_strip(
    src: &[u8],
    stride: usize,
    bytes: usize,
    dst: &mut [u8],
    dst_stride: usize,
) {
    transpose_tiles(src, stride, 0..bytes, dst, dst_stride);
}

/// FIPS 197, section 5.2. The instruction made for it takes twice as long as `sub_word` on a Zen 3.
#[target_feature(enable = "sse4.1,ssse3,aes,pclmulqdq")]
pub(crate) fn expand_key(key: Block) -> RoundKeys {
    let mut keys = [key; 11];
    let mut state = load(&key.to_bytes());
    macro_rules! expand {
        ($($round:literal: $constant:literal),*) => { $(
            let word = sub_word(state, $constant);
            // Each word adds all words before it: a prefix sum in two steps.
            let sums = xor_vectors(state, up_one_word(state));
            let sums = xor_vectors(sums, up_two_words(sums));
            state = xor_vectors(sums, word);
            let mut bytes = [0; 16];
            store(&mut bytes, state);
            keys[$round] = Block::from_bytes(bytes);
        )* };
    }
    expand!(1: 0x01, 2: 0x02, 3: 0x04, 4: 0x08, 5: 0x10, 6: 0x20, 7: 0x40, 8: 0x80, 9: 0x1b, 10: 0x36);
    keys
}

instructions! {
    "sse4.1,ssse3,aes,pclmulqdq";
    pub(super) fn load(bytes: &[u8; 16]) -> Vector = {
        // SAFETY: the reference covers the 16 bytes read; `loadu` has no alignment.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    };

    pub(super) fn store(bytes: &mut [u8; 16], x: Vector) = {
        // SAFETY: the exclusive reference covers the 16 bytes written; `storeu` has no alignment.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), x) }
    };

    pub(super) fn splat(block: Block) -> Vector = _mm_set_epi64x(block.hi() as i64, block.lo() as i64);
    pub(super) fn xor_vectors(a: Vector, b: Vector) -> Vector = _mm_xor_si128(a, b);

    /// The block in every lane.
    pub(super) fn spread(block: &Block) -> Vector = {
        // SAFETY: the reference covers the 16 bytes read; `loadu` has no alignment.
        unsafe { _mm_loadu_si128(core::ptr::from_ref(block).cast()) }
    };

    pub(super) fn and_vectors(a: Vector, b: Vector) -> Vector = _mm_and_si128(a, b);

    /// The linear orthomorphism `(lo, hi) -> (hi, lo ^ hi)` of each block.
    pub(super) fn sigma(x: Vector) -> Vector = {
        let swapped = _mm_shuffle_epi32::<0x4e>(x);
        xor_vectors(swapped, _mm_and_si128(x, _mm_set_epi64x(-1, 0)))
    };

    pub(super) fn round(state: Vector, key: Vector) -> Vector = _mm_aesenc_si128(state, key);
    pub(super) fn last_round(state: Vector, key: Vector) -> Vector = _mm_aesenclast_si128(state, key);

    /// The carry-less products of the lower words and of the upper ones, added.
    pub(super) fn fold_halves(x: Vector, factors: Vector) -> Vector = {
        let low = _mm_clmulepi64_si128::<0x00>(x, factors);
        xor_vectors(low, _mm_clmulepi64_si128::<0x11>(x, factors))
    };

    /// The carry-less product.
    pub(super) fn multiply(a: u64, b: u64) -> u128 = {
        let product =
            _mm_clmulepi64_si128::<0x00>(_mm_cvtsi64_si128(a as i64), _mm_cvtsi64_si128(b as i64));
        let mut bytes = [0; 16];
        store(&mut bytes, product);
        u128::from_le_bytes(bytes)
    };

    /// The 128-bit counter `2^64 hi + lo`, as the first lane.
    pub(super) fn counters(lo: u64, hi: u64) -> Vector = splat(Block::new(lo, hi));

    pub(super) fn add_counter(counter: Vector, n: i64) -> Vector =
        _mm_add_epi64(counter, _mm_set_epi64x(0, n));

    /// The lowest bit of each block, packed.
    pub(super) fn low_bits(states: &States) -> [u8; LANES] = {
        let mut bits = 0;
        for (i, pair) in states.as_chunks::<2>().0.iter().enumerate() {
            let low_words = _mm_unpacklo_epi64(pair[0], pair[1]);
            let signs = _mm_castsi128_pd(_mm_slli_epi64::<63>(low_words));
            bits |= _mm_movemask_pd(signs) << (2 * i);
        }
        [bits as u8]
    };

    /// The lowest bit of a block.
    pub(super) fn low_bit(block: Vector) -> u8 = (_mm_cvtsi128_si32(block) & 1) as u8;

    /// `SubWord(RotWord(last word)) ^ constant` in all words: where all columns of a state are equal,
    /// ShiftRows changes nothing.
    pub(super) fn sub_word(x: Vector, constant: u32) -> Vector = {
        let rotated = _mm_shuffle_epi8(x, _mm_set1_epi32(0x0c0f_0e0d));
        last_round(rotated, _mm_set1_epi32(constant as i32))
    };

    pub(super) fn up_one_word(x: Vector) -> Vector = _mm_slli_si128::<4>(x);
    pub(super) fn up_two_words(x: Vector) -> Vector = _mm_slli_si128::<8>(x);

    /// The linear orthomorphism `(lo, hi) -> (lo ^ hi, lo)` of each 64-bit word, plus a tweak, which has upper
    /// halves alone. With AVX both halves are mere reads.
    pub(super) fn input(x: &[u8; 16], tweak: Vector) -> Vector = {
        let low = _mm_moveldup_ps(_mm_castsi128_ps(load(x)));
        let high = _mm_movehdup_ps(_mm_castsi128_ps(load(crate::opaque::again(x))));
        let high = _mm_blend_epi16::<0xcc>(_mm_castps_si128(high), tweak);
        xor_vectors(_mm_castps_si128(low), high)
    };

    /// Computes sigma without a tweak, in registers.
    pub(super) fn sigma_words(x: Vector) -> Vector = {
        let low = _mm_shuffle_epi32::<0xa0>(x);
        xor_vectors(low, _mm_srli_epi64::<32>(x))
    };

    /// The low 64 bits of the block, twice.
    pub(super) fn low_twice(x: &[u8; 16]) -> Vector = {
        let x = load(x);
        _mm_unpacklo_epi64(x, x)
    };

    /// Makes a block's lowest bit into the form that [`if_even`] needs: how far it has words shifted, not at all or out.
    pub(super) fn parity(x: &[u8; 16]) -> Vector = _mm_slli_epi64::<63>(load(x));

    /// `x` where the lowest bit is zero.
    pub(super) fn if_even(parity: Vector, x: Vector) -> Vector = _mm_sll_epi64(x, parity);

    /// `x ^ y` where the lowest bit is zero, else `x`.
    pub(super) fn xor_if_even(x: Vector, parity: Vector, y: Vector) -> Vector =
        xor_vectors(x, if_even(parity, y));

    pub(super) fn swap_halves(x: Vector) -> Vector = _mm_shuffle_epi32::<0x4e>(x);

    /// All ones in each 64-bit word that has the one bit that `bits` has there.
    pub(super) fn test_bits(x: Vector, bits: Vector) -> Vector = _mm_cmpeq_epi64(and_vectors(x, bits), bits);

    /// 8 bytes, in both halves.
    pub(super) fn load_low(bytes: &[u8; 8]) -> Vector = _mm_set1_epi64x(i64::from_le_bytes(*bytes));

    /// The lower half of the block.
    pub(super) fn store_low(bytes: &mut [u8; 8], x: Vector) = {
        // SAFETY: the exclusive reference covers the 8 bytes written; `storel` has no alignment.
        unsafe { _mm_storel_epi64(bytes.as_mut_ptr().cast(), x) }
    };

    /// A byte, in both halves.
    pub(super) fn load_bytes(bytes: &[u8; LANES]) -> Vector = _mm_set1_epi64x(bytes[0].into());
}

masked_choices!("sse4.1,ssse3,aes,pclmulqdq");

instructions! {
    "sse4.1,ssse3,aes,pclmulqdq";
    /// The lower half of `lo`, the upper one of `hi`.
    pub(super) fn blend_halves(lo: Vector, hi: Vector) -> Vector = _mm_blend_epi16::<0xf0>(lo, hi);

    /// The lower half of each.
    pub(super) fn low_halves(a: Vector, b: Vector) -> Vector = _mm_unpacklo_epi64(a, b);

    pub(super) fn and_not(x: Vector, not: Vector) -> Vector = _mm_andnot_si128(not, x);

    /// All ones in each half that is odd. The zero is held, as the compiler would otherwise know of the half that it is a
    /// mask, and compute its complement, too.
    pub(super) fn odd_words(x: Vector) -> Vector =
        _mm_sub_epi64(hold(_mm_setzero_si128()), and_vectors(x, bits(1, 1)));
}
