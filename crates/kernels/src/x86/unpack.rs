//! Transposition of a 128-row strip with the byte-interleaving instructions, for vectors whose
//! 128-bit lanes work apart from each other (SSE, AVX2).
//!
//! A tile is `WIDTH` bytes of each of the 128 rows. The comments follow where index bits go: an input
//! byte is at row `c6..c0` and byte `b3..b0` of its lane, and its bits are `r2..r0`; the output row is
//! `8 b + r` (plus that of the lane) and has its bit `c` at byte `c6..c3`, bit `c2..c0`.
//! Interleaving two vectors that differ in one index bit moves that bit into the position within the
//! vector and moves the highest position bit out, into the choice of vector.

/// Defines `transpose_tiles` for vectors of `$width` bytes with the given instructions.
macro_rules! unpack_transpose {
    ($features:literal, $width:literal, {
        lo8: $lo8:ident, hi8: $hi8:ident, lo16: $lo16:ident, hi16: $hi16:ident,
        lo32: $lo32:ident, hi32: $hi32:ident, lo64: $lo64:ident, hi64: $hi64:ident,
        and: $and:ident, set: $set:ident, left: $left:ident, right: $right:ident,
    }) => {
        /// Interleaves each pair of vectors whose indices differ in bit `$bit` alone.
        macro_rules! interleave {
            ($v:ident, $bit:literal, $lo:ident, $hi:ident) => {
                for low in 0..$v.len() {
                    if low & $bit == 0 {
                        let (a, b) = ($v[low], $v[low | $bit]);
                        ($v[low], $v[low | $bit]) = ($lo(a, b), $hi(a, b));
                    }
                }
            };
        }

        /// Transposes the 8x8 bit matrix in each 64-bit word.
        #[inline]
        #[target_feature(enable = $features)]
        fn transpose_words(x: Vector) -> Vector {
            macro_rules! swap {
                ($x:expr, $shift:literal, $mask:literal) => {{
                    let moved = $and(xor_vectors($x, $right::<$shift>($x)), $set($mask));
                    xor_vectors($x, xor_vectors(moved, $left::<$shift>(moved)))
                }};
            }
            let x = swap!(x, 7, 0x00aa_00aa_00aa_00aa);
            let x = swap!(x, 14, 0x0000_cccc_0000_cccc);
            swap!(x, 28, 0x0000_0000_f0f0_f0f0)
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
                    // Vector c2 c1 c0, byte b3 b2 b1 b0 -> vector b1 b2 b3, byte b0 c2 c1 c0.
                    interleave!(v, 1, $lo8, $hi8);
                    interleave!(v, 2, $lo16, $hi16);
                    interleave!(v, 4, $lo32, $hi32);
                    for (middle, v) in middle.iter_mut().zip(v) {
                        middle[group] = transpose_words(v);
                    }
                }
                for (q, v) in middle.iter_mut().enumerate() {
                    // Vector c6 c5 c4 c3, byte b0 r2 r1 r0 -> vector r0 r1 r2 b0, byte c6 c5 c4 c3.
                    interleave!(v, 1, $lo8, $hi8);
                    interleave!(v, 2, $lo16, $hi16);
                    interleave!(v, 4, $lo32, $hi32);
                    interleave!(v, 8, $lo64, $hi64);
                    for (i, &v) in v.iter().enumerate() {
                        let byte = (q >> 2 & 1) << 1 | (q >> 1 & 1) << 2 | (q & 1) << 3 | (i & 1);
                        let bit = (i >> 1 & 1) << 2 | (i >> 2 & 1) << 1 | i >> 3;
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
pub(super) use unpack_transpose;
