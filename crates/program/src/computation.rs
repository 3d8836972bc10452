//! A finished program.

use std::fmt;

use madrigal_core::Party;

use crate::error::Source;
use crate::ir::{Graph, Sort, digest};
use crate::lower::Mix;

/// A secret that a party brings along.
#[derive(Debug, Clone)]
pub struct InputPort {
    /// Who brings it.
    pub owner: Party,
    /// What it is called, if it has a name.
    pub name: Option<String>,
    /// Its type and shape.
    pub sort: Sort,
    /// Where the program asks for it.
    pub at: Source,
}

/// A value that parties learn.
#[derive(Debug, Clone)]
pub struct OutputPort {
    /// Who learns it, in order.
    pub to: Vec<Party>,
    /// What it is called, if it has a name.
    pub name: Option<String>,
    /// Its type and shape.
    pub sort: Sort,
    /// Where the program opens it.
    pub at: Source,
}

/// A program that can be run, simulated, and lowered to protocols, many times.
#[derive(Debug, Clone)]
pub struct Computation {
    parties: usize,
    graph: Graph,
    inputs: Vec<InputPort>,
    outputs: Vec<OutputPort>,
    mix: Mix,
}

impl Computation {
    pub(crate) fn new(
        parties: usize,
        graph: Graph,
        inputs: Vec<InputPort>,
        outputs: Vec<OutputPort>,
        mix: Mix,
    ) -> Self {
        Self {
            parties,
            graph,
            inputs,
            outputs,
            mix,
        }
    }

    /// How many parties compute.
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

    /// Which sharing does what, unless whoever runs the program says otherwise.
    pub fn mix(&self) -> Mix {
        self.mix
    }

    /// What the program means, line by line: parties, inputs, operations, outputs. Parties whose lines
    /// differ have different programs, and the first line that does says in what.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = vec![format!("a program of {} parties", self.parties)];
        for (number, port) in self.inputs.iter().enumerate() {
            let name = Named("input", number, port.name.as_deref());
            lines.push(format!("{name}: {} of {}", port.sort, port.owner));
        }
        lines.extend(self.graph.describe());
        for (number, port) in self.outputs.iter().enumerate() {
            let name = Named("output", number, port.name.as_deref());
            let to: Vec<_> = port.to.iter().map(ToString::to_string).collect();
            lines.push(format!("{name}: {} to {}", port.sort, to.join(", ")));
        }
        lines
    }

    /// SHA-256 of [`Computation::describe`]: equal programs have equal digests, wherever they stand in
    /// the source (collision resistance is what counts).
    pub fn digest(&self) -> [u8; 32] {
        digest(&self.describe())
    }
}

/// `input 3 ("bids")`
pub(crate) struct Named<'a>(
    pub(crate) &'static str,
    pub(crate) usize,
    pub(crate) Option<&'a str>,
);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(side, number, name) = self;
        match name {
            Some(name) => write!(f, "{side} {number} ({name:?})"),
            None => write!(f, "{side} {number}"),
        }
    }
}
