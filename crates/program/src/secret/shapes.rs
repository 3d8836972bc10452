//! Elements in other shapes and orders: what costs no message, whatever the sharing.

use std::ops::RangeBounds;

use super::{Index, Secret, Tensor};
use crate::element::Plain;
use crate::error::Source;
use crate::program::Program;
use crate::shape::IntoShape;

impl<T: Plain> Secret<T> {
    forward! {
        /// Gives the elements, row by row, another shape of as many.
        reshape(shape: impl IntoShape);
        /// Puts the elements along a single axis.
        flatten();
        /// Adds an axis of length 1, before axis `axis` of now.
        expand(axis: usize);
        /// Repeated along axes that it lacks or has with length 1, as operators do by themselves.
        broadcast_to(shape: impl IntoShape);
        /// The axes in another order: axis i of the result is axis `order[i]` of this.
        permute(order: &[usize]);
        /// The last two axes exchanged, or the only one left as it is.
        transpose();
        /// The part of an axis from `range.start` up to `range.end`.
        slice(axis: usize, range: impl RangeBounds<usize>);
        /// The part at one place of an axis, which goes.
        at(axis: usize, place: usize);
        /// The parts at several public places of an axis, in this order.
        pick(axis: usize, places: &[usize]);
        /// The part at the place of the first axis that a loop's counter names; the axis goes.
        row(place: &Index);
        /// The elements along an axis in the opposite order.
        reverse(axis: usize);
    }

    /// This and another one, one after the other along an axis that they have.
    #[track_caller]
    pub fn join(&self, other: impl super::Operand<T>, axis: usize) -> Self {
        let other = self.beside(other, Source::here());
        Self::of(self.tensor.join(&other.tensor, axis))
    }
}

impl Program {
    /// Tensors, one after the other along an axis that they have.
    #[track_caller]
    pub fn concat<T: Plain>(&mut self, parts: &[Secret<T>], axis: usize) -> Secret<T> {
        let parts: Vec<_> = parts.iter().map(Secret::tensor).collect();
        Secret::of(Tensor::joined(
            self.recorder(),
            &parts,
            axis,
            Source::here(),
        ))
    }

    /// Tensors of one shape, side by side along a new axis before axis `axis`.
    #[track_caller]
    pub fn stack<T: Plain>(&mut self, parts: &[Secret<T>], axis: usize) -> Secret<T> {
        let at = Source::here();
        let mut expanded = Vec::new();
        for part in parts {
            if axis > part.rank() {
                return Secret::of(part.tensor.wrong_axis("stack", axis, at));
            }
            let mut axes = part.shape().axes().to_vec();
            axes.insert(axis, 1);
            expanded.push(part.tensor.reshaped(&axes, at));
        }
        let expanded: Vec<_> = expanded.iter().collect();
        Secret::of(Tensor::joined(self.recorder(), &expanded, axis, at))
    }
}
