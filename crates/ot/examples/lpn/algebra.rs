//! Algebraic attacks: the product of any two errors of one bin is zero, which is a quadratic
//! equation in the secret (Briaud and Oygarden, Eurocrypt 2023, ePrint 2023/176). In all of them the
//! attacker first guesses u places of each bin that have no error; each is a linear equation.

use crate::minors::best_share;
use crate::problem::{OMEGA, Problem, least, log2_binomial, log2_sum};

/// The hybrid attack (ePrint 2025/1284): of f bins one place more is guessed, the errors of g bins
/// are enumerated, and the v^2 / 2 products of the unknowns that do not belong to those g bins are
/// eliminated from the matrix of all products. Works when the quadratic equations are as many.
pub(crate) fn hybrid(problem: &Problem) -> f64 {
    let (bin, t) = (problem.bin(), problem.t);
    let mut best = f64::INFINITY;
    for g in (0..12).map(f64::from).take_while(|&g| g < t) {
        let mut u = 0.0;
        while u < bin - 3.0 {
            let hybrid = |f| Hybrid { problem, u, f, g };
            // The fewest bins with a place more that suffice.
            if let Some(f) = least(0.0, t - g, |f| hybrid(f.ceil()).determined()) {
                let f = f.ceil();
                let guess =
                    -f * (1.0 - (u + 1.0) / bin).log2() - (t - g - f) * (1.0 - u / bin).log2();
                if guess > best {
                    break;
                }
                best = best.min(guess + hybrid(f).eliminate());
            }
            u += 1.0;
        }
    }
    best
}

struct Hybrid<'a> {
    problem: &'a Problem,
    u: f64,
    f: f64,
    g: f64,
}

impl Hybrid<'_> {
    fn left(&self) -> f64 {
        let &Hybrid { problem, u, f, g } = self;
        problem.unknowns() - (u + 1.0) * f - u * (problem.t - f - g)
    }

    fn determined(&self) -> bool {
        let &Hybrid { problem, u, f, g } = self;
        let bin = problem.bin();
        let pairs = |places: f64| places * (places - 1.0) / 2.0;
        let equations = (problem.t - f - g) * pairs(bin - u - 1.0) + f * pairs(bin - u - 2.0);
        let v = self.left() - (bin - 1.0) * g;
        v <= 1.0 || pairs(v + 2.0) <= equations
    }

    fn eliminate(&self) -> f64 {
        let &Hybrid { problem, g, .. } = self;
        let bin = problem.bin();
        let all = self.left().max(2.0);
        let v = (all - (bin - 1.0) * g).max(2.0);
        let products = |x: f64| 2.0 * x.log2() - 1.0;
        let guessed = (problem.unknowns() - all).max(2.0);
        let linear = (OMEGA - 1.0) * guessed.log2() + problem.unknowns().log2();
        let once = (OMEGA - 1.0) * products(v) + products(all);
        // For each choice of the errors of g bins a linear system in v unknowns remains.
        let each = OMEGA * (2.5 * v).log2() + g * bin.log2();
        log2_sum(&[linear, once, if g == 0.0 { 0.0 } else { each }])
    }
}

/// The products of errors of two bins as unknowns, by Wiedemann's algorithm on rows of k ones
/// (Briaud and Oygarden, with their degree two). This attack needs no sparse code.
pub(crate) fn macaulay(problem: &Problem) -> f64 {
    let (bin, t) = (problem.bin(), problem.t);
    let mut best = f64::INFINITY;
    let mut u = 0.0;
    while u < bin - 3.0 {
        let (f, g) = (0.0, 0.0);
        if (Hybrid { problem, u, f, g }).determined() {
            let products = 2.0 * (t * (bin - u - 1.0)).log2() - 1.0;
            let row = (3.0 * (problem.k + 1.0 - t * u).max(1.0)).log2();
            best = best.min(2.0 * products + row - t * (1.0 - u / bin).log2());
        }
        u += 1.0;
    }
    best
}

/// Costs the algebraic attack on a sparse code: the monomials of the secret's bits up to degree D as unknowns, and
/// Wiedemann's algorithm on them. The rows stay sparse: one of the code has d + 1 terms with its
/// noise, a product of two (d + 1)^2, whatever they are multiplied by. All M = C(k, D) monomials stay,
/// those that the guess determines too, because elimination would fill the rows up.
///
/// The degree that suffices is where the Hilbert series runs out ([`undetermined`]). Part of the
/// guess may be made later, for a dense system of what is left then ("AGB 2.0", ePrint 2025/1476), and
/// all of it be done in a dense minor.
pub(crate) fn sparse(problem: &Problem) -> f64 {
    let mut best = f64::INFINITY;
    for b in [1.0, 0.98, 0.95, 0.9, 0.8, 0.7] {
        for degree in 2..=5 {
            best = best.min(Sparse::new(problem, b, degree, false).cost());
        }
    }
    for degree in 2..=5 {
        best = best.min(Sparse::new(problem, 1.0, degree, true).cost());
    }
    best
}

struct Sparse<'a> {
    problem: &'a Problem,
    /// Columns of the minor, and rows of each bin in it.
    columns: f64,
    visible: f64,
    degree: usize,
    /// Whether the bins' sums are used, which have more ones.
    sums: bool,
}

impl<'a> Sparse<'a> {
    fn new(problem: &'a Problem, b: f64, degree: usize, sums: bool) -> Self {
        Sparse {
            problem,
            columns: b * problem.k,
            visible: best_share(problem, b) * problem.bin(),
            degree,
            sums,
        }
    }

    fn unknowns(&self, u: f64) -> f64 {
        let sums = if self.sums { self.problem.t } else { 0.0 };
        self.columns - sums - u * self.problem.t
    }

    /// Monomials that are left after a guess of u places in each bin.
    fn left(&self, u: f64) -> f64 {
        let places = self.visible - u - f64::from(u8::from(self.sums));
        undetermined(self.unknowns(u), self.problem.t, places, self.degree)
    }

    fn cost(&self) -> f64 {
        let &Sparse {
            problem, columns, ..
        } = self;
        let most = (self.visible - 3.0).min(columns / problem.t);
        if most <= 0.0 {
            return f64::INFINITY;
        }
        let Some(u) = least(0.0, most, |u| self.left(u) <= 0.0) else {
            return f64::INFINITY;
        };
        let degree = self.degree as f64;
        let monomials = log2_binomial(columns, degree);
        let products = log2_binomial(self.unknowns(u).max(degree + 1.0), degree);
        let share = (products - monomials).exp2();
        let terms = problem.d + 1.0;
        let mut row = terms * (1.0 - share) + terms * terms * share;
        if self.sums {
            // Adds rows of k ones, or rows formed anew from all rows of the code.
            row += degree * problem.t.min(terms * problem.n / columns);
        }
        let once = 1.0 + 2.0 * monomials + row.log2();
        let guess = |u: f64| -problem.t * (1.0 - u / problem.bin()).log2();
        let mut best = guess(u) + once;
        for halvings in 0..40 {
            let first = u - u * f64::from(-halvings).exp2();
            let rest = OMEGA * self.left(first).max(1.0).log2();
            best = best.min(log2_sum(&[guess(first) + once, guess(u) + rest]));
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
    let equations = t * places - unknowns;
    let (mut errors, mut relations) = (vec![1.0], vec![1.0]);
    for i in 0..degree {
        let j = i as f64;
        errors.push(errors[i] * places * (t - j) / (j + 1.0));
        relations.push(-relations[i] * (equations + j) / (j + 1.0));
    }
    let mut left = 0.0;
    for j in 0..=degree {
        let coefficient: f64 = (0..=j).map(|i| errors[i] * relations[j - i]).sum();
        if coefficient <= 0.0 {
            return 0.0;
        }
        left += coefficient;
    }
    left
}
