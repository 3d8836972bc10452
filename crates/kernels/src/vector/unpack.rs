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

        /// Transposes bytes `range` of each of 128 rows; the range is a multiple of the width.
        #[target_feature(enable = $features)]
        pub(crate) fn transpose_tiles(
            src: &[u8],
            stride: usize,
            range: core::ops::Range<usize>,
            dst: &mut [u8],
            dst_stride: usize,
        ) {
            let mut middle = [[splat(Block::ZERO); 16]; 8];
            for left in range.step_by($width) {
                for group in 0..16 {
                    let mut v = [splat(Block::ZERO); 8];
                    for (i, v) in v.iter_mut().enumerate() {
                        let row = &src[(8 * group + i) * stride + left..];
                        *v = row.first_chunk().map_or(*v, |bytes| load(bytes));
                    }
                    // Vector c2 c1 c0, bit r2 r1 r0 of each byte -> vector r2 r1 r0, bit c2 c1 c0.
                    swap_bits!(v, 1, 0x5555_5555_5555_5555);
                    swap_bits!(v, 2, 0x3333_3333_3333_3333);
                    swap_bits!(v, 4, 0x0f0f_0f0f_0f0f_0f0f);
                    for (middle, v) in middle.iter_mut().zip(v) {
                        middle[group] = v;
                    }
                }
                for (bit, &v) in middle.iter().enumerate() {
                    // Vector c6 c5 c4 c3, byte b3 b2 b1 b0 -> vector b0 b1 b2 b3, byte c6 c5 c4 c3.
                    let mut v = v;
                    interleave!(v, 1, $lo8, $hi8);
                    interleave!(v, 2, $lo16, $hi16);
                    interleave!(v, 4, $lo32, $hi32);
                    interleave!(v, 8, $lo64, $hi64);
                    for (i, &v) in v.iter().enumerate() {
                        let byte = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | i >> 3;
                        let mut rows = [0; $width];
                        store(&mut rows, v);
                        for (lane, row) in rows.as_chunks::<16>().0.iter().enumerate() {
                            let row_index = 8 * (left + 16 * lane + byte) + bit;
                            dst[row_index * dst_stride..][..16].copy_from_slice(row);
                        }
                    }
                }
            }
            middle.zeroize();
        }
    };
}
pub(crate) use unpack_transpose;
