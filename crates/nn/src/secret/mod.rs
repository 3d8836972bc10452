//! Models on data that nobody shows: a [`Graph`] as a program on secrets.
//!
//! One party knows the weights, one the data; neither shows them, and the results go to whom one says. All parties
//! know the architecture: nodes, shapes, and constants that are a single number (a slope, an epsilon, a factor
//! of a composed activation), as attributes are. All other floating-point constants are inputs of the model's owner,
//! unless the model is public.
//!
//! # Numbers
//! Floats become numbers with a fixed point, of a [`Type`] for the whole model. A product has twice as many
//! bits after the point; they are cut off once after a sum of products and its bias, and after a sum of several of
//! these. Where bits follow (a ReLU, a maximum), cutting off costs nothing there: the numbers are taken apart into
//! bits once for both: what the cutting off costs belongs to the layer that reads the number. Integers have the model's width
//! and sign, whatever the format of numbers, and wrap around as the model's do; truth values are bits.
//!
//! # Differences from the model in the clear
//! Numbers are rounded as the type has them, functions are approximated (`docs/FUNCTIONS.md`), and equal numbers may change
//! their order in `TopK`. Quotients of integers by a secret 0 have all bits set, remainders are the dividend. Integers that
//! become floats must be in the format's range. Numbers that mean infinity (masks of attention, bounds that bind nothing)
//! become others that do the same, where there are such: `masks.rs` says when that is exact. [`Graph::compare`] tells what
//! comes of all that.

mod arithmetic;
mod compare;
mod encoded;
mod error;
mod format;
mod forms;
mod guards;
mod integers;
mod layers;
mod limits;
mod linear;
mod lowering;
mod masked;
mod masks;
mod moves;
mod network;
mod planar;
mod pools;
mod range;
mod rows;
mod stop;

use madrigal_program::Type;

pub use compare::{CompareError, Comparison, LayerDifference, OutputDifference};
pub use error::{EncodeError, Unfit, UnfitError};
pub use format::{Format, Roles};
pub use layers::Layer;
pub use network::{Network, Shown};
pub use range::{Leaving, place};

use crate::graph::{Binary, Graph, Node, Op, Unary};
use forms::Forms;
use layers::Layers;
use lowering::Lowering;
use masks::Masks;
use stop::{Lowered, Stop, cannot, too_large};

impl Graph {
    /// The model as a program.
    ///
    /// # Errors
    /// [`UnfitError`]: all nodes that cannot be computed on secrets, and why.
    pub fn on_secrets(&self, roles: &Roles, format: Format) -> Result<Network, UnfitError> {
        self.masked_on_secrets(roles, format, Masks::of(self, format.number))
    }

    /// Lowers the graph with a check of ranges: all parties learn one bit, whether a number may have left its range
    /// ([`Network::may_have_left`]). Where that is false, none has. Each operand of a sum or product is compared with a
    /// limit, which takes about as much as a ReLU of all of them, twice.
    ///
    /// # Errors
    /// [`UnfitError`]: all nodes that cannot be computed on secrets, or cannot be checked, and why.
    pub fn on_secrets_checked(&self, roles: &Roles, format: Format) -> Result<Network, UnfitError> {
        self.lowered(roles, format, Masks::of(self, format.number), true)
    }

    /// Lowers as [`on_secrets`](Self::on_secrets) does, with numbers that stand for those beyond the type's.
    fn masked_on_secrets(
        &self,
        roles: &Roles,
        format: Format,
        masks: Masks,
    ) -> Result<Network, UnfitError> {
        self.lowered(roles, format, masks, false)
    }

    fn lowered(
        &self,
        roles: &Roles,
        format: Format,
        masks: Masks,
        guarded: bool,
    ) -> Result<Network, UnfitError> {
        let number = format.number;
        if Type::fixed(number.bits(), 2 * number.fraction()).is_none() {
            let reason =
                format!("products have no room in {number}: give fewer bits after the point");
            return Err(UnfitError {
                nodes: vec![Unfit {
                    node: "all".into(),
                    operator: "numbers".into(),
                    reason,
                    spent: None,
                }],
            });
        }
        let mut lowering = Lowering {
            graph: self,
            format,
            forms: Forms::new(self, roles, format, masks, guarded),
            makers: vec![None; self.values.len()],
        };
        for node in &self.nodes {
            for &id in &node.outputs {
                lowering.makers[id.index()] = Some(node);
            }
        }
        let layers = Layers::of(self);
        let mut unfit = Vec::new();
        for node in &self.nodes {
            lowering.forms.program.part(layers.part(node.outputs[0]));
            match lowering.guard(node).and_then(|()| lowering.node(node)) {
                Ok(()) | Err(Stop::Missing) => {}
                Err(Stop::Reason(reason)) => unfit.push(Unfit {
                    node: node.name.clone(),
                    operator: node.operator.clone(),
                    reason,
                    spent: None,
                }),
                Err(Stop::Memory(spent)) => unfit.push(Unfit {
                    node: node.name.clone(),
                    operator: node.operator.clone(),
                    reason: too_large(&spent),
                    spent: Some(spent),
                }),
            }
        }
        if !unfit.is_empty() {
            return Err(UnfitError { nodes: unfit });
        }
        lowering.forms.finish(roles, layers)
    }
}

impl Lowering<'_> {
    fn node(&mut self, node: &Node) -> Lowered<()> {
        let inputs = &node.inputs;
        let first = inputs[0];
        let out = self.shape(node.outputs[0]);
        let made = match &node.op {
            Op::Unary(Unary::IsNan) => self.never(first)?,
            Op::Binary(Binary::Mul) if self.forms.masks.is_product(node) => {
                self.masked_product(node)?
            }
            Op::Unary(unary) => self.unary(*unary, first)?,
            Op::Binary(Binary::Mul) if node.operator == "BatchNormalization" => {
                self.scaled(inputs[0], inputs[1])?
            }
            Op::Binary(binary) => self.binary(*binary, inputs[0], inputs[1])?,
            Op::Clip { low, high } => self.clip(first, *low, *high)?,
            Op::Cast { to } => self.cast(first, *to)?,
            Op::Select => self.select([inputs[0], inputs[1], inputs[2]])?,
            Op::MatMul => self.matmul(inputs)?,
            Op::Conv { window, groups } => self.convolution(window, *groups, inputs)?,
            Op::ConvTranspose {
                window,
                extra,
                groups,
            } => self.transposed_convolution(window, extra, *groups, inputs)?,
            Op::MaxPool(window) => self.max_pool(window, first)?,
            Op::AveragePool { window, counted } => {
                self.average_pool(window, counted.as_deref(), first)?
            }
            Op::Reduce { by, axes } => self.reduce(*by, axes, first)?,
            Op::Arg {
                greatest,
                axis,
                last,
            } => self.extreme_place(*greatest, *axis, *last, first)?,
            Op::TopK {
                count,
                axis,
                greatest,
            } => {
                let [values, places] = self.top(*count, *axis, *greatest, first)?;
                self.forms.set(node.outputs[1], places);
                values
            }
            Op::CumSum {
                axis,
                exclusive,
                reverse,
            } => self.running_sums(*axis, *exclusive, *reverse, first)?,
            Op::Softmax { axis } => self.softmax(*axis, false, first)?,
            Op::LogSoftmax { axis } => self.softmax(*axis, true, first)?,
            Op::Normalize {
                axis,
                epsilon,
                center,
            } => self.normalised(*axis, *epsilon, *center, first)?,
            Op::Reshape { .. }
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Expand { .. }
            | Op::Pad { .. }
            | Op::Concat { .. } => {
                let op = self.forms.masks.padding(node, self.format.number);
                self.moved(&op, inputs, out)?
            }
            Op::Gather { axis } => self.gather(*axis, inputs[0], inputs[1])?,
        };
        let count: usize = out.iter().product();
        if made.secret().shape().elements() != count {
            return cannot("its result has another shape than the model says: report this");
        }
        // Axes of length 1 that an operand alone has.
        self.forms
            .set(node.outputs[0], made.map(|made| made.reshape(out)));
        Ok(())
    }
}
