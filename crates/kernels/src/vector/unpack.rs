//! Transposition of a 128-row strip for vectors whose 128-bit lanes work apart from each other (SSE,
//! AVX2, NEON): bit matrices by shifts and masks, then bytes by the interleaving instructions.
//!
//! A tile is one vector of each of the 128 rows. The comments follow where index bits go: an input
//! byte is at row `c6..c0` and byte `b3..b0` of its lane, and its bits are `r2..r0`; the output row is
//! `8 b + r` (plus that of the lane) and has its bit `c` at byte `c6..c3`, bit `c2..c0`.
//! Interleaving two vectors that differ in one index bit moves that bit into the position within the
//! vector and moves the highest position bit out, into the choice of vector.

/// Interleaves each pair of vectors whose indices differ in bit `$bit` alone.
macro_rules! interleave {
    ($v:ident, $bit:literal, $lo:expr, $hi:expr) => {
        for low in 0..$v.len() {
            if low & $bit == 0 {
                let (a, b) = ($v[low], $v[low | $bit]);
                ($v[low], $v[low | $bit]) = ($lo(a, b), $hi(a, b));
            }
        }
    };
}
pub(crate) use interleave;

/// Defines `transpose_tiles` for vectors of `$width` bytes with the given instructions.
macro_rules! unpack_transpose {
    ($features:literal, $width:literal, {
        lo8: $lo8:ident, hi8: $hi8:ident, lo16: $lo16:ident, hi16: $hi16:ident,
        lo32: $lo32:ident, hi32: $hi32:ident, lo64: $lo64:ident, hi64: $hi64:ident,
        and: $and:ident, set: $set:ident, left: $left:ident, right: $right:ident,
    }) => {
        /// Exchanges the bits of `$mask << $step` in the lower vectors of pairs, whose indices differ
        /// in `$step`, with the bits of `$mask` in the higher ones.
        macro_rules! swap_bits {
            ($v:ident, $step:literal, $mask:literal) => {
                for low in 0..8 {
                    if low & $step == 0 {
                        let (a, b) = ($v[low], $v[low | $step]);
                        let moved = $and(xor_vectors($right::<$step>(a), b), $set($mask));
                        $v[low | $step] = xor_vectors(b, moved);
                        $v[low] = xor_vectors(a, $left::<$step>(moved));
                    }
                }
            };
        }

        /// Interleaves bytes, words and double words of eight vectors, whose indices are bits c5 c4 c3
        /// first and then b1 b2 b3.
        macro_rules! interleave_eight {
            ($v:ident) => {
                interleave!($v, 1, $lo8, $hi8);
                interleave!($v, 2, $lo16, $hi16);
                interleave!($v, 4, $lo32, $hi32);
            };
        }

        /// Transposes bytes `range` of each of 128 rows; the range is a multiple of the width.
        #[target_feature(enable = $features)]
        pub(crate) fn transpose_tiles(
            src: &[u8],
            stride: usize,
            range: core::ops::Range<usize>,
            dst: &mut [u8],
            dst_stride: usize,
        ) {
            if range.is_empty() {
                return;
            }
            assert!(range.len().is_multiple_of($width), "whole tiles");
            assert_within("rows of a strip", src.len(), 128, range.end, stride);
            assert_within(
                "columns of a strip",
                dst.len(),
                8 * range.end,
                16,
                dst_stride,
            );
            let dst = dst.as_mut_ptr();
            // SAFETY: that is what was asserted.
            unsafe {
                match dst_stride {
                    // So that the compiler knows the places.
                    16 => transpose_at(src.as_ptr(), stride, range, dst, 16),
                    _ => transpose_at(src.as_ptr(), stride, range, dst, dst_stride),
                }
            }
        }

        /// # Safety
        /// At `src` lie 128 rows of `range.end` bytes, `stride` apart; at `dst`, for the caller alone,
        /// `8 * range.end` of 16 bytes, `dst_stride` apart; the range is whole tiles.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn transpose_at(
            src: *const u8,
            stride: usize,
            range: core::ops::Range<usize>,
            dst: *mut u8,
            dst_stride: usize,
        ) {
            let mut middle = [[splat(Block::ZERO); 16]; 8];
            for left in range.step_by($width) {
                for group in 0..16 {
                    let mut v = [splat(Block::ZERO); 8];
                    for i in 0..8 {
                        // SAFETY: this is one of 128 rows, of which the range has a whole tile from
                        // `left` on. Arrays of bytes have no alignment.
                        v[i] = load(unsafe { &*src.add((8 * group + i) * stride + left).cast() });
                    }
                    // Vector c2 c1 c0, bit r2 r1 r0 of each byte -> vector r2 r1 r0, bit c2 c1 c0.
                    swap_bits!(v, 1, 0x5555_5555_5555_5555);
                    swap_bits!(v, 2, 0x3333_3333_3333_3333);
                    swap_bits!(v, 4, 0x0f0f_0f0f_0f0f_0f0f);
                    for i in 0..8 {
                        middle[i][group] = v[i];
                    }
                }
                for (bit, v) in middle.iter_mut().enumerate() {
                    // Vector c6 c5 c4 c3, byte b3 b2 b1 b0 -> vector b0 b1 b2 b3, byte c6 c5 c4 c3;
                    // one half after the other, which 16 registers hold.
                    let mut high = [splat(Block::ZERO); 8];
                    high.copy_from_slice(&v[8..]);
                    interleave_eight!(high);
                    v[8..].copy_from_slice(&high);
                    let v = crate::opaque::again(&*v);
                    let high = &v[8..];
                    let mut low = [splat(Block::ZERO); 8];
                    low.copy_from_slice(&v[..8]);
                    interleave_eight!(low);
                    // Rows of a lane in order: those with this bit are eight apart.
                    let mut row = dst.wrapping_add((8 * left + bit) * dst_stride);
                    for i in [0, 4, 2, 6, 1, 5, 3, 7] {
                        let pair = [$lo64(low[i], high[i]), $hi64(low[i], high[i])];
                        for b0 in 0..2 {
                            let mut rows = [0; $width];
                            store(&mut rows, pair[b0]);
                            let rows = rows.as_chunks::<16>().0;
                            for lane in 0..$width / 16 {
                                // SAFETY: this row, and that of the other lane, are columns of the
                                // range.
                                unsafe { *row.add(128 * lane * dst_stride).cast() = rows[lane] };
                            }
                            row = row.wrapping_add(8 * dst_stride);
                        }
                    }
                }
            }
            // At once: `zeroize` writes vector by vector, which took a sixth of the time.
            middle = [[splat(Block::ZERO); 16]; 8];
            zeroize::optimization_barrier(&middle);
        }
    };
}
pub(crate) use unpack_transpose;
