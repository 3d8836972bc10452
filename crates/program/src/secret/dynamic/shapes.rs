//! Elements in other shapes and orders: what costs no message, whatever the sharing.

use std::ops::{Bound, RangeBounds};

use madrigal_core::Convolution;

use crate::error::{Fault, Source};
use crate::ir::Op;
use crate::secret::{Index, Tensor};
use crate::shape::{IntoShape, Shape, View};

impl Tensor {
    /// Gives the elements, row by row, another shape of as many.
    #[track_caller]
    pub fn reshape(&self, shape: impl IntoShape) -> Self {
        self.reshaped(&shape.axes(), Source::here())
    }

    /// Puts the elements along a single axis.
    #[track_caller]
    pub fn flatten(&self) -> Self {
        let flat = [self.shape.elements()];
        self.reshaped(&flat, Source::here())
    }

    /// Adds an axis of length 1, before axis `axis` of now.
    #[track_caller]
    pub fn expand(&self, axis: usize) -> Self {
        let at = Source::here();
        if axis > self.shape.rank() {
            return self.wrong_axis("expand", axis, at);
        }
        let mut axes = self.shape.axes().to_vec();
        axes.insert(axis, 1);
        self.reshaped(&axes, at)
    }

    /// Repeated along axes that it lacks or has with length 1, as operators do by themselves.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Self {
        let (at, axes) = (Source::here(), shape.axes());
        let Some(to) = Shape::checked(&axes) else {
            return self.failed(Fault::TooLarge { axes }, at);
        };
        if self.shape.broadcast(&to).as_ref() != Some(&to) {
            let fault = Fault::Broadcast {
                operator: "broadcast".into(),
                left: self.shape.clone(),
                right: to,
            };
            return self.failed(fault, at);
        }
        self.broadcast(&to, at)
    }

    /// The axes in another order: axis i of the result is axis `order[i]` of this.
    #[track_caller]
    pub fn permute(&self, order: &[usize]) -> Self {
        let at = Source::here();
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.shape.rank()) {
            let fault = Fault::Order {
                order: order.to_vec(),
                shape: self.shape.clone(),
            };
            return self.failed(fault, at);
        }
        let whole = View::whole(&self.shape);
        let axes: Vec<_> = order.iter().map(|&axis| self.shape.axes()[axis]).collect();
        let strides = order.iter().map(|&axis| whole.strides[axis]).collect();
        self.viewed(&axes, strides, 0, at)
    }

    /// The last two axes exchanged, or the only one left as it is.
    #[track_caller]
    pub fn transpose(&self) -> Self {
        let mut order: Vec<_> = (0..self.shape.rank()).collect();
        if let [.., a, b] = &mut order[..] {
            std::mem::swap(a, b);
        }
        self.permute(&order)
    }

    /// The part of an axis from `range.start` up to `range.end`.
    #[track_caller]
    pub fn slice(&self, axis: usize, range: impl RangeBounds<usize>) -> Self {
        let at = Source::here();
        let Some(&length) = self.shape.axes().get(axis) else {
            return self.wrong_axis("slice", axis, at);
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
            return self.out_of_range(axis, from, to, at);
        }
        let whole = View::whole(&self.shape);
        let mut axes = self.shape.axes().to_vec();
        axes[axis] = to - from;
        let offset = from * whole.strides[axis] as usize;
        self.viewed(&axes, whole.strides, offset, at)
    }

    /// The part at one place of an axis, which goes.
    #[track_caller]
    pub fn at(&self, axis: usize, place: usize) -> Self {
        let at = Source::here();
        match self.shape.axes().get(axis) {
            None => self.wrong_axis("at", axis, at),
            Some(&length) if place >= length => {
                self.out_of_range(axis, place, place.saturating_add(1), at)
            }
            Some(_) => {
                let mut whole = View::whole(&self.shape);
                let offset = place * whole.strides[axis] as usize;
                whole.strides.remove(axis);
                let axes = self.shape.without(axis);
                self.viewed(axes.axes(), whole.strides, offset, at)
            }
        }
    }

    /// The parts at several public places of an axis, in this order.
    #[track_caller]
    pub fn pick(&self, axis: usize, places: &[usize]) -> Self {
        let at = Source::here();
        let Some(&length) = self.shape.axes().get(axis) else {
            return self.wrong_axis("pick", axis, at);
        };
        if let Some(&place) = places.iter().find(|&&place| place >= length) {
            return self.out_of_range(axis, place, place.saturating_add(1), at);
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
        match self.shape.axes().first() {
            None => self.wrong_axis("row", 0, at),
            Some(&length) if length < place.count() => self.out_of_range(0, 0, place.count(), at),
            Some(_) => self.with(Op::Row(0), &[place.tensor()], at),
        }
    }

    /// The elements along an axis in the opposite order.
    #[track_caller]
    pub fn reverse(&self, axis: usize) -> Self {
        let at = Source::here();
        let Some(&length) = self.shape.axes().get(axis) else {
            return self.wrong_axis("reverse", axis, at);
        };
        let mut whole = View::whole(&self.shape);
        let offset = length.saturating_sub(1) * whole.strides[axis] as usize;
        whole.strides[axis] = -whole.strides[axis];
        let axes = self.shape.axes().to_vec();
        self.viewed(&axes, whole.strides, offset, at)
    }

    /// This and another one, one after the other along an axis that they have.
    #[track_caller]
    pub fn join(&self, other: &Self, axis: usize) -> Self {
        let at = Source::here();
        let parts = [self, other];
        Tensor::joined(&self.recorder, &parts, axis, at)
    }

    /// Adds `before` and `after` copies of `fill`, a single element of the same type, along an axis.
    #[track_caller]
    pub fn pad(&self, axis: usize, before: usize, after: usize, fill: &Self) -> Self {
        let at = Source::here();
        if axis >= self.shape.rank() {
            return self.wrong_axis("pad", axis, at);
        }
        let block = |length: usize| match self.shape.with(axis, length) {
            Some(shape) => fill.broadcast_to(&shape),
            None => {
                let mut axes = self.shape.axes().to_vec();
                axes[axis] = length;
                self.failed(Fault::TooLarge { axes }, at)
            }
        };
        let mut parts = Vec::new();
        parts.extend((before > 0).then(|| block(before)));
        parts.push(self.clone());
        parts.extend((after > 0).then(|| block(after)));
        match &parts[..] {
            [_] => self.clone(),
            parts => Self::joined(&self.recorder, &parts.iter().collect::<Vec<_>>(), axis, at),
        }
    }

    /// All windows of the last two axes: `[y, x, .., rows, columns]` for windows of `size` y by x, as a filter of a
    /// [convolution](Self::convolve) without padding meets them. The axes of a window come first, so that what is made
    /// of its elements is made of long rows.
    #[track_caller]
    pub fn windows(&self, size: [usize; 2], stride: [usize; 2], dilation: [usize; 2]) -> Self {
        let at = Source::here();
        if self.value.is_none() {
            return self.clone();
        }
        let [outer @ .., rows, columns] = self.shape.axes() else {
            return self.wrong_axis("windows", 1, at);
        };
        let moved = Convolution {
            stride,
            dilation,
            ..Convolution::new(1, [*rows, *columns], 1, size)
        };
        let Some(output) = moved.checked_output() else {
            let fault = Fault::Convolution {
                images: self.shape.clone(),
                filters: Shape::of(size.into()),
                groups: 1,
            };
            return self.failed(fault, at);
        };
        let axes = [&size, outer, &output].concat();
        let whole = View::whole(&self.shape).strides;
        let by = |steps: [usize; 2]| [steps[0] * columns, steps[1]].map(|step| step as isize);
        let strides = [&by(dilation), &whole[..outer.len()], &by(stride)].concat();
        self.viewed(&axes, strides, 0, at)
    }

    /// Tensors of one type, one after the other along an axis that they have; `None` of none.
    #[track_caller]
    pub fn concat(parts: &[&Self], axis: usize) -> Option<Self> {
        let first = parts.first()?;
        Some(Self::joined(&first.recorder, parts, axis, Source::here()))
    }
}
