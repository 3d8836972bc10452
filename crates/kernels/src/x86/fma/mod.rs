//! The number-theoretic transform with AVX2 and FMA, for processors that do not multiply integers of
//! 52 bits: four elements per vector, as doubles, whose 53 bits hold them.
//!
//! Products are reduced as in van der Hoeven, Lecerf and Quintin, "Modular SIMD arithmetic in
//! Mathemagix" (ACM Trans. Math. Softw. 43, 2016), section 3: the rounded product h = RN(y w) and what it
//! lacks, y w - h, which FMA gives exactly; less the multiple q p of the modulus with q = RN(y (w / p)).
//!
//! # Bounds
//! Elements are integers of either sign, "below B" when their absolute value is at most B p. With p below
//! 2^50 those below 8 are exact. A factor lies in \[-p/2, p/2\], so that y w / p is at most B 2^49 for y
//! below B, and two roundings leave y (w / p) within B / 8 of that; a third makes an integer of it. So a
//! product is below 1/2 + B / 8, and h - q p, at most that and the rounding of h away from zero, an
//! integer far below 2^53: no operation but the three named rounds. A value less the rounded multiple of
//! p nearest to it is below 1/2, and one more at most (an element below 8 has a quotient with an error
//! below 2^-47).
//!
//! A butterfly of the transform makes B to B + 1/2 + B / 8, with its first element reduced to 1 + B / 8.
//! From 1 three stages lead to 3.2; from there five, whose first reduces, to 4.7. The stages of the inverse
//! double sums: from 1 three stages lead to 8, and their differences to 3/2; `join_rows` in [`transform`] reduces
//! where more than 1 is left.
//!
//! No instruction takes longer for some operands than for others: there are neither divisions nor
//! subnormal numbers. The loops in [`transform`] are as in [`super::ifma`].

use core::arch::x86_64::*;

use crate::ntt::Twiddles;
use crate::vector::instructions;

mod elements;
mod transform;

pub(crate) use elements::{
    add_assign, add_products, multiply, reduce, residues, scale, sub_assign,
};
pub(crate) use transform::{forward, inverse};

type Vector = __m256d;

/// The elements of a vector, or the bits of as many doubles.
type Words = [u64; 4];

/// 2^52: the bits of a double below 2^53 from there on are its exponent and the integer.
const MAGIC: u64 = 0x4330_0000_0000_0000;

/// A factor for each lane, and what it is of the modulus.
#[derive(Clone, Copy)]
struct Factors {
    values: Vector,
    quotients: Vector,
}

/// Constants that every operation needs, in every lane.
#[derive(Clone, Copy)]
struct Constants {
    p: Vector,
    /// 1 / p.
    inverse: Vector,
}

impl Constants {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn new(p: u64) -> Self {
        Self {
            p: _mm256_set1_pd(p as f64),
            inverse: _mm256_set1_pd(1.0 / p as f64),
        }
    }
}

/// The table that the functions here take: doubles in place of the integers.
pub(crate) fn twiddles(table: &Twiddles, p: u64) -> Twiddles {
    let balanced = table.values.iter().map(|&w| balanced(w, p));
    let quotients = balanced.clone().map(|w| (w / p as f64).to_bits());
    Twiddles {
        quotients: quotients.collect(),
        values: balanced.map(f64::to_bits).collect(),
    }
}

/// w or w - p, whichever is nearer to zero; w is public.
fn balanced(w: u64, p: u64) -> f64 {
    if 2 * w > p {
        -((p - w) as f64)
    } else {
        w as f64
    }
}

instructions! {
    "avx2,fma";
    /// A public factor in all lanes.
    fn public_factors(w: u64, p: u64) -> Factors = {
        let w = balanced(w, p);
        Factors {
            values: _mm256_set1_pd(w),
            quotients: _mm256_set1_pd(w / p as f64),
        }
    };

    fn load(words: &Words) -> Vector = {
        // SAFETY: the reference covers the 32 bytes read; `loadu` has no alignment.
        unsafe { _mm256_loadu_pd(words.as_ptr().cast()) }
    };

    fn store(words: &mut Words, x: Vector) = {
        // SAFETY: the exclusive reference covers the 32 bytes written; `storeu` has no alignment.
        unsafe { _mm256_storeu_pd(words.as_mut_ptr().cast(), x) }
    };

    fn load_words(words: &Words) -> __m256i = {
        // SAFETY: as in `load`.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    };

    fn store_words(words: &mut Words, x: __m256i) = {
        // SAFETY: as in `store`.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), x) }
    };

    fn splat_words(word: u64) -> __m256i = _mm256_set1_epi64x(word as i64);

    /// Doubles of integers below 2^52.
    fn doubles(x: __m256i) -> Vector = {
        let magic = splat_words(MAGIC);
        let sum = _mm256_castsi256_pd(_mm256_or_si256(x, magic));
        _mm256_sub_pd(sum, _mm256_castsi256_pd(magic))
    };

    /// Integers of doubles in [0, 2^52).
    fn integers(x: Vector) -> __m256i = {
        let magic = splat_words(MAGIC);
        let sum = _mm256_add_pd(x, _mm256_castsi256_pd(magic));
        _mm256_xor_si256(_mm256_castpd_si256(sum), magic)
    };

    fn nearest(x: Vector) -> Vector = _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x);

    /// y w - q p with w a double as `h` and the rest of the product.
    fn rest(y: Vector, w: Vector, h: Vector, q: Vector, c: Constants) -> Vector = {
        let low = _mm256_fmsub_pd(y, w, h);
        _mm256_add_pd(_mm256_fnmadd_pd(q, c.p, h), low)
    };

    /// y w mod p: below 1/2 + B / 8 for y below B.
    fn times(y: Vector, w: Factors, c: Constants) -> Vector = {
        let h = _mm256_mul_pd(y, w.values);
        let q = nearest(_mm256_mul_pd(y, w.quotients));
        rest(y, w.values, h, q, c)
    };

    /// x mod p, below 1/2.
    fn reduced(x: Vector, c: Constants) -> Vector =
        _mm256_fnmadd_pd(nearest(_mm256_mul_pd(x, c.inverse)), c.p, x);

    /// x, which is above -p, or x + p where it is negative.
    fn up(x: Vector, c: Constants) -> Vector = {
        let negative = _mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd());
        _mm256_add_pd(x, _mm256_and_pd(c.p, negative))
    };
}
