//! Whether a number leaves its range while a model is computed on secrets: one bit, which is opened.
//!
//! A number that has wrapped around looks like any other, so the bit says something of what is computed *with*: before a
//! node is computed, its operands are compared with a limit below which its result, and all within it, are in range
//! whatever the other numbers are. Data is in range when it is encoded; so if no operand is beyond its limit, every
//! result is in range, node after node. If one is, a number may have left its range, and results are of no use.
//!
//! # Limits
//! Limits of l bits, as integers: where terms are added up that are products with weights, the greatest number of l bits, less
//! the greatest bias, by the greatest sum of weights without their signs that one result has. Its owner computes that
//! from the weights and brings it along as a secret; what is compared with it stays secret, too. Where two secrets are
//! multiplied neither is beyond the root of the greatest number, by the number of terms. Sums, and numbers that get more
//! bits after the point, have limits that all know.
//!
//! Integers wrap around as the model's do. Comparisons, choices, maxima, what moves elements, and functions that are constant
//! far from zero leave no range. What
//! has no rule here is refused: better no check than one that says less than it seems to.

use madrigal_program::{Array, Everyone, Inputs, Shape, Tensor as Secret, Type};

use super::error::EncodeError;
use super::forms::{Form, encoded};
use super::{Lowered, Lowering, cannot};
use crate::graph::{Binary, Graph, Node, Op, Reduction, Unary, ValueId};
use crate::tensor::{Data, Element, Tensor};

/// The checks of a program as it is made.
#[derive(Default)]
pub(super) struct Guards {
    /// Whether an operand is beyond its limit.
    beyond: Vec<Secret>,
    limits: Vec<OwnersLimit>,
}

/// A limit that the owner of the weights brings.
#[derive(Clone, Debug)]
pub(super) struct OwnersLimit {
    port: String,
    element: Type,
    rule: Rule,
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
    fn constants(&self) -> Vec<ValueId> {
        match self {
            Self::Sums { weights, bias, .. } => std::iter::once(*weights).chain(*bias).collect(),
            Self::Products { weights } | Self::Fine { weights, .. } => vec![*weights],
            Self::Added { weights, .. } => vec![*weights],
        }
    }

    /// The limit of a number's code, for weights of this type.
    fn limit(&self, graph: &Graph, number: Type) -> f64 {
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
fn greatest(number: Type) -> f64 {
    below(2_f64.powi(number.bits() as i32 - 1))
}

/// A whole number below, by more than computing with `f64` may be wrong.
fn below(limit: f64) -> f64 {
    (limit * (1.0 - 2_f64.powi(-40))).floor().max(0.0)
}

/// A code as a number of its type.
fn decoded(code: f64, element: Type) -> f64 {
    below(code) / 2_f64.powi(element.fraction() as i32)
}

/// The limit of products that are computed in more bits.
fn finely(weights: ValueId, inverse: bool) -> Limit {
    Limit::Owners(Rule::Fine { weights, inverse })
}

/// Limits that a node's operands are compared with.
enum Limit {
    Code(f64),
    Owners(Rule),
}

impl Lowering<'_> {
    /// Compares the operands of a node with its limits.
    pub(super) fn guard(&mut self, node: &Node) -> Lowered<()> {
        if self.forms.guards.is_none() {
            return Ok(());
        }
        let number = self.format.number;
        let (bits, fraction) = (f64::from(number.bits()), f64::from(number.fraction()));
        let most = greatest(number);
        // So that a product with a public number has room: Tensor::divided_by.
        let scaled = 2_f64.powf(bits - fraction - 4.0);
        let inputs = &node.inputs;
        let first = inputs[0];
        let count_along = |axes: &[usize]| -> f64 {
            let lengths = axes.iter().map(|&axis| self.shape(first)[axis]);
            lengths.product::<usize>().max(1) as f64
        };
        match &node.op {
            Op::Unary(unary) => match unary {
                Unary::Neg | Unary::Abs | Unary::Sign | Unary::Relu | Unary::Not => Ok(()),
                Unary::Sigmoid | Unary::Tanh | Unary::Erf => Ok(()),
                Unary::LeakyRelu { slope } => {
                    let limit = scaled.min(most / slope.abs().max(1.0));
                    self.guarded(first, Limit::Code(limit))
                }
                _ => self.unguarded(),
            },
            Op::Binary(Binary::Mul) if self.forms.masks.is_product(node) => self.unguarded(),
            Op::Binary(Binary::Mul) if node.operator == "BatchNormalization" => {
                let float = self.graph.value(first).ty.element.is_float();
                let [left, right] = [0, 1].map(|at| self.forms.constant(inputs[at]).is_some());
                match !left && right && float && number.bits() <= 64 {
                    true => self.guarded(first, finely(inputs[1], false)),
                    false => self.guard_binary(Binary::Mul, inputs),
                }
            }
            Op::Binary(binary) => self.guard_binary(*binary, inputs),
            Op::MatMul => {
                let bias = inputs.get(2).copied();
                let sums = |weights, layout| {
                    Limit::Owners(Rule::Sums {
                        weights,
                        layout,
                        bias,
                    })
                };
                let [left, right] = [0, 1].map(|at| self.forms.constant(inputs[at]).is_some());
                match (left, right) {
                    (_, true) => self.guarded(first, sums(inputs[1], Layout::Columns)),
                    (true, false) => self.guarded(inputs[1], sums(first, Layout::Rows)),
                    (false, false) if bias.is_some() => self.unguarded(),
                    (false, false) => {
                        let terms = self.shape(first).last().copied().unwrap_or(1).max(1);
                        let root = (most / terms as f64).sqrt();
                        self.guarded(first, Limit::Code(root))?;
                        self.guarded(inputs[1], Limit::Code(root))
                    }
                }
            }
            Op::Conv { .. } | Op::ConvTranspose { .. } => {
                if self.forms.constant(inputs[1]).is_none() {
                    return self.unguarded();
                }
                let layout = match node.op {
                    Op::Conv { .. } => Layout::Filters,
                    _ => Layout::Transposed,
                };
                let rule = Rule::Sums {
                    weights: inputs[1],
                    layout,
                    bias: inputs.get(2).copied(),
                };
                self.guarded(first, Limit::Owners(rule))
            }
            Op::AveragePool { window, .. } => {
                let terms: usize = window.kernel.iter().product();
                self.guarded(first, Limit::Code(scaled / terms.max(1) as f64))
            }
            Op::Reduce { by, axes } => match by {
                Reduction::Sum => {
                    let terms = count_along(axes);
                    self.guarded_as_it_is(first, most / terms)
                }
                Reduction::Mean => {
                    let terms = count_along(axes);
                    self.guarded(first, Limit::Code(scaled / terms))
                }
                Reduction::Max | Reduction::Min => Ok(()),
                Reduction::Prod => self.unguarded(),
            },
            Op::CumSum { axis, .. } => {
                let terms = count_along(&[*axis]);
                self.guarded(first, Limit::Code(most / terms))
            }
            Op::Concat { .. } => self.guard_alike(inputs, most),
            Op::Cast { to } => match self.forms.form(first)? {
                Form::Integer(integer) if to.is_float() => {
                    let ty = integer.element();
                    let limit = most / 2_f64.powf(fraction);
                    let sign = i32::from(ty.is_signed());
                    match limit < 2_f64.powi(ty.bits() as i32 - sign) {
                        true => self.compared(&integer, limit),
                        // None of the type is beyond it.
                        false => Ok(()),
                    }
                }
                _ => Ok(()),
            },
            Op::Clip { .. } | Op::Select | Op::MaxPool(_) | Op::Arg { .. } | Op::TopK { .. } => {
                Ok(())
            }
            Op::Reshape { .. } | Op::Transpose { .. } | Op::Slice { .. } => Ok(()),
            Op::Expand { .. } | Op::Pad { .. } | Op::Gather { .. } => Ok(()),
            Op::Softmax { .. } | Op::LogSoftmax { .. } | Op::Normalize { .. } => self.unguarded(),
        }
    }

    fn unguarded<T>(&self) -> Lowered<T> {
        cannot("whether its numbers leave their range is not checked: leave that check out")
    }

    fn guard_binary(&mut self, binary: Binary, inputs: &[ValueId]) -> Lowered<()> {
        let most = greatest(self.format.number);
        let (x, y) = (inputs[0], inputs[1]);
        let [left, right] = [x, y].map(|id| self.forms.constant(id));
        let products = |weights| Limit::Owners(Rule::Products { weights });
        match binary {
            Binary::Add | Binary::Sub => match (left.is_some(), right.is_some()) {
                (false, false) => self.guard_alike(inputs, most / 2.0),
                (true, false) => self.guard_added(y, x),
                (_, true) => self.guard_added(x, y),
            },
            Binary::Mul => match (left.is_some(), right.is_some()) {
                (false, false) => {
                    self.guarded(x, Limit::Code(most.sqrt()))?;
                    self.guarded(y, Limit::Code(most.sqrt()))
                }
                (true, false) => self.guarded(y, products(x)),
                (_, true) => self.guarded(x, products(y)),
            },
            Binary::Div => match self.forms.single(y) {
                Some(divisor) if self.shape(y).len() <= self.shape(x).len() => {
                    let number = self.format.number;
                    let room = number.bits() as i32 - number.fraction() as i32 - 4;
                    let quotient = most * divisor.abs();
                    self.guarded(x, Limit::Code(2_f64.powi(room).min(quotient)))
                }
                _ if right.is_some() && self.format.number.bits() <= 64 => {
                    self.guarded(x, finely(y, true))
                }
                _ if self.graph.value(x).ty.element.is_integer() => Ok(()),
                _ => self.unguarded(),
            },
            Binary::Pow => match self.forms.single(y) {
                Some(1.0) => Ok(()),
                Some(2.0) => self.guarded(x, Limit::Code(most.sqrt())),
                _ => self.unguarded(),
            },
            Binary::And | Binary::Or | Binary::Xor | Binary::Equal => Ok(()),
            Binary::Less | Binary::LessOrEqual | Binary::Min | Binary::Max => Ok(()),
            Binary::Mod { .. } => self.unguarded(),
        }
    }

    /// Guards a summand of weights, with the bits after the point that it has.
    fn guard_added(&mut self, id: ValueId, weights: ValueId) -> Lowered<()> {
        match self.forms.form(id)? {
            Form::Number(secret, more) => {
                let rule = Rule::Added { weights, more };
                self.held_against(&secret, Limit::Owners(rule))
            }
            Form::Integer(_) | Form::Truth(_) => Ok(()),
        }
    }

    /// Operands that get as many bits after the point as the one that has most.
    fn guard_alike(&mut self, ids: &[ValueId], limit: f64) -> Lowered<()> {
        let mut forms = Vec::new();
        for &id in ids {
            if self.forms.constant(id).is_none() {
                forms.push(self.forms.form(id)?);
            }
        }
        let bits = |form: &Form| match form {
            Form::Number(_, more) => *more,
            _ => 0,
        };
        let most = forms.iter().map(bits).max().unwrap_or(0);
        for form in &forms {
            if matches!(form, Form::Number(..)) {
                let grown = 2_f64.powi((most - bits(form)) as i32);
                self.compared(form.secret(), limit / grown)?;
            }
        }
        Ok(())
    }

    /// A number, with whatever bits it has after the point.
    fn guarded_as_it_is(&mut self, id: ValueId, limit: f64) -> Lowered<()> {
        match self.forms.form(id)? {
            Form::Number(secret, _) => self.compared(&secret, limit),
            Form::Integer(_) | Form::Truth(_) => Ok(()),
        }
    }

    /// A number without bits too many after the point.
    fn guarded(&mut self, id: ValueId, limit: Limit) -> Lowered<()> {
        let secret = match self.forms.form(id)? {
            Form::Number(..) => self.forms.number(id)?,
            Form::Integer(_) | Form::Truth(_) => return Ok(()),
        };
        self.held_against(&secret, limit)
    }

    fn held_against(&mut self, secret: &Secret, limit: Limit) -> Lowered<()> {
        let rule = match limit {
            Limit::Code(code) => return self.compared(secret, code),
            Limit::Owners(rule) => rule,
        };
        let constants = rule.constants();
        if constants
            .iter()
            .any(|id| self.forms.constant(*id).is_none())
        {
            return self.unguarded();
        }
        let graph = self.graph;
        if self.forms.public_model() || constants.iter().all(|id| !graph.value(*id).owned) {
            let code = rule.limit(self.graph, self.format.number);
            return self.compared(secret, code);
        }
        let element = secret.element();
        let owner = self.forms.owner();
        let Some(guards) = &mut self.forms.guards else {
            return Ok(());
        };
        let port = format!("limit {}", guards.limits.len());
        guards.limits.push(OwnersLimit {
            port: port.clone(),
            element,
            rule,
        });
        let limit = (self.forms.program).tensor_input(Some(&port), owner, element, &[]);
        self.beyond(secret, &limit);
        Ok(())
    }

    fn compared(&mut self, secret: &Secret, code: f64) -> Lowered<()> {
        let element = secret.element();
        let limit = self.forms.public(element, decoded(code, element))?;
        self.beyond(secret, &limit);
        Ok(())
    }

    fn beyond(&mut self, secret: &Secret, limit: &Secret) {
        if secret.shape().elements() == 0 {
            return;
        }
        let above = limit.less(secret);
        let beyond = match secret.element().is_signed() {
            true => above.or(&secret.less(&limit.negate())),
            false => above,
        };
        let any = beyond.flatten().any(0);
        if let Some(guards) = &mut self.forms.guards {
            guards.beyond.push(any);
        }
    }
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
