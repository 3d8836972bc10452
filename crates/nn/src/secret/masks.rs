//! Numbers that mean infinity: masks of attention, bounds that bind nothing.
//!
//! Exporters write minus infinity, the ends of `float32` and numbers such as -1e9 where they mean "never". A fixed point has
//! none of these. The numbers that stand for them are chosen by where they go, which all parties know; the owner of the weights
//! needs to ask nobody. Where nothing can stand for them they are refused, as any number that the type does not have.
//!
//! # What stands for them, and when that is exact
//! Let L be the limit of the type (its numbers are from -L to below L), F its bits after the point.
//!
//! * Where numbers are only put in order (maxima, minima, comparisons, places of maxima, bounds): the type's end. No
//!   number of the type is beyond it, so that a maximum, a minimum or a place is the same whenever it is a number of the
//!   type. A comparison differs for the type's last number alone (of long types, the last that a double has), which counts as
//!   infinite.
//! * Where numbers are summed and then go to a function that is 0, or constant, far below (the exponential, softmax, the
//!   sigmoid, ...): a mask M below all that is there. Let all other summands be below M / 4 in magnitude. Of a
//!   softmax's row the masked numbers are then -M + M / 4 at most and the others -M / 4 at least: they are M / 2 apart, so
//!   that the masked ones' share is less than e^(-M / 2), which is 0 in F bits, as M / 2 is (F + 2) ln 2 at least. No sum
//!   wraps: up to four masks come together (two sums one after the other), 4 M + M / 4 < L. Two numbers of a row are less
//!   than 5 M < L apart, as the softmax wants.
//!
//! A row whose numbers are all masked is shared out by what was added to the masks, in floats equally, or it is no
//! number: nothing that is right depends on it.
//!
//! Sums of products have twice as many bits after the point, so 2^F times less room; with room enough M is L / 2^F / 32
//! (which also a quotient by a constant behind the sum has room for), else these sums are cut off before masks are added, and M is L / 8. A
//! product with a constant beyond M becomes one with a whole number of M at most, which is the mask where the other
//! factor is 1, as in `(1 - kept) * -1e9`, and has one bit more after the point, for which there is room.

use std::borrow::Cow;
use std::collections::HashSet;

use madrigal_program::Type;

use crate::graph::{Binary, Graph, Node, Op, Reduction, Unary, ValueId};
use crate::tensor::{Data, Tensor};

/// Numbers that may stand for one beyond one end of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stand {
    /// Nothing.
    None,
    /// A mask.
    Mask,
    /// The end itself.
    End,
}

/// Numbers that the readers of a value take for those beyond the type's ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Takes {
    low: Stand,
    high: Stand,
    /// Sums on the way.
    sums: u8,
    /// Whether a factor is on the way.
    scaled: bool,
}

impl Takes {
    const NOTHING: Self = Self {
        low: Stand::None,
        high: Stand::None,
        sums: 0,
        scaled: false,
    };
    const ENDS: Self = Self {
        low: Stand::End,
        high: Stand::End,
        ..Self::NOTHING
    };

    /// Gives the numbers that both take.
    fn and(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.min(other.high),
            sums: self.sums.max(other.sums),
            scaled: self.scaled | other.scaled,
        }
    }

    /// Gives the numbers for the opposite number.
    fn negated(self) -> Self {
        Self {
            low: self.high,
            high: self.low,
            ..self
        }
    }

    /// Gives the numbers for a summand, or for a factor's other operand: masks at most.
    fn masks(self) -> Self {
        Self {
            low: self.low.min(Stand::Mask),
            high: self.high.min(Stand::Mask),
            ..self
        }
    }

    /// Gives the numbers for a summand.
    fn summand(self) -> Self {
        let sums = self.sums + 1;
        // Behind a factor there is less room.
        match sums > if self.scaled { 1 } else { 2 } {
            true => Self::NOTHING,
            false => Self {
                sums,
                ..self.masks()
            },
        }
    }

    fn has_mask(self) -> bool {
        self.low == Stand::Mask || self.high == Stand::Mask
    }
}

/// Numbers that stand for those beyond the type, in one model and one type.
#[derive(Clone, Debug)]
pub(super) struct Masks {
    takes: Vec<Takes>,
    /// Products with a constant that is beyond the mask.
    products: HashSet<ValueId>,
    /// The mask's magnitude.
    pub(super) mask: f64,
    /// The least magnitude that it may have behind a factor.
    least: f64,
    /// Whether sums of products have too little room for it.
    cuts: bool,
}

/// Numbers of a type are from minus this to below this.
fn limit(number: Type) -> f64 {
    2f64.powi((number.bits() - 1 - number.fraction()) as i32)
}

impl Masks {
    pub(super) fn of(graph: &Graph, number: Type) -> Self {
        let limit = limit(number);
        let of_products = limit / 2f64.powi(number.fraction() as i32);
        let cuts = of_products < 4096.0;
        let mut masks = Self {
            takes: vec![Takes::ENDS; graph.values().len()],
            products: HashSet::new(),
            least: 2.0 * f64::from(number.fraction() + 2) * std::f64::consts::LN_2,
            mask: if cuts {
                limit / 8.0
            } else {
                of_products / 32.0
            },
            cuts,
        };
        for (_, id) in graph.outputs() {
            masks.takes[id.index()] = Takes::NOTHING;
        }
        for node in graph.nodes().iter().rev() {
            // The first of two outputs counts: the other are places.
            let out = masks.takes[node.outputs[0].index()];
            for (index, &input) in node.inputs.iter().enumerate() {
                let own = masks.operand(graph, node, index, out);
                let takes = &mut masks.takes[input.index()];
                *takes = takes.and(own);
            }
        }
        masks
    }

    /// Gives the numbers that a node takes for an operand, if those who read its result take `out` for that.
    fn operand(&mut self, graph: &Graph, node: &Node, index: usize, out: Takes) -> Takes {
        let none = Takes::NOTHING;
        match &node.op {
            Op::Softmax { .. } => Takes {
                low: Stand::Mask,
                ..none
            },
            Op::Unary(unary) => match unary {
                Unary::Neg => out.negated(),
                Unary::Exp | Unary::Sigmoid => Takes {
                    low: Stand::Mask,
                    ..none
                },
                Unary::Relu => Takes {
                    low: Stand::End,
                    high: out.high,
                    ..out
                },
                _ => none,
            },
            Op::Binary(Binary::Max)
            | Op::MaxPool(_)
            | Op::Reduce {
                by: Reduction::Max, ..
            } => Takes {
                low: Stand::End,
                ..out
            },
            Op::Binary(Binary::Min)
            | Op::Reduce {
                by: Reduction::Min, ..
            } => Takes {
                high: Stand::End,
                ..out
            },
            Op::Clip { low, high } => Takes {
                low: if low.is_finite() { Stand::End } else { out.low },
                high: if high.is_finite() {
                    Stand::End
                } else {
                    out.high
                },
                ..out
            },
            Op::Binary(Binary::Less | Binary::LessOrEqual | Binary::Equal) | Op::Arg { .. } => {
                Takes::ENDS
            }
            Op::Select if index > 0 => out,
            Op::Binary(Binary::Add) => out.summand(),
            Op::Binary(Binary::Sub) if index == 0 => out.summand(),
            Op::Binary(Binary::Sub) => out.summand().negated(),
            Op::MatMul | Op::Conv { .. } if index == 2 && !self.cuts => out.summand(),
            Op::Binary(Binary::Mul | Binary::Div) => self.factor(graph, node, index, out),
            Op::TopK { .. }
            | Op::Reshape { .. }
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Expand { .. }
            | Op::Pad { .. }
            | Op::Concat { .. } => out,
            Op::Gather { .. } if index == 0 => out,
            Op::Cast { to } if to.is_float() => out,
            _ => none,
        }
    }

    /// Gives the numbers for a factor of a product with a single constant, or of a quotient by one.
    fn factor(&mut self, graph: &Graph, node: &Node, index: usize, out: Takes) -> Takes {
        let is_product = node.op == Op::Binary(Binary::Mul);
        let other = node.inputs[1 - index];
        let number = single(graph, other);
        let Some(number) = number.filter(|_| is_product || index == 0) else {
            return Takes::NOTHING;
        };
        let size = number.abs();
        if is_product && size > self.mask && out.low >= Stand::Mask && out.sums > 0 {
            self.products.insert(node.outputs[0]);
            return Takes::NOTHING;
        }
        let shrinks = match is_product {
            // A product has twice as many bits after the point.
            true => !self.cuts && size <= 1.0,
            false => size >= 1.0 && size.is_finite(),
        };
        let factor = if is_product { size } else { 1.0 / size };
        // Masked numbers stay far enough below the others.
        if !shrinks || self.mask * factor < self.least || out.scaled || out.sums > 0 {
            return Takes::NOTHING;
        }
        let out = Takes {
            scaled: true,
            ..out.masks()
        };
        if number < 0.0 { out.negated() } else { out }
    }

    /// A constant with what stands for numbers that the type does not have.
    pub(super) fn bounded<'t>(
        &self,
        id: ValueId,
        tensor: &'t Tensor,
        element: Type,
    ) -> Cow<'t, Tensor> {
        if !tensor.element().is_float() {
            return Cow::Borrowed(tensor);
        }
        let mut numbers = tensor.to_f64();
        let mut changed = false;
        for number in &mut numbers {
            let own = self.stand_in(self.takes[id.index()], *number, element);
            changed |= own != *number;
            *number = own;
        }
        match changed {
            true => Cow::Owned(Tensor::made(
                crate::tensor::Element::F64,
                tensor.shape().to_vec(),
                Data::F64(numbers),
            )),
            false => Cow::Borrowed(tensor),
        }
    }

    /// Gives the number that stands for another one, which may be the number itself.
    fn stand_in(&self, takes: Takes, number: f64, element: Type) -> f64 {
        let limit = limit(element);
        // Doubles do not have the last numbers of long types.
        let last = (limit - 2f64.powi(-(element.fraction() as i32))).min(limit.next_down());
        let (stand, end, sign) = match number {
            low if low < -limit => (takes.low, -limit, -1.0),
            high if high > last => (takes.high, last, 1.0),
            _ => return number,
        };
        match stand {
            Stand::None => number,
            Stand::Mask => sign * self.mask,
            Stand::End => end,
        }
    }

    /// The operator of a node, with what stands for the number that it pads with.
    pub(super) fn padding(&self, node: &Node, number: Type) -> Op {
        let mut op = node.op.clone();
        if let Op::Pad { value, .. } = &mut op {
            *value = self.stand_in(self.takes[node.outputs[0].index()], *value, number);
        }
        op
    }

    /// Whether a node is a product that becomes one with a mask.
    pub(super) fn is_product(&self, node: &Node) -> bool {
        self.products.contains(&node.outputs[0])
    }

    /// Whether these summands are cut off first, so that there is room for masks among them.
    pub(super) fn cut(&self, summands: &[ValueId]) -> bool {
        self.cuts && summands.iter().any(|id| self.takes[id.index()].has_mask())
    }

    /// Whether a number of a value means infinity, rather than being one that a type should have.
    pub(super) fn means_infinity(&self, id: ValueId, number: f64) -> bool {
        let takes = self.takes[id.index()];
        let stand = if number < 0.0 { takes.low } else { takes.high };
        stand > Stand::None && number.abs() > FAR
    }
}

/// Numbers beyond this are masks rather than results of a network.
const FAR: f64 = 1e7;

/// A constant that is a single number, which all parties know.
pub(super) fn single(graph: &Graph, id: ValueId) -> Option<f64> {
    let value = graph.value(id);
    let constant = value.constant.as_ref().filter(|_| !value.owned)?;
    let numbers = constant.to_f64();
    match numbers[..] {
        [one] if constant.element().is_float() => Some(one),
        _ => None,
    }
}
