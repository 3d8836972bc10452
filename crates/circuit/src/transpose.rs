//! Bit transpose; stands in until the kernels' one is there.

/// Transposes a matrix of bits, least significant first: bit `c` of row `r` of `src` becomes bit `r` of
/// row `c` of `dst`. Strides in bytes. Writes `rows.div_ceil(8)` bytes of each row of `dst`.
pub(crate) fn transpose_bits(
    src: &[u8],
    rows: usize,
    cols: usize,
    src_stride: usize,
    dst: &mut [u8],
    dst_stride: usize,
) {
    for r in (0..rows).step_by(8) {
        for c in (0..cols).step_by(8) {
            let mut block = [0; 8];
            for (i, byte) in block.iter_mut().enumerate().take(rows - r) {
                *byte = src[(r + i) * src_stride + c / 8];
            }
            let block = transpose8(u64::from_le_bytes(block)).to_le_bytes();
            for (i, &byte) in block.iter().enumerate().take(cols - c) {
                dst[(c + i) * dst_stride + r / 8] = byte;
            }
        }
    }
}

/// An 8 x 8 block, by swapping halves of halves (Warren, Hacker's Delight, 7-3).
fn transpose8(mut x: u64) -> u64 {
    for (mask, shift) in [
        (0x00aa_00aa_00aa_00aa, 7),
        (0x0000_cccc_0000_cccc, 14),
        (0x0000_0000_f0f0_f0f0, 28),
    ] {
        let t = (x ^ x >> shift) & mask;
        x ^= t ^ t << shift;
    }
    x
}
