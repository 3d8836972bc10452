//! A model's nodes as whoever made the model knows them: what reports tell figures of.

use std::collections::BTreeSet;

use crate::graph::{Graph, Node, ValueId};

/// A node of the model, with all operators that it became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Name of the layer; where it has none, that of its first output.
    pub name: String,
    /// Operator of the layer in ONNX.
    pub operator: String,
    /// Dimensions of what it makes.
    pub shape: Vec<usize>,
    /// The layers that it reads, ascending, each once; all come before it.
    pub reads: Vec<usize>,
    /// Whether the layer reads an input of the model.
    pub reads_input: bool,
    /// Products of numbers that it computes, as of [`Graph::multiplications`].
    pub multiplications: u64,
}

/// The layers of a graph, and which of them its values come of.
pub(super) struct Layers {
    pub(super) layers: Vec<Layer>,
    makers: Vec<Option<u32>>,
}

impl Layers {
    /// Neighbours with one name and one operator are one layer.
    pub(super) fn of(graph: &Graph) -> Self {
        let mut made = Self {
            layers: Vec::new(),
            makers: vec![None; graph.values().len()],
        };
        let mut inputs = vec![false; graph.values().len()];
        for (_, id) in graph.inputs() {
            inputs[id.index()] = true;
        }
        // Those that the last layer reads, in order: a sum of many is one layer.
        let mut reads = BTreeSet::new();
        for node in graph.nodes() {
            made.add(graph, node, &inputs, &mut reads);
        }
        made.read(reads);
        made
    }

    /// All that the last layer reads.
    fn read(&mut self, reads: BTreeSet<usize>) {
        if let Some(last) = self.layers.last_mut() {
            last.reads = reads.into_iter().collect();
        }
    }

    fn add(&mut self, graph: &Graph, node: &Node, inputs: &[bool], reads: &mut BTreeSet<usize>) {
        let same = |layer: &&mut Layer| layer.name == node.name && layer.operator == node.operator;
        if self.layers.last_mut().filter(same).is_none() {
            self.read(std::mem::take(reads));
            self.layers.push(Layer {
                name: node.name.clone(),
                operator: node.operator.clone(),
                shape: Vec::new(),
                reads: Vec::new(),
                reads_input: false,
                multiplications: 0,
            });
        }
        let number = self.layers.len() - 1;
        let read = node.inputs.iter().filter_map(|&id| self.of_value(id));
        reads.extend(read.filter(|&layer| layer != number));
        let layer = &mut self.layers[number];
        layer.reads_input |= node.inputs.iter().any(|id| inputs[id.index()]);
        layer
            .shape
            .clone_from(&graph.value(node.outputs[0]).ty.shape);
        layer.multiplications += graph.multiplications(node);
        for &id in &node.outputs {
            self.makers[id.index()] = u32::try_from(number).ok();
        }
    }

    /// The layer that makes a value, if one does.
    pub(super) fn of_value(&self, id: ValueId) -> Option<usize> {
        self.makers[id.index()].map(|layer| layer as usize)
    }

    /// Number of the layer as a part of the program.
    pub(super) fn part(&self, id: ValueId) -> Option<u32> {
        self.makers[id.index()]
    }
}
