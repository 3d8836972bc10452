//! A finished program.

use std::sync::Arc;

use crate::array::Array;
use crate::error::Source;
use crate::ir::{Graph, digest};
use crate::lower::Mix;
use crate::ports::{InputPort, Named, OutputPort};
use crate::requirement::{Requirement, unmet};
use crate::simulate::InputError;
use crate::stages::{Cell, Content, Held, StagesRun};

/// A value of an earlier stage that a program begins with.
#[derive(Debug, Clone)]
pub(crate) struct KeptPort {
    pub(crate) cell: Arc<Cell>,
    /// Line where the program takes it.
    pub(crate) at: Source,
}

impl KeptPort {
    /// The content of the cell, if the value was kept.
    pub(crate) fn content(&self) -> Result<Content, InputError> {
        let missing = InputError::Kept { at: self.at };
        self.cell.content().ok_or(missing)
    }
}

/// Connections of a program, as a stage, with the other stages of its run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Between {
    /// The run that it belongs to.
    pub(crate) run: Option<Arc<StagesRun>>,
    /// Values from earlier stages, by number.
    pub(crate) taken: Vec<KeptPort>,
    /// Cells where it leaves values for later ones.
    pub(crate) kept: Vec<Arc<Cell>>,
}

/// A program that can be run, simulated, and lowered to protocols, many times.
#[derive(Debug, Clone)]
pub struct Computation {
    parties: usize,
    graph: Graph,
    inputs: Vec<InputPort>,
    outputs: Vec<OutputPort>,
    requirements: Vec<Requirement>,
    mix: Mix,
    between: Between,
}

impl Computation {
    pub(crate) fn new(
        parties: usize,
        graph: Graph,
        inputs: Vec<InputPort>,
        outputs: Vec<OutputPort>,
        requirements: Vec<Requirement>,
        mix: Mix,
        between: Between,
    ) -> Self {
        Self {
            parties,
            graph,
            inputs,
            outputs,
            requirements,
            mix,
            between,
        }
    }

    /// Number of parties that compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// The operations.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The inputs, in the order in which the program asked for them.
    pub fn inputs(&self) -> &[InputPort] {
        &self.inputs
    }

    /// The outputs, in the order in which the program opened them.
    pub fn outputs(&self) -> &[OutputPort] {
        &self.outputs
    }

    /// The conditions without which nothing is opened, in the order in which the program asks for them.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// The requirements that do not hold, in words, if there are any.
    pub(crate) fn unmet(&self, holds: impl Fn(usize) -> bool) -> Option<String> {
        unmet(&self.requirements, holds)
    }

    /// The mix that the program is run in, unless whoever runs it names another.
    pub fn mix(&self) -> Mix {
        self.mix
    }

    /// Values that the program takes from earlier [stages](crate::Stages), by number.
    pub(crate) fn taken_values(&self) -> &[KeptPort] {
        &self.between.taken
    }

    /// Cells where the program leaves values for later stages: the last results of its graph.
    pub(crate) fn kept_values(&self) -> &[Arc<Cell>] {
        &self.between.kept
    }

    /// Line where the program takes or keeps a value, unless it has no such line or is `own`: of the run at hand.
    pub(crate) fn stray(&self, own: impl Fn(&Option<Arc<StagesRun>>) -> bool) -> Option<Source> {
        let taken = self.between.taken.iter().map(|port| port.at);
        let mut places = taken.chain(self.between.kept.iter().map(|cell| cell.at));
        places.next().filter(|_| !own(&self.between.run))
    }

    /// A line where the program takes or keeps a value of other [stages](crate::Stages), if it does.
    pub fn between_stages(&self) -> Option<Source> {
        self.stray(|_| false)
    }

    /// The values of earlier stages where those were simulated.
    pub(crate) fn kept_arrays(&self) -> Result<Vec<Arc<Array>>, InputError> {
        let taken = self.between.taken.iter();
        let of = |port: &KeptPort| match port.content()?.value {
            Held::Clear(array) => Ok(array),
            Held::Shared(_) => Err(InputError::Kept { at: port.at }),
        };
        taken.map(of).collect()
    }

    /// Tells what the program means, line by line: parties, inputs, operations, outputs. Parties whose lines
    /// differ have different programs, and the first line that does says in what.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = vec![format!("a program of {} parties", self.parties)];
        for (number, port) in self.inputs.iter().enumerate() {
            let name = Named("input", number, port.name.as_deref());
            lines.push(format!("{name}: {} of {}", port.tensor_type, port.owner));
        }
        for (number, port) in self.between.taken.iter().enumerate() {
            let from = port.cell.content().map(|content| content.name);
            let (typed, from) = (&port.cell.tensor_type, from.unwrap_or_default());
            lines.push(format!("kept value {number}: {typed}, {from}"));
        }
        lines.extend(self.graph.describe());
        for (number, port) in self.outputs.iter().enumerate() {
            let name = Named("output", number, port.name.as_deref());
            let to: Vec<_> = port.to.iter().map(ToString::to_string).collect();
            lines.push(format!("{name}: {} to {}", port.tensor_type, to.join(", ")));
        }
        for (number, requirement) in self.requirements.iter().enumerate() {
            let name = Named("requirement", number, requirement.name.as_deref());
            lines.push(name.to_string());
        }
        for (number, cell) in self.between.kept.iter().enumerate() {
            lines.push(format!("keeps value {number}: {}", cell.tensor_type));
        }
        lines
    }

    /// SHA-256 of [`Computation::describe`]: equal programs have equal digests, wherever they stand in
    /// the source (collision resistance is what counts).
    pub fn digest(&self) -> [u8; 32] {
        digest(&self.describe())
    }
}
