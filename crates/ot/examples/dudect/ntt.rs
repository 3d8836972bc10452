//! The number-theoretic transform of secret polynomials.

use std::hint::black_box;
use std::sync::LazyLock;

use madrigal_kernels::{Ntt, Sums};
use madrigal_ot::OtError;

use crate::targets::{Draw, TimedCall};

const N: usize = 8192;
/// The largest below 2^50 that is 1 mod 65536.
const PRIME: u64 = 1_125_899_904_679_937;
static NTT: LazyLock<Ntt> = LazyLock::new(|| Ntt::new(PRIME, N));

/// Secret elements: zeros in one class.
fn elements(draw: &mut Draw, fixed: bool) -> Vec<u64> {
    let bytes = draw.secret(8 * N, fixed);
    let words = bytes.as_chunks().0.iter();
    words
        .map(|&word| u64::from_le_bytes(word) % PRIME)
        .collect()
}

pub(crate) fn forward(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let mut values = elements(draw, fixed);
    LazyLock::force(&NTT);
    Ok(Box::new(move || {
        NTT.forward(&mut values);
        black_box(values);
        Ok(())
    }))
}

pub(crate) fn inverse(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let mut values = elements(draw, fixed);
    LazyLock::force(&NTT);
    Ok(Box::new(move || {
        NTT.inverse(&mut values);
        black_box(values);
        Ok(())
    }))
}

pub(crate) fn multiply(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let (x, y) = (elements(draw, fixed), elements(draw, false));
    let mut out = vec![1; N];
    LazyLock::force(&NTT);
    Ok(Box::new(move || {
        NTT.multiply(&x, &y, &mut out);
        black_box(out);
        Ok(())
    }))
}

/// The factor is secret too, and its quotient is a division.
pub(crate) fn scale(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let (mut x, factor) = (elements(draw, false), draw.secret(8, fixed));
    let factor = u64::from_le_bytes(*factor.first_chunk().unwrap_or(&[0; 8])) % PRIME;
    LazyLock::force(&NTT);
    Ok(Box::new(move || {
        NTT.scale(&mut x, factor);
        black_box(x);
        Ok(())
    }))
}

pub(crate) fn add(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let (x, y) = (elements(draw, fixed), elements(draw, false));
    let mut sums = Sums::new(N);
    sums.add(&y, &x);
    Ok(Box::new(move || {
        sums.add(&x, &y);
        black_box(sums);
        Ok(())
    }))
}

pub(crate) fn take(draw: &mut Draw, fixed: bool) -> Result<TimedCall, OtError> {
    let (x, y) = (elements(draw, fixed), elements(draw, false));
    let (mut sums, mut out) = (Sums::new(N), vec![1; N]);
    (0..5).for_each(|_| sums.add(&x, &y));
    LazyLock::force(&NTT);
    Ok(Box::new(move || {
        sums.take(&NTT, &mut out);
        black_box(out);
        Ok(())
    }))
}
