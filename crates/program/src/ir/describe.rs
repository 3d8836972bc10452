//! Operations in words, which mean the same at all parties: what the digest is made of, and what parties
//! with different programs compare.

use std::fmt;

use madrigal_core::{Digest256, domains};
use sha2::{Digest, Sha256};

use super::{Binary, Extreme, Graph, Op, Reduction, Rounding, Unary, Value};
use crate::array::Array;

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(number) => write!(f, "input {number}"),
            Self::Kept(number) => write!(f, "kept value {number}"),
            Self::Constant(array) => write!(f, "constant {}", fingerprint(array)),
            Self::Argument(number) => write!(f, "argument {number}"),
            Self::Counter => f.write_str("counter"),
            Self::View(view) => write!(f, "view from {} by {:?}", view.offset, view.strides),
            Self::Reshape(_) => f.write_str("reshape"),
            Self::Pick { axis, places } => write!(f, "places {places:?} of axis {axis}"),
            Self::Join(axis) => write!(f, "join along axis {axis}"),
            Self::Row(axis) => write!(f, "row of axis {axis}"),
            Self::Unary(unary) => unary.fmt(f),
            Self::Binary(binary) => binary.fmt(f),
            Self::Select => f.write_str("select"),
            Self::Cast(element) => write!(f, "cast to {element}"),
            Self::Truncate { by, rounding } => {
                let how = match rounding {
                    Rounding::Exact => "",
                    Rounding::Probabilistic => ", probabilistic",
                };
                write!(f, "truncate by {by}{how}")
            }
            Self::Reduce(reduction, axis) => write!(f, "{reduction} along axis {axis}"),
            Self::Find(extreme, axis) => {
                let extreme = match extreme {
                    Extreme::Least => "least",
                    Extreme::Greatest => "greatest",
                };
                write!(f, "{extreme} with place along axis {axis}")
            }
            Self::PrefixSums(axis) => write!(f, "prefix sums along axis {axis}"),
            Self::Sort { descending, keep } => {
                let order = if *descending { "greatest" } else { "least" };
                write!(f, "sort, the {keep} {order} ones")
            }
            Self::SortBy(descending) => {
                let keys = descending.iter().map(|descending| match descending {
                    true => "down",
                    false => "up",
                });
                write!(f, "sort by keys, {}", keys.collect::<Vec<_>>().join(" "))
            }
            Self::Shuffle => f.write_str("shuffle"),
            Self::Random(element, shape) => write!(f, "random {element}{shape}"),
            Self::Numbered(count) => write!(f, "numbers of {count} rows"),
            Self::MoveRows => f.write_str("rows at places"),
            Self::MatMul => f.write_str("matrix product"),
            Self::Convolve(convolution) => write!(f, "convolution of {convolution}"),
            Self::LookUp => f.write_str("look-up"),
            Self::Each(each) => each.fmt(f),
            Self::Operation(operation) => operation.fmt(f),
            Self::To(sharing) => write!(f, "to {sharing}"),
            Self::Repeat { count, carried, .. } => {
                write!(f, "repeat {count} times, state of {carried}")
            }
            Self::Map { count, carried, .. } => write!(f, "map over {count} rows of {carried}"),
            Self::Choose(branches) => write!(f, "choice among {} branches", branches.len()),
        }
    }
}

impl fmt::Display for Unary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Negate => f.write_str("negation"),
            Self::Not => f.write_str("not"),
            Self::Abs => f.write_str("absolute value"),
            Self::Square => f.write_str("square"),
            Self::Root => f.write_str("square root"),
            Self::CountOnes => f.write_str("count of ones"),
            Self::LeadingZeros => f.write_str("count of leading zeros"),
            Self::ShiftLeft(by) => write!(f, "shift left by {by}"),
            Self::ShiftRight(by) => write!(f, "shift right by {by}"),
            Self::RotateLeft(by) => write!(f, "rotation left by {by}"),
        }
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Add => "sum",
            Self::Sub => "difference",
            Self::Mul => "product",
            Self::Div => "quotient",
            Self::Rem => "remainder",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Equal => "equality",
            Self::Less => "comparison",
            Self::Min => "minimum",
            Self::Max => "maximum",
            Self::ShiftLeft => "shift left",
            Self::ShiftRight => "shift right",
            Self::RotateLeft => "rotation left",
        })
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Least => "least",
            Self::Greatest => "greatest",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        })
    }
}

impl Graph {
    /// Each node in words: its number, what it does with which values, and what comes out. Bodies of
    /// loops and branches follow their node, indented.
    pub(crate) fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.describe_into(&mut lines, 0);
        lines
    }

    fn describe_into(&self, lines: &mut Vec<String>, depth: usize) {
        let indent = "  ".repeat(depth);
        for (number, node) in self.nodes().iter().enumerate() {
            let inputs = names(&node.inputs);
            let outputs: Vec<_> = node.outputs.iter().map(ToString::to_string).collect();
            let (op, outputs) = (&node.op, outputs.join(", "));
            lines.push(format!("{indent}{number}: {op} ({inputs}) -> {outputs}"));
            if let Op::Repeat { body, .. } | Op::Map { body, .. } = &node.op {
                body.describe_into(lines, depth + 1);
            }
            if let Op::Choose(branches) = &node.op {
                for branch in branches.iter() {
                    branch.describe_into(lines, depth + 1);
                }
            }
        }
        lines.push(format!("{indent}results ({})", names(self.results())));
    }
}

fn names(values: &[Value]) -> String {
    let name = |value: &Value| match value.output {
        0 => value.node.to_string(),
        output => format!("{}.{output}", value.node),
    };
    values.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Tells public tensors apart: enough of a hash of the elements.
fn fingerprint(array: &Array) -> String {
    let mut hash = Sha256::new_with_prefix(domains::PROGRAM_CONSTANT);
    for code in array.codes() {
        hash.update(code.to_le_bytes());
    }
    Digest256::from(hash.finalize()).to_string()
}

/// The digest of lines: equal if and only if the lines are.
pub(crate) fn digest(lines: &[String]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(domains::PROGRAM);
    for line in lines {
        hash.update((line.len() as u64).to_le_bytes());
        hash.update(line.as_bytes());
    }
    hash.finalize().into()
}
