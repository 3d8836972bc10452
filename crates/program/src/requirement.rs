//! Requirements: what must hold of secrets for anything to be opened.

use std::fmt;

use crate::error::{Source, Words};
use crate::ir::{Graph, Op, Value};
use crate::ports::{InputPort, Named};

/// A condition on secrets without which a program opens nothing: see [`Program::require`](crate::Program::require).
///
/// Printed, it says what is required, where, and of whose inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Name of the requirement, if it has one.
    pub name: Option<String>,
    /// Line where the program asks for it.
    pub at: Source,
    /// The inputs that it depends on, with their owners.
    pub inputs: Vec<String>,
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name:?} ({})", self.at)?,
            None => write!(f, "{}", self.at)?,
        }
        match self.inputs.is_empty() {
            true => Ok(()),
            false => write!(f, ", of {}", Words(self.inputs.clone())),
        }
    }
}

impl Requirement {
    /// Notes the inputs that a value depends on.
    pub(crate) fn of(self, value: Value, graph: &Graph, ports: &[InputPort]) -> Self {
        let mut needed = vec![false; graph.nodes().len()];
        needed[value.node as usize] = true;
        let mut inputs = Vec::new();
        for (number, node) in graph.nodes().iter().enumerate().rev() {
            if !needed[number] {
                continue;
            }
            if let Op::Input(place) = node.op {
                let port = &ports[place];
                let name = Named("input", place, port.name.as_deref());
                inputs.push((place, format!("{name} of {}", port.owner)));
            }
            for input in &node.inputs {
                needed[input.node as usize] = true;
            }
        }
        inputs.sort();
        let inputs = inputs.into_iter().map(|(_, input)| input).collect();
        Self { inputs, ..self }
    }
}

/// The requirements that do not hold, in words, if there are any.
pub(crate) fn unmet(requirements: &[Requirement], holds: impl Fn(usize) -> bool) -> Option<String> {
    let all = requirements.iter().enumerate();
    let unmet = all.filter(|(number, _)| !holds(*number));
    let unmet: Vec<String> = unmet.map(|(_, one)| one.to_string()).collect();
    (!unmet.is_empty()).then(|| unmet.join("; "))
}
