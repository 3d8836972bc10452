//! Elements in other shapes and orders: what costs no message, whatever the sharing.

use std::ops::{Bound, RangeBounds};

use super::{Index, Secret, Tensor};
use crate::element::Plain;
use crate::error::{Fault, Source};
use crate::ir::Op;
use crate::program::Program;
use crate::shape::{IntoShape, Shape, View};

impl<T: Plain> Secret<T> {
    /// The same elements, row by row, in another shape of as many.
    #[track_caller]
    pub fn reshape(&self, shape: impl IntoShape) -> Self {
        Self::of(self.tensor.reshaped(&shape.axes(), Source::here()))
    }

    /// The same elements along a single axis.
    #[track_caller]
    pub fn flatten(&self) -> Self {
        let flat = [self.elements()];
        Self::of(self.tensor.reshaped(&flat, Source::here()))
    }

    /// With another axis of length 1, before axis `axis` of now.
    #[track_caller]
    pub fn expand(&self, axis: usize) -> Self {
        let at = Source::here();
        if axis > self.rank() {
            return Self::of(self.tensor.wrong_axis("expand", axis, at));
        }
        let mut axes = self.shape().axes().to_vec();
        axes.insert(axis, 1);
        Self::of(self.tensor.reshaped(&axes, at))
    }

    /// Repeated along axes that it lacks or has with length 1, as operators do by themselves.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Self {
        let (at, axes) = (Source::here(), shape.axes());
        let Some(to) = Shape::checked(&axes) else {
            return Self::of(self.tensor.failed(Fault::TooLarge { axes }, at));
        };
        if self.shape().broadcast(&to).as_ref() != Some(&to) {
            let fault = Fault::Broadcast {
                operator: "broadcast".into(),
                left: self.shape().clone(),
                right: to,
            };
            return Self::of(self.tensor.failed(fault, at));
        }
        Self::of(self.tensor.broadcast(&to, at))
    }

    /// The axes in another order: axis i of the result is axis `order[i]` of this.
    #[track_caller]
    pub fn permute(&self, order: &[usize]) -> Self {
        let at = Source::here();
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.rank()) {
            let fault = Fault::Order {
                order: order.to_vec(),
                shape: self.shape().clone(),
            };
            return Self::of(self.tensor.failed(fault, at));
        }
        let whole = View::whole(self.shape());
        let axes: Vec<_> = order
            .iter()
            .map(|&axis| self.shape().axes()[axis])
            .collect();
        let strides = order.iter().map(|&axis| whole.strides[axis]).collect();
        Self::of(self.tensor.viewed(&axes, strides, 0, at))
    }

    /// The last two axes exchanged, or the only one left as it is.
    #[track_caller]
    pub fn transpose(&self) -> Self {
        let mut order: Vec<_> = (0..self.rank()).collect();
        if let [.., a, b] = &mut order[..] {
            std::mem::swap(a, b);
        }
        self.permute(&order)
    }

    /// The part of an axis from `range.start` up to `range.end`.
    #[track_caller]
    pub fn slice(&self, axis: usize, range: impl RangeBounds<usize>) -> Self {
        let at = Source::here();
        let Some(&length) = self.shape().axes().get(axis) else {
            return Self::of(self.tensor.wrong_axis("slice", axis, at));
        };
        let from = match range.start_bound() {
            Bound::Included(&from) => from,
            Bound::Excluded(&from) => from.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(&to) => to.saturating_add(1),
            Bound::Excluded(&to) => to,
            Bound::Unbounded => length,
        };
        if from > to || to > length {
            return Self::of(self.tensor.out_of_range(axis, from, to, at));
        }
        let whole = View::whole(self.shape());
        let mut axes = self.shape().axes().to_vec();
        axes[axis] = to - from;
        let offset = from * whole.strides[axis] as usize;
        Self::of(self.tensor.viewed(&axes, whole.strides, offset, at))
    }

    /// The part at one place of an axis, which goes.
    #[track_caller]
    pub fn at(&self, axis: usize, place: usize) -> Self {
        let at = Source::here();
        match self.shape().axes().get(axis) {
            None => Self::of(self.tensor.wrong_axis("at", axis, at)),
            Some(&length) if place >= length => {
                Self::of(
                    self.tensor
                        .out_of_range(axis, place, place.saturating_add(1), at),
                )
            }
            Some(_) => {
                let mut whole = View::whole(self.shape());
                let offset = place * whole.strides[axis] as usize;
                whole.strides.remove(axis);
                let axes = self.shape().without(axis);
                Self::of(self.tensor.viewed(axes.axes(), whole.strides, offset, at))
            }
        }
    }

    /// The parts at several public places of an axis, in this order.
    #[track_caller]
    pub fn pick(&self, axis: usize, places: &[usize]) -> Self {
        let at = Source::here();
        let Some(&length) = self.shape().axes().get(axis) else {
            return Self::of(self.tensor.wrong_axis("pick", axis, at));
        };
        if let Some(&place) = places.iter().find(|&&place| place >= length) {
            return Self::of(
                self.tensor
                    .out_of_range(axis, place, place.saturating_add(1), at),
            );
        }
        self.apply(
            Op::Pick {
                axis,
                places: places.into(),
            },
            at,
        )
    }

    /// The part at the place of the first axis that a loop's counter names; the axis goes.
    #[track_caller]
    pub fn row(&self, place: &Index) -> Self {
        let at = Source::here();
        match self.shape().axes().first() {
            None => Self::of(self.tensor.wrong_axis("row", 0, at)),
            Some(&length) if length < place.count() => {
                Self::of(self.tensor.out_of_range(0, 0, place.count(), at))
            }
            Some(_) => {
                let mut row = self.tensor.results(Op::Row(0), &[place.tensor()], 1, at);
                Self::of(row.swap_remove(0))
            }
        }
    }

    /// The elements along an axis in the opposite order.
    #[track_caller]
    pub fn reverse(&self, axis: usize) -> Self {
        let at = Source::here();
        let Some(&length) = self.shape().axes().get(axis) else {
            return Self::of(self.tensor.wrong_axis("reverse", axis, at));
        };
        let mut whole = View::whole(self.shape());
        let offset = length.saturating_sub(1) * whole.strides[axis] as usize;
        whole.strides[axis] = -whole.strides[axis];
        let axes = self.shape().axes().to_vec();
        Self::of(self.tensor.viewed(&axes, whole.strides, offset, at))
    }

    /// This and another one, one after the other along an axis that they have.
    #[track_caller]
    pub fn join(&self, other: impl super::Operand<T>, axis: usize) -> Self {
        let at = Source::here();
        let other = self.beside(other, at);
        let parts = [&self.tensor, &other.tensor];
        Self::of(Tensor::joined(&self.tensor.recorder, &parts, axis, at))
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
