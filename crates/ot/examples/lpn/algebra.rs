//! Algebraic attacks of degree two: the product of any two errors of one bin is zero, which is a quadratic
//! equation in the secret (Briaud and Oygarden, Eurocrypt 2023, ePrint 2023/176). In all of them the
//! attacker first guesses u places of each bin that have no error; each is a linear equation.
//!
//! Secrets and errors of B bits are attacked under one linear map of the bits to one bit, which leaves no error in half of
//! the bins. The map may be an unknown, too: B more unknowns, and any of 2^B maps for which the guess
//! is right will do.

use crate::problem::{OMEGA, Problem, least, log2_sum};

/// Costs the hybrid attack (ePrint 2025/1284): of f bins one place more is guessed, the errors of g bins
/// are enumerated, and the v^2 / 2 products of the unknowns that do not belong to those g bins are
/// eliminated from the matrix of all products. Works when the quadratic equations are as many.
pub(crate) fn hybrid(problem: &Problem) -> f64 {
    variants(problem)
        .map(|free| hybrid_with(problem, free))
        .fold(f64::INFINITY, f64::min)
}

/// Bits of the map that are unknown: none, or all.
fn variants(problem: &Problem) -> impl Iterator<Item = f64> {
    let all = (problem.bits > 1.0).then_some(problem.bits);
    core::iter::once(0.0).chain(all)
}

fn hybrid_with(problem: &Problem, free: f64) -> f64 {
    let (bin, t) = (problem.bin(), problem.t);
    // The place of an error, or with more bits that there is none under the map, which every second bin has.
    let (choice, most) = if problem.bits > 1.0 {
        (1.0, 256)
    } else {
        (bin.log2(), 12)
    };
    let bins = (0..most).filter(|g| *g < 24 || g % 8 == 0);
    let mut best = f64::INFINITY;
    for g in bins.map(f64::from).take_while(|&g| g < t) {
        let mut u = 0.0;
        while u < bin - 3.0 {
            let hybrid = |f| Hybrid {
                problem,
                free,
                u,
                f,
                g,
            };
            // The fewest bins with a place more that suffice.
            if let Some(f) = least(0.0, t - g, |f| hybrid(f.ceil()).determined()) {
                let f = f.ceil();
                let right = |u: f64| (1.0 - problem.hit(u / bin)).log2();
                let guess = -f * right(u + 1.0) - (t - g - f) * right(u);
                if guess - free > best {
                    break;
                }
                let [once, each] = hybrid(f).eliminate();
                let mut work = vec![(guess - free).max(0.0) + once];
                if g > 0.0 {
                    work.push((guess + g * choice - free).max(0.0) + each);
                }
                best = best.min(log2_sum(&work));
            }
            u += 1.0;
        }
    }
    best
}

struct Hybrid<'a> {
    problem: &'a Problem,
    /// Unknown bits of the map.
    free: f64,
    u: f64,
    f: f64,
    g: f64,
}

impl Hybrid<'_> {
    fn unknowns(&self) -> f64 {
        self.problem.unknowns() + self.free
    }

    fn left(&self) -> f64 {
        let &Hybrid {
            problem, u, f, g, ..
        } = self;
        self.unknowns() - (u + 1.0) * f - u * (problem.t - f - g)
    }

    /// Unknowns outside the g bins, of whose places each is one, but for what a sum says.
    fn outside(&self) -> f64 {
        self.left() - (self.problem.bin() - self.problem.sums) * self.g
    }

    fn determined(&self) -> bool {
        let &Hybrid {
            problem, u, f, g, ..
        } = self;
        let places = problem.bin() - problem.sums - u;
        let pairs = |places: f64| places * (places - 1.0) / 2.0;
        let equations = (problem.t - f - g) * pairs(places) + f * pairs(places - 1.0);
        let v = self.outside();
        v <= 1.0 || pairs(v + 2.0) <= equations
    }

    /// Costs what is done once for a guess, and for each choice of the errors of g bins: a linear system in v unknowns.
    fn eliminate(&self) -> [f64; 2] {
        let all = self.left().max(2.0);
        let v = self.outside().max(2.0);
        let products = |x: f64| 2.0 * x.log2() - 1.0;
        let guessed = (self.unknowns() - all).max(2.0);
        let linear = (OMEGA - 1.0) * guessed.log2() + self.unknowns().log2();
        let once = (OMEGA - 1.0) * products(v) + products(all);
        [log2_sum(&[linear, once]), OMEGA * (2.5 * v).log2()]
    }
}

/// The products of errors of two bins as unknowns, by Wiedemann's algorithm on rows of k ones
/// (Briaud and Oygarden, with their degree two). This attack needs no sparse code.
pub(crate) fn macaulay(problem: &Problem) -> f64 {
    let (bin, t) = (problem.bin(), problem.t);
    let mut best = f64::INFINITY;
    for free in variants(problem) {
        let mut u = 0.0;
        while u < bin - 3.0 {
            let (f, g) = (0.0, 0.0);
            if (Hybrid {
                problem,
                free,
                u,
                f,
                g,
            })
            .determined()
            {
                let products = 2.0 * (t * (bin - u - problem.sums)).log2() - 1.0;
                let row = (3.0 * (problem.k + free + 1.0 - t * u).max(1.0)).log2();
                let guess = -t * (1.0 - problem.hit(u / bin)).log2();
                best = best.min(2.0 * products + row + (guess - free).max(0.0));
            }
            u += 1.0;
        }
    }
    best
}
