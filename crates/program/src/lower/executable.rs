//! Steps as a graph of the engine, and programs' inputs and outputs as the graph's.

use std::collections::HashMap;
use std::sync::Arc;

use madrigal_circuit::{Goal, Netlist};
use madrigal_core::Party;
use madrigal_engine::{
    Graph, GraphError, KeptShares, Operation, Plan, PlanSpec, Repeat, RunError, Shares, Sharing,
    Sort, Value,
};
use madrigal_operations::{
    Backend, Branch, Circuit, RingBranch, RingOperations, SortRounds, Variants, varied,
};

use super::known::Marks;
use super::steps::{Action, Body, Lowered, Slot, Step};
use super::{Mix, Way};
use crate::clear::{array, shares};
use crate::computation::{Computation, KeptPort};
use crate::error::ProgramError;
use crate::ports::OutputPort;
use crate::requirement::{Requirement, unmet};
use crate::simulate::{InputError, Inputs, Outputs};
use crate::stages::Held;

/// A program for the engine: its graph, and how the program's inputs and outputs are the graph's.
#[derive(Debug, Clone)]
pub struct Executable {
    graph: Graph,
    /// Meaning of each input of the graph.
    inputs: Vec<Brought>,
    /// The mix that it was lowered to.
    mix: Mix,
    outputs: Vec<OutputPort>,
    requirements: Vec<Requirement>,
    /// The part that asked for each operation.
    parts: Vec<Option<u32>>,
    /// Whether a circuit takes vector triples.
    vectors: bool,
}

/// Meaning of an input of the graph.
#[derive(Debug, Clone, Copy)]
enum Brought {
    /// The program's input of this number.
    Input(usize),
    /// The value of an earlier stage of this number.
    Taken(usize),
}

/// Meaning of an output of the graph.
enum Ends {
    /// An output of the program, of this number, for parties.
    Opened(usize),
    /// Shares of an output of this number, for clients.
    HandedOut(usize),
    /// The bit of the requirement of this number.
    Required(usize),
    /// A value for later stages.
    Kept,
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

/// Ways of doing steps of which whole plans are compared.
#[derive(Clone, Copy)]
struct Ways {
    /// Whether circuits on masked bits do two layers in a round.
    pairs: bool,
    /// Whether circuits take vector triples.
    vectors: bool,
    /// Rounds of sorts of rows.
    sort_rounds: SortRounds,
}

impl Lowered {
    fn ways(&self) -> Ways {
        Ways {
            pairs: self.pairs,
            vectors: self.vectors,
            sort_rounds: self.sort_rounds,
        }
    }

    /// The steps as operations of the engine.
    ///
    /// # Errors
    /// [`GraphError`] for parties or values that a protocol lacks.
    pub fn executable(&self) -> Result<Executable, GraphError> {
        let mut making = Making::new(self.parties, self.ways(), self.variants);
        let results = making.body(&self.body, &[])?;
        results.iter().for_each(|&value| making.graph.output(value));
        Ok(Executable {
            graph: making.graph,
            inputs: making.inputs,
            mix: self.mix,
            outputs: self.outputs.clone(),
            requirements: self.requirements.clone(),
            parts: making.parts,
            vectors: making.has_vectors,
        })
    }
}

impl Executable {
    /// The graph that the engine computes.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Whether a circuit takes vector triples: see [`Lowered::in_vectors`].
    pub fn has_vectors(&self) -> bool {
        self.vectors
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
    /// those of all, of which the others' are left out; and this party's shares of what clients bring.
    ///
    /// # Errors
    /// Inputs of `me` that are missing, and any that are not what the program asks for; a client's input that is
    /// not shared.
    pub fn given(
        &self,
        program: &Computation,
        inputs: &Inputs,
        me: Party,
    ) -> Result<Vec<Shares>, InputError> {
        let ports = program.inputs();
        let arrays = inputs.arrays_of(ports, |port| port.owner.party() == Some(me))?;
        let of = |(&value, &number): (&Value, &usize)| {
            let sort = *self.graph.sort(value);
            match &arrays[number] {
                _ if !sort.sharing.is_clear() => inputs.share_of(ports, number, &sort),
                Some(array) if sort.sharing.is_known_to(me) => Ok(shares(array, sort)),
                _ => Ok(Shares::unknown(sort)),
            }
        };
        let own = self.graph.inputs().iter().zip(&self.inputs);
        let own = own.filter_map(|(value, brought)| match brought {
            Brought::Input(number) => Some((value, number)),
            Brought::Taken(_) => None,
        });
        own.map(of).collect()
    }

    /// This party's shares of what the program takes from earlier stages, each with the graph's input that it is.
    pub(crate) fn kept(
        &self,
        program: &Computation,
    ) -> Result<Vec<(Value, KeptShares)>, InputError> {
        let inputs = self.graph.inputs().iter().zip(&self.inputs);
        let taken = inputs.filter_map(|(&value, brought)| match brought {
            Brought::Taken(place) => Some((value, &program.taken_values()[*place])),
            Brought::Input(_) => None,
        });
        let of = |(value, port): (Value, &KeptPort)| match port.content()?.value {
            Held::Shared(shares) => Ok((value, shares)),
            Held::Clear(_) => Err(InputError::Kept { at: port.at }),
        };
        taken.map(of).collect()
    }

    /// Meanings of the outputs of the graph, in order.
    fn ends(&self) -> impl Iterator<Item = Ends> + '_ {
        let of = |(number, port): (usize, &OutputPort)| {
            let opened = (!port.parties().is_empty()).then_some(Ends::Opened(number));
            let handed = (port.clients().next()).map(|_| Ends::HandedOut(number));
            [opened, handed]
        };
        let outputs = self.outputs.iter().enumerate().flat_map(of).flatten();
        let required = (0..self.requirements.len()).map(Ends::Required);
        let kept = std::iter::repeat_with(|| Ends::Kept);
        outputs.chain(required).chain(kept)
    }

    /// How what the program keeps for later stages is held.
    pub(crate) fn kept_sorts(&self) -> impl Iterator<Item = Sort> + '_ {
        let outputs = self.graph.outputs().iter().zip(self.ends());
        let kept = outputs.filter(|(_, end)| matches!(end, Ends::Kept));
        kept.map(|(&value, _)| *self.graph.sort(value))
    }

    /// The outputs by their names and types, of the values of the graph's: those that this party does not get are empty, and
    /// of those for clients it has its share.
    ///
    /// # Errors
    /// [`RunError::Unmet`] where something that the program requires does not hold.
    pub fn outputs(&self, values: &[Shares]) -> Result<Outputs, RunError> {
        self.outputs_of(values.iter())
    }

    /// Sorts out what a stage has opened and what it has kept: outputs, and values for later stages.
    pub(crate) fn of_stage(
        &self,
        opened: &[Shares],
        kept: Vec<KeptShares>,
    ) -> Result<(Outputs, Vec<KeptShares>), RunError> {
        let (mut opened, mut shared) = (opened.iter(), kept.iter());
        let ends = self.ends().take(self.graph.outputs().len());
        let values = ends.filter_map(|end| match end {
            Ends::Opened(_) | Ends::Required(_) => opened.next(),
            Ends::HandedOut(_) | Ends::Kept => shared.next().map(KeptShares::shares),
        });
        let outputs = self.outputs_of(values)?;
        let shared = |end: &Ends| matches!(end, Ends::HandedOut(_) | Ends::Kept);
        let ends = self.ends().filter(shared);
        let kept = kept.into_iter().zip(ends);
        let kept = kept.filter(|(_, end)| matches!(end, Ends::Kept));
        Ok((outputs, kept.map(|(shares, _)| shares).collect()))
    }

    fn outputs_of<'a>(
        &self,
        values: impl Iterator<Item = &'a Shares>,
    ) -> Result<Outputs, RunError> {
        let mut outputs = Outputs::none(&self.outputs);
        let mut met = vec![false; self.requirements.len()];
        for (value, end) in values.zip(self.ends()) {
            match end {
                Ends::Opened(number) if value.is_known() => {
                    let array = array(value, &self.outputs[number].tensor_type);
                    outputs.put(number, Arc::new(array));
                }
                Ends::HandedOut(number) => outputs.put_share(number, Arc::new(value.clone())),
                Ends::Required(number) => met[number] = value.plane(0, 0)[0] & 1 == 1,
                Ends::Opened(_) | Ends::Kept => {}
            }
        }
        match unmet(&self.requirements, |number| met[number]) {
            None => Ok(outputs),
            Some(requirements) => Err(RunError::Unmet { requirements }),
        }
    }

    /// The mix that the program was lowered to.
    pub fn mix(&self) -> Mix {
        self.mix
    }
}

/// A graph being made.
struct Making {
    graph: Graph,
    inputs: Vec<Brought>,
    counter: Option<Value>,
    /// Shared values made of clear ones of one party's, where they were wanted shared after all.
    shared: HashMap<Value, Value>,
    /// The part that asked for each operation, as far as these belong to parts.
    parts: Vec<Option<u32>>,
    ways: Ways,
    /// Whether a circuit takes vector triples.
    has_vectors: bool,
    variants: Variants,
}

impl Making {
    fn new(parties: usize, ways: Ways, variants: Variants) -> Self {
        Self {
            graph: Graph::new(parties),
            inputs: Vec::new(),
            counter: None,
            shared: HashMap::new(),
            parts: Vec::new(),
            ways,
            has_vectors: false,
            variants,
        }
    }

    /// A circuit that makes bits in the sharing of `out`.
    fn circuit(&mut self, out: Sort, netlist: &Netlist) -> Arc<dyn Operation> {
        let mut circuit = Circuit::new(netlist).with_variants(self.variants);
        let bits = Backend::of(out.sharing).bits();
        if self.ways.pairs && bits.pairs {
            circuit = circuit.in_pairs();
        }
        let vectors = (self.ways.vectors && bits.vectors).then(|| circuit.in_vectors());
        if let Some(vectors) = vectors.flatten() {
            circuit = vectors;
            self.has_vectors = true;
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
                (Action::BitTimes, Some((_, owner))) => {
                    let numbers = Backend::of(step.outputs[0].sharing).numbers();
                    let known = numbers.known_bit_times.expect("marks are of A");
                    self.add(step, known(owner), &inputs)?
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
                self.inputs.push(Brought::Input(*number));
                return Ok(vec![self.graph.input(out)]);
            }
            Action::Taken(place) => {
                self.inputs.push(Brought::Taken(*place));
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
            Action::Move(operation) => Arc::clone(operation),
            Action::Operation(operation) => varied(operation, &out, self.variants),
            Action::Sort(keys) => {
                let sort = Backend::of(out.sharing).bits().sort.as_ref();
                (sort.expect("a protocol that sorts rows").operation)(
                    keys.clone(),
                    self.ways.sort_rounds,
                )
            }
            Action::Linear { factors, constant } => {
                rings(out.sharing).linear(factors.clone(), *constant)
            }
            Action::Product(product) => rings(out.sharing).product(*product),
            Action::BitTimes => rings(out.sharing).bit_times(),
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
        &mut self,
        count: usize,
        body: &Body,
        inputs: &[Value],
    ) -> Result<Arc<dyn Operation>, GraphError> {
        let mut making = Making::new(self.graph.parties(), self.ways, self.variants);
        let argument = |&value: &Value| making.graph.argument(*self.graph.sort(value));
        let arguments: Vec<Value> = inputs.iter().map(argument).collect();
        let results = making.body(body, &arguments)?;
        self.has_vectors |= making.has_vectors;
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
