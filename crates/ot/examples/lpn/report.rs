//! All attacks on one problem, side by side.

use std::fmt;

use crate::decoding::System;
use crate::interleaved::interleaved;
use crate::minors::{Code, exists, peel, random};
use crate::problem::Problem;
use crate::sparse::{any_map, sparse};
use crate::{BITS, MARGIN, algebra, checks};

/// Whether an attacker's greedy choice of a dense minor is simulated on a code of this size: seconds
/// of work, and never less than what [`exists`] says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Greedy {
    Simulated,
    Left,
}

/// Rows more than columns, by which an attacker tells a right solution.
const CHECKS: usize = 64;

/// Ones of a code that is still simulated: half a gigabyte of memory.
const MOST_ONES: f64 = 6e7;

pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) bits: f64,
    /// Where it is that cheap.
    place: Place,
}

enum Place {
    Everywhere,
    /// Columns of the dense minor, as a share.
    Columns(f64),
    Degree(usize),
}

pub(crate) struct Report {
    pub(crate) problem: Problem,
    pub(crate) attacks: Vec<Attack>,
}

pub(crate) fn report(problem: &Problem, greedy: Greedy) -> Report {
    let whole = System::whole(problem);
    let plain = |name, bits| Attack {
        name,
        bits,
        place: Place::Everywhere,
    };
    let at_degree = |name, (bits, degree)| Attack {
        name,
        bits,
        place: Place::Degree(degree),
    };
    let mut attacks = vec![
        plain("pooled Gauss", whole.gauss(problem)),
        plain("lists", whole.lists(problem)),
        plain("representations", whole.representations(problem)),
        plain(
            "statistical decoding",
            checks::statistical(problem, whole.unknowns),
        ),
        plain("hybrid algebraic", algebra::hybrid(problem)),
        plain("Macaulay", algebra::macaulay(problem)),
        at_degree("sparse Macaulay", sparse(problem)),
    ];
    let several = problem.bits > 1.0;
    if several {
        attacks.push(at_degree("sparse Macaulay, any map", any_map(problem)));
        attacks.push(plain("interleaved", interleaved(problem, &whole)));
    }
    let mut minor = |names: [&'static str; 4], b: f64| {
        let system = System::sparse(b * problem.k, problem.d);
        let mut bits = vec![
            system.gauss(problem),
            system.lists(problem).min(system.representations(problem)),
            checks::statistical(problem, system.unknowns),
        ];
        if several {
            bits.push(interleaved(problem, &system));
        }
        for (name, bits) in names.into_iter().zip(bits) {
            attacks.push(Attack {
                name,
                bits,
                place: Place::Columns(b),
            });
        }
    };
    minor(
        [
            "random minor, Gauss",
            "random minor, lists",
            "random minor, statistical",
            "random minor, interleaved",
        ],
        random(problem),
    );
    if greedy == Greedy::Simulated && problem.n * problem.d <= MOST_ONES {
        minor(
            [
                "greedy minor, Gauss",
                "greedy minor, lists",
                "greedy minor, statistical",
                "greedy minor, interleaved",
            ],
            greedy_share(problem),
        );
    }
    minor(
        [
            "any minor, Gauss",
            "any minor, lists",
            "any minor, statistical",
            "any minor, interleaved",
        ],
        exists(problem),
    );
    Report {
        problem: *problem,
        attacks,
    }
}

/// Share that [`peel`] leaves of a code of the problem's size.
fn greedy_share(problem: &Problem) -> f64 {
    let [n, k, d] = [problem.n, problem.k, problem.d].map(|x| x as usize);
    let left = peel(&Code::new(1, n, k, d), CHECKS, &[]);
    left.iter().filter(|&&kept| kept).count() as f64 / problem.k
}

impl Report {
    pub(crate) fn cheapest(&self) -> &Attack {
        let mut cheapest = &self.attacks[0];
        for attack in &self.attacks {
            if attack.bits < cheapest.bits {
                cheapest = attack;
            }
        }
        cheapest
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem {
            n, k, t, d, bits, ..
        } = self.problem;
        write!(f, "{n} rows, dimension {k}, {t} errors, {d} ones in a row")?;
        match bits {
            1.0 => writeln!(f)?,
            bits => writeln!(f, ", secrets and errors of {bits} bits")?,
        }
        for attack in &self.attacks {
            write!(f, "  {:36} 2^{:.1}", attack.name, attack.bits)?;
            match attack.place {
                Place::Columns(b) => writeln!(f, "   in {b:.3} of the columns")?,
                Place::Degree(degree) => writeln!(f, "   at degree {degree}")?,
                Place::Everywhere => writeln!(f)?,
            }
        }
        let (weight, number) = checks::free(&self.problem);
        writeln!(
            f,
            "  lightest check: {} rows ({:.0} in a code without structure); 2^{number:.1} of {weight} rows would tell if they cost \
             nothing; to find one costs 2^{:.0}, in any minor 2^{:.0}",
            checks::distance(&self.problem),
            checks::unstructured(&self.problem),
            checks::finding(self.problem.k, weight),
            checks::finding(exists(&self.problem) * self.problem.k, weight),
        )?;
        let Attack { name, bits, .. } = self.cheapest();
        let margin = bits - BITS;
        let verdict = if margin >= MARGIN {
            ""
        } else {
            "; asked for are more"
        };
        writeln!(
            f,
            "  cheapest: {name}, 2^{bits:.1}: {margin:+.1} bits over 2^{BITS}{verdict}"
        )
    }
}
