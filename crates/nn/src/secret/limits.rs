//! The limits of operands, and who brings them.

use madrigal_program::{Array, Everyone, Inputs, Shape, Tensor as Secret, Type};

use super::encoded::encoded;
use super::error::EncodeError;
use crate::graph::{Graph, ValueId};
use crate::tensor::{Data, Element, Tensor};

/// The checks of a program as it is made.
#[derive(Default)]
pub(super) struct Guards {
    /// Whether an operand is beyond its limit.
    pub(super) beyond: Vec<Secret>,
    pub(super) limits: Vec<OwnersLimit>,
}

/// A limit that the owner of the weights brings.
#[derive(Clone, Debug)]
pub(super) struct OwnersLimit {
    pub(super) port: String,
    pub(super) element: Type,
    pub(super) rule: Rule,
}

/// Rule that a limit depends on.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    /// Sums of products with weights, and a bias.
    Sums {
        weights: ValueId,
        layout: Layout,
        bias: Option<ValueId>,
    },
    /// Products with weights.
    Products { weights: ValueId },
    /// Products with weights, or with their inverses, that are computed in more bits than results have.
    Fine { weights: ValueId, inverse: bool },
    /// Sums with weights of this many bits more after the point.
    Added { weights: ValueId, more: u32 },
}

/// Weights that belong to one result.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// A column of a matrix, or the whole of a vector.
    Columns,
    /// A row of a matrix.
    Rows,
    /// A filter, which the first axis counts.
    Filters,
    /// All but the second axis: a filter of a transposed convolution.
    Transposed,
}

impl Rule {
    pub(super) fn constants(&self) -> Vec<ValueId> {
        match self {
            Self::Sums { weights, bias, .. } => std::iter::once(*weights).chain(*bias).collect(),
            Self::Products { weights } | Self::Fine { weights, .. } => vec![*weights],
            Self::Added { weights, .. } => vec![*weights],
        }
    }

    /// The limit of a number's code, for weights of this type.
    pub(super) fn limit(&self, graph: &Graph, number: Type) -> f64 {
        let most = greatest(number);
        let numbers = |id: ValueId| {
            let constant = graph.value(id).constant.as_deref();
            constant.map(Tensor::to_f64).unwrap_or_default()
        };
        let code = |bits: u32| move |number: f64| number.abs() * 2_f64.powi(bits as i32) + 1.0;
        let fraction = number.fraction();
        let largest = |codes: &mut dyn Iterator<Item = f64>| codes.fold(0.0, f64::max);
        match self {
            Self::Sums {
                weights,
                layout,
                bias,
            } => {
                let own = bias.map(numbers).unwrap_or_default();
                let bias = largest(&mut own.into_iter().map(code(2 * fraction)));
                let shape = &graph.value(*weights).ty.shape;
                let codes = numbers(*weights).into_iter().map(code(fraction));
                (most - bias) / layout.greatest_sum(shape, codes).max(1.0)
            }
            Self::Products { weights } => {
                let own = numbers(*weights).into_iter();
                most / largest(&mut own.map(code(fraction))).max(1.0)
            }
            Self::Fine { weights, inverse } => {
                let own = numbers(*weights).into_iter();
                let own = own.map(|one| if *inverse { 1.0 / one } else { one });
                // A unit is lost where the result is rounded.
                (most - 1.0) / largest(&mut own.map(f64::abs)).max(1.0)
            }
            Self::Added { weights, more } => {
                let own = numbers(*weights).into_iter();
                most - largest(&mut own.map(code(fraction + more)))
            }
        }
    }
}

impl Layout {
    fn greatest_sum(self, shape: &[usize], codes: impl Iterator<Item = f64>) -> f64 {
        let elements: usize = shape.iter().product();
        let last = shape.last().copied().unwrap_or(1).max(1);
        let first = shape.first().copied().unwrap_or(1).max(1);
        let within: usize = shape.iter().skip(2).product::<usize>().max(1);
        let matrix = match shape {
            [.., rows, columns] => (rows * columns).max(1),
            _ => elements.max(1),
        };
        let group = |at: usize| match (self, shape.len()) {
            (Self::Columns, 0 | 1) => 0,
            (Self::Columns, _) => at / matrix * last + at % last,
            (Self::Rows, _) => at / last,
            (Self::Filters, _) => at / (elements / first).max(1),
            (Self::Transposed, _) => at / within % shape.get(1).copied().unwrap_or(1).max(1),
        };
        let mut sums = vec![0.0; elements];
        codes
            .enumerate()
            .for_each(|(at, code)| sums[group(at)] += code);
        sums.into_iter().fold(0.0, f64::max)
    }
}

/// The greatest code of a type, and no more where `f64` rounds.
pub(super) fn greatest(number: Type) -> f64 {
    below(2_f64.powi(number.bits() as i32 - 1))
}

/// A whole number below, by more than computing with `f64` may be wrong.
pub(super) fn below(limit: f64) -> f64 {
    (limit * (1.0 - 2_f64.powi(-40))).floor().max(0.0)
}

/// A code as a number of its type.
pub(super) fn decoded(code: f64, element: Type) -> f64 {
    below(code) / 2_f64.powi(element.fraction() as i32)
}

impl Guards {
    /// Opens whether any operand was beyond its limit; gives what the owner of the weights brings for that.
    pub(super) fn finish(self, program: &mut madrigal_program::Program) -> Vec<OwnersLimit> {
        let bits: Vec<Secret> = self.beyond.iter().map(|bit| bit.reshape([1])).collect();
        let all: Vec<&Secret> = bits.iter().collect();
        let any = match Secret::concat(&all, 0) {
            Some(all) => all.any(0),
            // Nothing can leave its range.
            None => {
                let no = Array::of(&Shape::scalar(), &[false]).expect("one element of a scalar");
                program.tensor_constant(no)
            }
        };
        program.open_tensor(Some(BEYOND), &any, Everyone);
        self.limits
    }
}

/// The name of the bit among the program's outputs.
pub(super) const BEYOND: &str = "a number may have left its range";

impl OwnersLimit {
    /// Gives the limit as the owner brings it, beside other inputs.
    pub(super) fn given(
        &self,
        graph: &Graph,
        number: Type,
        inputs: Inputs,
    ) -> Result<Inputs, EncodeError> {
        let code = self.rule.limit(graph, number);
        let limit = vec![decoded(code, self.element)];
        let limit = Tensor::made(Element::F64, Vec::new(), Data::F64(limit));
        let array = encoded(&limit, self.element, false);
        let array = array.map_err(|found| EncodeError::Weight {
            name: self.port.clone(),
            found,
            element: self.element.to_string(),
        })?;
        Ok(inputs.with_array(Some(&self.port), array))
    }
}
