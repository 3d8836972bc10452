//! Models as graphs of primitive operators on tensors whose shapes are known.

mod count;
mod fit;
mod infer;
mod linear;
mod op;

use std::sync::Arc;

pub use count::Count;
pub use op::{Binary, Op, Reduction, Unary, Window};

pub(crate) use count::work;
pub(crate) use fit::broadcast;
pub(crate) use infer::infer;

use crate::tensor::{Element, Tensor};

/// Elements and dimensions of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Type of the elements.
    pub element: Element,
    /// Dimensions of the value.
    pub shape: Vec<usize>,
}

impl Type {
    /// The type of a tensor.
    pub fn of(tensor: &Tensor) -> Type {
        Type {
            element: tensor.element(),
            shape: tensor.shape().to_vec(),
        }
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of shape {:?}", self.element, self.shape)
    }
}

/// A value of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(crate) u32);

impl ValueId {
    /// Place of the value in [`Graph::values`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Facts that a graph knows of a value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Elements and dimensions.
    pub ty: Type,
    /// Tensor of a value that depends on no input: a weight, or computed of weights.
    pub constant: Option<Arc<Tensor>>,
    /// Whether that is made of what may have been trained, and so known to the model's owner alone; other constants are
    /// architecture.
    pub owned: bool,
}

/// An operator at work.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name of the model's node that it is or belongs to; where that has none, of its first output.
    pub name: String,
    /// The operator of the model's node, in ONNX.
    pub operator: String,
    /// Operation of the node.
    pub op: Op,
    /// Values that the node reads.
    pub inputs: Vec<ValueId>,
    /// Values that the node makes: two by [`Op::TopK`], else one.
    pub outputs: Vec<ValueId>,
}

/// A model: what is computed of which inputs, in order.
///
/// A constant is never an input of the graph and never a node's output. Each value that a node reads is an input of
/// the graph, a constant, or made by a node before. Every node serves an output.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) values: Vec<Value>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<(String, ValueId)>,
    pub(crate) outputs: Vec<(String, ValueId)>,
    pub(crate) trained: u64,
    /// Bytes of memory that may still be taken for it.
    pub(crate) memory: u64,
}

impl Graph {
    /// Inputs of the graph, in the model's order: name and value. Weights are none.
    pub fn inputs(&self) -> &[(String, ValueId)] {
        &self.inputs
    }

    /// Outputs of the graph, in the model's order: name and value, which may be a constant or an input.
    pub fn outputs(&self) -> &[(String, ValueId)] {
        &self.outputs
    }

    /// Nodes of the graph: each follows those that it reads.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Facts about a value of this graph.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// Counts the numbers other than 0 that the model's file has in tensors that weights are made of, whatever their type
    /// there: none where the file was written [without weights](crate::Model::without_weights).
    pub fn trained(&self) -> u64 {
        self.trained
    }

    /// All values, by [`ValueId::index`]; some may be read by no one.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The constants that nodes or outputs read, each once, in the order of their first use.
    pub fn constants(&self) -> Vec<(ValueId, &Tensor)> {
        let mut seen = vec![false; self.values.len()];
        let read = self.nodes.iter().flat_map(|node| &node.inputs);
        let read = read.chain(self.outputs.iter().map(|(_, id)| id));
        let mut found = Vec::new();
        for &id in read {
            if let Some(constant) = &self.value(id).constant
                && !std::mem::replace(&mut seen[id.index()], true)
            {
                found.push((id, &**constant));
            }
        }
        found
    }
}
