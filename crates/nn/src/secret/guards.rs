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

use madrigal_program::Tensor as Secret;

use super::forms::Form;
use super::limits::{Layout, OwnersLimit, Rule, decoded, greatest};
use super::lowering::Lowering;
use super::stop::{Lowered, cannot};
use crate::graph::{Binary, Node, Op, Reduction, Unary, ValueId};

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
