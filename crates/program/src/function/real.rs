//! Real functions that give the same bits on every machine.
//!
//! The tables of a program are made where it is recorded, by each party for itself, and the parties compare
//! digests of them. Functions of the system's mathematical library differ in their last bits; these are made
//! of sums, products, quotients and square roots alone, which IEEE 754 rounds in one way only. They are far more
//! exact than the 2^-31 or so that tables are made to; tests hold the functions made of them against the system's.

/// ln 2, and what is missing of it.
pub(super) const LN_2: [f64; 2] = [std::f64::consts::LN_2, 2.319_046_813_846_3e-17];

/// 2^by.
pub(super) fn power_of_two(by: i32) -> f64 {
    let half = if by < 0 { 0.5 } else { 2.0 };
    (0..by.unsigned_abs()).fold(1.0, |power, _| power * half)
}

/// e^x: 2^k times the series of what is left, at most ln(2) / 2.
pub(super) fn exp(x: f64) -> f64 {
    let whole = (x / LN_2[0]).round();
    if whole < -1000.0 {
        return 0.0;
    }
    let rest = (x - whole * LN_2[0]) - whole * LN_2[1];
    let series = (1..20)
        .rev()
        .fold(1.0, |sum, term| 1.0 + sum * rest / f64::from(term));
    series * power_of_two(whole as i32)
}

/// ln x of a positive number: of its mantissa by 2 artanh((m - 1) / (m + 1)).
pub(super) fn ln(x: f64) -> f64 {
    let (mut mantissa, mut power) = (x, 0);
    while mantissa > std::f64::consts::SQRT_2 {
        (mantissa, power) = (mantissa / 2.0, power + 1);
    }
    while mantissa < std::f64::consts::FRAC_1_SQRT_2 {
        (mantissa, power) = (mantissa * 2.0, power - 1);
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (0..20).rev().fold(0.0, |sum, term| {
        sum * square + 1.0 / f64::from(2 * term + 1)
    });
    2.0 * ratio * series + f64::from(power) * LN_2[0]
}

/// ln(1 + y) for y from 0 to 1, also for small ones.
pub(super) fn ln_one_more(y: f64) -> f64 {
    let ratio = y / (y + 2.0);
    let square = ratio * ratio;
    let series = (0..30).rev().fold(0.0, |sum, term| {
        sum * square + 1.0 / f64::from(2 * term + 1)
    });
    2.0 * ratio * series
}

/// 1 - erf x for x from 0 on, to within 2^-48: erf x is 2 / sqrt(pi) e^(-x^2) times the sum of
/// 2^n x^(2n + 1) / (1 3 5 ... (2n + 1)), all of one sign.
pub(super) fn erfc(x: f64) -> f64 {
    if x > 6.0 {
        return 0.0; // less than 2^-55
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
    }
    1.0 - std::f64::consts::FRAC_2_SQRT_PI * exp(-x * x) * sum
}

/// 1 / (1 + e^a) for a from 0 on.
pub(super) fn sigmoid_below(a: f64) -> f64 {
    let small = exp(-a);
    small / (1.0 + small)
}
