//! The number-theoretic transform in plain Rust.

use crate::ntt::{Factor, LIMB, LIMB_MASK, Modulus, Twiddles};
use crate::opaque::opaque_word;

/// x - bound, or x where that would be negative; for x and `bound` below 2^63.
#[inline(always)]
fn less(x: u64, bound: u64) -> u64 {
    let less = x.wrapping_sub(bound);
    let negative = opaque_word((less as i64 >> 63) as u64);
    less.wrapping_add(bound & negative)
}

/// x w mod p, below 2p, for x below 2^52.
#[inline(always)]
fn times(x: u64, w: Factor, p: u64) -> u64 {
    let quotient = u128::from(x) * u128::from(w.quotient << (64 - LIMB));
    let quotient = (quotient >> 64) as u64;
    x.wrapping_mul(w.value)
        .wrapping_sub(quotient.wrapping_mul(p))
}

/// A butterfly of the transform: below 4p to below 4p.
#[inline(always)]
fn split(x: u64, y: u64, w: Factor, p: u64) -> (u64, u64) {
    let (x, y) = (less(x, 2 * p), times(y, w, p));
    (x + y, x + 2 * p - y)
}

/// A butterfly of the inverse: below 2p to below 2p.
#[inline(always)]
fn join(x: u64, y: u64, w: Factor, p: u64) -> (u64, u64) {
    (less(x + y, 2 * p), times(x + 2 * p - y, w, p))
}

pub(crate) fn forward(values: &mut [u64], twiddles: &Twiddles, modulus: &Modulus) {
    let p = modulus.p;
    let mut groups = 1;
    while groups < values.len() {
        let half = values.len() / (2 * groups);
        for (i, group) in values.chunks_exact_mut(2 * half).enumerate() {
            let w = twiddles.at(groups + i);
            let (x, y) = group.split_at_mut(half);
            for (x, y) in x.iter_mut().zip(y) {
                (*x, *y) = split(*x, *y, w, p);
            }
        }
        groups *= 2;
    }
    for value in values {
        *value = less(less(*value, 2 * p), p);
    }
}

pub(crate) fn inverse(values: &mut [u64], twiddles: &Twiddles, modulus: &Modulus) {
    let p = modulus.p;
    let mut groups = values.len() / 2;
    while groups > 1 {
        let half = values.len() / (2 * groups);
        for (i, group) in values.chunks_exact_mut(2 * half).enumerate() {
            let w = twiddles.at(groups + i);
            let (x, y) = group.split_at_mut(half);
            for (x, y) in x.iter_mut().zip(y) {
                (*x, *y) = join(*x, *y, w, p);
            }
        }
        groups /= 2;
    }
    let (for_sums, for_differences) = (twiddles.at(0), twiddles.at(1));
    let (x, y) = values.split_at_mut(values.len() / 2);
    for (x, y) in x.iter_mut().zip(y) {
        let (sum, difference) = (*x + *y, *x + 2 * p - *y);
        *x = less(times(sum, for_sums, p), p);
        *y = less(times(difference, for_differences, p), p);
    }
}

pub(crate) fn multiply(x: &[u64], y: &[u64], out: &mut [u64], modulus: &Modulus) {
    let p = modulus.p;
    for ((&x, &y), out) in x.iter().zip(y).zip(out) {
        let (lo, hi) = product(x, y);
        let sum = times(lo, modulus.one, p) + times(hi, modulus.limb, p);
        *out = less(less(sum, 2 * p), p);
    }
}

pub(crate) fn add_assign(x: &mut [u64], y: &[u64], modulus: &Modulus) {
    for (x, &y) in x.iter_mut().zip(y) {
        *x = less(*x + y, modulus.p);
    }
}

pub(crate) fn sub_assign(x: &mut [u64], y: &[u64], modulus: &Modulus) {
    for (x, &y) in x.iter_mut().zip(y) {
        *x = less(*x + modulus.p - y, modulus.p);
    }
}

pub(crate) fn scale(x: &mut [u64], factor: Factor, modulus: &Modulus) {
    for x in x {
        *x = less(times(*x, factor, modulus.p), modulus.p);
    }
}

pub(crate) fn residues(x: &[i64], out: &mut [u64], modulus: &Modulus) {
    let p = modulus.p;
    for (&x, out) in x.iter().zip(out) {
        let word = x as u64 ^ 1 << 63;
        let sum = times(word & LIMB_MASK, modulus.one, p)
            + times(word >> LIMB, modulus.limb, p)
            + modulus.minus_sign;
        *out = less(less(less(sum, 4 * p), 2 * p), p);
    }
}

pub(crate) fn add_products(x: &[u64], y: &[u64], lo: &mut [u64], hi: &mut [u64]) {
    for (((&x, &y), lo), hi) in x.iter().zip(y).zip(lo).zip(hi) {
        let product = product(x, y);
        *lo += product.0;
        *hi += product.1;
    }
}

/// `out` becomes `lo + 2^52 hi` mod p, `lo` and `hi` zero.
pub(crate) fn reduce(lo: &mut [u64], hi: &mut [u64], out: &mut [u64], modulus: &Modulus) {
    let p = modulus.p;
    for ((lo, hi), out) in lo.iter_mut().zip(hi).zip(out) {
        // Below 2^61: 4096 products of 48 bits there, and what a carry leaves.
        let carried = *hi + (*lo >> LIMB);
        let sum = times(*lo & LIMB_MASK, modulus.one, p)
            + times(carried & LIMB_MASK, modulus.limb, p)
            + times(carried >> LIMB, modulus.limb2, p);
        *out = less(less(less(sum, 4 * p), 2 * p), p);
        (*lo, *hi) = (0, 0);
    }
}

/// The lowest 52 bits of a product, and the others.
#[inline(always)]
fn product(x: u64, y: u64) -> (u64, u64) {
    let product = u128::from(x) * u128::from(y);
    (product as u64 & LIMB_MASK, (product >> LIMB) as u64)
}
