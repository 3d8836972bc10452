//! The intermediate representation: a graph whose nodes are operations on whole tensors.
//!
//! Nodes stand in topological order: each takes values of nodes before it. A loop is one node with a graph
//! of its own; in that graph [`Op::Argument`] stands for the loop's inputs.

mod batch;
mod choices;
mod describe;
mod each;
mod optimise;
mod own;
mod permutations;
mod rules;

use madrigal_core::Convolution;
use std::sync::Arc;

pub(crate) use choices::elements_each;
pub(crate) use describe::digest;
pub(crate) use rules::sized;

use crate::array::Array;
use crate::element::Type;
use crate::error::{Fault, ProgramError, Source};
use crate::lower::Sharing;
use crate::shape::{Shape, View};
pub use crate::tensor_type::TensorType;
pub(crate) use each::OwnCircuit;
pub use each::{Each, EachForm, Elementwise};
pub use own::OwnOperation;

/// A result of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value {
    /// The node's number.
    pub node: u32,
    /// The result's number among those of the node.
    pub output: u32,
}

/// An operator on one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-x` modulo 2^bits.
    Negate,
    /// `!x`, bit by bit.
    Not,
    /// `|x|`; that of the least number is itself.
    Abs,
    /// `x * x` modulo 2^bits, with twice the bits after the point.
    Square,
    /// The root of an unsigned integer, rounded down.
    Root,
    /// Number of bits that are 1, as a [`Type::PLACE`].
    CountOnes,
    /// Number of the highest bits that are 0, as a [`Type::PLACE`].
    LeadingZeros,
    /// `x << by`, 0 from `by` = bits on.
    ShiftLeft(u32),
    /// `x >> by`: zeros come in, of signed numbers copies of the sign.
    ShiftRight(u32),
    /// Rotated towards the highest bit.
    RotateLeft(u32),
}

/// An operator on two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a + b` modulo 2^bits.
    Add,
    /// `a - b` modulo 2^bits.
    Sub,
    /// `a * b` modulo 2^bits; bits after the point add up.
    Mul,
    /// `a / b` rounded towards zero. For `b` = 0 all bits are 1; the least number by -1 is itself.
    Div,
    /// The remainder, with the sign of `a`. For `b` = 0 it is `a`.
    Rem,
    /// `a & b`.
    And,
    /// `a | b`.
    Or,
    /// `a ^ b`.
    Xor,
    /// Whether `a` is `b`.
    Equal,
    /// Whether `a < b`.
    Less,
    /// The smaller one.
    Min,
    /// The greater one.
    Max,
    /// `a << b` for an unsigned `b` of any width; 0 from `b` = bits on.
    ShiftLeft,
    /// `a >> b` for an unsigned `b` of any width; zeros come in, of signed numbers copies of the sign.
    ShiftRight,
    /// `a` rotated towards its highest bit by an unsigned `b` of any width.
    RotateLeft,
}

/// An operator on all elements along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum modulo 2^bits; 0 of none.
    Sum,
    /// The product modulo 2^bits; 1 of none. Of integers alone.
    Product,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
    /// The elements together by `&`; all ones of none.
    And,
    /// The elements together by `|`; 0 of none.
    Or,
    /// The elements together by `^`; 0 of none.
    Xor,
}

impl Reduction {
    /// The extreme that the operator gives, if it gives one.
    pub(crate) const fn extreme(self) -> Option<Extreme> {
        match self {
            Self::Least => Some(Extreme::Least),
            Self::Greatest => Some(Extreme::Greatest),
            _ => None,
        }
    }
}

/// The number that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The least one.
    Least,
    /// The greatest one.
    Greatest,
}

/// How bits after the point are cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// Rounded down, always.
    #[default]
    Exact,
    /// Rounded down, or one step above that; see [`crate::Secret::mul_probabilistic`] for what else can
    /// happen, and how seldom.
    Probabilistic,
}

/// An operation on tensors.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// The program's input of this number.
    Input(usize),
    /// The value of this number, of an earlier stage, that the program begins with.
    Kept(usize),
    /// A public tensor.
    Constant(Arc<Array>),
    /// The loop's input of this number, in the loop's body; where it is mapped, a row of it.
    Argument(usize),
    /// The number of times that the body of [`Op::Repeat`] was run before, in this body, as a [`Type::PLACE`].
    Counter,
    /// Elements in another order, some left out, some more than once.
    View(View),
    /// All elements in another shape.
    Reshape(Shape),
    /// The parts at these places of an axis.
    Pick {
        /// The axis.
        axis: usize,
        /// The places, in the order of the result.
        places: Arc<[usize]>,
    },
    /// Tensors one after the other along an axis.
    Join(usize),
    /// The part of the first input at the place of an axis that the second names: a public number, as
    /// [`Op::Counter`] gives it. The axis goes.
    Row(usize),
    /// Each element by itself.
    Unary(Unary),
    /// Elements of two tensors of one shape.
    Binary(Binary),
    /// A choice among three tensors of one shape, the first of `bool`: the second where it is true, else the third.
    Select,
    /// The elements' bits in another type: cut off, or with zeros above, or with copies of the sign above
    /// those of a signed type. Bits after the point do not move.
    Cast(Type),
    /// Signed numbers divided by 2^by, which have as many bits less after the point.
    Truncate {
        /// Bits that go.
        by: u32,
        /// The direction of rounding.
        rounding: Rounding,
    },
    /// An operator on all elements along an axis, which goes.
    Reduce(Reduction, usize),
    /// The extreme along an axis, and the place where it stands first as a [`Type::PLACE`].
    Find(Extreme, usize),
    /// The sums of the first 1, 2, 3, ... elements along an axis.
    PrefixSums(usize),
    /// The first input's numbers along the last axis, the smallest first, by
    /// [`sorting_network`](madrigal_circuit::blocks::sorting_network); further inputs of the same shape go
    /// where the numbers go. Equal numbers may change places, always in the same way.
    Sort {
        /// Whether the greatest comes first.
        descending: bool,
        /// Number of elements that are kept.
        keep: usize,
    },
    /// All inputs along the last axis in the order of the first ones, the keys, of which each says whether its greatest elements come
    /// first: where the first key is equal, the second one decides, and so on. Elements with equal keys stay in their order.
    SortBy(Arc<[bool]>),
    /// All inputs along the last axis in an order that nobody knows, the same for all; each list in front of that axis in one of its
    /// own. In the clear they stay as they are.
    Shuffle,
    /// Random bits that nobody knows, as elements of an unsigned type, a tensor of this shape. In the clear they are zeros.
    Random(Type, Shape),
    /// The public numbers 0 to n - 1, as [`Type::PLACE`]s: the order in which rows stand.
    Numbered(usize),
    /// The other inputs along the last axis, each element at the place that the first input says, a [`Type::PLACE`]: a permutation of
    /// [`Op::Numbered`], made by sorts, shuffles and this operation alone ([`Permutation`](crate::Permutation)). The same for all, and
    /// each list in front of that axis by its own.
    MoveRows,
    /// Matrix products `[batch, m, k] x [batch, k, n] -> [batch, m, n]` modulo 2^bits; bits after the point
    /// add up.
    MatMul,
    /// Filters `[filters, channels / groups, y, x]` and images `[images, channels, rows, columns]` give
    /// `[images, filters, rows, columns]`, modulo 2^bits; bits after the point add up.
    Convolve(Convolution),
    /// `[batch, entries, width]` and places `[batch, count]` of an unsigned type give
    /// `[batch, count, width]`: the entries at the places, zeros where there is no entry.
    LookUp,
    /// An operation on the elements of tensors of one shape, each by itself, as a circuit.
    Each(Each),
    /// An operation of the author's, on whole tensors, in the sharing that it takes.
    Operation(Arc<OwnOperation>),
    /// A value held in a sharing.
    To(Sharing),
    /// The body `count` times, one after the other: the first `carried` inputs are the state, which the
    /// body's results replace; the others are the same each time. Gives the state at the end.
    Repeat {
        /// Number of turns.
        count: usize,
        /// Parts of the state.
        carried: usize,
        /// The work of each turn.
        body: Arc<Graph>,
    },
    /// The body for each row of the first `carried` inputs, whose first axis has length `count`; the
    /// others are the same each time. Gives the results' rows.
    Map {
        /// Number of rows.
        count: usize,
        /// Inputs that are cut in rows.
        carried: usize,
        /// The work on each row.
        body: Arc<Graph>,
    },
    /// A choice among branches. In each element it gives the results of the branch, counted from 0, whose number stands
    /// in that element of the first input: an unsigned integer, or a bit. Zeros where there is no branch of that number. The other
    /// inputs are what branches take from around them. All results have the shape of the first input.
    Choose(Arc<[Arc<Graph>]>),
}

/// An operation with its operands.
#[derive(Debug, Clone)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// The operands.
    pub inputs: Vec<Value>,
    /// Types and shapes of the results.
    pub outputs: Vec<TensorType>,
    /// Line where it was asked for.
    pub at: Source,
}

/// Operations in topological order, and what comes of them. The source lines are no part of what makes
/// two graphs equal.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    results: Vec<Value>,
}

impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        let mut nodes = self.nodes.iter().zip(&other.nodes);
        self.nodes.len() == other.nodes.len()
            && self.results == other.results
            && nodes.all(|(a, b)| (&a.op, &a.inputs, &a.outputs) == (&b.op, &b.inputs, &b.outputs))
    }
}

impl Eq for Graph {}

impl std::hash::Hash for Graph {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for node in &self.nodes {
            (&node.op, &node.inputs).hash(state);
        }
        self.results.hash(state);
    }
}

impl Value {
    /// The first `count` results of the value's node.
    pub(crate) fn outputs(self, count: usize) -> impl Iterator<Item = Self> {
        (0..count as u32).map(move |output| Self { output, ..self })
    }
}

impl Graph {
    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The values that leave the graph, in order.
    pub fn results(&self) -> &[Value] {
        &self.results
    }

    /// Type and shape of a value.
    pub fn type_of(&self, value: Value) -> &TensorType {
        &self.nodes[value.node as usize].outputs[value.output as usize]
    }

    /// The node that makes a value.
    pub(crate) fn maker(&self, value: Value) -> &Node {
        &self.nodes[value.node as usize]
    }

    /// The public tensor that a value is, if it is one.
    pub(crate) fn constant(&self, value: Value) -> Option<&Arc<Array>> {
        match &self.maker(value).op {
            Op::Constant(array) => Some(array),
            _ => None,
        }
    }

    /// Makes what stands for the results of each node, in order, of what stands for its operands; gives what stands for
    /// the graph's results.
    pub(crate) fn walk<T: Clone>(&self, mut make: impl FnMut(&Node, Vec<T>) -> Vec<T>) -> Vec<T> {
        fn of<T: Clone>(values: &[Vec<T>], asked: &[Value]) -> Vec<T> {
            let one = |value: &Value| values[value.node as usize][value.output as usize].clone();
            asked.iter().map(one).collect()
        }
        let mut values: Vec<Vec<T>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let made = make(node, of(&values, &node.inputs));
            values.push(made);
        }
        of(&values, &self.results)
    }

    /// A node without operands, whose type its maker knows: an input, a counter.
    pub(crate) fn leaf(&mut self, op: Op, typed: TensorType, at: Source) -> Value {
        self.push(op, Vec::new(), vec![typed], at)
    }

    /// A public tensor.
    pub(crate) fn add_constant(&mut self, array: Array, at: Source) -> Value {
        let typed = TensorType::new(array.element(), array.shape().clone());
        self.leaf(Op::Constant(Arc::new(array)), typed, at)
    }

    /// One element of a public number for each place of a shape.
    pub(crate) fn filled(&mut self, element: Type, shape: &Shape, code: u128, at: Source) -> Value {
        let one = self.add_constant(Array::one(element, code), at);
        self.moved(
            Op::View(View::broadcast(&Shape::scalar(), shape)),
            one,
            shape.clone(),
            at,
        )
    }

    /// Elements of a value in another shape.
    pub(crate) fn moved(&mut self, op: Op, value: Value, shape: Shape, at: Source) -> Value {
        let typed = TensorType::new(self.type_of(value).element, shape);
        self.push(op, vec![value], vec![typed], at)
    }

    /// A node with operands; gives its first result.
    ///
    /// # Errors
    /// If the operands do not fit.
    pub(crate) fn add(
        &mut self,
        op: Op,
        inputs: Vec<Value>,
        at: Source,
    ) -> Result<Value, ProgramError> {
        let types: Vec<_> = inputs.iter().map(|&value| self.type_of(value)).collect();
        let outputs = op
            .result_types(&types)
            .map_err(|fault| ProgramError { at, fault })?;
        Ok(self.push(op, inputs, outputs, at))
    }

    /// Splits the graph from its results.
    pub(crate) fn without_results(mut self) -> (Self, Vec<Value>) {
        let results = std::mem::take(&mut self.results);
        (self, results)
    }

    /// A value that leaves the graph.
    pub(crate) fn add_result(&mut self, value: Value) {
        self.results.push(value);
    }

    pub(crate) fn push(
        &mut self,
        op: Op,
        inputs: Vec<Value>,
        outputs: Vec<TensorType>,
        at: Source,
    ) -> Value {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            op,
            inputs,
            outputs,
            at,
        });
        Value { node, output: 0 }
    }
}

/// The operands' fault, for [`Op::sorts`].
pub(crate) fn not_defined(op: &Op, types: &[&TensorType]) -> Fault {
    Fault::Element {
        operator: op.to_string(),
        found: crate::error::Words(types.iter().map(|typed| typed.element).collect()),
    }
}
