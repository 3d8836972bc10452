//! Compares a model's numbers with a fixed point with those in the clear, on sample data.

use madrigal_program::{InputError, Inputs, Mistake, Overflow, Party, Type};

use super::masks::Masks;
use super::{EncodeError, Format, Roles, UnfitError};
use crate::error::EvaluateError;
use crate::graph::{Binary, Graph, Node, Op, Unary, ValueId};
use crate::tensor::Tensor;

/// A model on sample data, with a fixed point and in the clear.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The model's outputs, in its order.
    pub outputs: Vec<OutputDifference>,
    /// Differences of the nodes that make floats, in order.
    pub layers: Vec<LayerDifference>,
    /// Operations in which a number left its range, in order, as the program names them; sums within a node, too.
    pub overflows: Vec<String>,
}

/// An output in both ways.
#[derive(Clone, Debug)]
pub struct OutputDifference {
    /// Name of the output.
    pub name: String,
    /// The greatest magnitude in the clear.
    pub greatest: f64,
    /// The largest difference of two numbers.
    pub largest_error: f64,
    /// Rows, along the first axis, of an output of two axes or more.
    pub rows: usize,
    /// Number of these rows that have their greatest number elsewhere.
    pub changed: usize,
}

/// A node's result in both ways.
#[derive(Clone, Debug)]
pub struct LayerDifference {
    /// The name of the model's node.
    pub name: String,
    /// Operator of the node.
    pub operator: String,
    /// The greatest magnitude in the clear.
    pub greatest: f64,
    /// Bits by which it could be greater before it leaves the type's range: below 0 it did. Products have
    /// twice as many bits after the point until these are cut off.
    pub room: f64,
    /// The largest difference of two numbers.
    pub largest_error: f64,
}

/// Reasons why a model cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A model that cannot be computed on secrets.
    #[error(transparent)]
    Unfit(#[from] UnfitError),
    /// Weights or data that are no such numbers.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The data does not fit the model.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// A fault of this crate itself.
    #[error("a bug in madrigal: {0}")]
    Inputs(#[from] InputError),
}

/// Whether a node's result may have twice as many bits after the point at first: products, and what sums or moves
/// them.
fn may_be_product(node: &Node) -> bool {
    match node.op {
        Op::Unary(unary) => unary == Unary::Neg,
        Op::Binary(binary) => !matches!(binary, Binary::Min | Binary::Max),
        Op::Clip { .. } | Op::Cast { .. } | Op::Select | Op::MaxPool(_) => false,
        Op::Softmax { .. } | Op::LogSoftmax { .. } => false,
        _ => true,
    }
}

/// Bits that the greatest magnitude in a type leaves.
fn room(number: Type, fraction: u32, greatest: f64) -> f64 {
    f64::from(number.bits() - 1 - fraction) - greatest.max(f64::MIN_POSITIVE).log2()
}

/// Gives the greatest of the numbers that count, without their signs.
fn greatest(tensor: &Tensor, counts: impl Fn(f64) -> bool) -> f64 {
    let numbers = tensor.to_f64().into_iter();
    let numbers = numbers.filter(|&number| counts(number));
    numbers.map(f64::abs).fold(0.0, f64::max)
}

/// Computes the largest error where numbers in the clear count.
fn largest_error(found: &Tensor, expected: &Tensor, counts: impl Fn(f64) -> bool) -> f64 {
    // Differences of integers are not those of the floats next to them.
    if let (Some(found), Some(expected)) = (found.to_integers(), expected.to_integers()) {
        let pairs = found.into_iter().zip(expected);
        return pairs.map(|(a, b)| a.abs_diff(b) as f64).fold(0.0, f64::max);
    }
    let pairs = found.to_f64().into_iter().zip(expected.to_f64());
    let pairs = pairs.filter(|&(_, expected)| counts(expected));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

impl Graph {
    /// The model on data, with a fixed point and in the clear: how far apart each node's results are.
    ///
    /// # Errors
    /// [`CompareError`]: what cannot be computed on secrets, and data that does not fit.
    pub fn compare(&self, format: Format, data: &[Tensor]) -> Result<Comparison, CompareError> {
        let roles = Roles {
            parties: 2,
            model: Party::new(0),
            data: Party::new(1).into(),
            to: vec![Party::new(1).into()],
            public_model: false,
        };
        // All that is made is an output.
        let mut opened = self.clone();
        let made = self.nodes.iter().map(|node| node.outputs[0]);
        let floats: Vec<(usize, ValueId)> = made
            .enumerate()
            .filter(|(_, id)| self.value(*id).ty.element.is_float())
            .collect();
        let names = floats.iter();
        opened.outputs = names.map(|(at, id)| (format!("node {at}"), *id)).collect();
        let own = self.outputs.iter().enumerate();
        opened
            .outputs
            .extend(own.map(|(at, (_, id))| (format!("output {at}"), *id)));
        let data = &self.held(data)?[..];
        let expected = opened.evaluate(data)?;
        // By who reads them in the model.
        let masks = Masks::of(self, format.number);
        let network = opened.masked_on_secrets(&roles, format, masks.clone())?;
        let inputs = network.with_weights(&opened, Inputs::new())?;
        let inputs = network.with_data(data, inputs)?;
        let checked = network.program().check(&inputs)?;
        let found = network.results(&checked.outputs).into_iter();
        let found: Vec<Tensor> = found.filter_map(|(_, one)| one).collect();
        let pairs: Vec<_> = found.iter().zip(&expected).collect();
        let number = format.number;
        let layer = |(&(at, id), (found, expected)): (&(usize, ValueId), &(&Tensor, &Tensor))| {
            let node = &self.nodes[at];
            let counts = |number: f64| !masks.means_infinity(id, number);
            let greatest = greatest(expected, counts);
            let more = network.more.get(&id).copied().unwrap_or(0);
            let fraction = number.fraction() + more;
            LayerDifference {
                name: node.name.clone(),
                operator: node.op.name().to_owned(),
                greatest,
                room: room(number, fraction, greatest),
                largest_error: largest_error(found, expected, counts),
            }
        };
        let (of_layers, of_outputs) = pairs.split_at(floats.len());
        let output = |((name, _), (found, expected)): (&(String, ValueId), &(&Tensor, &Tensor))| {
            let [rows, changed] = changed(found, expected);
            OutputDifference {
                name: name.clone(),
                greatest: greatest(expected, |_| true),
                largest_error: largest_error(found, expected, |_| true),
                rows,
                changed,
            }
        };
        Ok(Comparison {
            outputs: self.outputs.iter().zip(of_outputs).map(output).collect(),
            layers: floats.iter().zip(of_layers).map(layer).collect(),
            overflows: checked
                .overflows
                .iter()
                .filter(|one| !wraps(one))
                .map(|one| one.operation.clone())
                .collect(),
        })
    }

    /// Chooses, among types with `bits` bits, one with many bits after the point in which no result of the model on data comes
    /// nearer to the range's end than by `spare` bits; `None` if there is none with 4 bits or more. Sums within a
    /// node are not looked at: [`compare`](Self::compare) does.
    ///
    /// # Errors
    /// [`EvaluateError`]: data that does not fit.
    pub fn calibrated(
        &self,
        bits: u32,
        spare: u32,
        data: &[Tensor],
    ) -> Result<Option<Type>, EvaluateError> {
        let mut most = bits;
        let masks = Type::fixed(bits, bits / 4).map(|number| Masks::of(self, number));
        let mut see = |of: &Graph, node: &Node, id: ValueId, tensor: &Tensor| {
            let float = of.value(node.outputs[0]).ty.element.is_float();
            let counts =
                |number: f64| !masks.as_ref().is_some_and(|m| m.means_infinity(id, number));
            let greatest = greatest(tensor, counts);
            if !float || greatest == 0.0 {
                return;
            }
            // One more than a power of two's exponent: that itself is out of range.
            let room = f64::from(bits) - 2.0 - f64::from(spare) - greatest.log2().floor();
            let share = if may_be_product(node) { 2.0 } else { 1.0 };
            most = most.min((room / share).floor().max(0.0) as u32);
        };
        self.evaluate_with(&self.held(data)?, &mut see)?;
        let fraction = most.min(bits / 2 - 1).min(24);
        Ok(Type::fixed(bits, fraction).filter(|_| fraction >= 4))
    }
}

/// Whether what happened is what the model says: its integers wrap around. Integers that become floats are shifted.
fn wraps(overflow: &Overflow) -> bool {
    let integers = overflow.element.fraction() == 0;
    integers && overflow.mistake == Mistake::Range && !overflow.operation.starts_with("shift")
}

/// Rows, and those whose greatest numbers are at different places.
fn changed(found: &Tensor, expected: &Tensor) -> [usize; 2] {
    let columns: usize = found.shape().get(1..).unwrap_or(&[]).iter().product();
    if found.shape().len() < 2 || columns == 0 {
        return [0, 0];
    }
    // The first of equal ones, as ArgMax has it.
    let class = |row: &[f64]| {
        (0..row.len())
            .rev()
            .max_by(|&a, &b| row[a].total_cmp(&row[b]))
    };
    // Both zeros are one.
    let numbers = |of: &Tensor| of.to_f64().iter().map(|one| one + 0.0).collect::<Vec<_>>();
    let (a, b) = (numbers(found), numbers(expected));
    let pairs = a.chunks(columns).zip(b.chunks(columns));
    let differ = pairs.filter(|(a, b)| class(a) != class(b));
    [found.shape()[0], differ.count()]
}
