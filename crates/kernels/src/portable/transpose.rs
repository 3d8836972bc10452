//! Bit transposition in 64-bit words: eight rows by eight bytes at a time.

/// The masks and shifts of the three steps that transpose the 8x8 bit matrices across eight words.
const STEPS: [(usize, u64); 3] = [
    (1, 0x5555_5555_5555_5555),
    (2, 0x3333_3333_3333_3333),
    (4, 0x0f0f_0f0f_0f0f_0f0f),
];

/// Afterwards bit `8 m + j` of word `i` is what bit `8 m + i` of word `j` was: each of the eight
/// byte columns is an 8x8 bit matrix, and all are transposed at once.
#[inline(always)]
pub(super) fn transpose_8_words(words: &mut [u64; 8]) {
    for (step, mask) in STEPS {
        for low in (0..8).filter(|low| low & step == 0) {
            let high = low + step;
            let swapped = ((words[low] >> step) ^ words[high]) & mask;
            words[high] ^= swapped;
            words[low] ^= swapped << step;
        }
    }
}

pub(crate) fn transpose_strip(
    src: &[u8],
    stride: usize,
    bytes: usize,
    dst: &mut [u8],
    dst_stride: usize,
) {
    for left in (0..bytes).step_by(8) {
        for group in 0..16 {
            let mut words: [u64; 8] = core::array::from_fn(|row| {
                let start = (8 * group + row) * stride + left;
                src[start..]
                    .first_chunk()
                    .map_or(0, |bytes| u64::from_le_bytes(*bytes))
            });
            transpose_8_words(&mut words);
            for (bit, word) in words.iter().enumerate() {
                for (byte, value) in word.to_le_bytes().into_iter().enumerate() {
                    dst[(8 * (left + byte) + bit) * dst_stride + group] = value;
                }
            }
        }
    }
}
