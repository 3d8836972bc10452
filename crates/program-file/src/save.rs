//! Programs as messages.

use std::collections::HashMap;

use madrigal_program::ir::{Graph, Value};
use madrigal_program::{Computation, Holder, Source};

use crate::error::SaveError;
use crate::lengths::known;
use crate::operation::parts;
use crate::proto;

/// The message of a program.
pub(crate) fn message(program: &Computation) -> Result<proto::Program, SaveError> {
    if let Some(at) = program.between_stages() {
        return Err(SaveError::Stage { at });
    }
    let mut names = Names::default();
    let graph = names.graph(program.graph())?;
    let inputs = program.inputs().iter().map(|port| proto::Input {
        owner: Some(holder(&port.owner)),
        name: port.name.clone().unwrap_or_default(),
        r#type: port.tensor_type.element.to_string(),
        axes: axes(port.tensor_type.shape.axes()),
        place: Some(names.place(port.at)),
    });
    let inputs = inputs.collect();
    let outputs = program.outputs().iter().map(|port| proto::Output {
        to: port.to.iter().map(holder).collect(),
        name: port.name.clone().unwrap_or_default(),
        place: Some(names.place(port.at)),
    });
    let outputs = outputs.collect();
    let requirements = program.requirements().iter();
    let requirements = requirements.map(|one| proto::Requirement {
        name: one.name.clone().unwrap_or_default(),
        place: Some(names.place(one.at)),
    });
    let requirements = requirements.collect();
    Ok(proto::Program {
        parties: program.parties() as u32,
        mix: program.mix().to_string(),
        dimensions: Vec::new(),
        lengths: Vec::new(),
        inputs,
        operations: names.operations.all,
        files: names.files.all,
        graph: Some(graph),
        outputs,
        requirements,
    })
}

fn holder(holder: &Holder) -> proto::Holder {
    let who = match holder {
        Holder::Party(party) => proto::holder::Who::Party(party.index() as u32),
        Holder::Client(client) => proto::holder::Who::Client(client.name().to_owned()),
    };
    proto::Holder { who: Some(who) }
}

fn axes(axes: &[usize]) -> Vec<i64> {
    axes.iter().map(|&axis| known(axis as i64)).collect()
}

/// Texts in the order in which they came, each once.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    places: HashMap<&'static str, u32>,
}

impl Texts {
    fn number(&mut self, text: &'static str) -> u32 {
        let all = &mut self.all;
        *self.places.entry(text).or_insert_with(|| {
            all.push(text.to_owned());
            all.len() as u32 - 1
        })
    }
}

/// Names that nodes have by number.
#[derive(Default)]
struct Names {
    operations: Texts,
    files: Texts,
}

impl Names {
    fn place(&mut self, at: Source) -> proto::Place {
        proto::Place {
            file: self.files.number(at.file()),
            line: at.line(),
        }
    }

    fn graph(&mut self, graph: &Graph) -> Result<proto::Graph, SaveError> {
        let mut numbers: HashMap<Value, u32> = HashMap::new();
        let mut nodes = Vec::new();
        for (node, at) in graph.nodes().iter().zip(0..) {
            for output in 0..node.outputs.len() as u32 {
                let next = numbers.len() as u32;
                numbers.insert(Value { node: at, output }, next);
            }
            let parts = parts(&node.op).ok_or_else(|| SaveError::Operation {
                at: node.at,
                operation: node.op.to_string(),
            })?;
            let bodies = parts.bodies.iter().map(|body| self.graph(body));
            nodes.push(proto::Node {
                bodies: bodies.collect::<Result<_, _>>()?,
                operation: self.operations.number(parts.name),
                operands: node.inputs.iter().map(|input| numbers[input]).collect(),
                lengths: parts.lengths,
                texts: parts.texts,
                data: parts.data,
                place: Some(self.place(node.at)),
            });
        }
        Ok(proto::Graph {
            nodes,
            results: graph.results().iter().map(|value| numbers[value]).collect(),
        })
    }
}
