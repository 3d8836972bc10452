//! Steps as a graph of the engine, and programs' inputs and outputs as the graph's.

use std::collections::HashMap;
use std::sync::Arc;

use madrigal_circuit::{Goal, Netlist};
use madrigal_core::Party;
use madrigal_engine::{
    Graph, GraphError, KeptShares, Operation, Plan, PlanSpec, Repeat, Shares, Sharing, Sort, Value,
};
use madrigal_operations::{Backend, Branch, Circuit, RingBranch, RingOperations};

use super::known::Marks;
use super::steps::{Action, Body, Lowered, Slot, Step};
use super::{Mix, Way};
use crate::array::Array;
use crate::clear::{shares, words};
use crate::computation::Computation;
use crate::error::ProgramError;
use crate::ports::OutputPort;
use crate::simulate::{InputError, Inputs, Outputs};

/// A program for the engine: its graph, and how the program's inputs and outputs are the graph's.
#[derive(Debug, Clone)]
pub struct Executable {
    graph: Graph,
    /// The program's input that each clear one of the graph's is.
    inputs: Vec<usize>,
    /// The value of an earlier stage that each shared one is.
    taken: Vec<usize>,
    outputs: Vec<OutputPort>,
    /// The part that asked for each operation.
    parts: Vec<Option<u32>>,
}

/// Why a program cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// The program cannot be lowered to these sharings.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// An operation cannot be, in the engine.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The plan cannot be.
    #[error(transparent)]
    Plan(#[from] madrigal_engine::PlanError),
}

impl Computation {
    /// The program for the engine in a mix of sharings, with circuits that save what `goal` says.
    ///
    /// # Errors
    /// [`ExecuteError`] in the cases of [`Computation::lower`], and for parties or values that a protocol lacks.
    pub fn executable(&self, mix: Mix, goal: Goal) -> Result<Executable, ExecuteError> {
        Ok(self.lower(mix, goal)?.executable()?)
    }
}

impl Lowered {
    /// The steps as operations of the engine.
    ///
    /// # Errors
    /// [`GraphError`] for parties or values that a protocol lacks.
    pub fn executable(&self) -> Result<Executable, GraphError> {
        let mut making = Making::new(self.parties, self.pairs);
        let results = making.body(&self.body, &[])?;
        results.iter().for_each(|&value| making.graph.output(value));
        Ok(Executable {
            graph: making.graph,
            inputs: making.inputs,
            taken: making.taken,
            outputs: self.outputs.clone(),
            parts: making.parts,
        })
    }
}

impl Executable {
    /// The graph that the engine computes.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The part of the program that asked for an operation of the graph, by its place there, if one did: see
    /// [`Program::part`](crate::Program::part).
    pub fn part(&self, operation: usize) -> Option<u32> {
        self.parts.get(operation).copied().flatten()
    }

    /// The plan, with all else as usual; change what is to be otherwise.
    pub fn spec(&self) -> PlanSpec {
        PlanSpec::new(self.graph.clone())
    }

    /// The usual plan.
    ///
    /// # Errors
    /// Too many parties or blocks.
    pub fn plan(&self) -> Result<Plan, ExecuteError> {
        Ok(Plan::new(self.spec())?)
    }

    /// The values that `me` brings, for [`Given`](madrigal_engine::Given): `inputs` has those of `me`, or
    /// those of all, of which the others' are left out.
    ///
    /// # Errors
    /// Inputs of `me` that are missing, and any that are not what the program asks for.
    pub fn given(
        &self,
        program: &Computation,
        inputs: &Inputs,
        me: Party,
    ) -> Result<Vec<Shares>, InputError> {
        let arrays = inputs.arrays_of(program.inputs(), |port| port.owner == me)?;
        let of = |(&value, &number): (&Value, &usize)| {
            let sort = *self.graph.sort(value);
            match &arrays[number] {
                Some(array) if sort.sharing.is_known_to(me) => shares(array, sort),
                _ => Shares::unknown(sort),
            }
        };
        let clear = |value: &&Value| self.graph.sort(**value).sharing.is_clear();
        let values = self.graph.inputs().iter().filter(clear);
        Ok(values.zip(&self.inputs).map(of).collect())
    }

    /// This party's shares of what the program takes from earlier stages.
    pub(crate) fn kept(&self, program: &Computation) -> Result<Vec<KeptShares>, InputError> {
        let of = |&place: &usize| {
            let port = &program.taken_values()[place];
            match port.content()?.value {
                crate::stages::Held::Shared(shares) => Ok(shares),
                crate::stages::Held::Clear(_) => Err(InputError::Kept { at: port.at }),
            }
        };
        self.taken.iter().map(of).collect()
    }

    /// How what the program keeps for later stages is held.
    pub(crate) fn kept_sorts(&self) -> impl Iterator<Item = Sort> + '_ {
        let outputs = self.graph.outputs().iter();
        let sorts = outputs.map(|&value| *self.graph.sort(value));
        sorts.filter(|sort| !sort.sharing.is_clear())
    }

    /// The outputs by their names and types; those that this party does not get are empty.
    pub fn outputs(&self, values: &[Shares]) -> Outputs {
        let of = |(value, port): (&Shares, &OutputPort)| {
            let typed = &port.tensor_type;
            value.is_known().then(|| {
                let words = words(value, typed.element);
                Arc::new(Array::new(typed.element, typed.shape.clone(), words))
            })
        };
        Outputs::known(
            &self.outputs,
            values.iter().zip(&self.outputs).map(of).collect(),
        )
    }
}

/// A graph being made.
struct Making {
    graph: Graph,
    inputs: Vec<usize>,
    taken: Vec<usize>,
    counter: Option<Value>,
    /// Shared values made of clear ones of one party's, where they were wanted shared after all.
    shared: HashMap<Value, Value>,
    /// The part that asked for each operation, as far as these belong to parts.
    parts: Vec<Option<u32>>,
    /// Whether circuits on masked bits do two layers in a round.
    pairs: bool,
}

impl Making {
    fn new(parties: usize, pairs: bool) -> Self {
        Self {
            graph: Graph::new(parties),
            inputs: Vec::new(),
            taken: Vec::new(),
            counter: None,
            shared: HashMap::new(),
            parts: Vec::new(),
            pairs,
        }
    }

    /// A circuit that makes bits in the sharing of `out`.
    fn circuit(&self, out: Sort, netlist: &Netlist) -> Arc<dyn Operation> {
        let mut circuit = Circuit::new(netlist);
        let bits = Backend::of(out.sharing).bits();
        if self.pairs && bits.pairs {
            circuit = circuit.in_pairs();
        }
        bits.circuits.circuit(Arc::new(circuit), out.len)
    }

    fn body(&mut self, body: &Body, arguments: &[Value]) -> Result<Vec<Value>, GraphError> {
        let marks = Marks::of(body, self.graph.parties());
        let mut values: Vec<Vec<Value>> = Vec::with_capacity(body.steps.len());
        for (number, step) in body.steps.iter().enumerate() {
            let mut inputs = Vec::with_capacity(step.inputs.len());
            for (place, input) in step.inputs.iter().enumerate() {
                let value = values[input.step as usize][input.output as usize];
                inputs.push(match marks.takes_clear(number, place) {
                    true => value,
                    false => self.shared(body, *input, value)?,
                });
            }
            let made = match (&step.action, marks.operand(number)) {
                (Action::Product(product), Some((side, owner))) => {
                    let numbers = Backend::of(step.outputs[0].sharing).numbers();
                    let known = numbers.known_product.expect("marks are of A");
                    self.add(step, known(*product, side, owner), &inputs)?
                }
                (Action::Share, _) if marks.is_clear(number) => inputs,
                _ => self.step(step, &inputs, arguments)?,
            };
            self.parts.resize(self.graph.len(), step.at.part());
            values.push(made);
        }
        let mut results = Vec::with_capacity(body.results.len());
        for result in &body.results {
            let value = values[result.step as usize][result.output as usize];
            results.push(self.shared(body, *result, value)?);
        }
        Ok(results)
    }

    /// A value as its step says that it is held, where it was left clear to its owner.
    fn shared(&mut self, body: &Body, slot: Slot, value: Value) -> Result<Value, GraphError> {
        let wanted = body.sort(slot).sharing;
        let given = self.graph.sort(value).sharing;
        if given == wanted || !given.is_clear() || wanted.is_clear() {
            return Ok(value);
        }
        if let Some(&made) = self.shared.get(&value) {
            return Ok(made);
        }
        let step = &body.steps[slot.step as usize];
        let made = self.add(step, Backend::of(wanted).share(given), &[value])?[0];
        self.shared.insert(value, made);
        Ok(made)
    }

    fn add(
        &mut self,
        step: &Step,
        operation: Arc<dyn Operation>,
        inputs: &[Value],
    ) -> Result<Vec<Value>, GraphError> {
        let label = format!("{} ({})", step.at, step.label);
        self.graph.add_labelled(operation, inputs, label)
    }

    fn step(
        &mut self,
        step: &Step,
        inputs: &[Value],
        arguments: &[Value],
    ) -> Result<Vec<Value>, GraphError> {
        let out = step.outputs[0];
        let operation: Arc<dyn Operation> = match &step.action {
            Action::Input(number) => {
                self.inputs.push(*number);
                return Ok(vec![self.graph.input(out)]);
            }
            Action::Taken(place) => {
                self.taken.push(*place);
                return Ok(vec![self.graph.input(out)]);
            }
            Action::Argument(number) => return Ok(vec![arguments[*number]]),
            Action::Counter => {
                let argument = |graph: &mut Graph| graph.argument(out);
                let value = *self
                    .counter
                    .get_or_insert_with(|| argument(&mut self.graph));
                return Ok(vec![value]);
            }
            Action::Share => {
                let given = self.graph.sort(inputs[0]).sharing;
                Backend::of(out.sharing).share(given)
            }
            Action::Move(operation) | Action::Operation(operation) => Arc::clone(operation),
            Action::Linear { factors, constant } => {
                rings(out.sharing).linear(factors.clone(), *constant)
            }
            Action::Product(product) => rings(out.sharing).product(*product),
            Action::Circuit(netlist) => self.circuit(out, netlist),
            // A circuit has no ring elements.
            Action::Branches(branching, Way::Multiplexed | Way::Rings(_)) => {
                self.circuit(out, &branching.flatten())
            }
            Action::Branches(branching, Way::Shared(scheme)) => {
                Arc::new(Branch::new(Arc::clone(branching), *scheme))
            }
            Action::Formulas(formulas, gated) => {
                Arc::new(RingBranch::new(Arc::clone(formulas), *gated))
            }
            Action::Repeat { count, body } => self.repeat(*count, body, inputs)?,
        };
        self.add(step, operation, inputs)
    }

    fn repeat(
        &self,
        count: usize,
        body: &Body,
        inputs: &[Value],
    ) -> Result<Arc<dyn Operation>, GraphError> {
        let mut making = Making::new(self.graph.parties(), self.pairs);
        let argument = |&value: &Value| making.graph.argument(*self.graph.sort(value));
        let arguments: Vec<Value> = inputs.iter().map(argument).collect();
        let results = making.body(body, &arguments)?;
        let Making { graph, counter, .. } = making;
        Ok(Arc::new(Repeat::new(
            count, graph, arguments, counter, results,
        )))
    }
}

/// The operations on ring elements of the protocol that shares so.
fn rings(sharing: Sharing) -> &'static dyn RingOperations {
    Backend::of(sharing).numbers().rings
}
