//! A model that is being made a program.

use super::format::Format;
use super::forms::Forms;
use crate::graph::{Graph, Node, ValueId};

pub(super) struct Lowering<'a> {
    pub(super) graph: &'a Graph,
    pub(super) format: Format,
    pub(super) forms: Forms<'a>,
    /// The node that makes each value, where one does.
    pub(super) makers: Vec<Option<&'a Node>>,
}

impl<'a> Lowering<'a> {
    pub(super) fn shape(&self, id: ValueId) -> &'a [usize] {
        &self.graph.value(id).ty.shape
    }
}
