//! Programs in the clear: the oracle of tests, and the debugger of their authors.

mod branches;
mod checks;
mod elements;
mod ports;
mod tensors;
mod text;

use std::sync::Arc;

pub use checks::{Checked, Mistake, Overflow};
pub(crate) use elements::evaluate;
pub use ports::{InputError, Inputs, OutputError, Outputs};
pub use text::TextError;

use crate::array::{Array, Words};
use crate::computation::Computation;
use crate::element::Type;
use crate::ir::{Graph, Op, TensorType};
use crate::shape::Shape;

impl Computation {
    /// Computes the outputs from the inputs of all parties, here and in the clear: the same numbers as
    /// the protocols give, whichever they are. (Probabilistic truncation is the exact one here.)
    ///
    /// # Errors
    /// If the inputs are not those that the program asks for.
    pub fn simulate(&self, inputs: &Inputs) -> Result<Outputs, InputError> {
        Ok(self.simulate_stage(inputs)?.0)
    }

    /// The same, and the values that the program keeps.
    pub(crate) fn simulate_stage(
        &self,
        inputs: &Inputs,
    ) -> Result<(Outputs, Vec<Arc<Array>>), InputError> {
        let (inputs, before) = (inputs.arrays(self.inputs())?, self.kept_arrays()?);
        let graph = self.graph().without_maps();
        let mut outputs = Run::new(&inputs, &before, None).program(&graph)?;
        let kept = outputs.split_off(self.outputs().len());
        Ok((Outputs::new(self.outputs(), outputs), kept))
    }

    /// The same, which also looks for numbers that left their type's range, and for divisors that are 0
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
        let outputs = Run::new(&inputs, &before, Some(&mut overflows)).program(&graph)?;
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
    Run::new(&inputs, &before, None).program(graph)
}

/// Zeros in the place of what an operation refused to make.
fn zeros(typed: &TensorType) -> Array {
    let zeros = std::iter::repeat_n(0, typed.shape.elements());
    let words = Words::collect(typed.element, zeros);
    Array::new(typed.element, typed.shape.clone(), words)
}

/// One evaluation.
struct Run<'a> {
    inputs: &'a [Arc<Array>],
    /// Values of earlier stages.
    before: &'a [Arc<Array>],
    overflows: Option<&'a mut Vec<Overflow>>,
    /// Why an operation of the author's refused its operands first.
    refused: Option<InputError>,
    /// In a secret branch.
    active: Option<branches::Active>,
}

impl<'a> Run<'a> {
    fn new(
        inputs: &'a [Arc<Array>],
        before: &'a [Arc<Array>],
        overflows: Option<&'a mut Vec<Overflow>>,
    ) -> Self {
        Self {
            inputs,
            before,
            overflows,
            refused: None,
            active: None,
        }
    }

    /// The results of a program's graph.
    fn program(mut self, graph: &Graph) -> Result<Vec<Arc<Array>>, InputError> {
        let results = self.graph(graph, &[], 0);
        match self.refused {
            Some(refused) => Err(refused),
            None => Ok(results),
        }
    }

    /// The results of a graph; `turn` is how many times a loop's body was run before.
    fn graph(&mut self, graph: &Graph, arguments: &[Arc<Array>], turn: usize) -> Vec<Arc<Array>> {
        let mut uses = vec![0_usize; graph.nodes().len()];
        for node in graph.nodes() {
            node.inputs
                .iter()
                .for_each(|input| uses[input.node as usize] += 1);
        }
        for result in graph.results() {
            uses[result.node as usize] += 1;
        }
        let mut values: Vec<Vec<Arc<Array>>> = Vec::with_capacity(uses.len());
        for node in graph.nodes() {
            let value = |value: &crate::ir::Value| {
                Arc::clone(&values[value.node as usize][value.output as usize])
            };
            let inputs: Vec<Arc<Array>> = node.inputs.iter().map(value).collect();
            let made = match &node.op {
                &Op::Input(number) => vec![Arc::clone(&self.inputs[number])],
                &Op::Kept(number) => vec![Arc::clone(&self.before[number])],
                &Op::Argument(number) => vec![Arc::clone(&arguments[number])],
                Op::Constant(array) => vec![Arc::clone(array)],
                Op::Counter => {
                    let turn = std::iter::once(turn as u128);
                    let words = Words::collect(Type::PLACE, turn);
                    vec![Arc::new(Array::new(Type::PLACE, Shape::scalar(), words))]
                }
                Op::Repeat {
                    count,
                    carried,
                    body,
                } => {
                    let mut arguments = inputs.clone();
                    for turn in 0..*count {
                        let state = self.graph(body, &arguments, turn);
                        arguments.splice(..*carried, state);
                    }
                    arguments.truncate(*carried);
                    arguments
                }
                Op::Choose(branches) => self.choose(node, branches, &inputs),
                Op::Operation(own) => match own.evaluate(&inputs) {
                    Ok(made) => made.into_iter().map(Arc::new).collect(),
                    Err(problem) => {
                        let at = node.at;
                        let refused = || InputError::Refused { at, problem };
                        self.refused.get_or_insert_with(refused);
                        own.outputs()
                            .iter()
                            .map(|typed| Arc::new(zeros(typed)))
                            .collect()
                    }
                },
                op => {
                    let operands: Vec<&Array> = inputs.iter().map(Arc::as_ref).collect();
                    if let Some(overflows) = &mut self.overflows {
                        overflows.extend(match &self.active {
                            Some(active) => active.overflow(node, &operands),
                            None => checks::overflow(node, &operands),
                        });
                    }
                    let made = evaluate(op, &operands, &node.outputs);
                    made.into_iter().map(Arc::new).collect()
                }
            };
            values.push(made);
            // What nothing will read is not kept.
            for input in &node.inputs {
                let left = &mut uses[input.node as usize];
                *left -= 1;
                if *left == 0 {
                    values[input.node as usize].clear();
                }
            }
        }
        let results = graph.results().iter();
        results
            .map(|value| Arc::clone(&values[value.node as usize][value.output as usize]))
            .collect()
    }
}
