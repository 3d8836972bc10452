//! Algebraic attacks of any degree on a sparse code: the monomials of the secret's bits up to degree D as unknowns, and
//! Wiedemann's algorithm on them. The rows stay sparse: one of the code has d + 1 terms with its
//! noise, a product of two (d + 1)^2, whatever they are multiplied by. All M = C(k, D) monomials stay,
//! those that the guess determines too, because elimination would fill the rows up.
//!
//! The degree that suffices is where the Hilbert series runs out ([`undetermined`]). Part of the
//! guess may be made later, for a dense system of what is left then ("AGB 2.0", ePrint 2025/1476), and
//! all of it be done in a dense minor.
//!
//! # Errors of B bits
//! They are attacked under one linear map of the bits to one bit. Either an attacker fixes the map: then half of the bins have no error
//! under it, so a guess is right more often than for errors that are ones. Or the map is unknown ([`any_map`]): each row of
//! values is a linear form in the B bits of the map and the k bits of the secret under it. Then whole bins may be guessed to have no
//! error, B - 1 of them for free, since some map is zero on B - 1 errors, and further ones for a bit each;
//! and a guess of single places is right if it meets fewer than B errors.
//!
//! Several maps at once gain nothing: for m of them the series is (1 + places ((1 + z)^m - 1))^t / (1 + z)^(m (t places -
//! unknowns)), which runs out at the degree at which that of one map does, with m^D times the monomials.

use crate::interleaved;
use crate::minors::best_share;
use crate::problem::{OMEGA, Problem, least, log2_binomial, log2_sum};

/// The degrees that are tried. The cheapest is inside for each stage: lower ones need more guesses, higher ones have more monomials.
const DEGREES: std::ops::RangeInclusive<usize> = 2..=12;

/// Cost of an attack, and the degree at which it is that cheap.
pub(crate) type AtDegree = (f64, usize);

/// Costs the attack under a fixed map, or on bits.
pub(crate) fn sparse(problem: &Problem) -> AtDegree {
    let minors = [1.0, 0.98, 0.95, 0.9, 0.8, 0.7].map(|b| Sparse::new(problem, b));
    let sums = (problem.sums > 0.0).then(|| Sparse {
        sums: true,
        ..Sparse::new(problem, 1.0)
    });
    cheapest(minors.into_iter().chain(sums))
}

/// Costs the attack with the map as unknowns.
pub(crate) fn any_map(problem: &Problem) -> AtDegree {
    let bins = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (share * (problem.bits - 1.0)).floor());
    let whole = bins.map(|bins| Sparse {
        map: Some(bins),
        ..Sparse::new(problem, 1.0)
    });
    let minors = [0.98, 0.95, 0.9, 0.8, 0.7].map(|b| Sparse {
        map: Some(0.0),
        ..Sparse::new(problem, b)
    });
    cheapest(whole.into_iter().chain(minors))
}

fn cheapest<'a>(attacks: impl Iterator<Item = Sparse<'a>>) -> AtDegree {
    let mut best = (f64::INFINITY, 0);
    for attack in attacks {
        for degree in DEGREES {
            let bits = attack.cost(degree);
            if bits < best.0 {
                best = (bits, degree);
            }
        }
    }
    best
}

#[derive(Clone, Copy)]
pub(crate) struct Sparse<'a> {
    problem: &'a Problem,
    /// Columns of the minor, and rows of each bin in it.
    columns: f64,
    visible: f64,
    /// Whether the bins' sums are used, which have more ones.
    sums: bool,
    /// Whole bins that are guessed to have no error under a map that is unknown.
    pub(crate) map: Option<f64>,
}

impl<'a> Sparse<'a> {
    /// The attack in a share `b` of the columns, under a fixed map and without the bins' sums.
    pub(crate) fn new(problem: &'a Problem, b: f64) -> Self {
        Sparse {
            problem,
            columns: b * problem.k,
            visible: best_share(problem, b) * problem.bin(),
            sums: false,
            map: None,
        }
    }

    /// Bins of which not all places are guessed.
    fn bins(&self) -> f64 {
        self.problem.t - self.map.unwrap_or(0.0)
    }

    /// Bits of secret and map.
    fn variables(&self) -> f64 {
        self.columns + self.map.map_or(0.0, |_| self.problem.bits)
    }

    /// Unknowns that linear equations leave after a guess of u places in each bin.
    fn unknowns(&self, u: f64) -> f64 {
        let sums = if self.sums { self.problem.t } else { 0.0 };
        let whole = self.map.unwrap_or(0.0) * self.visible;
        self.variables() - sums - whole - u * self.bins()
    }

    /// Monomials that are left then.
    pub(crate) fn left(&self, u: f64, degree: usize) -> f64 {
        let places = self.visible - u - f64::from(u8::from(self.sums));
        undetermined(self.unknowns(u), self.bins(), places, degree)
    }

    /// Tries until a guess of u places in each bin is right.
    fn guess(&self, u: f64) -> f64 {
        let share = u / self.problem.bin();
        let Some(whole) = self.map else {
            return -self.problem.t * (1.0 - self.problem.hit(share)).log2();
        };
        if share <= 0.0 {
            return (whole - self.problem.bits).max(0.0);
        }
        let rest = Problem {
            t: self.bins(),
            ..*self.problem
        };
        -interleaved::chance(&rest, share, self.problem.bits - whole, 0.0).min(0.0)
    }

    pub(crate) fn cost(&self, degree: usize) -> f64 {
        let most = (self.visible - 3.0).min(self.unknowns(0.0) / self.bins());
        if most <= 0.0 {
            return f64::INFINITY;
        }
        let Some(u) = least(0.0, most, |u| self.left(u, degree) <= 0.0) else {
            return f64::INFINITY;
        };
        let Problem { n, t, d, .. } = *self.problem;
        let power = degree as f64;
        let monomials = log2_binomial(self.variables(), power);
        let products = log2_binomial(self.unknowns(u).max(power + 1.0), power);
        let share = (products - monomials).exp2();
        // The bits of an unknown map would add B / 2 terms; they are left out, in the attacker's favour.
        let terms = d + 1.0;
        let mut row = terms * (1.0 - share) + terms * terms * share;
        if self.sums {
            // Adds rows of k ones, or rows formed anew from all rows of the code.
            row += power * t.min(terms * n / self.columns);
        }
        let once = 1.0 + 2.0 * monomials + row.log2();
        let all = self.guess(u);
        let mut best = all + once;
        for halvings in 0..40 {
            let first = u - u * f64::from(-halvings).exp2();
            let rest = OMEGA * self.left(first, degree).max(1.0).log2();
            best = best.min(log2_sum(&[self.guess(first) + once, all + rest]));
        }
        best
    }
}

/// Counts the monomials of degree at most `degree` that the equations leave undetermined; zero where the
/// Hilbert series of the errors' ideal, (1 + places z)^t / (1 + z)^(t places - unknowns), has a
/// coefficient that is not positive by then. It counts t bins of `places` products-free errors and
/// the linear equations between them, supposed to be as independent as they can be, which favours
/// the attacker.
pub(crate) fn undetermined(unknowns: f64, t: f64, places: f64, degree: usize) -> f64 {
    if unknowns <= 1.0 {
        return 0.0;
    }
    // By the series of the logarithm: factors multiplied out would differ in their last digits alone, and lose them.
    let equations = t * places - unknowns;
    let logarithm = |m: usize| {
        let power = t * places.powi(m as i32) - equations;
        match m {
            1 => unknowns,
            _ if m.is_multiple_of(2) => -power,
            _ => power,
        }
    };
    let mut coefficients = vec![1.0];
    let mut left = 1.0;
    for j in 1..=degree {
        let sum: f64 = (1..=j).map(|m| logarithm(m) * coefficients[j - m]).sum();
        if sum <= 0.0 {
            return 0.0;
        }
        coefficients.push(sum / j as f64);
        left += coefficients[j];
    }
    left
}
