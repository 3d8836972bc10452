//! A program: operations on values, each made before it is used.

use std::panic::Location;
use std::sync::Arc;

use madrigal_core::{Party, domains};
use sha2::{Digest, Sha256};

use crate::operation::{Mismatch, Operation};
use crate::shares::Shares;
use crate::sort::{Sharing, Sort};

/// The most bits of a value. No machine has as many; what operations cost still fits 64-bit numbers.
const MAX_BITS: u128 = 1 << 58;

/// Checks that no value is larger than that.
fn countable(sorts: &[Sort]) -> Result<(), Mismatch> {
    let bits = |sort: &Sort| sort.len as u128 * sort.element.bits().max(1) as u128;
    match sorts.iter().find(|sort| bits(sort) > MAX_BITS) {
        Some(sort) => Err(Mismatch::new(format!(
            "{sort} are more than can be counted"
        ))),
        None => Ok(()),
    }
}

/// A value of a [`Graph`]; of no use with another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Value {
    pub(crate) node: u32,
    pub(crate) output: u32,
}

/// One operation on values, or an input.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// `None` for an input.
    pub(crate) operation: Option<Arc<dyn Operation>>,
    pub(crate) inputs: Vec<Value>,
    pub(crate) outputs: Vec<Sort>,
    pub(crate) label: String,
    /// Whether it can be prepared before any input is there.
    pub(crate) prepares: bool,
    of_tables: bool,
}

impl Node {
    /// Whether it is on values that one party garbles and another one evaluates, whose tables can travel online, too.
    pub(crate) fn of_tables(&self) -> bool {
        self.of_tables
    }

    /// The results where they have no elements: then there is nothing to do, and nothing is.
    pub(crate) fn empty(&self, me: Party) -> Option<Vec<Shares>> {
        let of = |sort: &Sort| {
            if sort.sharing.is_clear() && !sort.sharing.is_known_to(me) {
                Shares::unknown(*sort)
            } else {
                Shares::zeros(*sort)
            }
        };
        self.is_empty()
            .then(|| self.outputs.iter().map(of).collect())
    }

    /// Whether it is an operation that works lane by lane.
    pub(crate) fn is_lane_wise(&self) -> bool {
        let operation = self.operation.as_ref();
        operation.is_some_and(|operation| operation.is_lane_wise())
    }

    /// Whether there are results, and none has elements.
    pub(crate) fn is_empty(&self) -> bool {
        !self.outputs.is_empty() && self.outputs.iter().all(|sort| sort.len == 0)
    }
}

/// A program for a number of parties: what is computed, not yet in which order or blocks.
#[derive(Debug, Clone)]
pub struct Graph {
    parties: usize,
    nodes: Vec<Node>,
    inputs: Vec<Value>,
    outputs: Vec<Value>,
}

/// Operations that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{label}: {operation} cannot be: {problem}")]
pub struct GraphError {
    /// Where the operation comes from: a line of a source, or a name.
    pub label: String,
    /// Name of the operation.
    pub operation: String,
    /// Reason why it does not fit.
    pub problem: Mismatch,
}

impl Graph {
    /// No operation yet.
    pub fn new(parties: usize) -> Self {
        Self {
            parties,
            nodes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Whether there are garbled values: then each party has an offset.
    pub(crate) fn is_garbled(&self) -> bool {
        let mut sorts = self.nodes.iter().flat_map(|node| &node.outputs);
        sorts.any(|sort| sort.sharing.has_labels())
    }

    /// Number of parties that compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// A clear value that those who know it bring; or one that all have shares of, which an earlier program of
    /// theirs gave them ([`Stages`](crate::Stages)).
    ///
    /// # Panics
    /// If the sort is of labels, or of masks: they belong to the job that made them.
    pub fn input(&mut self, sort: Sort) -> Value {
        assert!(!sort.sharing.begins_ahead(), "{sort} is of one job");
        let value = self.push(None, Vec::new(), vec![sort], "input".into());
        self.inputs.push(value);
        value
    }

    /// An argument of a body, see [`Repeat`](crate::Repeat).
    pub fn argument(&mut self, sort: Sort) -> Value {
        let value = self.push(None, Vec::new(), vec![sort], "argument".into());
        self.inputs.push(value);
        value
    }

    /// Adds an operation on values; errors name the caller's line.
    ///
    /// # Errors
    /// [`GraphError`] if the values do not fit the operation.
    #[track_caller]
    pub fn add(
        &mut self,
        operation: Arc<dyn Operation>,
        inputs: &[Value],
    ) -> Result<Vec<Value>, GraphError> {
        let place = Location::caller();
        let label = format!("{}:{}", place.file(), place.line());
        self.add_labelled(operation, inputs, label)
    }

    /// Adds an operation that errors, reports and progress name by `label`.
    ///
    /// # Errors
    /// [`GraphError`] if the values do not fit the operation.
    ///
    /// # Panics
    /// If a value is not of this graph.
    pub fn add_labelled(
        &mut self,
        operation: Arc<dyn Operation>,
        inputs: &[Value],
        label: String,
    ) -> Result<Vec<Value>, GraphError> {
        let sorts: Vec<Sort> = inputs.iter().map(|&value| *self.sort(value)).collect();
        let made = countable(&sorts).and_then(|()| operation.sorts(&sorts, self.parties));
        let made = made.and_then(|made| {
            countable(&made)?;
            let lens = || sorts.iter().chain(&made).map(|sort| sort.len);
            if operation.is_lane_wise() && lens().min() != lens().max() {
                let all: Vec<_> = lens().collect();
                return Err(Mismatch::new(format!("lengths differ: {all:?}")));
            }
            Ok(made)
        });
        let outputs = made.map_err(|problem| GraphError {
            label: label.clone(),
            operation: operation.name(),
            problem,
        })?;
        let count = outputs.len() as u32;
        let first = self.push(Some(operation), inputs.to_vec(), outputs, label);
        let values = (0..count).map(|output| Value { output, ..first });
        Ok(values.collect())
    }

    /// Adds an operation with one result; errors name the caller's line.
    ///
    /// # Errors
    /// [`GraphError`] if the values do not fit the operation.
    ///
    /// # Panics
    /// If it has another number of results.
    #[track_caller]
    pub fn add_one(
        &mut self,
        operation: impl Operation + 'static,
        inputs: &[Value],
    ) -> Result<Value, GraphError> {
        let values = self.add(Arc::new(operation), inputs)?;
        let [value] = values[..] else {
            panic!("{} results, one wanted", values.len());
        };
        Ok(value)
    }

    /// Gives a clear value to those who know it when the program ends; of a shared one gives each party its
    /// share, for a later program.
    ///
    /// # Panics
    /// If the value is of labels or masks, which belong to one job: convert it first.
    pub fn output(&mut self, value: Value) {
        let sort = self.sort(value);
        assert!(!sort.sharing.begins_ahead(), "{sort} is of one job");
        self.outputs.push(value);
    }

    /// Sort of a value.
    ///
    /// # Panics
    /// If it is not of this graph.
    pub fn sort(&self, value: Value) -> &Sort {
        &self.node(value.node).outputs[value.output as usize]
    }

    /// All inputs, in order.
    pub fn inputs(&self) -> &[Value] {
        &self.inputs
    }

    /// All outputs, in order.
    pub fn outputs(&self) -> &[Value] {
        &self.outputs
    }

    /// Number of operations, inputs among them.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    /// Sorts of a node's inputs, when it is called for `len` elements.
    pub(crate) fn input_sorts(&self, node: u32, len: usize) -> Vec<Sort> {
        let node = self.node(node);
        let of = |&value: &Value| match node.is_lane_wise() {
            true => self.sort(value).of_len(len),
            false => *self.sort(value),
        };
        node.inputs.iter().map(of).collect()
    }

    /// Each operation with what it is done to, on a line.
    pub fn describe(&self) -> impl Iterator<Item = String> + '_ {
        self.nodes.iter().map(|node| {
            let name = match &node.operation {
                Some(operation) => operation.name(),
                None => format!("input {}", node.outputs[0]),
            };
            let of: Vec<_> = node
                .inputs
                .iter()
                .map(|value| format!("{}.{}", value.node, value.output))
                .collect();
            format!("{name} of {}", of.join(" "))
        })
    }

    /// SHA-256 of what is computed.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(domains::GRAPH);
        let mut put = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        put(&self.parties.to_string());
        self.describe().for_each(|line| put(&line));
        for value in &self.outputs {
            put(&format!("{}.{}", value.node, value.output));
        }
        hash.finalize().into()
    }

    /// Computes the outputs in the clear, from all inputs.
    ///
    /// # Errors
    /// [`GraphError`] for inputs that are missing or of other sorts, and where an operation refuses its values.
    pub fn simulate(&self, inputs: &[Shares]) -> Result<Vec<Shares>, GraphError> {
        let wrong = |problem: String| GraphError {
            label: "simulate".into(),
            operation: "input".into(),
            problem: Mismatch::new(problem),
        };
        if inputs.len() != self.inputs.len() {
            let (want, got) = (self.inputs.len(), inputs.len());
            return Err(wrong(format!("{got} inputs for {want}")));
        }
        let public = |sort: &Sort| sort.shared(Sharing::PUBLIC);
        let mut given = inputs.iter();
        let mut made: Vec<Vec<Shares>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let values = match &node.operation {
                None => {
                    let value = given.next().expect("counted above").clone();
                    let (want, got) = (public(&node.outputs[0]), public(value.sort()));
                    if want != got {
                        return Err(wrong(format!("{got} for {want}")));
                    }
                    vec![value.as_shared(Sharing::PUBLIC)]
                }
                Some(operation) => {
                    let of = |value: &Value| &made[value.node as usize][value.output as usize];
                    let of: Vec<_> = node.inputs.iter().map(of).collect();
                    if node.is_empty() {
                        let empty = |sort: &Sort| Shares::zeros(public(sort));
                        node.outputs.iter().map(empty).collect()
                    } else {
                        operation.plain(&of).map_err(|problem| GraphError {
                            label: node.label.clone(),
                            operation: operation.name(),
                            problem,
                        })?
                    }
                }
            };
            made.push(values);
        }
        let outputs = self.outputs.iter();
        let of = |value: &Value| made[value.node as usize][value.output as usize].clone();
        Ok(outputs.map(of).collect())
    }

    fn push(
        &mut self,
        operation: Option<Arc<dyn Operation>>,
        inputs: Vec<Value>,
        outputs: Vec<Sort>,
        label: String,
    ) -> Value {
        let node = u32::try_from(self.nodes.len()).expect("fewer than 2^32 operations");
        let sorts: Vec<Sort> = inputs.iter().map(|&value| *self.sort(value)).collect();
        let begun = inputs.iter().zip(&sorts);
        let mut begun = begun.filter(|(_, sort)| sort.sharing.begins_ahead());
        let constant = |value: &Value| {
            let maker = self.nodes[value.node as usize].operation.as_ref();
            maker.is_some_and(|op| op.constant().is_some())
        };
        let mut clear = inputs.iter().zip(&sorts);
        let clear = clear.all(|(value, sort)| !sort.sharing.is_clear() || constant(value));
        let able = |op: &Arc<dyn Operation>| op.prepares(&sorts) && (clear || !op.needs_clear());
        let prepares = operation.as_ref().is_some_and(able)
            && begun.all(|(value, _)| self.nodes[value.node as usize].prepares);
        let garbled = |sort: &Sort| sort.sharing == Sharing::Y2;
        let of_tables = sorts.iter().chain(&outputs).any(garbled);
        self.nodes.push(Node {
            of_tables,
            operation,
            inputs,
            outputs,
            label,
            prepares,
        });
        Value { node, output: 0 }
    }
}
