//! All attacks on one problem, side by side.

use std::fmt;

use crate::algebra;
use crate::decoding::System;
use crate::interleaved::{self, interleaved};
use crate::minors::{Code, exists, peel, random};
use crate::problem::Problem;
use crate::{BITS, MARGIN};

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
    /// Columns of the dense minor, as a share.
    columns: Option<f64>,
}

pub(crate) struct Report {
    problem: Problem,
    pub(crate) attacks: Vec<Attack>,
}

pub(crate) fn report(problem: &Problem, greedy: Greedy) -> Report {
    let whole = System::whole(problem);
    let plain = |name, bits| Attack {
        name,
        bits,
        columns: None,
    };
    let mut attacks = vec![
        plain("pooled Gauss", whole.gauss(problem)),
        plain("lists", whole.lists(problem)),
        plain("representations", whole.representations(problem)),
        plain("statistical decoding", whole.statistical_decoding(problem)),
        plain("hybrid algebraic", algebra::hybrid(problem)),
        plain("Macaulay", algebra::macaulay(problem)),
        plain("sparse Macaulay", algebra::sparse(problem)),
    ];
    let several = problem.bits > 1.0;
    if several {
        // Sums of bins are no equations here, because an error may be anything.
        let whole = System::sparse(problem.k, problem.d);
        attacks.push(plain("interleaved", interleaved(problem, &whole)));
        let bits = interleaved::statistical_decoding(problem, &whole);
        attacks.push(plain("interleaved, statistical", bits));
    }
    let mut minor = |names: [&'static str; 5], b: f64| {
        let system = System::sparse(b * problem.k, problem.d);
        let mut bits = vec![
            system.gauss(problem),
            system.lists(problem).min(system.representations(problem)),
            system.statistical_decoding(problem),
        ];
        if several {
            bits.push(interleaved(problem, &system));
            bits.push(interleaved::statistical_decoding(problem, &system));
        }
        for (name, bits) in names.into_iter().zip(bits) {
            attacks.push(Attack {
                name,
                bits,
                columns: Some(b),
            });
        }
    };
    minor(
        [
            "random minor, Gauss",
            "random minor, lists",
            "random minor, statistical",
            "random minor, interleaved",
            "random minor, interleaved, statistical",
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
                "greedy minor, interleaved, statistical",
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
            "any minor, interleaved, statistical",
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
        let Problem { n, k, t, d, bits } = self.problem;
        write!(f, "{n} rows, dimension {k}, {t} errors, {d} ones in a row")?;
        match bits {
            1.0 => writeln!(f)?,
            bits => writeln!(f, ", secrets and errors of {bits} bits")?,
        }
        for attack in &self.attacks {
            write!(f, "  {:36} 2^{:.1}", attack.name, attack.bits)?;
            match attack.columns {
                Some(b) => writeln!(f, "   in {b:.3} of the columns")?,
                None => writeln!(f)?,
            }
        }
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
