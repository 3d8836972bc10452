//! The chance that a receiver's items fit into no bins.
//!
//! # The proof
//! n items have three distinct bins each of m, every triple with the same probability. By Hall's theorem they have no places, at most one
//! in each bin, just if there is a set T of bins such that the items all of whose bins are in T are more than T. Take a least such T, of t bins,
//! with s = t + j items inside. A bin of it that touches d of these items can be left out, with d items, so by minimality
//! s - d <= t - 1: *each bin touches at least j + 1 of the items*, and so t (j + 1) <= 3 s. The probability that there is one is at most the
//! sum, over all t and j, of the products of
//!
//! - C(m, t) sets T,
//! - C(n, s) p^s (1 - p)^(n - s), the probability that exactly s items are inside, p = t (t-1) (t-2) / (m (m-1) (m-2)),
//! - the probability that s triples inside T touch each bin j + 1 times or more. Of 3 s numbers in order, (3s)! times the coefficient
//!   of z^(3s) in f(z)^t do, f being the sum of z^d / d! from d = j + 1 on, which is at most (3s)! f(x)^t / x^(3s) for each x > 0; and
//!   (t (t-1) (t-2))^s sequences of triples are possible. It is at most 1, too.
//!
//! Nothing was left out that would have to be measured. With few items the first terms count: four items with the same three bins, 216 n^4 / 24 m^8
//! times 1 / 6 m. With many they vanish, and the terms where t is about half of m say how few bins are possible: 1.23 for each item.
//!
//! Pinkas, Schneider, Segev and Zohner ("Scalable Private Set Intersection Based on OT Extension", TOPS 2018, ePrint 2016/930) measured
//! failures of small tables and went on along a line, to 1.27 bins for each of a million items; where an item's bins may be
//! the same, two items of one bin are what fails most often.

/// Natural logarithm of n!.
fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    // Stirling's series, whose next term is below 10^-12.
    let n = n as f64;
    (n + 0.5) * n.ln() - n + 0.5 * core::f64::consts::TAU.ln() + 1.0 / (12.0 * n)
        - 1.0 / (360.0 * n.powi(3))
        + 1.0 / (1260.0 * n.powi(5))
}

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Sum of x^d / d! from d = `least` on.
fn tail(x: f64, least: u64) -> f64 {
    let mut term = (least as f64 * x.ln() - ln_factorial(least)).exp();
    let (mut sum, mut d) = (0.0, least as f64);
    while term > 1e-18 * sum {
        sum += term;
        d += 1.0;
        term *= x / d;
    }
    sum
}

/// The x at which the bound on numbers that are all `least` or more is lowest, if they are `mean` on average; any other x gives
/// a bound, too.
fn lowest(mean: f64, least: u64) -> f64 {
    let (mut below, mut above) = (1e-6, mean);
    for _ in 0..50 {
        let x = (below + above) / 2.0;
        if x * tail(x, least - 1) < mean * tail(x, least) {
            below = x;
        } else {
            above = x;
        }
    }
    (below + above) / 2.0
}

/// The probability, as a negative power of two, that `items` items of three distinct uniform bins each fit into no `bins` bins: at most
/// so much, by the proof above, and 40 or more with every [`Shape`](crate::Shape) that this crate chooses. It takes microseconds for a
/// thousand items and a second for ten million. There are three bins or more.
#[must_use]
pub fn failure_bits(items: u64, bins: u64) -> f64 {
    let (n, m) = (items, bins);
    let triples = |k: u64| (k * (k - 1)) as f64 * (k - 2) as f64;
    let mut sum = 0.0;
    // ln x and ln f(x) for each j, computed anew where 3 s / t has changed.
    let mut known: Vec<(f64, f64)> = Vec::new();
    for t in 3..=m.min(n.saturating_sub(1)) {
        if t < 64 || t % 64 == 0 {
            known.clear();
        }
        let subsets = ln_choose(m, t);
        let inside = triples(t) / triples(m);
        for j in 1..=n - t {
            let s = t + j;
            if t * (j + 1) > 3 * s {
                break;
            }
            let at = (j - 1) as usize;
            if at == known.len() {
                let x = lowest(3.0 * s as f64 / t as f64, j + 1);
                known.push((x.ln(), tail(x, j + 1).ln()));
            }
            let (ln_x, ln_f) = known[at];
            let touched = ln_factorial(3 * s) + t as f64 * ln_f
                - 3.0 * s as f64 * ln_x
                - s as f64 * triples(t).ln();
            let others = match n - s {
                0 => 0.0,
                others => others as f64 * (-inside).ln_1p(),
            };
            let exactly = ln_choose(n, s) + s as f64 * inside.ln() + others;
            let probability = (subsets + exactly + touched.min(0.0)).exp();
            sum += probability;
            // Beyond their mean, more items are inside less often.
            if probability == 0.0 && s as f64 > n as f64 * inside {
                break;
            }
        }
    }
    -f64::log2(sum)
}
