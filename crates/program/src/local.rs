//! All parties of a program in one process, for trials and tests.

use madrigal_circuit::Goal;
use madrigal_core::Party;
use madrigal_engine::RunError;
use thiserror::Error;

use crate::computation::Computation;
use crate::lower::ExecuteError;
use crate::simulate::{InputError, Inputs, Outputs};

/// Why a program could not be run by all of its parties.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The inputs are not those that the program asks for.
    #[error(transparent)]
    Inputs(#[from] InputError),
    /// The program cannot be carried out in this mix.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// Something went wrong between the parties.
    #[error("{party}: {error}")]
    Run {
        /// The first party that says so.
        party: Party,
        /// What it says.
        error: RunError,
    },
}

impl Computation {
    /// Runs the program as all of its parties, in its [mix](Self::mix), and gives the outputs of each, in order:
    /// real protocols, each party on a thread of its own, messages through memory. It is for trials and tests,
    /// since one process then knows all inputs; parties on machines of their own call
    /// [`run_program`](madrigal_engine::run_program). For another mix, [`plan`](Self::plan) and
    /// [`Planned::run_locally`](crate::Planned::run_locally).
    ///
    /// ```
    /// use madrigal_program::{Everyone, Inputs, Party, Program};
    /// let mut p = Program::new(2);
    /// let a = p.input::<u64>(Party::new(0), ());
    /// let b = p.input::<u64>(Party::new(1), ());
    /// let larger = p.open(a.gt(&b), Everyone);
    /// let parties = p.finish()?.run_locally(&Inputs::new().with(3u64).with(2u64))?;
    /// assert_eq!(parties.len(), 2);
    /// assert!(parties.iter().all(|outputs| outputs.get(larger) == [true]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Inputs that do not fit, and a program that the mix cannot do, before anything runs; what goes wrong
    /// between the parties.
    pub fn run_locally(&self, inputs: &Inputs) -> Result<Vec<Outputs>, LocalError> {
        let planned = self.plan(self.mix(), Some(Goal::Size), &|_| {})?;
        let ended = planned.run_locally(self, inputs)?;
        Ok(ended.into_iter().map(|party| party.outputs).collect())
    }
}
