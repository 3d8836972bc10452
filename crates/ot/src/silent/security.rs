//! Estimates of the parameters' security: the cost, as a power of two of bit operations, of the
//! attacks known on LPN with regular noise. The formulas are upper bounds on what an attacker gets
//! from each idea: memory is free, and lists cost only the bits that are compared.
//!
//! In all of them n rows fall into t bins of b = n / t with one error each, and k' = k - t unknowns
//! are left after each bin's rows have been added up, which gives an equation without noise.

use super::{SilentParams, Stage};

/// Exponent of linear algebra (Strassen's, as the papers take it).
const OMEGA: f64 = 2.8;

/// What every attack must cost.
const BITS: f64 = 128.0;

struct Problem {
    n: f64,
    k: f64,
    t: f64,
    bin: f64,
}

impl Problem {
    fn new(n: usize, k: usize, t: usize) -> Self {
        let (n, k, t) = (n as f64, k as f64, t as f64);
        Problem {
            n,
            k,
            t,
            bin: n / t,
        }
    }

    fn of(stage: &Stage) -> Self {
        Self::new(stage.rows(), stage.dimension(), stage.trees())
    }

    fn unknowns(&self) -> f64 {
        self.k - self.t
    }

    /// Pooled Gauss (Esser, Kuebler, May, Crypto 2017), which is Prange's information-set decoding
    /// seen from the secret: take k' rows, as many from each bin, solve, and hope that none had an
    /// error, which is so with probability (1 - k'/n)^t.
    fn pooled_gauss(&self) -> f64 {
        let k = self.unknowns();
        -self.t * (1.0 - k / self.n).log2() + OMEGA * k.log2()
    }

    /// Information-set decoding with lists (Stern, in the regular version of Esser and Santini,
    /// Crypto 2024, ePrint 2023/1568): p errors are allowed among k' + l chosen rows, p / 2 in
    /// those of either half of the bins, and found by matching two lists of sums on l bits. An
    /// entry costs l bits, a match 8 (p + 1): 8 further rows on average would be looked at to drop
    /// it.
    fn stern(&self) -> f64 {
        let k = self.unknowns();
        let mut best = f64::MAX;
        for p in (0..20).step_by(2) {
            let half = f64::from(p) / 2.0;
            let p = f64::from(p);
            for l in 1..160 {
                let l = f64::from(l);
                let per_bin = (k + l) / self.t;
                if per_bin >= self.bin {
                    break;
                }
                let hit = per_bin / self.bin;
                let places = log2_binomial(self.t / 2.0, half);
                let success = 2.0 * places + p * hit.log2() + (self.t - p) * (1.0 - hit).log2();
                let list = places + half * per_bin.log2();
                let matches = 2.0 * list - l;
                let cost = log2_sum(&[
                    OMEGA * k.log2(),
                    1.0 + list + l.log2(),
                    matches + (8.0 * (p + 1.0)).log2(),
                ]);
                best = best.min(cost - success.min(0.0));
            }
        }
        best
    }

    /// Statistical decoding (Jabri; as in Liu et al., ePrint 2022/712): elimination gives parity
    /// checks of weight k' / 2 + 1, of which the noise leaves a bias of (1 - k' / n)^t; telling
    /// that from a fair coin takes the inverse square of it in checks. An exchange of s rows
    /// against a list of 2^s, s the cost of Gauss, saves s / 2 of the weight.
    fn statistical_decoding(&self) -> f64 {
        let weight = self.unknowns() - self.pooled_gauss();
        -2.0 * self.t * (1.0 - weight / self.n).log2() + self.k.log2()
    }

    /// The hybrid algebraic attack (Briaud and Oygarden, Eurocrypt 2023; ePrint 2025/1284): the
    /// products of two errors of a bin vanish. The attacker hopes for u error-free places in each
    /// bin (u + 1 in f of them), of which each is a linear equation to solve, enumerates the errors
    /// of g bins, and eliminates the v^2 / 2 products of the unknowns that do not belong to those
    /// from the matrix of all products. Works when the quadratic equations are as many.
    fn algebraic(&self) -> f64 {
        let mut best = f64::MAX;
        for g in 0..12 {
            let g = f64::from(g);
            let mut u = 0.0;
            while u < self.bin - 3.0 {
                // The fewest bins with a place more that suffice.
                let (mut low, mut high) = (0, (self.t - g) as u32);
                while low < high {
                    let f = u32::midpoint(low, high);
                    if self.determined(u, f64::from(f), g) {
                        high = f;
                    } else {
                        low = f + 1;
                    }
                }
                let f = f64::from(low);
                if self.determined(u, f, g) {
                    let guess = -f * (1.0 - (u + 1.0) / self.bin).log2()
                        - (self.t - g - f) * (1.0 - u / self.bin).log2();
                    if guess > best {
                        break;
                    }
                    best = best.min(guess + self.eliminate(u, f, g));
                }
                u += 1.0;
            }
        }
        best
    }

    fn left_after(&self, u: f64, f: f64, g: f64) -> f64 {
        self.unknowns() - (u + 1.0) * f - u * (self.t - f - g)
    }

    fn determined(&self, u: f64, f: f64, g: f64) -> bool {
        let pairs = |places: f64| places * (places - 1.0) / 2.0;
        let equations =
            (self.t - f - g) * pairs(self.bin - u - 1.0) + f * pairs(self.bin - u - 2.0);
        let v = self.left_after(u, f, g) - (self.bin - 1.0) * g;
        v <= 1.0 || pairs(v + 2.0) <= equations
    }

    fn eliminate(&self, u: f64, f: f64, g: f64) -> f64 {
        let all = self.left_after(u, f, g).max(2.0);
        let own = (self.bin - 1.0) * g;
        let v = (all - own).max(2.0);
        let products = |x: f64| 2.0 * x.log2() - 1.0;
        let guessed = (self.unknowns() - all).max(2.0);
        let linear = (OMEGA - 1.0) * guessed.log2() + self.unknowns().log2();
        let once = (OMEGA - 1.0) * products(v) + products(all);
        // For each choice of the errors of g bins a linear system in v unknowns remains.
        let each = OMEGA * (2.5 * v).log2() + g * self.bin.log2();
        log2_sum(&[linear, once, if g == 0.0 { 0.0 } else { each }])
    }

    /// The algebraic attack on all products of errors of two bins at once, by Wiedemann's algorithm
    /// on rows of k ones (Briaud and Oygarden, with their degree two), after the same guess.
    fn macaulay(&self) -> f64 {
        let mut best = f64::MAX;
        let mut u = 0.0;
        while u < self.bin - 3.0 {
            if self.determined(u, 0.0, 0.0) {
                let monomials = 2.0 * (self.t * (self.bin - u - 1.0)).log2() - 1.0;
                let row = (3.0 * (self.k + 1.0 - self.t * u).max(1.0)).log2();
                let guess = -self.t * (1.0 - u / self.bin).log2();
                best = best.min(2.0 * monomials + row + guess);
            }
            u += 1.0;
        }
        best
    }

    fn report(&self) -> [(&'static str, f64); 5] {
        [
            ("Pooled Gauss", self.pooled_gauss()),
            ("lists", self.stern()),
            ("statistical decoding", self.statistical_decoding()),
            ("algebraic", self.algebraic()),
            ("Macaulay", self.macaulay()),
        ]
    }
}

fn log2_binomial(n: f64, k: f64) -> f64 {
    let mut sum = 0.0;
    let mut i = 0.0;
    while i < k {
        sum += ((n - i) / (i + 1.0)).log2();
        i += 1.0;
    }
    sum
}

fn log2_sum(terms: &[f64]) -> f64 {
    let greatest = terms.iter().copied().fold(f64::MIN, f64::max);
    greatest
        + terms
            .iter()
            .map(|x| (x - greatest).exp2())
            .sum::<f64>()
            .log2()
}

#[test]
fn every_attack_costs_enough() {
    for stage in SilentParams::LARGE.stages() {
        let report = Problem::of(stage).report();
        // Shown on failure, or with --nocapture.
        #[allow(clippy::print_stdout, reason = "the figures of the documentation")]
        {
            println!("{stage:?}: {report:.1?}");
        }
        for (attack, bits) in report {
            assert!(bits >= BITS, "{attack} on {stage:?}: 2^{bits:.1}");
        }
    }
    assert!(
        SilentParams::LARGE
            .stages()
            .starts_with(SilentParams::SMALL.stages())
    );
}

/// The estimates find weak what is known to be weak.
#[test]
fn estimates_agree_with_published_ones() {
    // In use, and above 2^130 by the attacks that it was chosen against.
    let common = Problem::new(10_180_608, 124_000, 4_971);
    assert!((131.0..132.5).contains(&common.pooled_gauss()));
    // The authors' estimator for ePrint 2025/1284 says 92.8.
    let bits = common.algebraic();
    assert!((84.0..96.0).contains(&bits), "{bits}");
    // Liu et al. after Boyle et al.; Briaud and Oygarden say 104.
    let bits = Problem::new(1 << 22, 67_440, 4_788).macaulay();
    assert!((103.0..113.0).contains(&bits), "{bits}");
    // Ferret after Liu et al.; the same estimator says 138.8. Ours is lower where it takes the
    // guess's linear algebra to be cheap.
    let revised = Problem::new(10_485_760, 452_000, 1_280);
    let bits = revised.algebraic();
    assert!((120.0..140.0).contains(&bits), "{bits}");
}

/// The code is sparse, but not so sparse that few of its rows add up to zero: below a weight of
/// thousands the expected number of such sets is far less than one, and checks that heavy are no
/// better than those statistical decoding finds anyway. The bound is the number of sets times (10 w
/// - 1)!! / k^(5 w), the chance that 10 w indices pair up.
#[test]
fn no_small_sets_of_rows_cancel() {
    for stage in SilentParams::LARGE.stages() {
        let problem = Problem::of(stage);
        for w in [2.0, 4.0, 16.0, 64.0, 0.002 * problem.k, 0.01 * problem.k] {
            let e = std::f64::consts::E;
            let sets = w * (e * problem.n / w).log2();
            let pairings = 5.0 * w * (10.0 * w / e).log2() + 1.0;
            let expected = sets + pairings - 5.0 * w * problem.k.log2();
            assert!(expected < -40.0, "{w} rows of {stage:?}: 2^{expected}");
        }
    }
}
