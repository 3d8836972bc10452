//! The transform and its inverse: three stages at a time, while eight rows of the array are in registers;
//! the last two, within a vector, follow the three before them on the same 32 elements. The first pass
//! makes doubles of integers, the last one integers of doubles.
#![allow(clippy::needless_range_loop, reason = "as said in `ifma`")]

use core::arch::x86_64::*;

use super::{
    Constants, Factors, Vector, Words, doubles, integers, load, load_words, reduced, store,
    store_words, times, up,
};
use crate::ntt::{Modulus, Twiddles};

/// A butterfly of the transform.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn split(x: Vector, y: Vector, w: Factors, c: Constants) -> (Vector, Vector) {
    let y = times(y, w, c);
    (_mm256_add_pd(x, y), _mm256_sub_pd(x, y))
}

/// A butterfly of the inverse.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn join(x: Vector, y: Vector, w: Factors, c: Constants) -> (Vector, Vector) {
    (_mm256_add_pd(x, y), times(_mm256_sub_pd(x, y), w, c))
}

/// [`Twiddles::stages`] for all lanes, in memory: there are 16 registers. A macro, as the compiler does
/// not inline a function for it.
macro_rules! factors {
    ($rows:expr, $twiddles:expr, $index:expr) => {{
        let words = $twiddles.stages::<$rows>($index);
        let mut factors = [[[0; 4]; 2]; $rows];
        for i in 0..$rows {
            factors[i] = [[words[i].value; 4], [words[i].quotient; 4]];
        }
        factors
    }};
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn load_factors(words: &[Words; 2]) -> Factors {
    Factors {
        values: load(&words[0]),
        quotients: load(&words[1]),
    }
}

/// log2 `$rows` stages of the transform on vectors as far apart as the last of them takes; `$reduce`
/// where more than 1 comes in.
macro_rules! split_rows {
    ($rows:expr, $v:ident, $w:expr, $reduce:expr, $c:expr) => {
        let w = crate::opaque::again($w);
        for stage in (0..$rows.ilog2()).rev() {
            let half = 1 << stage;
            for i in 0..$rows / 2 {
                let (group, inner) = (i >> stage, i & (half - 1));
                let x = 2 * half * group + inner;
                if $reduce && half == $rows / 2 {
                    $v[x] = reduced($v[x], $c);
                }
                let w = load_factors(&w[$rows / (2 * half) + group]);
                ($v[x], $v[x + half]) = split($v[x], $v[x + half], w, $c);
            }
        }
    };
}

/// log2 `$rows` stages of the inverse, of what is below 1; they are its last if `$last`, and then leave
/// integers in [0, p).
macro_rules! join_rows {
    ($rows:expr, $last:expr, $v:ident, $w:expr, $c:expr) => {
        let w = crate::opaque::again($w);
        for stage in 0..$rows.ilog2() {
            let half = 1 << stage;
            for i in 0..$rows / 2 {
                let (group, inner) = (i >> stage, i & (half - 1));
                let x = 2 * half * group + inner;
                if $last && half == $rows / 2 {
                    let (a, b) = ($v[x], $v[x + half]);
                    let (sum, difference) = (_mm256_add_pd(a, b), _mm256_sub_pd(a, b));
                    // Below 3/2 each.
                    let sum = reduced(times(sum, load_factors(&w[0]), $c), $c);
                    let difference = reduced(times(difference, load_factors(&w[1]), $c), $c);
                    ($v[x], $v[x + half]) = (up(sum, $c), up(difference, $c));
                } else {
                    let w = load_factors(&w[$rows / (2 * half) + group]);
                    ($v[x], $v[x + half]) = join($v[x], $v[x + half], w, $c);
                }
            }
        }
        if !$last {
            // Bounds of eight rows: these are below 8, 3, 2, 5/4 and 3/2; of four the first two below 4 and
            // 3/2, of two the first below 2; the others below 1.
            let large = if $rows == 8 { 5 } else { $rows / 2 };
            for i in 0..large {
                $v[i] = reduced($v[i], $c);
            }
        }
    };
}

/// log2 `ROWS` stages on the whole array, the first of which has `groups` groups. The first of all takes
/// integers in [0, p).
#[target_feature(enable = "avx2,fma")]
fn split_pass<const ROWS: usize, const FIRST: bool>(
    values: &mut [Words],
    groups: usize,
    twiddles: &Twiddles,
    c: Constants,
) {
    let rows = values.len() / (groups * ROWS);
    for (g, group) in values.chunks_exact_mut(ROWS * rows).enumerate() {
        let w = factors!(ROWS, twiddles, groups + g);
        for j in 0..rows {
            let mut v = [_mm256_setzero_pd(); ROWS];
            for i in 0..ROWS {
                let words = &group[i * rows + j];
                v[i] = if FIRST {
                    doubles(load_words(words))
                } else {
                    load(words)
                };
            }
            split_rows!(ROWS, v, &w, !FIRST, c);
            for i in 0..ROWS {
                store(&mut group[i * rows + j], v[i]);
            }
        }
    }
}

/// Runs a pass of the inverse, where the last stage has `groups` groups; the last of all leaves integers.
#[target_feature(enable = "avx2,fma")]
fn join_pass<const ROWS: usize, const LAST: bool>(
    values: &mut [Words],
    groups: usize,
    twiddles: &Twiddles,
    c: Constants,
) {
    let rows = values.len() / (groups * ROWS);
    for (g, group) in values.chunks_exact_mut(ROWS * rows).enumerate() {
        let w = factors!(ROWS, twiddles, groups + g);
        for j in 0..rows {
            let mut v = [_mm256_setzero_pd(); ROWS];
            for i in 0..ROWS {
                v[i] = load(&group[i * rows + j]);
            }
            join_rows!(ROWS, LAST, v, &w, c);
            for i in 0..ROWS {
                let words = &mut group[i * rows + j];
                if LAST {
                    store_words(words, integers(v[i]));
                } else {
                    store(words, v[i]);
                }
            }
        }
    }
}

/// Groups the stages before the five of [`split_blocks`]: three at a time, and two where that
/// leaves no single one.
fn stages_at_once(left: u32) -> u32 {
    match left {
        2 | 4 => 2,
        1 => 1,
        _ => 3,
    }
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn forward(values: &mut [u64], twiddles: &Twiddles, modulus: &Modulus) {
    let c = Constants::new(modulus.p);
    let values = values.as_chunks_mut().0;
    let mut groups = 1;
    // The last five stages begin with as many groups as there are blocks of 32, at least two.
    while groups < values.len() / 8 {
        let stages = stages_at_once((values.len() / 8 / groups).ilog2());
        match (stages, groups) {
            (1, 1) => split_pass::<2, true>(values, groups, twiddles, c),
            (2, 1) => split_pass::<4, true>(values, groups, twiddles, c),
            (_, 1) => split_pass::<8, true>(values, groups, twiddles, c),
            (1, _) => split_pass::<2, false>(values, groups, twiddles, c),
            (2, _) => split_pass::<4, false>(values, groups, twiddles, c),
            (_, _) => split_pass::<8, false>(values, groups, twiddles, c),
        }
        groups <<= stages;
    }
    split_blocks(values, twiddles, c);
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn inverse(values: &mut [u64], twiddles: &Twiddles, modulus: &Modulus) {
    let c = Constants::new(modulus.p);
    let values = values.as_chunks_mut().0;
    let mut groups = values.len() / 8;
    join_blocks(values, twiddles, c);
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

/// One table of the stages with two elements and one between those of a butterfly, for each 32 elements.
struct Inner<'a> {
    two: &'a [[[u64; 2]; 4]],
    one: &'a [[Words; 4]],
}

impl<'a> Inner<'a> {
    fn new(table: &'a [u64]) -> Self {
        let n = table.len();
        Self {
            two: table[n / 4..n / 2].as_chunks().0.as_chunks().0,
            one: table[n / 2..].as_chunks().0.as_chunks().0,
        }
    }

    /// Gives the factors of pair `i` of vectors among the 32 elements.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn at(&self, block: usize, i: usize) -> [Vector; 2] {
        let [low, high] = self.two[block][i].map(f64::from_bits);
        [
            _mm256_set_pd(high, high, low, low),
            load(&self.one[block][i]),
        ]
    }
}

/// The last five stages, on 32 elements after the other; the results are integers in [0, p).
#[target_feature(enable = "avx2,fma")]
fn split_blocks(values: &mut [Words], twiddles: &Twiddles, c: Constants) {
    let values_of = Inner::new(&twiddles.values);
    let quotients_of = Inner::new(&twiddles.quotients);
    let (blocks, _) = values.as_chunks_mut::<8>();
    let groups = blocks.len();
    for (g, block) in blocks.iter_mut().enumerate() {
        let mut v = [_mm256_setzero_pd(); 8];
        for i in 0..8 {
            v[i] = load(&block[i]);
        }
        let w = factors!(8, twiddles, groups + g);
        split_rows!(8_usize, v, &w, true, c);
        for i in 0..4 {
            let (words, quotients) = (values_of.at(g, i), quotients_of.at(g, i));
            let w = |j: usize| Factors {
                values: words[j],
                quotients: quotients[j],
            };
            let (a, b) = (v[2 * i], v[2 * i + 1]);
            let (x, y) = (
                _mm256_permute2f128_pd::<0x20>(a, b),
                _mm256_permute2f128_pd::<0x31>(a, b),
            );
            let (x, y) = split(x, y, w(0), c);
            let (x, y) = (_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y));
            let (x, y) = split(x, y, w(1), c);
            let (x, y) = (up(reduced(x, c), c), up(reduced(y, c), c));
            let (a, b) = (_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y));
            let (x, y) = (
                _mm256_permute2f128_pd::<0x20>(a, b),
                _mm256_permute2f128_pd::<0x31>(a, b),
            );
            store_words(&mut block[2 * i], integers(x));
            store_words(&mut block[2 * i + 1], integers(y));
        }
    }
}

/// The first five stages of the inverse, from integers in [0, p).
#[target_feature(enable = "avx2,fma")]
fn join_blocks(values: &mut [Words], twiddles: &Twiddles, c: Constants) {
    let values_of = Inner::new(&twiddles.values);
    let quotients_of = Inner::new(&twiddles.quotients);
    let (blocks, _) = values.as_chunks_mut::<8>();
    let groups = blocks.len();
    for (g, block) in blocks.iter_mut().enumerate() {
        let mut v = [_mm256_setzero_pd(); 8];
        for i in 0..4 {
            let (words, quotients) = (values_of.at(g, i), quotients_of.at(g, i));
            let w = |j: usize| Factors {
                values: words[j],
                quotients: quotients[j],
            };
            let a = doubles(load_words(&block[2 * i]));
            let b = doubles(load_words(&block[2 * i + 1]));
            let (x, y) = (
                _mm256_permute2f128_pd::<0x20>(a, b),
                _mm256_permute2f128_pd::<0x31>(a, b),
            );
            let (x, y) = (_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y));
            let (x, y) = join(x, y, w(1), c);
            let (x, y) = (_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y));
            let (x, y) = join(x, y, w(0), c);
            // Below 4, and below 1.
            let x = reduced(x, c);
            v[2 * i] = _mm256_permute2f128_pd::<0x20>(x, y);
            v[2 * i + 1] = _mm256_permute2f128_pd::<0x31>(x, y);
        }
        let w = factors!(8, twiddles, groups + g);
        join_rows!(8_usize, false, v, &w, c);
        for i in 0..8 {
            store(&mut block[i], v[i]);
        }
    }
}
