//! Errors in a model, and what to do about them.

use madrigal_core::budget::Spent;

use crate::tensor::Element;

/// Faults of a node, without the node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No operator of this name is supported.
    #[error("this operator is not supported: {advice}")]
    Operator {
        /// Advice: what to do instead.
        advice: &'static str,
    },
    /// The operator belongs to a set that is not ONNX's own.
    #[error(
        "operators of the set {domain:?} are not supported: export the model with ONNX's own alone"
    )]
    Domain {
        /// The set's name.
        domain: String,
    },
    /// A parameter has a value that is not supported.
    #[error("its attribute {name} is {found}; supported: {supported}")]
    Attribute {
        /// The parameter.
        name: &'static str,
        /// Value of the attribute.
        found: String,
        /// Values that are supported.
        supported: &'static str,
    },
    /// A parameter is of another type than the operator's.
    #[error("its attribute {name} should be {expected}: the file is damaged or its exporter wrong")]
    AttributeType {
        /// The parameter.
        name: &'static str,
        /// The type that it should have.
        expected: &'static str,
    },
    /// A parameter is missing that has no default.
    #[error("its attribute {name} is missing: the file is damaged or its exporter wrong")]
    AttributeMissing {
        /// The parameter.
        name: &'static str,
    },
    /// Too few inputs.
    #[error(
        "its input {index} (counted from 0) is missing: the file is damaged or its exporter wrong"
    )]
    InputMissing {
        /// Number of the input.
        index: usize,
    },
    /// A node that reads what nothing before it makes.
    #[error(
        "it reads {name:?}, which nothing before it makes: nodes must follow those that they read"
    )]
    Undefined {
        /// The value.
        name: String,
    },
    /// A node that makes what is there already.
    #[error("it makes {name:?}, which is there already: the file is damaged or its exporter wrong")]
    Redefined {
        /// The value.
        name: String,
    },
    /// An operand that decides on shapes is not known before inputs are.
    #[error(
        "its {what} depends on the model's input {}: it must be a constant, so that all shapes are known beforehand; \
         simplify the model, or bind the input to a constant",
        list(inputs)
    )]
    NotConstant {
        /// Name of the operand.
        what: &'static str,
        /// The inputs of the model on which it depends.
        inputs: Vec<String>,
    },
    /// An operand has elements for which the operator is not defined, or not supported.
    #[error("it has an operand of {found}; supported: {supported}")]
    Element {
        /// The operand's elements.
        found: Element,
        /// Elements that are supported.
        supported: &'static str,
    },
    /// Operands that must have the same elements do not.
    #[error(
        "its operands are of {first} and {second}, and must be the same: the model lacks a Cast"
    )]
    Elements {
        /// Elements of the first operand.
        first: Element,
        /// Elements of another operand.
        second: Element,
    },
    /// An element type of ONNX that is not supported.
    #[error(
        "its elements are of type {code} in ONNX's numbering, which is not supported: use floats of 16 to 64 bits, \
         integers of 8 to 64, or bool"
    )]
    ElementCode {
        /// ONNX's number for the type.
        code: i64,
    },
    /// Operands' shapes cannot be brought together.
    #[error("its operands' shapes {first:?} and {second:?} cannot be broadcast to one")]
    Broadcast {
        /// The first operand's dimensions.
        first: Vec<usize>,
        /// Dimensions of another operand.
        second: Vec<usize>,
    },
    /// There is no such axis.
    #[error("it names axis {axis} of a tensor of {rank} dimensions")]
    Axis {
        /// Axis as the model says it; below 0 counted from the end.
        axis: i64,
        /// Number of dimensions.
        rank: usize,
    },
    /// An operand has another shape than the operator needs.
    #[error("its {what} has the shape {found:?}, and should have {expected}")]
    Shape {
        /// Name of the operand.
        what: &'static str,
        /// Dimensions of the operand.
        found: Vec<usize>,
        /// Dimensions that it should have.
        expected: String,
    },
    /// A number is out of its range.
    #[error("its {what} is {found}, and should be {expected}")]
    Number {
        /// Name of the number.
        what: &'static str,
        /// Value of the number.
        found: i64,
        /// Values that it should have.
        expected: &'static str,
    },
    /// An index points beyond what it indexes.
    #[error("an index is {index}, and there are {size}")]
    Index {
        /// The index.
        index: i64,
        /// Number of entries.
        size: usize,
    },
    /// An integer is divided by 0.
    #[error("an integer is divided by 0")]
    DivisionByZero,
    /// A tensor would be larger than allowed.
    #[error(
        "it makes a tensor of shape {shape:?}: more than {limit} elements in all are not allowed; use a smaller batch, \
         or raise `Limits::elements`"
    )]
    TooLarge {
        /// The dimensions.
        shape: Vec<usize>,
        /// Number of elements that is allowed.
        limit: usize,
    },
    /// A tensor that is computed of constants, or an operator that is made of the node, takes more memory than allowed.
    #[error("it makes {shape:?}: {spent}; use a smaller batch, or raise `Limits::memory`")]
    Memory {
        /// The dimensions.
        shape: Vec<usize>,
        /// Memory that is left.
        spent: Spent,
    },
    /// A tensor would have more dimensions than allowed.
    #[error("it makes or names {found} dimensions, and 64 are allowed")]
    Rank {
        /// Number of dimensions.
        found: usize,
    },
    /// Values that are computed of constants alone take too long.
    #[error(
        "computing constants takes more than {limit} multiplications: simplify the model first, or raise `Limits::work`"
    )]
    TooMuchWork {
        /// Multiplications that are allowed.
        limit: u64,
    },
    /// A tensor among its attributes is wrong.
    #[error("its attribute {name}: {fault}")]
    StoredTensor {
        /// The attribute.
        name: &'static str,
        /// Fault of the tensor.
        fault: crate::read::TensorFault,
    },
    /// An output that is not supported.
    #[error("its output {what} is not supported, and the model uses it")]
    Output {
        /// Name of the output.
        what: &'static str,
    },
}

impl Fault {
    /// A parameter that has a value that is not supported.
    pub(crate) fn attribute(
        name: &'static str,
        found: impl Into<String>,
        supported: &'static str,
    ) -> Self {
        let found = found.into();
        Self::Attribute {
            name,
            found,
            supported,
        }
    }

    /// An operand that has another shape than the operator needs.
    pub(crate) fn shape(what: &'static str, found: &[usize], expected: impl Into<String>) -> Self {
        Self::Shape {
            what,
            found: found.to_vec(),
            expected: expected.into(),
        }
    }

    /// A number that is out of its range.
    pub(crate) fn number(what: &'static str, found: i64, expected: &'static str) -> Self {
        Self::Number {
            what,
            found,
            expected,
        }
    }
}

/// Names with commas.
fn list(names: &[String]) -> String {
    let mut told: Vec<String> = names
        .iter()
        .take(8)
        .map(|name| format!("{name:?}"))
        .collect();
    if names.len() > told.len() {
        told.push(format!("and {} more", names.len() - told.len()));
    }
    told.join(", ")
}

/// One thing in a model that is wrong or not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A fault of a node.
    #[error("{operator} {node:?}: {fault}")]
    Node {
        /// The node's name, or its first output where it has none.
        node: String,
        /// Operator of the node.
        operator: String,
        /// Fault of the node.
        fault: Fault,
    },
    /// An input of the model has elements that are not supported.
    #[error("input {input:?}: {}", Fault::ElementCode { code: *code })]
    InputElement {
        /// The input's name.
        input: String,
        /// ONNX's number for the type.
        code: i64,
    },
    /// An input of the model is no tensor.
    #[error("input {input:?} is no tensor: only tensors are supported")]
    InputKind {
        /// The input's name.
        input: String,
    },
    /// An input of the model has no shape.
    #[error("input {input:?} has no shape in the file: say which it is to have")]
    InputShape {
        /// The input's name.
        input: String,
    },
    /// A dimension of an input has no value.
    #[error(
        "input {input:?}: its dimension {axis} ({name:?}) has no value: say which it is to have"
    )]
    Dimension {
        /// The input's name.
        input: String,
        /// Number of the dimension, counted from 0.
        axis: usize,
        /// The dimension's name; it may have none.
        name: String,
    },
    /// A value that was given for an input does not fit what the model says of it.
    #[error("input {input:?} is {expected} in the file, and {found} was given")]
    Given {
        /// The input's name.
        input: String,
        /// Dimensions that the model says.
        expected: String,
        /// Dimensions that were given.
        found: String,
    },
    /// An input has more elements than allowed.
    #[error(
        "input {input:?} has the shape {shape:?}: more than {limit} elements are not allowed; use a smaller batch, \
         or raise `Limits::elements`"
    )]
    InputSize {
        /// The input's name.
        input: String,
        /// Dimensions of the input.
        shape: Vec<usize>,
        /// Number of elements that is allowed.
        limit: usize,
    },
    /// Something was said of an input that the model does not have.
    #[error("there is no input {input:?}; there are: {}", list(known))]
    NoSuchInput {
        /// The name that was given.
        input: String,
        /// Names of the inputs that there are.
        known: Vec<String>,
    },
    /// No node makes an output of the model.
    #[error("nothing makes the output {output:?}: the file is damaged or its exporter wrong")]
    OutputUndefined {
        /// The output's name.
        output: String,
    },
    /// Several inputs at once are wanted of a model that takes one at a time.
    #[error(
        "it was exported for one input at a time, as its node {node:?} shows, and {batch} at once are wanted: give one, \
         or export it again with a first dimension that has a name (in PyTorch by dynamic_shapes or dynamic_axes)"
    )]
    OneAtATime {
        /// Number of inputs that are wanted.
        batch: usize,
        /// The first node that shows it.
        node: String,
    },
    /// Something was said of a dimension that no input has.
    #[error("no dimension is named {name:?}{}", dimensions(known))]
    NoSuchDimension {
        /// The name that was given.
        name: String,
        /// Names of the dimensions that there are.
        known: Vec<String>,
    },
    /// Data says of a dimension what is known otherwise.
    #[error(
        "input {input:?}: its dimension {name:?} is {found} in the data, and {known} elsewhere: give data that agrees"
    )]
    Sizes {
        /// The input.
        input: String,
        /// The dimension's name.
        name: String,
        /// The size that is known.
        known: usize,
        /// Size in the data.
        found: usize,
    },
    /// A sparse tensor is read.
    #[error(
        "tensor {tensor:?} is sparse, which is not supported: make it dense (onnx.helper, or the exporter)"
    )]
    Sparse {
        /// The tensor's name.
        tensor: String,
    },
    /// There are too many problems to look for more.
    #[error("and more, which were not looked for")]
    More,
    /// A tensor of the file is wrong.
    #[error("{error}")]
    Initializer {
        /// Error of the tensor.
        error: crate::read::StoredTensorError,
    },
}

/// Says which dimensions have names.
fn dimensions(known: &[String]) -> String {
    match known {
        [] => ", nor otherwise".into(),
        known => format!("; there are: {}", list(known)),
    }
}

/// All that keeps a model from being imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Each with its node, in the order of the file; never empty.
    pub problems: Vec<Problem>,
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.problems[..] {
            [one] => write!(f, "the model cannot be used: {one}"),
            many => {
                write!(f, "the model cannot be used, for {} reasons:", many.len())?;
                many.iter()
                    .try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for ImportError {}

/// Reasons why a graph cannot be evaluated on what was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// Another number of inputs.
    #[error("inputs given: {found}; inputs of the model: {expected}")]
    Inputs {
        /// The graph's inputs.
        expected: usize,
        /// Number of inputs that was given.
        found: usize,
    },
    /// An input of another type.
    #[error("input {input:?} is {expected}, and {found} was given")]
    Input {
        /// The input's name.
        input: String,
        /// Elements and shape of the graph's input.
        expected: String,
        /// Element type and dimensions that were given.
        found: String,
    },
    /// A number that an input's elements do not have.
    #[error("input {input:?}: {wrong}")]
    Held {
        /// The input's name.
        input: String,
        /// The first such number.
        wrong: crate::tensor::HeldError,
    },
    /// A node cannot do it.
    #[error("{operator} {node:?}: {fault}")]
    Node {
        /// The node's name.
        node: String,
        /// Operator of the node in the model.
        operator: String,
        /// Fault of the node.
        fault: Fault,
    },
}
