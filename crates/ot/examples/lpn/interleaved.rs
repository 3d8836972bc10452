//! Attacks on a code over the field of two elements whose secrets and errors have B bits each: B problems with one code
//! and with errors in the same places, where the bits of an error are random.
//!
//! # The attack
//! Take as many rows as unknowns and solve for all B bits at once. If h of these rows have errors, the solution
//! is off by a matrix of rank h, hence right for a linear map of the B bits to one if that map is
//! zero on the h errors. For h < B there is one, whatever the errors are, and it is seen at once: what the solution
//! leaves on the other rows lies in a space of h dimensions, wherever these have no error. This is how interleaved codes are decoded
//! beyond their distance (Metzner and Kapturowski, IEEE Transactions on Information Theory 1990). So with B = 128 the rows
//! taken must have far more than 128 errors: the parameters that serve for bits would fall at once, where 270 336 rows of bins of
//! 2048 have 132.
//!
//! More generally some map leaves w or fewer of the h errors if 2^B maps times the share of those that do,
//! 2^-h sum C(h, i), is one, and w errors are found by matching lists of w / 2 places; all the ways to put w together of halves
//! are given to the attacker, as are the B - 1 further right-hand sides and all else that is not linear algebra.

use crate::decoding::System;
use crate::problem::{Problem, log2_binomial};

/// Cost of the attack on `system`, whose rows are spread evenly over the bins.
pub(crate) fn interleaved(problem: &Problem, system: &System) -> f64 {
    let (r, bits) = (system.unknowns, problem.bits);
    let mut best = f64::INFINITY;
    for w in (0..=24).step_by(2).map(f64::from) {
        let lists = log2_binomial(r, w / 2.0) - log2_binomial(w, w / 2.0);
        let work = system.solve.max(lists);
        if work >= best {
            break;
        }
        best = best.min(work - chance(problem, r / problem.n, bits, w).min(0.0));
    }
    best
}

/// Chance that a map of the bits leaves at most `w` errors in rows that are a share `hit` of each bin.
pub(crate) fn chance(problem: &Problem, hit: f64, bits: f64, w: f64) -> f64 {
    let mut total = 0.0_f64;
    // Probability of h errors, and the share of maps that leave at most w of them.
    let mut log_errors = problem.t * (1.0 - hit).log2();
    let mut h = 0.0;
    while h <= problem.t {
        let mut left = 0.0;
        let mut i = 0.0;
        while i <= w.min(h) {
            left += log2_binomial(h, i).exp2();
            i += 1.0;
        }
        total += (log_errors + (bits + left.log2() - h).min(0.0)).exp2();
        log_errors += ((problem.t - h) / (h + 1.0) * hit / (1.0 - hit)).log2();
        h += 1.0;
        if h > bits + 400.0 && log_errors + bits - h < total.log2() - 40.0 {
            break;
        }
    }
    total.log2()
}
