//! Ways in which a program is to be computed, as flags say it.

use std::thread;

use clap::ValueEnum;
use madrigal_circuit::Goal;
use madrigal_core::time::{Link, Rates};
use madrigal_correlations::Needs;
use madrigal_correlations_make::{Extension, Matrices, Origin};
use madrigal_engine::{PlanSpec, StoreSpec};
use madrigal_net::Fact;
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, ExecuteError, Planned};

use crate::over::Over;

/// Ways to make matrix triples.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatricesArg {
    /// What sends fewer bytes
    Auto,
    /// Lattice-based additively homomorphic encryption, but for 128-bit elements
    Lattice,
    /// Oblivious transfer
    Ot,
}

/// The rates by which parties choose a mix, whatever their machines: those of one that is known, with what sockets leave
/// of its bytes for each second, where a core is busy at either end.
pub const AGREED: Rates = Rates {
    network_bytes: 1e9,
    ..Rates::ZEN_5
};

/// A line, in words.
fn told(line: &Link) -> String {
    let latency = format!("{} ms", 1e3 * line.latency);
    match line.bytes_per_second {
        Some(rate) => format!("{latency} and {} Mbit/s", rate * 8.0 / 1e6),
        None => format!("{latency} and any bandwidth"),
    }
}

/// Settings that a plan takes from flags.
#[derive(Debug, Clone, Copy)]
pub struct Ways<'a> {
    /// The line, and which OT extension.
    pub over: &'a Over,
    /// Number of threads of each party; all parties take the same.
    pub threads: usize,
    /// Way to make matrix triples.
    pub matrices: MatricesArg,
    /// Whether correlations are in stores already, so that plans need not make them.
    pub stored: bool,
    /// Facts that flags say about the program, under the flags' names, which the parties compare before all that follows
    /// from them.
    pub asked: &'a [Fact],
}

impl Ways<'_> {
    /// Plans a program in each of these mixes, and gives the one that takes the least time by an estimate at fixed
    /// rates: all parties come to the same, whatever their machines. Mixes in which it cannot be planned are left out;
    /// of equal ones the first is taken.
    ///
    /// # Errors
    /// [`ExecuteError`] of the last mix, if none can be planned.
    ///
    /// # Panics
    /// If no mix is given.
    pub fn fastest(
        &self,
        program: &Computation,
        mixes: &[Mix],
    ) -> Result<(Mix, Planned), ExecuteError> {
        let mut best: Option<(f64, Mix, Planned)> = None;
        let mut problem = None;
        for (mix, planned) in self.each(program, mixes) {
            match planned {
                Ok(planned) => {
                    let seconds = planned.seconds_at(&AGREED);
                    if best.as_ref().is_none_or(|(least, ..)| seconds < *least) {
                        best = Some((seconds, mix, planned));
                    }
                }
                Err(error) => problem = Some(error),
            }
        }
        match (best, problem) {
            (Some((_, mix, planned)), _) => Ok((mix, planned)),
            (None, Some(problem)) => Err(problem),
            (None, None) => panic!("a mix at least is needed"),
        }
    }

    /// Plans a program in each of these mixes, side by side.
    pub fn each(
        &self,
        program: &Computation,
        mixes: &[Mix],
    ) -> Vec<(Mix, Result<Planned, ExecuteError>)> {
        let plan = |mix| (mix, self.plan(program, mix, None));
        thread::scope(|scope| {
            let threads: Vec<_> = mixes
                .iter()
                .map(|&mix| scope.spawn(move || plan(mix)))
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                let panicked = |panic| std::panic::resume_unwind(panic);
                thread.join().unwrap_or_else(panicked)
            };
            threads.into_iter().map(join).collect()
        })
    }

    /// Plans a program. The way to make its correlations is chosen once it is known how many are needed.
    ///
    /// # Errors
    /// [`ExecuteError`] in the same cases as [`Computation::plan`].
    pub fn plan(
        &self,
        program: &Computation,
        mix: Mix,
        goal: Option<Goal>,
    ) -> Result<Planned, ExecuteError> {
        let line = self.over.line();
        let adjust = |spec: &mut PlanSpec, origin: Option<&Origin>| {
            (spec.line, spec.threads) = (line, self.threads);
            if let Some(origin) = origin {
                spec.origin = origin.clone();
            }
            // Parties that differ in what they were told learn that, not in what came of it.
            spec.also.extend(self.asked.iter().cloned());
            let told = [
                ("the line of --link or --network", told(&line)),
                ("mix", mix.to_string()),
            ];
            let told = told.map(|(name, value)| (name.to_owned(), value));
            spec.also.extend(told);
        };
        if self.stored {
            let stored = |spec: &mut PlanSpec| adjust(spec, Some(&Origin::Store));
            return program.plan(mix, goal, &stored);
        }
        let first = program.plan(mix, goal, &|spec| adjust(spec, None))?;
        let needs = first.plan.needs();
        if needs.is_empty() {
            return Ok(first);
        }
        let (extension, matrices) = self.choose(program.parties(), &needs);
        let origin = Origin::Ot {
            extension,
            threads: self.threads,
            matrices,
        };
        let adjust = |spec: &mut PlanSpec| adjust(spec, Some(&origin));
        match first.single {
            // A choice among sharings was made, and many plans for it.
            Some(_) => first.again(&adjust),
            None => program.plan(mix, Some(first.goal), &adjust),
        }
    }

    /// Stores for `times` runs of a plan, and what makes them.
    pub fn store(&self, planned: &Planned, times: u32) -> StoreSpec {
        let mut holds = Needs::new();
        for (kind, count) in planned.plan.needs().kinds() {
            holds.add(kind, count.saturating_mul(times as usize));
        }
        let parties = planned.plan.spec().graph.parties();
        let (extension, matrices) = self.choose(parties, &holds);
        StoreSpec {
            extension,
            matrices,
            threads: self.threads,
            ..StoreSpec::new(holds)
        }
    }

    fn choose(&self, parties: usize, needs: &Needs) -> (Extension, Matrices) {
        let choice = self.over.choose(self.threads, needs.steps());
        let matrices = match self.matrices {
            MatricesArg::Auto => Matrices::choose(choice.extension, parties, needs),
            MatricesArg::Lattice => Matrices::Lattice,
            MatricesArg::Ot => Matrices::Ot,
        };
        (choice.extension, matrices)
    }
}
