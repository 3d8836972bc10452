//! Operators on numbers that mean infinity.

use madrigal_program::Type;

use super::forms::Form;
use super::lowering::Lowering;
use super::masks::single;
use super::stop::{Lowered, cannot};
use crate::graph::{Node, ValueId};

impl Lowering<'_> {
    /// A product of a secret and a constant that is beyond the mask.
    pub(super) fn masked_product(&mut self, node: &Node) -> Lowered<Form> {
        let [first, second] = node.inputs[..] else {
            return cannot("it has two operands");
        };
        let (x, constant) = match (single(self.graph, second), single(self.graph, first)) {
            (Some(constant), _) => (first, constant),
            (None, Some(constant)) => (second, constant),
            (None, None) => return cannot("neither of its operands is a constant"),
        };
        let mask = self.forms.masks.mask;
        // With as few bits after the point as a type can have.
        let Some(whole) = Type::fixed(self.format.number.bits(), 1) else {
            return cannot("whole numbers have no type");
        };
        let mask = self
            .forms
            .public(whole, constant.clamp(-mask, mask).round())?;
        let x = self.forms.number(x)?;
        Ok(Form::Number(x.times(&mask), 1))
    }

    /// Numbers with a fixed point are numbers, always.
    pub(super) fn never(&mut self, x: ValueId) -> Lowered<Form> {
        let never = self.forms.public(Type::BOOL, 0.0)?;
        Ok(Form::Truth(never.broadcast_to(self.shape(x))))
    }
}
