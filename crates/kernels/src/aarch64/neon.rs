//! AArch64 with NEON and the AES extension: one block per vector.

use core::arch::aarch64::*;

use crate::transpose::assert_within;
use crate::vector::choice::masked_choices;
use crate::vector::crc::single_crc;
use crate::vector::loops::{band, field, lpn};
use crate::vector::modes::single_modes;
use crate::vector::unpack::{interleave, unpack_transpose};
use crate::vector::{hold, instructions, level};

type Vector = uint8x16_t;

const LANES: usize = 1;

/// Number of vectors that the processor has.
const REGISTERS: usize = 32;

level!("neon,aes", self, crate::portable::multiply_add);
single_modes!("neon,aes");
single_crc!("neon,aes");
lpn!("neon,aes");
band!("neon,aes");
field!("neon,aes", multiply);
hold!("neon,aes", "/* {0:v} */", vreg);
unpack_transpose!("neon,aes", 16, {
    lo8: vzip1q_u8, hi8: vzip2q_u8,
    lo16: low_16, hi16: high_16,
    lo32: low_32, hi32: high_32,
    lo64: low_64, hi64: high_64,
    and: vandq_u8, set: set_words, left: shift_left, right: shift_right,
    pairs: |even, odd| [even, odd],
});

#[target_feature(enable = "neon,aes")]
pub(crate) fn transpose_strip(
    src: &[u8],
    stride: usize,
    bytes: usize,
    dst: &mut [u8],
    dst_stride: usize,
) {
    transpose_tiles(src, stride, 0..bytes, dst, dst_stride);
}

/// FIPS 197, section 5.2. AESE with a zero key is ShiftRows and SubBytes; on a vector of four equal
/// words ShiftRows changes nothing, so each word becomes `SubWord`.
#[target_feature(enable = "neon,aes")]
pub(crate) fn expand_key(key: Block) -> RoundKeys {
    let mut keys = [key; 11];
    let mut round_constant = 1_u32;
    for round in 1..11 {
        let previous = u128::from(keys[round - 1]);
        let last = vreinterpretq_u8_u32(vdupq_n_u32((previous >> 96) as u32));
        let substituted = vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vaeseq_u8(last, vdupq_n_u8(0))));
        let word = substituted.rotate_right(8) ^ round_constant;
        round_constant = (round_constant << 1) ^ ((round_constant >> 7) * 0x11b);
        // Each word adds all words before it: a prefix sum in two steps.
        let sums = previous ^ (previous << 32);
        let sums = sums ^ (sums << 64);
        let pair = u64::from(word) | u64::from(word) << 32;
        keys[round] = Block::from(sums) ^ Block::new(pair, pair);
    }
    keys
}

instructions! {
    "neon,aes";
    fn load(bytes: &[u8; 16]) -> Vector = {
        // SAFETY: the reference covers the 16 bytes read; the instruction has no alignment.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    };

    fn store(bytes: &mut [u8; 16], x: Vector) = {
        // SAFETY: the exclusive reference covers the 16 bytes written; the instruction has no alignment.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), x) }
    };

    fn splat(block: Block) -> Vector = {
        let words = vcombine_u64(vcreate_u64(block.lo()), vcreate_u64(block.hi()));
        vreinterpretq_u8_u64(words)
    };

    fn xor_vectors(a: Vector, b: Vector) -> Vector = veorq_u8(a, b);

    /// The block in every lane.
    fn spread(block: &Block) -> Vector = {
        // SAFETY: the reference covers the 16 bytes read; the instruction has no alignment.
        unsafe { vld1q_u8(core::ptr::from_ref(block).cast()) }
    };

    fn and_vectors(a: Vector, b: Vector) -> Vector = vandq_u8(a, b);

    /// AESE adds its key first, the round its key last: with a zero key the compiler joins the addition
    /// of one round to the AESE of the next.
    /// The linear orthomorphism `(lo, hi) -> (hi, lo ^ hi)` of each block.
    fn sigma(x: Vector) -> Vector = {
        let swapped = vextq_u8::<8>(x, x);
        let high = vcombine_u64(vcreate_u64(0), vcreate_u64(u64::MAX));
        veorq_u8(swapped, vandq_u8(x, vreinterpretq_u8_u64(high)))
    };

    fn round(state: Vector, key: Vector) -> Vector =
        veorq_u8(vaesmcq_u8(vaeseq_u8(state, vdupq_n_u8(0))), key);

    fn last_round(state: Vector, key: Vector) -> Vector = veorq_u8(vaeseq_u8(state, vdupq_n_u8(0)), key);

    /// The carry-less products of the lower words and of the upper ones, added.
    fn fold_halves(x: Vector, factors: Vector) -> Vector = {
        let (x, factors) = (vreinterpretq_p64_u8(x), vreinterpretq_p64_u8(factors));
        let low = vmull_p64(vgetq_lane_p64::<0>(x), vgetq_lane_p64::<0>(factors));
        let high = vmull_high_p64(x, factors);
        veorq_u8(vreinterpretq_u8_p128(low), vreinterpretq_u8_p128(high))
    };

    /// The carry-less product.
    fn multiply(a: u64, b: u64) -> u128 = vmull_p64(a, b);

    /// The 128-bit counter `2^64 hi + lo`, as the only lane.
    fn counters(lo: u64, hi: u64) -> Vector = splat(Block::new(lo, hi));

    fn add_counter(counter: Vector, n: i64) -> Vector = {
        let step = vreinterpretq_u64_u8(splat(Block::new(n as u64, 0)));
        vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(counter), step))
    };

    /// The lowest bit of a block.
    fn low_bit(block: Vector) -> u8 = vgetq_lane_u8::<0>(block) & 1;

    /// The lowest bit of each block, packed.
    fn low_bits(states: &States) -> [u8; LANES] = {
        let mut bits = 0;
        for (i, state) in states.iter().enumerate() {
            bits |= low_bit(*state) << i;
        }
        [bits]
    };
}

/// The interleaving instructions on vectors of bytes.
macro_rules! interleaving {
    ($($name:ident: $instruction:ident, $from:ident, $to:ident;)*) => { $(
        #[inline]
        #[target_feature(enable = "neon,aes")]
        fn $name(a: Vector, b: Vector) -> Vector {
            $to($instruction($from(a), $from(b)))
        }
    )* };
}

interleaving! {
    low_16: vzip1q_u16, vreinterpretq_u16_u8, vreinterpretq_u8_u16;
    high_16: vzip2q_u16, vreinterpretq_u16_u8, vreinterpretq_u8_u16;
    low_32: vzip1q_u32, vreinterpretq_u32_u8, vreinterpretq_u8_u32;
    high_32: vzip2q_u32, vreinterpretq_u32_u8, vreinterpretq_u8_u32;
    low_64: vzip1q_u64, vreinterpretq_u64_u8, vreinterpretq_u8_u64;
    high_64: vzip2q_u64, vreinterpretq_u64_u8, vreinterpretq_u8_u64;
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn set_words(word: u64) -> Vector {
    vreinterpretq_u8_u64(vdupq_n_u64(word))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn shift_left<const BITS: i32>(x: Vector) -> Vector {
    vreinterpretq_u8_u64(vshlq_n_u64::<BITS>(vreinterpretq_u64_u8(x)))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn shift_right<const BITS: i32>(x: Vector) -> Vector {
    vreinterpretq_u8_u64(vshrq_n_u64::<BITS>(vreinterpretq_u64_u8(x)))
}

instructions! {
    "neon,aes";
    /// `SubWord(RotWord(last word)) ^ constant` in all words: where all columns of a state are equal,
    /// ShiftRows changes nothing.
    fn sub_word(x: Vector, constant: u32) -> Vector = {
        let rotation = vreinterpretq_u8_u32(vdupq_n_u32(0x0c0f_0e0d));
        let substituted = vaeseq_u8(vqtbl1q_u8(x, rotation), vdupq_n_u8(0));
        veorq_u8(substituted, vreinterpretq_u8_u32(vdupq_n_u32(constant)))
    };

    fn up_one_word(x: Vector) -> Vector = vextq_u8::<12>(vdupq_n_u8(0), x);
    fn up_two_words(x: Vector) -> Vector = vextq_u8::<8>(vdupq_n_u8(0), x);

    /// The linear orthomorphism `(lo, hi) -> (lo ^ hi, lo)` of each 64-bit word, plus a tweak, which has upper
    /// halves alone.
    fn input(x: &[u8; 16], tweak: Vector) -> Vector = {
        let x = vreinterpretq_u32_u8(load(x));
        let high = vtrn2q_u32(x, vreinterpretq_u32_u8(tweak));
        vreinterpretq_u8_u32(veorq_u32(vtrn1q_u32(x, x), high))
    };

    /// Computes sigma without a tweak, in registers.
    fn sigma_words(x: Vector) -> Vector = {
        let x = vreinterpretq_u32_u8(x);
        let high = vtrn2q_u32(x, vdupq_n_u32(0));
        vreinterpretq_u8_u32(veorq_u32(vtrn1q_u32(x, x), high))
    };

    /// The low 64 bits of the block, twice.
    fn low_twice(x: &[u8; 16]) -> Vector = {
        let x = load(x);
        low_halves(x, x)
    };

    /// Makes a block's lowest bit into the form that [`if_even`] needs: how far it has words shifted, not at all or, by a
    /// number below zero, out.
    fn parity(x: &[u8; 16]) -> Vector = shift_left::<7>(low_twice(x));

    /// `x` where the lowest bit is zero.
    fn if_even(parity: Vector, x: Vector) -> Vector = {
        let kept = vshlq_u64(vreinterpretq_u64_u8(x), vreinterpretq_s64_u8(parity));
        vreinterpretq_u8_u64(kept)
    };

    /// `x ^ y` where the lowest bit is zero, else `x`.
    fn xor_if_even(x: Vector, parity: Vector, y: Vector) -> Vector = xor_vectors(x, if_even(parity, y));

    /// The lower half of each.
    fn low_halves(a: Vector, b: Vector) -> Vector = low_64(a, b);

    fn swap_halves(x: Vector) -> Vector = vextq_u8::<8>(x, x);

    /// All ones in each 64-bit word that has the one bit that `bits` has there.
    fn test_bits(x: Vector, bits: Vector) -> Vector = {
        vreinterpretq_u8_u64(vtstq_u64(
            vreinterpretq_u64_u8(x),
            vreinterpretq_u64_u8(bits),
        ))
    };

    /// 8 bytes, in both halves.
    fn load_low(bytes: &[u8; 8]) -> Vector = set_words(u64::from_le_bytes(*bytes));

    /// The lower half of the block.
    fn store_low(bytes: &mut [u8; 8], x: Vector) =
        *bytes = vgetq_lane_u64::<0>(vreinterpretq_u64_u8(x)).to_le_bytes();

    /// A byte, in both halves.
    fn load_bytes(bytes: &[u8; LANES]) -> Vector = set_words(bytes[0].into());
}

masked_choices!("neon,aes");

instructions! {
    "neon,aes";
    /// The lower half of `lo`, the upper one of `hi`.
    fn blend_halves(lo: Vector, hi: Vector) -> Vector = {
        let (lo, hi) = (vreinterpretq_u64_u8(lo), vreinterpretq_u64_u8(hi));
        vreinterpretq_u8_u64(vcopyq_laneq_u64::<1, 1>(lo, hi))
    };

    fn and_not(x: Vector, not: Vector) -> Vector = vbicq_u8(x, not);

    /// All ones in each half that is odd.
    fn odd_words(x: Vector) -> Vector = test_bits(x, bits(1, 1));
}
