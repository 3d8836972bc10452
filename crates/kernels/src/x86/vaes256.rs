//! x86-64 with AVX2, VAES and VPCLMULQDQ: two blocks per vector.

use core::arch::x86_64::*;

use crate::vector::choice::masked_choices;
use crate::vector::loops::{band, field, lpn};
use crate::vector::{hold, instructions, level};

pub(crate) use super::aesni::expand_key;
use super::matrix::matrix;
use super::read::reads;
use super::{aesni, avx2, gfni, has_gfni};

type Vector = __m256i;

const LANES: usize = 2;

/// Number of vectors that the processor has.
const REGISTERS: usize = 16;

level!(
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq",
    aesni,
    multiply_words
);
lpn!("sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq");
band!("sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq");
field!(
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq",
    aesni::multiply
);
hold!(
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq",
    "/* {0} */",
    ymm_reg
);
matrix!("sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq", {
    low: _mm256_mul_epu32, halves: _mm256_mullo_epi32, add: _mm256_add_epi64, add_halves: _mm256_add_epi32,
    swap: _mm256_shuffle_epi32, spread: _mm256_set1_epi64x, left: _mm256_slli_epi64, right: _mm256_srli_epi64,
});

#[target_feature(enable = "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq")]
pub(crate) fn transpose_strip(
    src: &[u8],
    stride: usize,
    bytes: usize,
    dst: &mut [u8],
    dst_stride: usize,
) {
    if has_gfni() {
        // SAFETY: GFNI and AVX2 were detected. A strip is a multiple of 16 bytes, which is a tile.
        unsafe { gfni::transpose_tiles(src, stride, bytes, dst, dst_stride) };
    } else {
        avx2::transpose_strip(src, stride, bytes, dst, dst_stride);
    }
}

reads!(
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq",
    32,
    "ymmword",
    ymm_reg
);
masked_choices!("sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq");

instructions! {
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq";
    fn load(bytes: &[u8; 32]) -> Vector = {
        // SAFETY: the reference covers the 32 bytes read; `loadu` has no alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    };

    fn store(bytes: &mut [u8; 32], x: Vector) = {
        // SAFETY: the exclusive reference covers the 32 bytes written; `storeu` has no alignment.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), x) }
    };

    fn splat(block: Block) -> Vector =
        _mm256_broadcastsi128_si256(_mm_set_epi64x(block.hi() as i64, block.lo() as i64));

    fn xor_vectors(a: Vector, b: Vector) -> Vector = _mm256_xor_si256(a, b);

    /// The block in every lane.
    fn spread(block: &Block) -> Vector = {
        // SAFETY: the reference covers the 16 bytes read; `loadu` has no alignment.
        let lane = unsafe { _mm_loadu_si128(core::ptr::from_ref(block).cast()) };
        _mm256_broadcastsi128_si256(lane)
    };

    fn and_vectors(a: Vector, b: Vector) -> Vector = _mm256_and_si256(a, b);

    /// The linear orthomorphism `(lo, hi) -> (hi, lo ^ hi)` of each block.
    fn sigma(x: Vector) -> Vector = {
        let swapped = _mm256_shuffle_epi32::<0x4e>(x);
        let high = _mm256_set_epi64x(-1, 0, -1, 0);
        xor_vectors(swapped, _mm256_and_si256(x, high))
    };

    fn round(state: Vector, key: Vector) -> Vector = _mm256_aesenc_epi128(state, key);
    fn last_round(state: Vector, key: Vector) -> Vector = _mm256_aesenclast_epi128(state, key);

    /// The carry-less products of the lower words of each block and of the upper ones, added.
    fn fold_halves(x: Vector, factors: Vector) -> Vector = {
        let low = _mm256_clmulepi64_epi128::<0x00>(x, factors);
        xor_vectors(low, _mm256_clmulepi64_epi128::<0x11>(x, factors))
    };

    /// The 128-bit counters `2^64 hi + lo` and one more.
    fn counters(lo: u64, hi: u64) -> Vector =
        _mm256_add_epi64(splat(Block::new(lo, hi)), _mm256_set_epi64x(0, 1, 0, 0));

    fn add_counter(counter: Vector, n: i64) -> Vector =
        _mm256_add_epi64(counter, _mm256_set_epi64x(0, n, 0, n));

    /// The lowest bit of each block, packed.
    fn low_bits(states: &States) -> [u8; LANES] = {
        let [a, b, c, d, e, f, g, h] = *states;
        // The lowest bytes of blocks 0, 2, 4.., and in the upper lane of 1, 3, 5...
        let low = _mm256_unpacklo_epi16(_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d));
        let high = _mm256_unpacklo_epi16(_mm256_unpacklo_epi8(e, f), _mm256_unpacklo_epi8(g, h));
        let bytes = _mm256_unpacklo_epi32(low, high);
        let odd = _mm256_extracti128_si256::<1>(bytes);
        let bytes = _mm_unpacklo_epi8(_mm256_castsi256_si128(bytes), odd);
        (_mm_movemask_epi8(_mm_slli_epi16::<7>(bytes)) as u16).to_le_bytes()
    };

    /// `SubWord(RotWord(last word)) ^ constant` in all words: where all columns of a state are equal,
    /// ShiftRows changes nothing.
    fn sub_word(x: Vector, constant: u32) -> Vector = {
        let rotated = _mm256_shuffle_epi8(x, _mm256_set1_epi32(0x0c0f_0e0d));
        last_round(rotated, _mm256_set1_epi32(constant as i32))
    };

    fn up_one_word(x: Vector) -> Vector = _mm256_bslli_epi128::<4>(x);
    fn up_two_words(x: Vector) -> Vector = _mm256_bslli_epi128::<8>(x);

    /// The linear orthomorphism `(lo, hi) -> (lo ^ hi, lo)` of each 64-bit word, plus a tweak, which has upper
    /// halves alone.
    fn input(x: &[u8; 32], tweak: Vector) -> Vector = {
        let high = _mm256_blend_epi32::<0xaa>(high_words(x), tweak);
        xor_vectors(low_words(x), high)
    };

    /// Computes sigma without a tweak, in registers.
    fn sigma_words(x: Vector) -> Vector = {
        let low = _mm256_shuffle_epi32::<0xa0>(x);
        xor_vectors(low, _mm256_srli_epi64::<32>(x))
    };

    /// Makes a block's lowest bit into the form that [`if_even`] needs: how far it has words shifted, not at all or out.
    fn parity(x: &[u8; 32]) -> Vector = hold(_mm256_slli_epi64::<63>(low_twice(x)));

    /// `x` where the lowest bit is zero.
    fn if_even(parity: Vector, x: Vector) -> Vector = _mm256_sllv_epi64(x, parity);

    /// `x ^ y` where the lowest bit is zero, else `x`.
    fn xor_if_even(x: Vector, parity: Vector, y: Vector) -> Vector = xor_vectors(x, if_even(parity, y));

    fn swap_halves(x: Vector) -> Vector = _mm256_shuffle_epi32::<0x4e>(x);

    /// All ones in each 64-bit word that has the one bit that `bits` has there.
    fn test_bits(x: Vector, bits: Vector) -> Vector = _mm256_cmpeq_epi64(and_vectors(x, bits), bits);

    /// 8 bytes for each block, in both its halves.
    fn load_low(bytes: &[u8; 16]) -> Vector = {
        // SAFETY: the reference covers the 16 bytes read; `loadu` has no alignment.
        let both = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) });
        // Within lanes, which takes less than across them.
        _mm256_castpd_si256(_mm256_permute_pd::<0b1100>(_mm256_castsi256_pd(both)))
    };

    /// The lower halves of the blocks.
    fn store_low(bytes: &mut [u8; 16], x: Vector) = {
        let low = _mm256_permute4x64_epi64::<0b00_00_10_00>(x);
        // SAFETY: the exclusive reference covers the 16 bytes written; `storeu` has no alignment.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), _mm256_castsi256_si128(low)) }
    };

    /// A byte for each block, in both its halves.
    fn load_bytes(bytes: &[u8; LANES]) -> Vector = {
        let [a, b] = bytes.map(i64::from);
        _mm256_set_epi64x(b, b, a, a)
    };

    /// The lower half of each block of `lo`, the upper one of `hi`.
    fn blend_halves(lo: Vector, hi: Vector) -> Vector = _mm256_blend_epi32::<0xcc>(lo, hi);

    /// The lower half of each block of either.
    fn low_halves(a: Vector, b: Vector) -> Vector = _mm256_unpacklo_epi64(a, b);

    fn and_not(x: Vector, not: Vector) -> Vector = _mm256_andnot_si256(not, x);

    /// All ones in each 64-bit word that is odd. The zero is held, as the compiler would otherwise know of the word that it is
    /// a mask, and compute its complement, too.
    fn odd_words(x: Vector) -> Vector =
        _mm256_sub_epi64(hold(_mm256_setzero_si256()), and_vectors(x, bits(1, 1)));
}
