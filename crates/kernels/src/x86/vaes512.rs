//! x86-64 with AVX-512, VAES, VPCLMULQDQ and GFNI: four blocks per vector.

use core::arch::x86_64::*;

use crate::transpose::assert_within;
use crate::vector::loops::field;
use crate::vector::unpack::interleave;
use crate::vector::{hold, instructions, level};

mod band;

use super::aesni;
pub(crate) use super::aesni::expand_key;
use super::gfni::{self, gfni_transpose};
use super::read::reads;
// The compiler makes slower code of these loops with AVX-512: of the last one, gather
// instructions that take twice the time.
pub(crate) use super::vaes256::{
    ggm_add_blocks, ggm_add_words, ggm_correct, ggm_mark, lpn_gather_blocks, lpn_gather_words,
};
pub(crate) use band::{band_solve_blocks, band_solve_words, band_sums_blocks, band_sums_words};

type Vector = __m512i;

const LANES: usize = 4;

/// Number of vectors that the processor has.
const REGISTERS: usize = 32;

level!(
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni",
    aesni,
    crate::portable::multiply_add
);
field!(
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni",
    aesni::multiply
);
hold!(
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni",
    "/* {0} */",
    zmm_reg
);

reads!(
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni",
    64,
    "zmmword",
    zmm_reg
);

instructions! {
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni";
    fn load(bytes: &[u8; 64]) -> Vector = {
        // SAFETY: the reference covers the 64 bytes read; `loadu` has no alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    };

    fn store(bytes: &mut [u8; 64], x: Vector) = {
        // SAFETY: the exclusive reference covers the 64 bytes written; `storeu` has no alignment.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), x) }
    };

    fn splat(block: Block) -> Vector =
        _mm512_broadcast_i32x4(_mm_set_epi64x(block.hi() as i64, block.lo() as i64));

    fn xor_vectors(a: Vector, b: Vector) -> Vector = _mm512_xor_si512(a, b);

    /// The block in every lane.
    fn spread(block: &Block) -> Vector = {
        // SAFETY: the reference covers the 16 bytes read; `loadu` has no alignment.
        let lane = unsafe { _mm_loadu_si128(core::ptr::from_ref(block).cast()) };
        _mm512_broadcast_i32x4(lane)
    };

    fn and_vectors(a: Vector, b: Vector) -> Vector = _mm512_and_si512(a, b);

    /// The linear orthomorphism `(lo, hi) -> (hi, lo ^ hi)` of each block.
    fn sigma(x: Vector) -> Vector = {
        let swapped = _mm512_shuffle_epi32::<0x4e>(x);
        _mm512_mask_xor_epi64(swapped, 0b1010_1010, swapped, x)
    };

    /// The carry-less products of the lower words of each block and of the upper ones, added.
    fn fold_halves(x: Vector, factors: Vector) -> Vector = {
        let low = _mm512_clmulepi64_epi128::<0x00>(x, factors);
        xor_vectors(low, _mm512_clmulepi64_epi128::<0x11>(x, factors))
    };

    fn round(state: Vector, key: Vector) -> Vector = _mm512_aesenc_epi128(state, key);
    fn last_round(state: Vector, key: Vector) -> Vector = _mm512_aesenclast_epi128(state, key);

    /// The 128-bit counter `2^64 hi + lo` and the next three.
    fn counters(lo: u64, hi: u64) -> Vector = {
        _mm512_add_epi64(
            splat(Block::new(lo, hi)),
            _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0),
        )
    };

    fn add_counter(counter: Vector, n: i64) -> Vector =
        _mm512_add_epi64(counter, _mm512_set_epi64(0, n, 0, n, 0, n, 0, n));

    /// The lowest bit of each block, packed.
    fn low_bits(states: &States) -> [u8; LANES] = {
        let low_words = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
        let mut bits = [0; LANES];
        for (bits, pair) in bits.iter_mut().zip(states.as_chunks::<2>().0) {
            let words = _mm512_permutex2var_epi64(pair[0], low_words, pair[1]);
            *bits = _mm512_test_epi64_mask(words, _mm512_set1_epi64(1));
        }
        bits
    };

    /// `SubWord(RotWord(last word)) ^ constant` in all words: where all columns of a state are equal,
    /// ShiftRows changes nothing.
    fn sub_word(x: Vector, constant: u32) -> Vector = {
        let rotated = _mm512_shuffle_epi8(x, _mm512_set1_epi32(0x0c0f_0e0d));
        last_round(rotated, _mm512_set1_epi32(constant as i32))
    };

    fn up_one_word(x: Vector) -> Vector = _mm512_bslli_epi128::<4>(x);
    fn up_two_words(x: Vector) -> Vector = _mm512_bslli_epi128::<8>(x);

    /// The linear orthomorphism `(lo, hi) -> (lo ^ hi, lo)` of each 64-bit word, plus a tweak, which has upper
    /// halves alone.
    fn input(x: &[u8; 64], tweak: Vector) -> Vector = {
        let high = _mm512_mask_blend_epi32(0xaaaa, high_words(x), tweak);
        xor_vectors(low_words(x), high)
    };

    /// Computes sigma without a tweak, in registers.
    fn sigma_words(x: Vector) -> Vector = {
        let low = _mm512_shuffle_epi32::<0xa0>(x);
        xor_vectors(low, _mm512_srli_epi64::<32>(x))
    };

    /// The words of the blocks whose lowest bit is zero.
    fn parity(x: &[u8; 64]) -> __mmask8 = _mm512_testn_epi64_mask(low_twice(x), _mm512_set1_epi64(1));

    /// `x` where the lowest bit is zero.
    fn if_even(parity: __mmask8, x: Vector) -> Vector = chosen(parity, x);

    /// `x ^ y` where the lowest bit is zero, else `x`.
    fn xor_if_even(x: Vector, parity: __mmask8, y: Vector) -> Vector = xor_chosen(x, parity, y);

    fn swap_halves(x: Vector) -> Vector = _mm512_shuffle_epi32::<0x4e>(x);

    /// All ones in each 64-bit word that has the one bit that `bits` has there.
    fn test_bits(x: Vector, bits: Vector) -> Vector = _mm512_movm_epi64(_mm512_test_epi64_mask(x, bits));

    /// 8 bytes for each block, in both its halves.
    fn load_low(bytes: &[u8; 32]) -> Vector = {
        // SAFETY: the reference covers the 32 bytes read; `loadu` has no alignment.
        let low = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let twice = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
        _mm512_permutexvar_epi64(twice, _mm512_castsi256_si512(low))
    };

    /// The lower halves of the blocks.
    fn store_low(bytes: &mut [u8; 32], x: Vector) = {
        let low = _mm512_permutexvar_epi64(_mm512_set_epi64(0, 0, 0, 0, 6, 4, 2, 0), x);
        // SAFETY: the exclusive reference covers the 32 bytes written; `storeu` has no alignment.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), _mm512_castsi512_si256(low)) }
    };

    /// A byte for each block, in both its halves.
    fn load_bytes(bytes: &[u8; LANES]) -> Vector = {
        let words = _mm512_cvtepu8_epi64(_mm_set1_epi32(i32::from_le_bytes(*bytes)));
        _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), words)
    };
}

/// Words to keep.
type Choice = __mmask8;

instructions! {
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni";
    /// The lower half of each block of `lo`, the upper one of `hi`.
    fn blend_halves(lo: Vector, hi: Vector) -> Vector = _mm512_mask_blend_epi64(0xaa, lo, hi);

    /// Chooses one half of a block where the lowest bit of a is zero and the other where b's is, and crosswise.
    fn colours(a: &[u8; 64], b: &[u8; 64]) -> [Choice; 2] = {
        let (a, b) = (low_twice(a), low_twice(b));
        let bit = _mm512_set1_epi64(1);
        [
            _mm512_testn_epi64_mask(blend_halves(a, b), bit),
            _mm512_testn_epi64_mask(blend_halves(b, a), bit),
        ]
    };

    /// Chooses a word where it has not the one bit that `bit` has there.
    fn choice_at(x: Vector, bit: &[u8; 64]) -> Choice = _mm512_testn_epi64_mask(x, load(bit));

    /// Gives the choices of a bit, and those with the halves of blocks swapped.
    fn choices_at(x: Vector, bit: &[u8; 64]) -> [Choice; 2] =
        [choice_at(x, bit), choice_at(swap_halves(x), bit)];

    /// Chooses what both choices keep, and what neither does.
    fn choice_sum(a: Choice, b: Choice) -> Choice = _kxnor_mask8(a, b);

    /// Chooses what one choice keeps and the other does not.
    fn choice_difference(a: Choice, b: Choice) -> Choice = _kxor_mask8(a, b);

    fn chosen(choice: Choice, x: Vector) -> Vector = {
        // Held, here and below: what is read must not depend on the bit.
        _mm512_maskz_mov_epi64(choice, hold(x))
    };

    fn xor_chosen(x: Vector, choice: Choice, y: Vector) -> Vector =
        _mm512_mask_xor_epi64(x, choice, x, hold(y));
}

/// Indices for `permutex2var_epi32` that take the 32-bit words of each two vectors from position `c6 b4 r1 r0`
/// of vector `c5` to position `r1 r0 c6 c5` of vector `b4`, here of the one where that is `half`.
const fn cross_lanes(half: i32) -> [i32; 16] {
    let mut indices = [0; 16];
    let mut p = 0;
    while p < 16 {
        indices[p as usize] = (p & 1) << 4 | (p >> 1 & 1) << 3 | half << 2 | p >> 2;
        p += 1;
    }
    indices
}

instructions! {
    "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni";
    fn words(indices: [i32; 16]) -> Vector = {
        // SAFETY: the array has the 64 bytes read; `loadu` has no alignment.
        unsafe { _mm512_loadu_si512(indices.as_ptr().cast()) }
    };

    /// Half a vector from each of two places.
    fn load_halves(low: &[u8; TILE], high: &[u8; TILE]) -> Vector = {
        // SAFETY: the references cover the 32 bytes read each; `loadu` has no alignment.
        let (low, high) = unsafe {
            (
                _mm256_loadu_si256(low.as_ptr().cast()),
                _mm256_loadu_si256(high.as_ptr().cast()),
            )
        };
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    };
}

/// Vector c5 c4 c3, byte c6 b4 b0 r2 r1 r0 -> vector b4 b0 r2, byte r1 r0 c6 c5 c4 c3.
#[inline]
#[target_feature(
    enable = "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni"
)]
fn collect_rows(mut v: [Vector; 8]) -> [Vector; 8] {
    let (low, high) = (words(cross_lanes(0)), words(cross_lanes(1)));
    interleave!(v, 1, _mm512_unpacklo_epi8, _mm512_unpackhi_epi8);
    interleave!(v, 2, _mm512_unpacklo_epi16, _mm512_unpackhi_epi16);
    // The only step that crosses lanes: of others a Zen 4 does half as many again in the same time.
    interleave!(v, 4, |a, b| _mm512_permutex2var_epi32(a, low, b), |a, b| {
        _mm512_permutex2var_epi32(a, high, b)
    });
    // They are vector b4 r2 b0 so far.
    [0, 2, 1, 3, 4, 6, 5, 7].map(|i| v[i])
}

gfni_transpose!("sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni", 64, {
    zero: _mm512_setzero_si512, set: _mm512_set1_epi64, multiply: _mm512_gf2p8affine_epi64_epi8,
    lo8: _mm512_unpacklo_epi8, hi8: _mm512_unpackhi_epi8,
    lo16: _mm512_unpacklo_epi16, hi16: _mm512_unpackhi_epi16,
    lo32: _mm512_unpacklo_epi32, hi32: _mm512_unpackhi_epi32,
});

#[target_feature(
    enable = "sse4.1,ssse3,aes,pclmulqdq,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,gfni"
)]
pub(crate) fn transpose_strip(
    src: &[u8],
    stride: usize,
    bytes: usize,
    dst: &mut [u8],
    dst_stride: usize,
) {
    let whole = bytes / TILE * TILE;
    transpose_tiles(src, stride, whole, dst, dst_stride);
    if whole < bytes {
        let (src, dst) = (&src[whole..], &mut dst[8 * whole * dst_stride..]);
        gfni::transpose_tiles(src, stride, bytes - whole, dst, dst_stride);
    }
}
