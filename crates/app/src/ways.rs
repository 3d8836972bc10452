//! How a program is to be computed, as flags say it.

use clap::ValueEnum;
use madrigal_circuit::Goal;
use madrigal_correlations::{Matrices, Origin};
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, ExecuteError, Planned};

use crate::over::Over;

/// What makes matrix triples.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatricesArg {
    /// What sends fewer bytes
    Auto,
    /// Lattice-based additively homomorphic encryption, but for 128-bit elements
    Lattice,
    /// Oblivious transfer
    Ot,
}

/// What a plan takes from flags.
#[derive(Debug, Clone, Copy)]
pub struct Ways<'a> {
    /// The line, and which OT extension.
    pub over: &'a Over,
    /// Of each party.
    pub threads: usize,
    /// What makes matrix triples.
    pub matrices: MatricesArg,
}

impl Ways<'_> {
    /// Plans a program. What makes its correlations is chosen once it is known how many are needed.
    ///
    /// # Errors
    /// Those of [`Computation::plan`].
    pub fn plan(
        &self,
        program: &Computation,
        mix: Mix,
        goal: Option<Goal>,
    ) -> Result<Planned, ExecuteError> {
        let line = self.over.line();
        let with = |goal, origin: Option<Origin>| {
            program.plan(mix, goal, &|spec| {
                (spec.line, spec.threads) = (line, self.threads);
                spec.origin = origin.unwrap_or(spec.origin);
            })
        };
        let first = with(goal, None)?;
        let needs = first.plan.needs();
        if needs.is_empty() {
            return Ok(first);
        }
        let choice = self.over.choose(self.threads, needs.steps());
        let origin = Origin::Ot {
            extension: choice.extension,
            threads: self.threads,
            matrices: match self.matrices {
                MatricesArg::Auto => Matrices::choose(choice.extension, program.parties(), &needs),
                MatricesArg::Lattice => Matrices::Lattice,
                MatricesArg::Ot => Matrices::Ot,
            },
        };
        with(Some(first.goal), Some(origin))
    }
}
