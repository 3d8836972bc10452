//! Programs in the clear: the oracle of tests, and the debugger of their authors.

mod branches;
mod checks;
mod elements;
mod evaluation;
mod ports;
mod tensors;
mod text;

use std::sync::Arc;

pub use checks::{Checked, Mistake, Overflow};
pub(crate) use elements::evaluate;
pub use ports::{InputError, InputShare, Inputs, OutputError, Outputs};
pub use text::TextError;

use crate::array::Array;
use crate::computation::Computation;
#[cfg(feature = "generator")]
use crate::ir::Graph;
use evaluation::Evaluation;

impl Computation {
    /// Computes the outputs from the inputs of all parties, here and in the clear: the same numbers as
    /// the protocols give, whichever they are. (Probabilistic truncation is the exact one here.)
    ///
    /// # Errors
    /// If the inputs are not those that the program asks for.
    pub fn simulate(&self, inputs: &Inputs) -> Result<Outputs, InputError> {
        Ok(self.simulate_stage(inputs)?.0)
    }

    /// Computes the outputs, and the values that the program keeps.
    pub(crate) fn simulate_stage(
        &self,
        inputs: &Inputs,
    ) -> Result<(Outputs, Vec<Arc<Array>>), InputError> {
        let (inputs, before) = (inputs.arrays(self.inputs())?, self.kept_arrays()?);
        let graph = self.graph().without_maps();
        let mut outputs = Evaluation::new(&inputs, &before, None).program(&graph)?;
        let mut required = outputs.split_off(self.outputs().len());
        let kept = required.split_off(self.requirements().len());
        self.meets(&required)?;
        Ok((Outputs::new(self.outputs(), outputs), kept))
    }

    /// Checks that the conditions hold without which nothing is opened.
    fn meets(&self, conditions: &[Arc<Array>]) -> Result<(), InputError> {
        let holds = |number: usize| conditions[number].words().get(0) == 1;
        match self.unmet(holds) {
            None => Ok(()),
            Some(requirements) => Err(InputError::Unmet { requirements }),
        }
    }

    /// Computes the outputs, and looks for numbers that left their type's range, and for divisors that are 0
    /// and places that are in no table. In a secret branch that counts where the branch is active: of one
    /// that is active in some elements only, what is done to each of these by itself is looked at, and
    /// what mixes them is not.
    ///
    /// # Errors
    /// If the inputs are not those that the program asks for.
    pub fn check(&self, inputs: &Inputs) -> Result<Checked, InputError> {
        let (inputs, before) = (inputs.arrays(self.inputs())?, self.kept_arrays()?);
        let graph = self.graph().without_maps();
        let mut overflows = Vec::new();
        let mut outputs =
            Evaluation::new(&inputs, &before, Some(&mut overflows)).program(&graph)?;
        let mut required = outputs.split_off(self.outputs().len());
        required.truncate(self.requirements().len());
        self.meets(&required)?;
        Ok(Checked {
            outputs: Outputs::new(self.outputs(), outputs),
            overflows,
        })
    }
}

/// The results of a graph on a program's inputs, for tests.
#[cfg(feature = "generator")]
pub(crate) fn values(
    program: &Computation,
    graph: &Graph,
    inputs: &Inputs,
) -> Result<Vec<Arc<Array>>, InputError> {
    let (inputs, before) = (inputs.arrays(program.inputs())?, program.kept_arrays()?);
    Evaluation::new(&inputs, &before, None).program(graph)
}
