//! Transposition of a 128-row strip for vectors whose 128-bit lanes work apart from each other (SSE,
//! AVX2, NEON): bytes by the interleaving instructions, then bit matrices by shifts and masks.
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
        pairs: $pairs:expr,
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
                    16 => transpose_at::<true>(src.as_ptr(), stride, range, dst, 16),
                    _ => transpose_at::<false>(src.as_ptr(), stride, range, dst, dst_stride),
                }
            }
        }

        /// # Safety
        /// At `src` lie 128 rows of `range.end` bytes, `stride` apart; at `dst`, for the caller alone,
        /// `8 * range.end` of 16 bytes, `dst_stride` apart, which is 16 if they are `SIDE_BY_SIDE`; the
        /// range is whole tiles.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn transpose_at<const SIDE_BY_SIDE: bool>(
            src: *const u8,
            stride: usize,
            range: core::ops::Range<usize>,
            dst: *mut u8,
            dst_stride: usize,
        ) {
            let row = |left: usize, lane: usize, byte: usize| 8 * (left + 16 * lane + byte);
            // Between the halves the eight vectors of a byte lie where the rows will that are made of them;
            // or, if those are not side by side, here.
            let place = |left: usize, byte: usize, low: usize| {
                let at = $width * low;
                16 * row(left, at / 128, byte) + at % 128
            };
            let mut middle = [[splat(Block::ZERO); 8]; 16];
            let mut quads = [[splat(Block::ZERO); 4]; 4];
            for left in range.step_by($width) {
                for low in 0..8 {
                    // Vector c6 c5 c4 c3, byte b3 b2 b1 b0 -> vector b0 b1 b2 b3, byte c6 c5 c4 c3; four
                    // vectors at a time, which any processor's registers hold.
                    for (high, quad) in quads.iter_mut().enumerate() {
                        for i in 0..4 {
                            let row = 8 * (4 * high + i) + low;
                            // SAFETY: this is one of 128 rows, of which the range has a whole tile from
                            // `left` on. Arrays of bytes have no alignment.
                            quad[i] = load(unsafe { &*src.add(row * stride + left).cast() });
                        }
                        interleave!(quad, 1, $lo8, $hi8);
                        interleave!(quad, 2, $lo16, $hi16);
                    }
                    for i in 0..4 {
                        let mut v = [quads[0][i], quads[1][i], quads[2][i], quads[3][i]];
                        interleave!(v, 1, $lo32, $hi32);
                        interleave!(v, 2, $lo64, $hi64);
                        for (high, v) in v.into_iter().enumerate() {
                            let byte = (i & 1) << 3 | (i & 2) << 1 | (high & 1) << 1 | high >> 1;
                            if SIDE_BY_SIDE {
                                let at = place(left, byte, low);
                                // SAFETY: here lie eight rows of the range side by side.
                                store(unsafe { &mut *dst.add(at).cast() }, v);
                            } else {
                                middle[byte][low] = v;
                            }
                        }
                    }
                }
                for byte in 0..16 {
                    let mut v = middle[byte];
                    if SIDE_BY_SIDE {
                        for low in 0..8 {
                            let at = place(left, byte, low);
                            // SAFETY: as where it was written.
                            v[low] = load(unsafe { &*dst.add(at).cast() });
                        }
                    }
                    // Vector c2 c1 c0, bit r2 r1 r0 of each byte -> vector r2 r1 r0, bit c2 c1 c0.
                    swap_bits!(v, 1, 0x5555_5555_5555_5555);
                    swap_bits!(v, 2, 0x3333_3333_3333_3333);
                    swap_bits!(v, 4, 0x0f0f_0f0f_0f0f_0f0f);
                    if SIDE_BY_SIDE {
                        for bit in (0..8).step_by(2) {
                            let pieces = $pairs(v[bit], v[bit + 1]);
                            for (i, piece) in pieces.into_iter().enumerate() {
                                let row = row(left, $width * i / 32, byte) + bit;
                                let at = 16 * row + $width * i % 32;
                                // SAFETY: these two rows are columns of the range.
                                store(unsafe { &mut *dst.add(at).cast() }, piece);
                            }
                        }
                        continue;
                    }
                    for (bit, v) in v.into_iter().enumerate() {
                        let mut lanes = [0; $width];
                        store(&mut lanes, v);
                        for (lane, &part) in lanes.as_chunks::<16>().0.iter().enumerate() {
                            let row = row(left, lane, byte) + bit;
                            // SAFETY: this row is a column of the range.
                            unsafe { *dst.add(row * dst_stride).cast() = part };
                        }
                    }
                }
            }
            // At once: `zeroize` writes vector by vector, which took a sixth of the time.
            quads = [[splat(Block::ZERO); 4]; 4];
            zeroize::optimization_barrier(&quads);
            if !SIDE_BY_SIDE {
                middle = [[splat(Block::ZERO); 8]; 16];
                zeroize::optimization_barrier(&middle);
            }
        }
    };
}
pub(crate) use unpack_transpose;
