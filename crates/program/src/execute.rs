//! Programs carried out: steps become operations of the engine, one to one.

mod by_protocol;
mod clear;
mod known;

use std::collections::HashMap;
use std::sync::Arc;

use madrigal_circuit::{Goal, Netlist};
use madrigal_core::Party;
use madrigal_engine::{
    Element, Graph, GraphError, KeptShares, Operation, ProgramPlan, ProgramSpec, Shares, Sharing,
    Sort, Value, Width,
};
use madrigal_operations::{
    Addends, AlphaTool, ArithmeticGmwTool, BetaTool, BitTimes, BmrTool, BooleanGmwTool, Branch,
    Circuit, Compose, Concat, Dot, FromKeys, FromLabels, Linear, Mask, MatrixProduct, Mul,
    MulPublic, Narrow, Open, Public, Rearrange, Repeat, ReplicatedTool, RingBranch, Row,
    ShiftShares, SplitLabels, Square, SumAxis, Test, Truncate, TruncateLocally, Unmask, YaoTool,
};

use crate::array::Array;
use crate::computation::{Computation, OutputPort};
use crate::error::ProgramError;
use crate::ir::Rounding;
use crate::lower::{self, Action, Body, Holding, Lowered, Mix, Step, Way};
use crate::simulate::{InputError, Inputs, Outputs};

pub(crate) use by_protocol::engine_sharing;
use by_protocol::{
    boolean, composed_from_labels, from_shares, garbled_from_bits, layout, share, to_shares,
};
use clear::{held, words};
use known::Marks;

/// A program for the engine: its graph, and how the program's inputs and outputs are the graph's.
#[derive(Debug, Clone)]
pub struct Executable {
    graph: Graph,
    /// The program's input that each clear one of the graph's is.
    inputs: Vec<usize>,
    /// The value of an earlier stage that each shared one is.
    taken: Vec<usize>,
    outputs: Vec<OutputPort>,
    /// By operation.
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
    Plan(#[from] madrigal_engine::ProgramError),
}

impl Computation {
    /// The program for the engine in a mix of sharings, with circuits that save what `goal` says.
    ///
    /// # Errors
    /// Those of [`Computation::lower`]; parties or values that a protocol has not.
    pub fn executable(&self, mix: Mix, goal: Goal) -> Result<Executable, ExecuteError> {
        Ok(self.lower(mix, goal)?.executable()?)
    }
}

impl Lowered {
    /// The steps as operations of the engine.
    ///
    /// # Errors
    /// Parties or values that a protocol has not.
    pub fn executable(&self) -> Result<Executable, GraphError> {
        let mut making = Making {
            graph: Graph::new(self.parties),
            inputs: Vec::new(),
            taken: Vec::new(),
            counter: None,
            shared: HashMap::new(),
            parts: Vec::new(),
            pairs: self.pairs,
        };
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
    /// What the engine computes.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Which part of the program asked for an operation of the graph, by its place there, if one did: see
    /// [`Program::part`](crate::Program::part).
    pub fn part(&self, operation: usize) -> Option<u32> {
        self.parts.get(operation).copied().flatten()
    }

    /// The plan, with all else as usual; change what is to be otherwise.
    pub fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(self.graph.clone())
    }

    /// The usual plan.
    ///
    /// # Errors
    /// Too many parties or blocks.
    pub fn plan(&self) -> Result<ProgramPlan, ExecuteError> {
        Ok(ProgramPlan::new(self.spec())?)
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
                Some(array) if sort.sharing.is_known_to(me) => held(array, sort),
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
                crate::stages::Value::Shared(shares) => Ok(shares),
                crate::stages::Value::Clear(_) => Err(InputError::Kept { at: port.at }),
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
            let sort = &port.sort;
            value.is_known().then(|| {
                let words = words(value, sort.element);
                Arc::new(Array::new(sort.element, sort.shape.clone(), words))
            })
        };
        Outputs::known(
            &self.outputs,
            values.iter().zip(&self.outputs).map(of).collect(),
        )
    }
}

fn width(bits: u32) -> Width {
    let found = Width::ALL
        .into_iter()
        .find(|width| width.bits() == bits as usize);
    found.expect("rings have 8, 16, 32, 64 or 128 bits")
}

fn sort(held: &lower::Held) -> Sort {
    let sharing = match &held.holding {
        Holding::Public => Sharing::PUBLIC,
        Holding::Clear(to) => Sharing::clear(to),
        Holding::Shared(sharing) => engine_sharing(*sharing),
    };
    let element = match held.element {
        lower::Element::Bits(bits) => Element::Bits(bits as usize),
        lower::Element::Ring(bits) => Element::Ring(width(bits)),
    };
    Sort::new(sharing, element, held.len)
}

/// An operation of the protocol of a sharing.
macro_rules! in_protocol {
    ($sharing:expr, $protocol:ident => $operation:expr) => {
        match $sharing {
            sharing if sharing == Sharing::A => {
                type $protocol = ArithmeticGmwTool;
                Arc::new($operation) as Arc<dyn Operation>
            }
            sharing if sharing == Sharing::B => {
                type $protocol = BooleanGmwTool;
                Arc::new($operation)
            }
            sharing if sharing == Sharing::Y => {
                type $protocol = BmrTool;
                Arc::new($operation)
            }
            sharing if sharing == Sharing::Y2 => {
                type $protocol = YaoTool;
                Arc::new($operation)
            }
            sharing if sharing == Sharing::ALPHA => {
                type $protocol = AlphaTool;
                Arc::new($operation)
            }
            sharing if sharing == Sharing::BETA => {
                type $protocol = BetaTool;
                Arc::new($operation)
            }
            _ => {
                type $protocol = ReplicatedTool;
                Arc::new($operation)
            }
        }
    };
}

/// The same for operations on ring elements.
macro_rules! in_ring {
    ($sharing:expr, $protocol:ident => $operation:expr) => {
        match $sharing {
            sharing if sharing == Sharing::R => {
                type $protocol = ReplicatedTool;
                Arc::new($operation) as Arc<dyn Operation>
            }
            sharing if sharing == Sharing::ALPHA => {
                type $protocol = AlphaTool;
                Arc::new($operation)
            }
            _ => {
                type $protocol = ArithmeticGmwTool;
                Arc::new($operation)
            }
        }
    };
}

/// A graph being made.
struct Making {
    graph: Graph,
    inputs: Vec<usize>,
    taken: Vec<usize>,
    counter: Option<Value>,
    /// What became of clear values of one party's where they were wanted shared after all.
    shared: HashMap<Value, Value>,
    /// By operation, as far as these belong to parts.
    parts: Vec<Option<u32>>,
    /// Whether circuits on masked bits do two layers in a round.
    pairs: bool,
}

impl Making {
    /// A circuit that makes bits in the sharing of `out`.
    fn circuit(&self, out: Sort, netlist: &Netlist) -> Arc<dyn Operation> {
        let mut circuit = Circuit::new(netlist);
        if self.pairs && out.sharing == Sharing::BETA {
            circuit = circuit.in_pairs();
        }
        boolean(out, Arc::new(circuit))
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
                    let operation = MatrixProduct::<ArithmeticGmwTool>::of(*product);
                    self.add(step, Arc::new(operation.known(side, owner)), &inputs)?
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
    fn shared(
        &mut self,
        body: &Body,
        slot: lower::Slot,
        value: Value,
    ) -> Result<Value, GraphError> {
        let wanted = sort(body.held(slot)).sharing;
        let given = self.graph.sort(value).sharing;
        if given == wanted || !given.is_clear() || wanted.is_clear() {
            return Ok(value);
        }
        if let Some(&made) = self.shared.get(&value) {
            return Ok(made);
        }
        let step = &body.steps[slot.step as usize];
        let made = self.add(step, share(given, wanted), &[value])?[0];
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
        let out = sort(&step.outputs[0]);
        let first = inputs.first().map(|&value| *self.graph.sort(value));
        let given = first.map_or(out.sharing, |sort| sort.sharing);
        let operation: Arc<dyn Operation> = match &step.action {
            Action::Input(number) => {
                self.inputs.push(*number);
                return Ok(vec![self.graph.input(out)]);
            }
            Action::Taken(place) => {
                let Holding::Shared(sharing) = step.outputs[0].holding else {
                    unreachable!("what is kept is shared");
                };
                self.taken.push(*place);
                let value = self.graph.input(out.shared(engine_sharing(sharing.kept())));
                let Some(operation) = from_shares(out.sharing) else {
                    return Ok(vec![value]);
                };
                return self.add(step, operation, &[value]);
            }
            Action::Keep => match to_shares(given) {
                Some(operation) => operation,
                None => return Ok(inputs.to_vec()),
            },
            Action::Argument(number) => return Ok(vec![arguments[*number]]),
            Action::Counter => {
                let argument = |graph: &mut Graph| graph.argument(out);
                let value = *self
                    .counter
                    .get_or_insert_with(|| argument(&mut self.graph));
                return Ok(vec![value]);
            }
            Action::Public(array) => Arc::new(Public::new(held(array, out))),
            Action::Share => share(given, out.sharing),
            Action::Gather(places) => Arc::new(Rearrange::new(layout(places))),
            Action::Join { rows } => Arc::new(Concat { rows: *rows }),
            Action::Row([_, count, inner]) => Arc::new(Row {
                count: *count,
                inner: *inner,
            }),
            Action::Linear { factors, constant } => {
                in_ring!(out.sharing, P => Linear::<P>::new(factors.clone(), *constant))
            }
            Action::Mul if self.is_public(inputs[1]) => {
                in_ring!(out.sharing, P => MulPublic::<P>::new())
            }
            Action::Mul => in_ring!(out.sharing, P => Mul::<P>::new()),
            Action::Square => in_ring!(out.sharing, P => Square::<P>::new()),
            Action::Dot { length } => in_ring!(out.sharing, P => Dot::<P>::new(*length)),
            Action::Product(product) => {
                in_ring!(out.sharing, P => MatrixProduct::<P>::of(*product))
            }
            Action::Sum([_, count, inner]) => Arc::new(SumAxis {
                count: *count,
                inner: *inner,
                prefixes: false,
            }),
            Action::PrefixSums([_, count, inner]) => Arc::new(SumAxis {
                count: *count,
                inner: *inner,
                prefixes: true,
            }),
            Action::Narrow => {
                let Element::Ring(width) = out.element else {
                    unreachable!("narrow makes ring elements");
                };
                Arc::new(Narrow::new(width))
            }
            Action::Truncate { by, rounding } if out.sharing == Sharing::R => {
                let rounding = match rounding {
                    Rounding::Exact => madrigal_operations::Rounding::Exact,
                    Rounding::Probabilistic => madrigal_operations::Rounding::Probabilistic,
                };
                Arc::new(Truncate::new(*by as usize, rounding))
            }
            Action::Truncate {
                by,
                rounding: Rounding::Probabilistic,
            } if out.sharing == Sharing::A && self.graph.parties() == 2 => {
                Arc::new(TruncateLocally::new(*by as usize))
            }
            Action::Truncate {
                by,
                rounding: Rounding::Probabilistic,
            } if out.sharing == Sharing::ALPHA => {
                let shares = self.add(step, Arc::new(Unmask::<AlphaTool>::new()), inputs)?;
                let cut = TruncateLocally::new(*by as usize);
                let shares = self.add(step, Arc::new(cut), &shares)?;
                return self.add(step, Arc::new(Mask::<AlphaTool>::new()), &shares);
            }
            Action::Truncate { by, .. } => return self.shifted(step, inputs, *by),
            Action::Quotient { by } => return self.quotient(step, inputs, *by),
            Action::Split { negated } => {
                let parties = self.graph.parties();
                if out.sharing == Sharing::Y2 {
                    let split: Arc<dyn Operation> = match given == Sharing::ALPHA {
                        true => Arc::new(SplitLabels::<AlphaTool>::new(*negated)),
                        false => Arc::new(SplitLabels::<ArithmeticGmwTool>::new(*negated)),
                    };
                    return self.add(step, split, inputs);
                }
                let Some(garble) = garbled_from_bits(out.sharing) else {
                    let split = in_ring!(given, P => Addends::<P>::new(parties, *negated));
                    return self.add(step, split, inputs);
                };
                // All numbers become labels in one message; masks would take one more.
                let shares = match given == Sharing::ALPHA {
                    true => self.add(step, Arc::new(Unmask::<AlphaTool>::new()), inputs)?,
                    false => inputs.to_vec(),
                };
                let plain = self.graph.sort(shares[0]).sharing;
                let split = in_ring!(plain, P => Addends::<P>::new(parties, *negated));
                let parts = self.add(step, split, &shares)?;
                return self.add(step, garble, &parts);
            }
            Action::Test(predicate, depth) => Arc::new(Test::new(*predicate, *depth)),
            Action::Netlist(netlist) => self.circuit(out, netlist),
            // A circuit has no ring elements.
            Action::Branches(branching, Way::Multiplexed | Way::Rings(_)) => {
                self.circuit(out, &branching.flatten())
            }
            Action::Branches(branching, Way::Shared(scheme)) => {
                Arc::new(Branch::new(Arc::clone(branching), *scheme))
            }
            Action::Formulas(formulas, gated) => {
                let mut inputs = inputs.to_vec();
                inputs[0] = self.in_shares(step, &inputs[..1])?[0];
                let branch = RingBranch::new(Arc::clone(formulas), *gated);
                return self.add(step, Arc::new(branch), &inputs);
            }
            Action::Compose { signed } => {
                let Element::Ring(width) = out.element else {
                    unreachable!("compose makes ring elements");
                };
                return self.composed(step, inputs, out, width, *signed);
            }
            Action::BitTimes => {
                let mut bits = self.in_shares(step, inputs)?;
                if out.sharing == Sharing::ALPHA && self.graph.sort(bits[0]).sharing == Sharing::B {
                    bits[0] = self.add(step, Arc::new(Mask::<BetaTool>::new()), &bits[..1])?[0];
                }
                let times = in_ring!(out.sharing, P => BitTimes::<P>::new());
                return self.add(step, times, &bits);
            }
            Action::Open(to) => in_protocol!(given, P => Open::<P>::new(to.clone())),
            Action::Repeat { count, body } => self.repeat(*count, body, inputs)?,
        };
        self.add(step, operation, inputs)
    }

    /// The same, with garbled bits in Boolean GMW, from which the way to ring elements goes on.
    fn in_shares(&mut self, step: &Step, values: &[Value]) -> Result<Vec<Value>, GraphError> {
        let mut made = Vec::new();
        for &value in values {
            let operation: Arc<dyn Operation> = match self.graph.sort(value).sharing {
                sharing if sharing == Sharing::Y => Arc::new(FromKeys),
                sharing if sharing == Sharing::Y2 => Arc::new(FromLabels),
                _ => {
                    made.push(value);
                    continue;
                }
            };
            made.extend(self.add(step, operation, &[value])?);
        }
        Ok(made)
    }

    fn is_public(&self, value: Value) -> bool {
        self.graph
            .sort(value)
            .sharing
            .is_public(self.graph.parties())
    }

    fn repeat(
        &self,
        count: usize,
        body: &Body,
        inputs: &[Value],
    ) -> Result<Arc<dyn Operation>, GraphError> {
        let mut making = Making {
            graph: Graph::new(self.graph.parties()),
            inputs: Vec::new(),
            taken: Vec::new(),
            counter: None,
            shared: HashMap::new(),
            parts: Vec::new(),
            pairs: self.pairs,
        };
        let argument = |&value: &Value| making.graph.argument(*self.graph.sort(value));
        let arguments: Vec<Value> = inputs.iter().map(argument).collect();
        let results = making.body(body, &arguments)?;
        let Making { graph, counter, .. } = making;
        Ok(Arc::new(Repeat::new(
            count, graph, arguments, counter, results,
        )))
    }

    /// A signed quotient by a power of two, of what two parties have of it and of carries.
    fn quotient(
        &mut self,
        step: &Step,
        inputs: &[Value],
        by: u32,
    ) -> Result<Vec<Value>, GraphError> {
        let out = sort(&step.outputs[0]);
        let Element::Ring(width) = out.element else {
            unreachable!("a quotient is a ring element");
        };
        let masked = out.sharing == Sharing::ALPHA;
        let mut shares = vec![inputs[0]];
        if masked {
            shares = self.add(step, Arc::new(Unmask::<AlphaTool>::new()), &shares)?;
        }
        shares = self.add(step, Arc::new(ShiftShares::new(by as usize)), &shares)?;
        if masked {
            shares = self.add(step, Arc::new(Mask::<AlphaTool>::new()), &shares)?;
        }
        for &carry in &inputs[1..] {
            shares.extend(self.composed(step, &[carry], out, width, false)?);
        }
        let high = (1_u128 << (width.bits() as u32 - 1 - by)).wrapping_neg();
        let mut factors = vec![1, 1];
        factors.resize(shares.len(), high);
        let sum = in_ring!(out.sharing, P => Linear::<P>::new(factors, 0));
        self.add(step, sum, &shares)
    }

    /// Bits as ring elements.
    fn composed(
        &mut self,
        step: &Step,
        inputs: &[Value],
        out: Sort,
        width: Width,
        signed: bool,
    ) -> Result<Vec<Value>, GraphError> {
        let given = self.graph.sort(inputs[0]).sharing;
        if let Some(compose) = composed_from_labels(given, width, signed) {
            let shares = self.add(step, compose, inputs)?;
            return match out.sharing == Sharing::ALPHA {
                true => self.add(step, Arc::new(Mask::<AlphaTool>::new()), &shares),
                false => Ok(shares),
            };
        }
        let bits = self.in_shares(step, inputs)?;
        if out.sharing == Sharing::ALPHA && self.graph.sort(bits[0]).sharing == Sharing::B {
            let compose = Compose::<ArithmeticGmwTool>::new(width, signed);
            let shares = self.add(step, Arc::new(compose), &bits)?;
            return self.add(step, Arc::new(Mask::<AlphaTool>::new()), &shares);
        }
        let compose = in_ring!(out.sharing, P => Compose::<P>::new(width, signed));
        self.add(step, compose, &bits)
    }

    /// A signed quotient by a power of two, on bits and back: exact.
    fn shifted(
        &mut self,
        step: &Step,
        inputs: &[Value],
        by: u32,
    ) -> Result<Vec<Value>, GraphError> {
        let sort = *self.graph.sort(inputs[0]);
        let Element::Ring(width) = sort.element else {
            unreachable!("truncation is of ring elements");
        };
        let parties = self.graph.parties();
        let split = in_ring!(sort.sharing, P => Addends::<P>::new(parties, false));
        let parts = self.add(step, split, inputs)?;
        let mut builder = madrigal_circuit::Builder::new("quotient");
        let bits = width.bits() as u32;
        let numbers: Vec<_> = parts.iter().map(|_| builder.input(bits)).collect();
        let mut numbers = numbers.into_iter();
        let mut sum = numbers.next().expect("there are parties");
        for number in numbers {
            sum = builder.add(&sum, &number);
        }
        let shifted = builder.sign_extend(&sum[by as usize..], width.bits());
        builder.output(&shifted);
        let bits = *self.graph.sort(parts[0]);
        let quotient = self.circuit(bits, &builder.finish());
        let made = self.add(step, quotient, &parts)?;
        let back = in_ring!(sort.sharing, P => Compose::<P>::new(width, false));
        self.add(step, back, &made)
    }
}
