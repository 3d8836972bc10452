//! Transposition of a 128-row strip where the processor multiplies 8x8 bit matrices (GFNI), which `vaes512` asks
//! for; and that of vectors of 32 bytes, for processors that have it without AVX-512, as Intel's for clients.
//!
//! The steps are those of [`crate::vector::unpack`], whose words for index bits are used here, but a vector begins as
//! half vectors of two rows, 64 apart, so that reading spares a step, and ends as whole rows; and the bit matrices take
//! one instruction. A tile is half a vector of each of the 128 rows.

use core::arch::x86_64::*;

use crate::transpose::assert_within;
use crate::vector::unpack::interleave;

use super::avx2::wide::{load, store};

/// Defines `TILE` and `transpose_tiles` for vectors of `$width` bytes. The module has `load`, `store`, `load_halves`
/// and `collect_rows`, the second half of a tile, which says at its definition where index bits go.
macro_rules! gfni_transpose {
    ($features:literal, $width:literal, {
        zero: $zero:ident, set: $set:ident, multiply: $multiply:ident,
        lo8: $lo8:ident, hi8: $hi8:ident, lo16: $lo16:ident, hi16: $hi16:ident, lo32: $lo32:ident, hi32: $hi32:ident,
    }) => {
        /// Bytes of a row in a tile.
        const TILE: usize = $width / 2;

        /// The first half for eight rows of a tile and the eight that are 64 further on: vector c2 c1 c0, byte
        /// c6 .. b3 b2 b1 b0 -> vector b3 b2 b1, byte c6 .. b0 r2 r1 r0; between them stands b4 if a tile has it.
        ///
        /// # Safety
        /// At `src` lie 72 rows of a tile, `stride` apart.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn transpose_bytes(src: *const u8, stride: usize) -> [Vector; 8] {
            let mut v = [$zero(); 8];
            for (i, v) in v.iter_mut().enumerate() {
                // Backwards, because the instruction takes a matrix's last row from byte 0.
                let (low, high) = ((7 - i) * stride, (71 - i) * stride);
                // SAFETY: these are two of the rows. Arrays of bytes have no alignment.
                *v = unsafe { load_halves(&*src.add(low).cast(), &*src.add(high).cast()) };
            }
            interleave!(v, 1, $lo8, $hi8);
            interleave!(v, 2, $lo16, $hi16);
            interleave!(v, 4, $lo32, $hi32);
            // Byte k of each word is 1 << k: multiplying that by a matrix gives the matrix's columns.
            let columns = $set(0x8040_2010_0804_0201_u64 as i64);
            // They are vector b1 b2 b3 so far.
            [0, 4, 2, 6, 1, 5, 3, 7].map(|i| $multiply::<0>(columns, v[i]))
        }

        /// The first of the rows of a tile that come to be in the vector `i` that [`collect_rows`] makes of those of
        /// one b3 b2 b1: the vectors have 16 rows of each b4.
        const fn first_row(byte: usize, i: usize) -> usize {
            let row = $width / 16 * i;
            row / 16 * 128 + 16 * byte + row % 16
        }

        /// Transposes the first `bytes` bytes, which are whole tiles, of each of 128 rows.
        #[target_feature(enable = $features)]
        pub(super) fn transpose_tiles(
            src: &[u8],
            stride: usize,
            bytes: usize,
            dst: &mut [u8],
            dst_stride: usize,
        ) {
            if bytes == 0 {
                return;
            }
            assert!(bytes.is_multiple_of(TILE), "whole tiles");
            assert_within("rows of a strip", src.len(), 128, bytes, stride);
            assert_within("columns of a strip", dst.len(), 8 * bytes, 16, dst_stride);
            let (src, dst, tiles) = (src.as_ptr(), dst.as_mut_ptr(), bytes / TILE);
            // SAFETY: that is what was asserted.
            unsafe {
                match dst_stride {
                    16 => transpose_side_by_side(src, stride, tiles, dst),
                    _ => transpose_apart(src, stride, tiles, dst, dst_stride),
                }
            }
        }

        /// The first half of each tile beside the second of the one before it: what either waits for, from the
        /// second-level cache or from its own stores, is the other's time (with 64 bytes a tenth to a fifth on a Zen 4).
        ///
        /// # Safety
        /// At `src` lie 128 rows of whole tiles, `stride` apart; at `dst`, for the caller alone, `8 * TILE` rows of
        /// 16 bytes for each tile.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn transpose_side_by_side(
            src: *const u8,
            stride: usize,
            tiles: usize,
            dst: *mut u8,
        ) {
            // Between the halves the vectors lie where the rows will that are made of them.
            let place =
                |tile: usize, byte: usize, i: usize| 16 * (8 * TILE * tile + first_row(byte, i));
            for tile in 0..tiles + 1 {
                for n in 0..8 {
                    if tile < tiles {
                        // SAFETY: of these 128 rows, 72 lie from row 8n on.
                        let v = unsafe {
                            transpose_bytes(src.add(8 * n * stride + TILE * tile), stride)
                        };
                        for (byte, v) in v.into_iter().enumerate() {
                            // SAFETY: here lie rows of the tile, as many as a vector has.
                            store(unsafe { &mut *dst.add(place(tile, byte, n)).cast() }, v);
                        }
                    }
                    if tile > 0 {
                        let mut v = [$zero(); 8];
                        for (i, v) in v.iter_mut().enumerate() {
                            // SAFETY: as where it was written.
                            *v = load(unsafe { &*dst.add(place(tile - 1, n, i)).cast() });
                        }
                        for (i, v) in collect_rows(v).into_iter().enumerate() {
                            // SAFETY: as where it was read.
                            store(unsafe { &mut *dst.add(place(tile - 1, n, i)).cast() }, v);
                        }
                    }
                }
            }
        }

        /// # Safety
        /// At `src` lie 128 rows of whole tiles, `stride` apart; at `dst`, for the caller alone, `8 * TILE` rows of
        /// 16 bytes for each tile, `dst_stride` apart.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn transpose_apart(
            src: *const u8,
            stride: usize,
            tiles: usize,
            dst: *mut u8,
            dst_stride: usize,
        ) {
            let mut middle = [[$zero(); 8]; 8];
            for tile in 0..tiles {
                for n in 0..8 {
                    let first = 8 * n * stride + TILE * tile;
                    // SAFETY: of these 128 rows, 72 lie from row 8n on.
                    let v = unsafe { transpose_bytes(src.add(first), stride) };
                    for (middle, v) in middle.iter_mut().zip(v) {
                        middle[n] = v;
                    }
                }
                for (byte, &middle) in middle.iter().enumerate() {
                    for (i, v) in collect_rows(middle).into_iter().enumerate() {
                        let row = 8 * TILE * tile + first_row(byte, i);
                        let mut rows = [0; $width];
                        store(&mut rows, v);
                        for (k, &one) in rows.as_chunks::<16>().0.iter().enumerate() {
                            // SAFETY: this row is one of the tile.
                            unsafe { *dst.add((row + k) * dst_stride).cast() = one };
                        }
                    }
                }
            }
            // At once: `zeroize` writes vector by vector.
            middle = [[$zero(); 8]; 8];
            zeroize::optimization_barrier(&middle);
        }
    };
}
pub(super) use gfni_transpose;

type Vector = __m256i;

/// Half a vector from each of two places.
#[inline]
#[target_feature(enable = "avx2")]
fn load_halves(low: &[u8; TILE], high: &[u8; TILE]) -> Vector {
    // SAFETY: the references cover the 16 bytes read each; `loadu` has no alignment.
    let (low, high) = unsafe {
        (
            _mm_loadu_si128(low.as_ptr().cast()),
            _mm_loadu_si128(high.as_ptr().cast()),
        )
    };
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
}

/// Vector c5 c4 c3, byte c6 b0 r2 r1 r0 -> vector b0 r2 r1, byte r0 c6 c5 c4 c3.
#[inline]
#[target_feature(enable = "avx2")]
fn collect_rows(mut v: [Vector; 8]) -> [Vector; 8] {
    interleave!(v, 1, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8);
    interleave!(v, 2, _mm256_unpacklo_epi16, _mm256_unpackhi_epi16);
    interleave!(v, 4, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32);
    // They are vector r1 r2 b0, byte c6 r0 c5 c4 c3 so far.
    [0, 4, 2, 6, 1, 5, 3, 7].map(|i| _mm256_permute4x64_epi64::<0b11_01_10_00>(v[i]))
}

gfni_transpose!("avx2,gfni", 32, {
    zero: _mm256_setzero_si256, set: _mm256_set1_epi64x, multiply: _mm256_gf2p8affine_epi64_epi8,
    lo8: _mm256_unpacklo_epi8, hi8: _mm256_unpackhi_epi8,
    lo16: _mm256_unpacklo_epi16, hi16: _mm256_unpackhi_epi16,
    lo32: _mm256_unpacklo_epi32, hi32: _mm256_unpackhi_epi32,
});
