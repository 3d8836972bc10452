//! Messages as programs.

use std::sync::Arc;

use madrigal_core::{Budget, Party, PartyError};
use madrigal_program::ir::{Graph, Op, TensorType};
use madrigal_program::{Client, Computation, Holder, Program, Source, Tensor};

use crate::error::{BindError, ReadError};
use crate::lengths::Lengths;
use crate::operation::{Fault, operation};
use crate::proto;

/// Makes a program of a message, whose parts were counted.
pub(crate) fn bind(
    message: &proto::Program,
    lengths: &Lengths,
    elements: u64,
    budget: &Budget,
) -> Result<Computation, BindError> {
    let parties = message.parties as usize;
    let program = Program::new(parties);
    let program = match message.mix.parse() {
        Ok(mix) => program.with_default(mix),
        Err(_) => return Err(name(&message.mix, "a mix of sharings").into()),
    };
    let mut binding = Binding {
        message,
        lengths,
        budget,
        limit: elements,
        left: elements,
        inputs: Vec::new(),
    };
    let mut program = program;
    let graph = message.graph.clone().unwrap_or_default();
    let results = binding.graph(&mut program, &graph, &[], 1)?;
    binding.inputs_to(&mut program, message.inputs.len())?;
    let wanted = message.outputs.len() + message.requirements.len();
    if results.len() != wanted {
        let what = format!(
            "{} results, and outputs and requirements are {wanted}",
            results.len()
        );
        return Err(ReadError::Malformed(what).into());
    }
    let (opened, required) = results.split_at(message.outputs.len());
    for (port, value) in message.outputs.iter().zip(opened) {
        program.stand_at(Some(binding.place(port.place)?));
        let to = port.to.iter().map(|one| binding.holder(Some(one)));
        let to = to.collect::<Result<Vec<Holder>, BindError>>()?;
        program.open_tensor(some(&port.name), value, to);
    }
    for (one, value) in message.requirements.iter().zip(required) {
        program.stand_at(Some(binding.place(one.place)?));
        let condition = value.typed::<bool>();
        match some(&one.name) {
            Some(name) => program.require_named(name, &condition),
            None => program.require(&condition),
        }
    }
    program.stand_at(None);
    Ok(program.finish_as_recorded()?)
}

/// A name, unless it is empty.
fn some(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.is_empty())
}

fn name(name: &str, what: &'static str) -> ReadError {
    let name = name.chars().take(100).collect();
    ReadError::Name { name, what }
}

struct Binding<'a> {
    message: &'a proto::Program,
    lengths: &'a Lengths,
    budget: &'a Budget,
    /// Elements that all values may have, and that are left of these.
    limit: u64,
    left: u64,
    /// Inputs that have been asked for.
    inputs: Vec<Tensor>,
}

impl Binding<'_> {
    fn place(&self, place: Option<proto::Place>) -> Result<Source, BindError> {
        let Some(proto::Place { file, line }) = place else {
            return Ok(Source::named("(unknown)", 0));
        };
        let files = &self.message.files;
        let missing = ReadError::Missing {
            what: "source file",
            number: file.into(),
            count: files.len(),
        };
        let file = files.get(file as usize).ok_or(missing)?;
        Ok(Source::named(file, line))
    }

    fn holder(&self, holder: Option<&proto::Holder>) -> Result<Holder, BindError> {
        use proto::holder::Who;
        let parties = self.message.parties as usize;
        match holder.and_then(|holder| holder.who.as_ref()) {
            Some(Who::Party(party)) => {
                let index = *party as usize;
                let party = Party::checked(index, parties);
                let party = party.map_err(|PartyError { index, parties }| ReadError::Missing {
                    what: "party",
                    number: index as i64,
                    count: parties,
                });
                Ok(party?.into())
            }
            Some(Who::Client(client)) => Ok(Client::new(client).into()),
            None => {
                Err(ReadError::Malformed("somebody who is neither party nor client".into()).into())
            }
        }
    }

    /// Asks for the first `count` inputs.
    fn inputs_to(&mut self, program: &mut Program, count: usize) -> Result<(), BindError> {
        for port in &self.message.inputs[self.inputs.len().min(count)..count] {
            let at = self.place(port.place)?;
            program.stand_at(Some(at));
            let element = port.r#type.parse();
            let element = element.map_err(|problem| BindError::Type { at, problem })?;
            let axes = self.lengths.sizes(&port.axes)?;
            let owner = self.holder(port.owner.as_ref())?;
            self.inputs
                .push(program.tensor_input(some(&port.name), owner, element, &axes));
        }
        Ok(())
    }

    /// Records a graph, of which each value counts `times`; gives its results.
    fn graph(
        &mut self,
        program: &mut Program,
        graph: &proto::Graph,
        arguments: &[TensorType],
        times: u64,
    ) -> Result<Vec<Tensor>, BindError> {
        let mut values: Vec<Tensor> = Vec::new();
        for node in &graph.nodes {
            let at = self.place(node.place)?;
            program.stand_at(Some(at));
            let operands = node.operands.iter().map(|&number| value(&values, number));
            let operands = operands.collect::<Result<Vec<&Tensor>, _>>()?;
            let made = self.node(program, node, at, (&operands, arguments), times)?;
            for made in &made {
                let elements = (made.shape().elements() as u64).saturating_mul(times);
                let limit = self.limit;
                self.left = self
                    .left
                    .checked_sub(elements)
                    .ok_or(BindError::Elements { at, limit })?;
            }
            self.budget.take_of::<Tensor>(2 * made.len())?;
            values.extend(made);
        }
        let results = graph
            .results
            .iter()
            .map(|&number| value(&values, number).cloned());
        Ok(results.collect::<Result<_, _>>()?)
    }

    fn node(
        &mut self,
        program: &mut Program,
        node: &proto::Node,
        at: Source,
        (operands, arguments): (&[&Tensor], &[TensorType]),
        times: u64,
    ) -> Result<Vec<Tensor>, BindError> {
        let names = &self.message.operations;
        let missing = ReadError::Missing {
            what: "operation",
            number: node.operation.into(),
            count: names.len(),
        };
        let name = names.get(node.operation as usize).ok_or(missing)?;
        if let "input" | "argument" = name.as_str() {
            let count = match name.as_str() {
                "input" => self.message.inputs.len(),
                _ => arguments.len(),
            };
            let number = match node.lengths[..] {
                [number] => self.lengths.size(number)?,
                _ => usize::MAX,
            };
            if number >= count {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                let what = "input or argument";
                return Err(ReadError::Missing {
                    what,
                    number,
                    count,
                }
                .into());
            }
            if name == "argument" {
                return Ok(vec![program.argument(number, arguments[number].clone())]);
            }
            self.inputs_to(program, number + 1)?;
            return Ok(vec![self.inputs[number].clone()]);
        }
        let rows = match (name.as_str(), &node.lengths[..]) {
            ("map" | "repeat", &[count, carried]) => {
                Some([self.lengths.size(count)?, self.lengths.size(carried)?])
            }
            _ => None,
        };
        let mut bodies: Vec<Arc<Graph>> = Vec::new();
        for body in &node.bodies {
            let [count, carried] = rows.unwrap_or([1, 0]);
            let carried = if name == "map" { carried } else { 0 };
            let typed = |(place, operand): (usize, &&Tensor)| {
                let skip = usize::from(place < carried).min(operand.shape().rank());
                Ok(TensorType {
                    element: operand.element(),
                    shape: crate::operation::shape(&operand.shape().axes()[skip..])?,
                })
            };
            let types = operands.iter().enumerate().map(typed);
            let types = types.collect::<Result<Vec<TensorType>, Fault>>();
            let types = types.map_err(|fault| told(fault, name, at))?;
            let mut inner = program.body_of(types.len());
            let times = times.saturating_mul(count as u64);
            let results = self.graph(&mut inner, body, &types, times)?;
            let results: Vec<&Tensor> = results.iter().collect();
            program.stand_at(Some(at));
            match inner.into_body(&results) {
                Some((body, captured)) if captured.is_empty() => bodies.push(body),
                // An operation in it could not be, which the program says when it is finished.
                _ => return Ok(operands.iter().map(|&operand| operand.clone()).collect()),
            }
        }
        let op: Op =
            operation(name, node, bodies, self.lengths).map_err(|fault| told(fault, name, at))?;
        Ok(program.record(op, operands))
    }
}

/// A fault of a node, with its place.
fn told(fault: Fault, name: &str, at: Source) -> BindError {
    let operation = name.to_owned();
    match fault {
        Fault::Unknown => BindError::Operation {
            at,
            name: operation,
        },
        Fault::Parts(what) => BindError::Parts {
            at,
            operation,
            what,
        },
        Fault::Type(problem) => BindError::Type { at, problem },
        Fault::Bind(error) => error,
    }
}

fn value(values: &[Tensor], number: u32) -> Result<&Tensor, ReadError> {
    values.get(number as usize).ok_or(ReadError::Missing {
        what: "value",
        number: number.into(),
        count: values.len(),
    })
}
