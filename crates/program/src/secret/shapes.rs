//! Elements in other shapes and orders: what costs no message, whatever the sharing.

use std::ops::RangeBounds;

use super::{Index, Secret, Tensor};
use crate::element::Plain;
use crate::error::Source;
use crate::program::Program;
use crate::shape::IntoShape;

impl<T: Plain> Secret<T> {
    /// The same elements, row by row, in another shape of as many.
    #[track_caller]
    pub fn reshape(&self, shape: impl IntoShape) -> Self {
        Self::of(self.tensor.reshape(shape))
    }

    /// The same elements along a single axis.
    #[track_caller]
    pub fn flatten(&self) -> Self {
        Self::of(self.tensor.flatten())
    }

    /// With another axis of length 1, before axis `axis` of now.
    #[track_caller]
    pub fn expand(&self, axis: usize) -> Self {
        Self::of(self.tensor.expand(axis))
    }

    /// Repeated along axes that it lacks or has with length 1, as operators do by themselves.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Self {
        Self::of(self.tensor.broadcast_to(shape))
    }

    /// The axes in another order: axis i of the result is axis `order[i]` of this.
    #[track_caller]
    pub fn permute(&self, order: &[usize]) -> Self {
        Self::of(self.tensor.permute(order))
    }

    /// The last two axes exchanged, or the only one left as it is.
    #[track_caller]
    pub fn transpose(&self) -> Self {
        Self::of(self.tensor.transpose())
    }

    /// The part of an axis from `range.start` up to `range.end`.
    #[track_caller]
    pub fn slice(&self, axis: usize, range: impl RangeBounds<usize>) -> Self {
        Self::of(self.tensor.slice(axis, range))
    }

    /// The part at one place of an axis, which goes.
    #[track_caller]
    pub fn at(&self, axis: usize, place: usize) -> Self {
        Self::of(self.tensor.at(axis, place))
    }

    /// The parts at several public places of an axis, in this order.
    #[track_caller]
    pub fn pick(&self, axis: usize, places: &[usize]) -> Self {
        Self::of(self.tensor.pick(axis, places))
    }

    /// The part at the place of the first axis that a loop's counter names; the axis goes.
    #[track_caller]
    pub fn row(&self, place: &Index) -> Self {
        Self::of(self.tensor.row(place))
    }

    /// The elements along an axis in the opposite order.
    #[track_caller]
    pub fn reverse(&self, axis: usize) -> Self {
        Self::of(self.tensor.reverse(axis))
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
