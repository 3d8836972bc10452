//! Operations element by element, from integers to integers in \[0, p).

use core::arch::x86_64::*;

use super::{
    Constants, Factors, Vector, balanced, doubles, integers, load_words, nearest, public_factors,
    reduced, rest, splat_words, store_words, times, up,
};
use crate::ntt::{Factor, LIMB, LIMB_MASK, Modulus};

#[target_feature(enable = "avx2,fma")]
pub(crate) fn multiply(x: &[u64], y: &[u64], out: &mut [u64], modulus: &Modulus) {
    let c = Constants::new(modulus.p);
    let (x, y) = (x.as_chunks().0, y.as_chunks().0);
    for ((x, y), out) in x.iter().zip(y).zip(out.as_chunks_mut().0) {
        let (x, y) = (doubles(load_words(x)), doubles(load_words(y)));
        let h = _mm256_mul_pd(x, y);
        // Three roundings of what is at most 2^50: with the fourth less than one from the quotient.
        let q = nearest(_mm256_mul_pd(h, c.inverse));
        store_words(out, integers(up(rest(x, y, h, q, c), c)));
    }
}

/// x - bound, or x where that would be negative.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn less(x: __m256i, bound: __m256i) -> __m256i {
    let less = _mm256_sub_epi64(x, bound);
    let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), less);
    _mm256_add_epi64(less, _mm256_and_si256(bound, negative))
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn add_assign(x: &mut [u64], y: &[u64], modulus: &Modulus) {
    let p = splat_words(modulus.p);
    for (x, y) in x.as_chunks_mut().0.iter_mut().zip(y.as_chunks().0) {
        let sum = _mm256_add_epi64(load_words(x), load_words(y));
        store_words(x, less(sum, p));
    }
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn sub_assign(x: &mut [u64], y: &[u64], modulus: &Modulus) {
    let p = splat_words(modulus.p);
    for (x, y) in x.as_chunks_mut().0.iter_mut().zip(y.as_chunks().0) {
        let up = _mm256_add_epi64(load_words(x), p);
        store_words(x, less(_mm256_sub_epi64(up, load_words(y)), p));
    }
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn scale(x: &mut [u64], factor: Factor, modulus: &Modulus) {
    let c = Constants::new(modulus.p);
    // Secret, perhaps: neither balanced nor divided. The quotient lacks less than 2^-52, which with x
    // below 2^50 and the roundings is still less than one from the quotient.
    let scale = _mm256_set1_pd(1.0 / (1_u64 << LIMB) as f64);
    let quotient = doubles(splat_words(factor.quotient));
    let w = Factors {
        values: doubles(splat_words(factor.value)),
        quotients: _mm256_mul_pd(quotient, scale),
    };
    for x in x.as_chunks_mut().0 {
        let product = times(doubles(load_words(x)), w, c);
        store_words(x, integers(up(product, c)));
    }
}

/// The lower halves of words and the upper ones.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn halves(x: __m256i) -> [Vector; 2] {
    let low = _mm256_and_si256(x, splat_words(u64::from(u32::MAX)));
    [doubles(low), doubles(_mm256_srli_epi64::<32>(x))]
}

/// A sum of a few products and what has 33 bits, as integers in [0, p).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn settled(x: Vector, c: Constants) -> __m256i {
    integers(up(reduced(x, c), c))
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn residues(x: &[i64], out: &mut [u64], modulus: &Modulus) {
    let (c, p) = (Constants::new(modulus.p), modulus.p);
    let up_32 = public_factors((1 << 32) % p, p);
    let minus_sign = _mm256_set1_pd(balanced(modulus.minus_sign % p, p));
    let sign = splat_words(1 << 63);
    for (x, out) in x.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        let words = load_words(&x.map(i64::cast_unsigned));
        let [low, high] = halves(_mm256_xor_si256(words, sign));
        let sum = _mm256_add_pd(times(high, up_32, c), _mm256_add_pd(low, minus_sign));
        store_words(out, settled(sum, c));
    }
}

/// The nearest multiple of 2^52 to a product is what a double above 2^104 has for its lowest bits; what is
/// left has 52 bits and a sign, and is an offset from 3/2 2^52.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn add_products(x: &[u64], y: &[u64], lo: &mut [u64], hi: &mut [u64]) {
    let above = _mm256_set1_pd((1_u128 << (2 * LIMB)) as f64);
    let middle = _mm256_set1_pd((3_u64 << (LIMB - 1)) as f64);
    let half = splat_words(1 << (LIMB - 1));
    let (x, y) = (x.as_chunks().0, y.as_chunks().0);
    let (lo, hi) = (lo.as_chunks_mut().0, hi.as_chunks_mut().0);
    for (((x, y), lo), hi) in x.iter().zip(y).zip(lo).zip(hi) {
        let (x, y) = (doubles(load_words(x)), doubles(load_words(y)));
        let upper = _mm256_fmadd_pd(x, y, above);
        let minus = _mm256_add_pd(_mm256_sub_pd(above, upper), middle);
        let lower = _mm256_castpd_si256(_mm256_fmadd_pd(x, y, minus));
        let upper = _mm256_sub_epi64(_mm256_castpd_si256(upper), _mm256_castpd_si256(above));
        // Modulo 2^52; below zero, one less of the upper.
        let lower = _mm256_and_si256(_mm256_xor_si256(lower, half), splat_words(LIMB_MASK));
        let upper = _mm256_sub_epi64(upper, _mm256_srli_epi64::<{ LIMB as i32 - 1 }>(lower));
        store_words(lo, _mm256_add_epi64(load_words(lo), lower));
        store_words(hi, _mm256_add_epi64(load_words(hi), upper));
    }
}

/// `out` becomes `lo + 2^52 hi` mod p, `lo` and `hi` zero.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn reduce(lo: &mut [u64], hi: &mut [u64], out: &mut [u64], modulus: &Modulus) {
    let (c, p) = (Constants::new(modulus.p), modulus.p);
    let power = |bits: u32| public_factors(((1_u128 << bits) % u128::from(p)) as u64, p);
    let (up_32, up_52, up_84) = (power(32), power(LIMB), power(LIMB + 32));
    let (lo, hi) = (lo.as_chunks_mut().0, hi.as_chunks_mut().0);
    for ((lo, hi), out) in lo.iter_mut().zip(hi).zip(out.as_chunks_mut().0) {
        let ([a, b], [d, e]) = (halves(load_words(lo)), halves(load_words(hi)));
        let sum = _mm256_add_pd(a, times(b, up_32, c));
        let upper = _mm256_add_pd(times(d, up_52, c), times(e, up_84, c));
        store_words(out, settled(_mm256_add_pd(sum, upper), c));
        (*lo, *hi) = ([0; 4], [0; 4]);
    }
}
