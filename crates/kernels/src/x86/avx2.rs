//! x86-64 with AES-NI, PCLMULQDQ and AVX2, as most processors have it that lack VAES: one block per vector
//! as in [`super::aesni`], but with instructions of three operands; rows, ring elements and bit matrices
//! take vectors of 32 bytes.

use core::arch::x86_64::*;

use crate::vector::choice::masked_choices;
use crate::vector::crc::single_crc;
use crate::vector::level;
use crate::vector::loops::{band, field, lpn};
use crate::vector::modes::single_modes;

pub(crate) use super::aesni::expand_key;
use super::aesni::{
    add_counter, and_not, and_vectors, blend_halves, counters, fold_halves, hold, if_even, input,
    last_round, load, load_bytes, load_low, low_bit, low_bits, low_halves, low_twice, multiply,
    odd_words, parity, round, sigma, sigma_words, splat, spread, store, store_low, sub_word,
    swap_halves, test_bits, up_one_word, up_two_words, xor_if_even, xor_vectors,
};

type Vector = __m128i;

const LANES: usize = 1;

/// Number of vectors that the processor has.
const REGISTERS: usize = 16;

level!(
    "sse4.1,ssse3,aes,pclmulqdq,avx2",
    self,
    wide::multiply_words
);
single_modes!("sse4.1,ssse3,aes,pclmulqdq,avx2");
single_crc!("sse4.1,ssse3,aes,pclmulqdq,avx2");
lpn!("sse4.1,ssse3,aes,pclmulqdq,avx2");
band!("sse4.1,ssse3,aes,pclmulqdq,avx2");
field!("sse4.1,ssse3,aes,pclmulqdq,avx2", multiply);
masked_choices!("sse4.1,ssse3,aes,pclmulqdq,avx2");

#[target_feature(enable = "sse4.1,ssse3,aes,pclmulqdq,avx2")]
pub(crate) fn transpose_strip(
    src: &[u8],
    stride: usize,
    bytes: usize,
    dst: &mut [u8],
    dst_stride: usize,
) {
    let whole = bytes / 32 * 32;
    wide::transpose_tiles(src, stride, 0..whole, dst, dst_stride);
    super::aesni::transpose_tiles(src, stride, whole..bytes, dst, dst_stride);
}

/// Kernels that take vectors of 32 bytes.
pub(super) mod wide {
    use core::arch::x86_64::*;

    use zeroize::Zeroize;

    use crate::block::Block;
    use crate::transpose::assert_within;
    use crate::vector::unpack::{interleave, unpack_transpose};
    use crate::x86::matrix::matrix;

    type Vector = __m256i;

    const LANES: usize = 2;

    matrix!("sse4.1,ssse3,aes,pclmulqdq,avx2", {
        low: _mm256_mul_epu32, halves: _mm256_mullo_epi32, add: _mm256_add_epi64, add_halves: _mm256_add_epi32,
        swap: _mm256_shuffle_epi32, spread: _mm256_set1_epi64x, left: _mm256_slli_epi64, right: _mm256_srli_epi64,
    });
    unpack_transpose!("sse4.1,ssse3,aes,pclmulqdq,avx2", 32, {
        lo8: _mm256_unpacklo_epi8, hi8: _mm256_unpackhi_epi8,
        lo16: _mm256_unpacklo_epi16, hi16: _mm256_unpackhi_epi16,
        lo32: _mm256_unpacklo_epi32, hi32: _mm256_unpackhi_epi32,
        lo64: _mm256_unpacklo_epi64, hi64: _mm256_unpackhi_epi64,
        and: _mm256_and_si256, set: _mm256_set1_epi64x, left: _mm256_slli_epi64, right: _mm256_srli_epi64,
        pairs: |even, odd| [_mm256_permute2x128_si256::<0x20>(even, odd), _mm256_permute2x128_si256::<0x31>(even, odd)],
    });

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::x86) fn load(bytes: &[u8; 32]) -> Vector {
        // SAFETY: the reference covers the 32 bytes read; `loadu` has no alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::x86) fn store(bytes: &mut [u8; 32], x: Vector) {
        // SAFETY: the exclusive reference covers the 32 bytes written; `storeu` has no alignment.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), x) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn splat(block: Block) -> Vector {
        _mm256_broadcastsi128_si256(_mm_set_epi64x(block.hi() as i64, block.lo() as i64))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn xor_vectors(a: Vector, b: Vector) -> Vector {
        _mm256_xor_si256(a, b)
    }
}
