//! Programs planned, and run on trial.

use madrigal_circuit::Goal;
use madrigal_engine::PlanSpec;

use super::Planned;
use super::search::Search;
use crate::computation::Computation;
use crate::local::LocalError;
use crate::lower::{ExecuteError, Mix};
use crate::simulate::{Inputs, Outputs};

impl Computation {
    /// Plans the program in a mix; `adjust` says what is to be otherwise than usual: the line between the
    /// parties, above all. Without a goal, circuits save what takes less time on that line: ANDs, or layers
    /// of them; and if these are on masked bits, they do two layers in a round where that takes less time still.
    /// Conditionals on secrets are computed in whichever way takes the least time there. In a mix of several sharings of bits
    /// operations are in whichever takes the least time, where the program does not say in which, and with [`Mix::AUTO`] all mixes are compared
    /// that the parties can run. The choice is by fixed [rates](madrigal_core::time::Rates::ZEN_5), so that all parties come to the same.
    ///
    /// ```
    /// use madrigal_circuit::Goal;
    /// use madrigal_program::lower::Mix;
    /// use madrigal_program::{Everyone, Party, Program};
    /// let mut p = Program::new(3);
    /// let [a, b] = [0, 1].map(|party| p.input::<u64>(Party::new(party), ()));
    /// p.open(a.lt(b), Everyone);
    /// let program = p.finish()?;
    /// let planned = program.plan(Mix::R, None, &|spec| spec.line.latency = 0.05)?;
    /// assert_eq!(planned.goal, Goal::Depth);
    /// assert!(planned.to_string().starts_with("3 parties, circuits of few layers\nsetup: "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ExecuteError`] in the cases of [`Computation::executable`], and for a plan that cannot be.
    pub fn plan(
        &self,
        mix: Mix,
        goal: Option<Goal>,
        adjust: &dyn Fn(&mut PlanSpec),
    ) -> Result<Planned, ExecuteError> {
        Search {
            program: self,
            goal,
            adjust,
        }
        .plan(mix)
    }

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
