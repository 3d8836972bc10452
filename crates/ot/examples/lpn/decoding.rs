//! Attacks that look for rows without errors, and solve for the secret.

use crate::problem::{OMEGA, Problem, log2_binomial, log2_sum};

/// A set of columns and the equations in them that an attacker solves in each try.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System {
    pub(crate) unknowns: f64,
    /// Cost of solving it.
    pub(crate) solve: f64,
}

impl System {
    /// `unknowns` of them, in rows of `d` ones.
    pub(crate) fn sparse(unknowns: f64, d: f64) -> Self {
        let sparse = (2.0 * d).log2() + 2.0 * unknowns.log2();
        System {
            unknowns,
            solve: sparse.min(OMEGA * unknowns.log2()),
        }
    }

    /// All columns. The bins' sums, where there are any, take t unknowns off, and are sparse enough if they are formed in
    /// each product with the matrix anew.
    pub(crate) fn whole(problem: &Problem) -> Self {
        System {
            unknowns: problem.unknowns(),
            ..System::sparse(problem.k, problem.d)
        }
    }

    /// Pooled Gauss (Esser, Kuebler, May, Crypto 2017), which is Prange's information-set decoding
    /// seen from the secret: take as many rows as there are unknowns, as many from each bin, solve,
    /// and hope that none had an error, which is so with probability (1 - k / n)^t. An even share of
    /// each bin is the best for the attacker: log(1 - x) is concave.
    pub(crate) fn gauss(&self, problem: &Problem) -> f64 {
        -problem.t * (1.0 - problem.hit(self.unknowns / problem.n)).log2() + self.solve
    }

    /// Information-set decoding with lists (Stern, in the regular version of Esser and Santini,
    /// Crypto 2024, ePrint 2023/1568, "enumeration"): p errors are allowed among k + l chosen rows,
    /// p / 2 in those of either half of the bins, and found by matching two lists of sums on l
    /// bits. An entry costs l bits, a match 8 (p + 1): 8 further rows on average would be looked at
    /// to drop it.
    pub(crate) fn lists(&self, problem: &Problem) -> f64 {
        self.best(problem, (0..24).step_by(2), |p, l, each| {
            let half = p / 2.0;
            let places = log2_binomial(problem.t / 2.0, half);
            let list = places + half * each.log2();
            Try {
                places: 2.0 * places,
                work: vec![
                    1.0 + list + l.log2(),
                    2.0 * list - l + (8.0 * (p + 1.0)).log2(),
                ],
            }
        })
    }

    /// Costs decoding with representations (May, Meurer, Thomae; regular in Esser and Santini): the p
    /// errors are the sum of two sets of p / 2 anywhere, in C(p, p / 2) ways, of which matching on
    /// the logarithm of that many bits leaves one. Four lists of p / 4 in either half of the bins
    /// make the two; that not every set of p / 2 divides so evenly is given to the attacker.
    pub(crate) fn representations(&self, problem: &Problem) -> f64 {
        self.best(problem, (4..28).step_by(4), |p, l, each| {
            let ways = log2_binomial(p, p / 2.0);
            if l <= ways {
                return Try {
                    places: 0.0,
                    work: vec![f64::INFINITY],
                };
            }
            let quarter = p / 4.0;
            let base = log2_binomial(problem.t / 2.0, quarter) + quarter * each.log2();
            let list = 2.0 * base - ways;
            Try {
                places: log2_binomial(problem.t, p),
                work: vec![
                    2.0 + base + ways.log2(),
                    1.0 + list + (l - ways).log2(),
                    2.0 * list - (l - ways) + (8.0 * (p + 1.0)).log2(),
                ],
            }
        })
    }

    /// The cheapest over all p and l, `each` being the rows taken from a bin.
    fn best(
        &self,
        problem: &Problem,
        errors: impl Iterator<Item = u32>,
        at: impl Fn(f64, f64, f64) -> Try,
    ) -> f64 {
        let mut best = f64::INFINITY;
        for p in errors.map(f64::from).take_while(|&p| p <= problem.t) {
            for l in (1..200).map(f64::from) {
                let each = (self.unknowns + l) / problem.t;
                let hit = each / problem.bin();
                if hit >= 1.0 {
                    break;
                }
                let Try { places, mut work } = at(p, l, each);
                work.push(self.solve);
                best = best.min(log2_sum(&work) - chance(problem, places, p, each).min(0.0));
            }
        }
        best
    }
}

/// Chance that of `each` rows of every bin p have an error, when that may be in 2^`places` choices of
/// bins.
pub(crate) fn chance(problem: &Problem, places: f64, p: f64, each: f64) -> f64 {
    let hit = problem.hit(each / problem.bin());
    places + p * hit.log2() + (problem.t - p) * (1.0 - hit).log2()
}

/// Result of one choice of p and l: in how many ways the errors may lie, and what is done.
struct Try {
    places: f64,
    work: Vec<f64>,
}
