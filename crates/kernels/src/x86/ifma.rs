//! The number-theoretic transform with AVX-512 IFMA, which multiplies integers of 52 bits: eight
//! elements per vector.
//!
//! Three stages are done at a time, while eight rows of the array are in registers; the last three,
//! within a vector, follow the three before them on the same 64 elements.
//!
//! The loops over vectors are over indices of known number: the compiler unrolls these before it
//! decides what lives in registers, and not those over iterators (which took twice the time).
#![allow(clippy::needless_range_loop, reason = "as said above")]

use core::arch::x86_64::*;

use crate::ntt::{Factor, LIMB, LIMB_MASK, Modulus, Twiddles};
use crate::vector::instructions;

type Vector = __m512i;

/// The elements of a vector.
type Words = [u64; 8];

/// A factor for each lane, with its quotient: see [`Factor`].
#[derive(Clone, Copy)]
struct Factors {
    values: Vector,
    quotients: Vector,
}

/// Constants that every operation needs, in every lane.
#[derive(Clone, Copy)]
struct Constants {
    p: Vector,
    two_p: Vector,
    /// 2^52 - p: adding a product with it subtracts one with p, mod 2^52.
    minus_p: Vector,
    limb_mask: Vector,
}

impl Constants {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new(p: u64) -> Self {
        Self {
            p: splat(p),
            two_p: splat(2 * p),
            minus_p: splat((1 << LIMB) - p),
            limb_mask: splat(LIMB_MASK),
        }
    }
}

instructions! {
    "avx512f,avx512ifma";
    fn load(words: &Words) -> Vector = {
        // SAFETY: the reference covers the 64 bytes read; `loadu` has no alignment.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    };

    fn store(words: &mut Words, x: Vector) = {
        // SAFETY: the exclusive reference covers the 64 bytes written; `storeu` has no alignment.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), x) }
    };

    fn splat(word: u64) -> Vector = _mm512_set1_epi64(word as i64);

    fn splat_factor(factor: Factor) -> Factors = {
        Factors {
            values: splat(factor.value),
            quotients: splat(factor.quotient),
        }
    };

    /// x - bound, or x where that would be negative.
    fn less(x: Vector, bound: Vector) -> Vector = _mm512_min_epu64(x, _mm512_sub_epi64(x, bound));

    /// x w mod p, below 2p, for x below 2^52.
    fn times(x: Vector, w: Factors, c: Constants) -> Vector = {
        let zero = _mm512_setzero_si512();
        let quotient = _mm512_madd52hi_epu64(zero, x, w.quotients);
        let product = _mm512_madd52lo_epu64(zero, x, w.values);
        let rest = _mm512_madd52lo_epu64(product, quotient, c.minus_p);
        _mm512_and_si512(rest, c.limb_mask)
    };

    /// A butterfly of the transform: below 4p to below 4p.
    fn split(x: Vector, y: Vector, w: Factors, c: Constants) -> (Vector, Vector) = {
        let (x, y) = (less(x, c.two_p), times(y, w, c));
        let up = _mm512_add_epi64(x, c.two_p);
        (_mm512_add_epi64(x, y), _mm512_sub_epi64(up, y))
    };

    /// A butterfly of the inverse: below 2p to below 2p.
    fn join(x: Vector, y: Vector, w: Factors, c: Constants) -> (Vector, Vector) = {
        let (sum, difference) = (_mm512_add_epi64(x, y), subtract(x, y, c));
        (less(sum, c.two_p), times(difference, w, c))
    };

    /// The inverse's last butterfly, with 1 / n in both factors: below 2p to below p.
    fn join_last(x: Vector, y: Vector, w: [Factors; 2], c: Constants) -> (Vector, Vector) = {
        let (sum, difference) = (_mm512_add_epi64(x, y), subtract(x, y, c));
        let (sum, difference) = (times(sum, w[0], c), times(difference, w[1], c));
        (less(sum, c.p), less(difference, c.p))
    };

    /// x - y + 2p.
    fn subtract(x: Vector, y: Vector, c: Constants) -> Vector =
        _mm512_sub_epi64(_mm512_add_epi64(x, c.two_p), y);
}

/// [`Twiddles::stages`] for all lanes; a macro, as the compiler does not inline a function for it.
macro_rules! factors {
    ($rows:expr, $twiddles:expr, $index:expr) => {{
        let words = $twiddles.stages::<$rows>($index);
        let mut factors = [splat_factor(words[0]); $rows];
        for i in 1..$rows {
            factors[i] = splat_factor(words[i]);
        }
        factors
    }};
}

/// log2 `ROWS` stages of the transform on vectors as far apart as the last of them takes.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn split_rows<const ROWS: usize>(v: &mut [Vector; ROWS], w: &[Factors; ROWS], c: Constants) {
    for stage in (0..ROWS.ilog2()).rev() {
        let half = 1 << stage;
        for i in 0..ROWS / 2 {
            let (group, inner) = (i >> stage, i & (half - 1));
            let x = 2 * half * group + inner;
            let w = w[ROWS / (2 * half) + group];
            (v[x], v[x + half]) = split(v[x], v[x + half], w, c);
        }
    }
}

/// log2 `ROWS` stages of the inverse, which are its last if `LAST`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn join_rows<const ROWS: usize, const LAST: bool>(
    v: &mut [Vector; ROWS],
    w: &[Factors; ROWS],
    c: Constants,
) {
    for stage in 0..ROWS.ilog2() {
        let half = 1 << stage;
        for i in 0..ROWS / 2 {
            let (group, inner) = (i >> stage, i & (half - 1));
            let x = 2 * half * group + inner;
            (v[x], v[x + half]) = if LAST && half == ROWS / 2 {
                join_last(v[x], v[x + half], [w[0], w[1]], c)
            } else {
                join(v[x], v[x + half], w[ROWS / (2 * half) + group], c)
            };
        }
    }
}

/// log2 `ROWS` stages on the whole array, of which the first (for the inverse, the last) has `groups`
/// groups.
macro_rules! pass {
    ($name:ident $(, $last:ident)?; $stages:path) => {
        #[target_feature(enable = "avx512f,avx512ifma")]
        fn $name<const ROWS: usize $(, const $last: bool)?>(
            values: &mut [Words],
            groups: usize,
            twiddles: &Twiddles,
            c: Constants,
        ) {
            let rows = values.len() / (groups * ROWS);
            for (g, group) in values.chunks_exact_mut(ROWS * rows).enumerate() {
                let w = factors!(ROWS, twiddles, groups + g);
                for j in 0..rows {
                    let mut v = [_mm512_setzero_si512(); ROWS];
                    for i in 0..ROWS {
                        v[i] = load(&group[i * rows + j]);
                    }
                    $stages(&mut v, &w, c);
                    for i in 0..ROWS {
                        store(&mut group[i * rows + j], v[i]);
                    }
                }
            }
        }
    };
}
pass!(split_pass; split_rows::<ROWS>);
pass!(join_pass, LAST; join_rows::<ROWS, LAST>);

/// Groups the stages before the six of [`split_blocks`]: three at a time, and two where that
/// leaves no single one.
fn stages_at_once(left: u32) -> u32 {
    match left {
        2 | 4 => 2,
        1 => 1,
        _ => 3,
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn forward(values: &mut [u64], twiddles: &Twiddles, modulus: &Modulus) {
    let c = Constants::new(modulus.p);
    let values = values.as_chunks_mut().0;
    let mut groups = 1;
    // The last six stages begin with as many groups as there are blocks of 64.
    while groups < values.len() / 8 {
        let stages = stages_at_once((values.len() / 8 / groups).ilog2());
        match stages {
            1 => split_pass::<2>(values, groups, twiddles, c),
            2 => split_pass::<4>(values, groups, twiddles, c),
            _ => split_pass::<8>(values, groups, twiddles, c),
        }
        groups <<= stages;
    }
    split_blocks(values, twiddles, c);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn inverse(values: &mut [u64], twiddles: &Twiddles, modulus: &Modulus) {
    let c = Constants::new(modulus.p);
    let values = values.as_chunks_mut().0;
    let mut groups = values.len() / 8;
    if groups == 1 {
        return join_blocks::<true>(values, twiddles, c);
    }
    join_blocks::<false>(values, twiddles, c);
    while groups > 1 {
        let stages = stages_at_once(groups.ilog2());
        groups >>= stages;
        match (stages, groups) {
            (1, 1) => join_pass::<2, true>(values, groups, twiddles, c),
            (2, 1) => join_pass::<4, true>(values, groups, twiddles, c),
            (_, 1) => join_pass::<8, true>(values, groups, twiddles, c),
            (1, _) => join_pass::<2, false>(values, groups, twiddles, c),
            (2, _) => join_pass::<4, false>(values, groups, twiddles, c),
            (_, _) => join_pass::<8, false>(values, groups, twiddles, c),
        }
    }
}

/// One table of the stages with four, two and one element between those of a butterfly, for each 64
/// elements.
struct Inner<'a> {
    four: &'a [Words],
    two: &'a [[Words; 2]],
    one: &'a [[Words; 4]],
}

impl<'a> Inner<'a> {
    fn new(table: &'a [u64]) -> Self {
        let (table, _) = table.as_chunks();
        let n = table.len();
        Self {
            four: &table[n / 8..n / 4],
            two: table[n / 4..n / 2].as_chunks().0,
            one: table[n / 2..].as_chunks().0,
        }
    }

    /// Gives the factors of each pair of vectors among the 64 elements.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn at(&self, block: usize) -> [[Vector; 3]; 4] {
        let (four, two, one) = (&self.four[block], &self.two[block], &self.one[block]);
        let (four, twos) = (load(four), [load(&two[0]), load(&two[1])]);
        let mut factors = [[four; 3]; 4];
        for i in 0..4 {
            let (low, high) = (2 * i as i64, 2 * i as i64 + 1);
            let fours = _mm512_set_epi64(high, high, high, high, low, low, low, low);
            let l = 4 * (i as i64 & 1);
            let pairs = _mm512_set_epi64(l + 3, l + 3, l + 2, l + 2, l + 1, l + 1, l, l);
            factors[i] = [
                _mm512_permutexvar_epi64(fours, four),
                _mm512_permutexvar_epi64(pairs, twos[i / 2]),
                load(&one[i]),
            ];
        }
        factors
    }
}

/// Elements 0, 1, 4, 5 of either half from those with 2 and 3 between them, or back.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn interleave_pairs(x: Vector, y: Vector) -> (Vector, Vector) {
    let low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
    let high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    (
        _mm512_permutex2var_epi64(x, low, y),
        _mm512_permutex2var_epi64(x, high, y),
    )
}

/// The last six stages, on 64 elements after the other; the results are reduced.
#[target_feature(enable = "avx512f,avx512ifma")]
fn split_blocks(values: &mut [Words], twiddles: &Twiddles, c: Constants) {
    let values_of = Inner::new(&twiddles.values);
    let quotients_of = Inner::new(&twiddles.quotients);
    let even = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    let odd = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    let (blocks, _) = values.as_chunks_mut::<8>();
    let groups = blocks.len();
    for (g, block) in blocks.iter_mut().enumerate() {
        let mut v = [_mm512_setzero_si512(); 8];
        for i in 0..8 {
            v[i] = load(&block[i]);
        }
        split_rows(&mut v, &factors!(8, twiddles, groups + g), c);
        let (words, quotients) = (values_of.at(g), quotients_of.at(g));
        for i in 0..4 {
            let mut w = [splat_factor(twiddles.at(0)); 3];
            for j in 0..3 {
                w[j] = Factors {
                    values: words[i][j],
                    quotients: quotients[i][j],
                };
            }
            let (a, b) = (v[2 * i], v[2 * i + 1]);
            let (x, y) = (
                _mm512_shuffle_i64x2::<0x44>(a, b),
                _mm512_shuffle_i64x2::<0xee>(a, b),
            );
            let (x, y) = split(x, y, w[0], c);
            let (x, y) = interleave_pairs(x, y);
            let (x, y) = split(x, y, w[1], c);
            let (x, y) = (_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
            let (x, y) = split(x, y, w[2], c);
            let (x, y) = (less(less(x, c.two_p), c.p), less(less(y, c.two_p), c.p));
            [v[2 * i], v[2 * i + 1]] = [
                _mm512_permutex2var_epi64(x, even, y),
                _mm512_permutex2var_epi64(x, odd, y),
            ];
        }
        for i in 0..8 {
            store(&mut block[i], v[i]);
        }
    }
}

/// The first six stages of the inverse, which are all if `LAST`.
#[target_feature(enable = "avx512f,avx512ifma")]
fn join_blocks<const LAST: bool>(values: &mut [Words], twiddles: &Twiddles, c: Constants) {
    let values_of = Inner::new(&twiddles.values);
    let quotients_of = Inner::new(&twiddles.quotients);
    let even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    let odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    let (blocks, _) = values.as_chunks_mut::<8>();
    let groups = blocks.len();
    for (g, block) in blocks.iter_mut().enumerate() {
        let mut v = [_mm512_setzero_si512(); 8];
        for i in 0..8 {
            v[i] = load(&block[i]);
        }
        let (words, quotients) = (values_of.at(g), quotients_of.at(g));
        for i in 0..4 {
            let mut w = [splat_factor(twiddles.at(0)); 3];
            for j in 0..3 {
                w[j] = Factors {
                    values: words[i][j],
                    quotients: quotients[i][j],
                };
            }
            let (a, b) = (v[2 * i], v[2 * i + 1]);
            let (x, y) = (
                _mm512_permutex2var_epi64(a, even, b),
                _mm512_permutex2var_epi64(a, odd, b),
            );
            let (x, y) = join(x, y, w[2], c);
            let (x, y) = (_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
            let (x, y) = join(x, y, w[1], c);
            let (x, y) = interleave_pairs(x, y);
            let (x, y) = join(x, y, w[0], c);
            [v[2 * i], v[2 * i + 1]] = [
                _mm512_shuffle_i64x2::<0x44>(x, y),
                _mm512_shuffle_i64x2::<0xee>(x, y),
            ];
        }
        join_rows::<8, LAST>(&mut v, &factors!(8, twiddles, groups + g), c);
        for i in 0..8 {
            store(&mut block[i], v[i]);
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply(x: &[u64], y: &[u64], out: &mut [u64], modulus: &Modulus) {
    let c = Constants::new(modulus.p);
    let (one, limb) = (splat_factor(modulus.one), splat_factor(modulus.limb));
    let zero = _mm512_setzero_si512();
    let (x, y) = (x.as_chunks().0, y.as_chunks().0);
    for ((x, y), out) in x.iter().zip(y).zip(out.as_chunks_mut().0) {
        let (x, y) = (load(x), load(y));
        let lo = _mm512_madd52lo_epu64(zero, x, y);
        let hi = _mm512_madd52hi_epu64(zero, x, y);
        let sum = _mm512_add_epi64(times(lo, one, c), times(hi, limb, c));
        store(out, less(less(sum, c.two_p), c.p));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn add_assign(x: &mut [u64], y: &[u64], modulus: &Modulus) {
    let p = splat(modulus.p);
    for (x, y) in x.as_chunks_mut().0.iter_mut().zip(y.as_chunks().0) {
        let sum = _mm512_add_epi64(load(x), load(y));
        store(x, less(sum, p));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn sub_assign(x: &mut [u64], y: &[u64], modulus: &Modulus) {
    let p = splat(modulus.p);
    for (x, y) in x.as_chunks_mut().0.iter_mut().zip(y.as_chunks().0) {
        // Below zero the wrapped difference is the larger.
        let difference = _mm512_sub_epi64(load(x), load(y));
        let up = _mm512_add_epi64(difference, p);
        store(x, _mm512_min_epu64(difference, up));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn scale(x: &mut [u64], factor: Factor, modulus: &Modulus) {
    let (c, factor) = (Constants::new(modulus.p), splat_factor(factor));
    for x in x.as_chunks_mut().0 {
        let product = times(load(x), factor, c);
        store(x, less(product, c.p));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn residues(x: &[i64], out: &mut [u64], modulus: &Modulus) {
    let c = Constants::new(modulus.p);
    let (one, limb) = (splat_factor(modulus.one), splat_factor(modulus.limb));
    let (sign, minus_sign) = (splat(1 << 63), splat(modulus.minus_sign));
    let four_p = splat(4 * modulus.p);
    for (x, out) in x.as_chunks::<8>().0.iter().zip(out.as_chunks_mut().0) {
        let word = _mm512_xor_si512(load(&x.map(i64::cast_unsigned)), sign);
        let lo = times(_mm512_and_si512(word, c.limb_mask), one, c);
        let hi = times(_mm512_srli_epi64::<{ LIMB }>(word), limb, c);
        let sum = _mm512_add_epi64(_mm512_add_epi64(lo, hi), minus_sign);
        store(out, less(less(less(sum, four_p), c.two_p), c.p));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn add_products(x: &[u64], y: &[u64], lo: &mut [u64], hi: &mut [u64]) {
    let (x, y) = (x.as_chunks().0, y.as_chunks().0);
    let (lo, hi) = (lo.as_chunks_mut().0, hi.as_chunks_mut().0);
    for (((x, y), lo), hi) in x.iter().zip(y).zip(lo).zip(hi) {
        let (x, y) = (load(x), load(y));
        let (lo_sum, hi_sum) = (load(lo), load(hi));
        store(lo, _mm512_madd52lo_epu64(lo_sum, x, y));
        store(hi, _mm512_madd52hi_epu64(hi_sum, x, y));
    }
}

/// `out` becomes `lo + 2^52 hi` mod p, `lo` and `hi` zero.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn reduce(lo: &mut [u64], hi: &mut [u64], out: &mut [u64], modulus: &Modulus) {
    let c = Constants::new(modulus.p);
    let [one, limb, limb2] = [modulus.one, modulus.limb, modulus.limb2].map(|w| splat_factor(w));
    let four_p = _mm512_add_epi64(c.two_p, c.two_p);
    let (lo, hi) = (lo.as_chunks_mut().0, hi.as_chunks_mut().0);
    for ((lo, hi), out) in lo.iter_mut().zip(hi).zip(out.as_chunks_mut().0) {
        let low = load(lo);
        let high = _mm512_add_epi64(load(hi), _mm512_srli_epi64::<LIMB>(low));
        // The multiplication takes the lowest 52 bits of either factor, whatever is above.
        let sum = _mm512_add_epi64(times(low, one, c), times(high, limb, c));
        let top = times(_mm512_srli_epi64::<LIMB>(high), limb2, c);
        let sum = _mm512_add_epi64(sum, top);
        store(out, less(less(less(sum, four_p), c.two_p), c.p));
        store(lo, _mm512_setzero_si512());
        store(hi, _mm512_setzero_si512());
    }
}
