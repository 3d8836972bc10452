//! Statistical decoding: parity checks, sums of rows that cancel, show a bias where the errors they meet are few (Jabri; as in
//! Liu et al., ePrint 2022/712).
//!
//! A code whose rows have d ones has more light checks than one without structure: w d uniform indices
//! fall on each column an even number of times more often than with a chance of 2^-k ([`even`]). [`distance`] is the weight at which one is
//! expected. From there on enough exist for statistical decoding to break every stage, if they could be had for
//! nothing ([`free`]); but to find them is to decode the dual code, and [`statistical`] counts that.
//!
//! Numbers of checks and chances are base-two logarithms, as costs are.

use crate::problem::{Problem, least, log2_binomial};

/// Chance that `indices` of them, uniform and independent, name each of `columns` an even number of times, by characters:
/// the mean of (1 - 2 j / k)^indices over all subsets of the columns, where j is the subset's size.
pub(crate) fn even(columns: f64, indices: f64) -> f64 {
    // Sizes j and k - j give the same for an even number of indices; an odd one, which cannot, counts like its neighbours.
    let (mut greatest, mut sum) = (0.0_f64, 1.0);
    let (mut subsets, mut j) = (0.0_f64, 1.0);
    while 2.0 * j < columns {
        subsets += ((columns - j + 1.0) / j).log2();
        let term = subsets + indices * (1.0 - 2.0 * j / columns).log2();
        if term > greatest {
            sum = sum * (greatest - term).exp2() + 1.0;
            greatest = term;
        } else {
            sum += (term - greatest).exp2();
        }
        if term < greatest - 80.0 {
            break;
        }
        j += 1.0;
    }
    greatest + sum.log2() + 1.0 - columns
}

/// Expected number of checks of weight `w`.
pub(crate) fn expected(problem: &Problem, w: f64) -> f64 {
    log2_binomial(problem.n, w) + even(problem.k, problem.d * w)
}

/// The least weight at which a check is expected. (Single rows whose ones cancel are the likeliest of lighter ones: 2^-38 are expected
/// in a code.)
pub(crate) fn distance(problem: &Problem) -> f64 {
    weight(problem, |_| 0.0)
}

/// Lightest check of a code without structure, by the bound of Gilbert and Varshamov.
pub(crate) fn unstructured(problem: &Problem) -> f64 {
    let enough = |share: f64| entropy(share) >= problem.k / problem.n;
    problem.n * least(1e-9, 0.5, enough).expect("half of all rows")
}

/// Number of checks of weight `w` that show the noise: the inverse square of their bias. With more bits, one check that
/// meets no error shows zeros in all bits at once, so the inverse of the chance of that is enough.
pub(crate) fn needed(problem: &Problem, w: f64) -> f64 {
    let meets = w / problem.n;
    if problem.bits > 1.0 {
        -problem.t * (1.0 - meets).log2()
    } else {
        -2.0 * problem.t * (1.0 - 2.0 * meets).log2()
    }
}

/// The least weight of which there are enough checks, and that number.
pub(crate) fn free(problem: &Problem) -> (f64, f64) {
    let w = weight(problem, |w| needed(problem, w));
    (w, needed(problem, w))
}

/// The least weight of which that many checks are expected.
fn weight(problem: &Problem, many: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (2.0, (problem.k / 2.0).ceil());
    while high - low > 1.0 {
        let middle = f64::midpoint(low, high).floor();
        if expected(problem, middle) >= many(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Costs statistical decoding with the checks that can be found in `columns` columns. Elimination leaves sums
/// that are random in as many rows, half of which are in a check. Two lists of 2^c sums have 2^(2 c) pairs; an attacker is given, at
/// the price of the lists, all pairs of weight w or less there, and the ones outside these rows for nothing. No
/// search for near neighbours is known that does as well.
pub(crate) fn statistical(problem: &Problem, columns: f64) -> f64 {
    let mut best = f64::INFINITY;
    for step in 1..512 {
        let share = f64::from(step) / 1024.0;
        let w = share * columns;
        // With lists of 2^c a light pair costs 2^(rare - c), or 1 if that is less: the whole is least where it is 2^c.
        let lists = f64::midpoint(needed(problem, w), rare(columns, w));
        best = best.min(needed(problem, w).max(lists));
    }
    best
}

/// Costs finding a single check of weight `w` in `columns` columns by such lists: all of its pairs are as many as one is rare.
pub(crate) fn finding(columns: f64, w: f64) -> f64 {
    rare(columns, w) / 2.0
}

/// How rare weight `w` is among random sums in that many rows.
fn rare(columns: f64, w: f64) -> f64 {
    columns * (1.0 - entropy(w / columns))
}

/// Entropy of a bit that is one with probability x.
fn entropy(x: f64) -> f64 {
    -x * x.log2() - (1.0 - x) * (1.0 - x).log2()
}
