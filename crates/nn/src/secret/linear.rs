//! Sums of products: matrices, convolutions.

use madrigal_program::{Tensor as Secret, Window as Moves};

use super::forms::Form;
use super::{Lowered, Lowering, cannot};
use crate::graph::{ValueId, Window};

/// A window on rows and columns; one along a single axis is of one row.
fn planar(window: &Window, groups: usize) -> Option<Moves> {
    let two = |values: &[usize], one: usize| match *values {
        [columns] => Some([one, columns]),
        [rows, columns] => Some([rows, columns]),
        _ => None,
    };
    let [before, after] = [two(&window.before, 0)?, two(&window.after, 0)?];
    Some(Moves {
        groups,
        stride: two(&window.strides, 1)?,
        dilation: two(&window.dilations, 1)?,
        padding: [[before[0], after[0]], [before[1], after[1]]],
    })
}

/// With an axis for a single row, if there is none for rows.
fn with_rows(x: &Secret) -> Secret {
    match x.shape().axes() {
        [_, _, _] => x.expand(2),
        _ => x.clone(),
    }
}

const SPACES: &str = "kernels move along one or two axes";

impl Lowering<'_> {
    /// A bias of so many bits after the point as a product has.
    fn with_bias(
        &mut self,
        product: Form,
        bias: Option<&ValueId>,
        axes: &[usize],
    ) -> Lowered<Form> {
        let (Some(&bias), Form::Number(product, more)) = (bias, &product) else {
            return Ok(product);
        };
        let Form::Number(bias, _) = self.forms.with_bits(bias, *more)? else {
            return cannot("its bias is no float");
        };
        let bias = match axes {
            [] => bias,
            axes => bias.reshape(axes),
        };
        Ok(Form::Number(product.plus(&bias), *more))
    }

    pub(super) fn matmul(&mut self, inputs: &[ValueId]) -> Lowered<Form> {
        let (a, b) = (self.forms.number(inputs[0])?, self.forms.number(inputs[1])?);
        let product = match (a.shape().axes(), b.shape().axes()) {
            // One matrix for all rows, so that it is not repeated.
            (&[ref outer @ .., rows, inner], [_, columns]) if !outer.is_empty() => {
                let all = outer.iter().product::<usize>() * rows;
                let axes = [outer, &[rows, *columns]].concat();
                a.reshape([all, inner]).matmul(&b).reshape(axes)
            }
            _ => a.matmul(&b),
        };
        let product = self.product(product);
        self.with_bias(product, inputs.get(2), &[])
    }

    pub(super) fn convolution(
        &mut self,
        window: &Window,
        groups: usize,
        inputs: &[ValueId],
    ) -> Lowered<Form> {
        let Some(moves) = planar(window, groups) else {
            return cannot(SPACES);
        };
        let (x, filters) = (self.forms.number(inputs[0])?, self.forms.number(inputs[1])?);
        let one_axis = x.shape().rank() == 3;
        let made = with_rows(&x).convolve(&with_rows(&filters), moves);
        self.convolved(made, one_axis, inputs.get(2))
    }

    fn convolved(&mut self, made: Secret, one_axis: bool, bias: Option<&ValueId>) -> Lowered<Form> {
        let &[images, channels, rows, columns] = made.shape().axes() else {
            return cannot("its shapes do not fit");
        };
        let product = self.product(made);
        let made = self.with_bias(product, bias, &[1, channels, 1, 1])?;
        Ok(match one_axis {
            true => made.map(|made| made.reshape([images, channels, rows * columns])),
            false => made,
        })
    }

    /// As a convolution of the image with zeros between its elements.
    pub(super) fn transposed_convolution(
        &mut self,
        window: &Window,
        extra: &[usize],
        groups: usize,
        inputs: &[ValueId],
    ) -> Lowered<Form> {
        let Some(moves) = planar(window, groups) else {
            return cannot(SPACES);
        };
        let (x, filters) = (self.forms.number(inputs[0])?, self.forms.number(inputs[1])?);
        let one_axis = x.shape().rank() == 3;
        let (mut x, filters) = (with_rows(&x), with_rows(&filters));
        let zero = self.forms.public(self.format.number, 0.0)?;
        for (axis, &stride) in [2, 3].into_iter().zip(&moves.stride) {
            let length = x.shape().axes()[axis];
            if stride > 1 && length > 0 {
                let mut axes = x.shape().axes().to_vec();
                axes[axis] = length * stride;
                let spread = x.expand(axis + 1).pad(axis + 1, 0, stride - 1, &zero);
                x = spread
                    .reshape(axes)
                    .slice(axis, ..(length - 1) * stride + 1);
            }
        }
        let &[inner, outer, height, width] = filters.shape().axes() else {
            return cannot("its shapes do not fit");
        };
        let each = inner / groups.max(1);
        let filters = filters
            .reshape([groups, each, outer, height * width])
            .permute(&[0, 2, 1, 3])
            .reshape([groups * outer, each, height, width])
            .reverse(2)
            .reverse(3);
        let extra = match *extra {
            [columns] => [0, columns],
            [rows, columns] => [rows, columns],
            _ => return cannot(SPACES),
        };
        // What is taken off the result is not computed; what is more than there is of zeros is cut off.
        let (mut padding, mut cut) = ([[0; 2]; 2], [[0; 2]; 2]);
        for (axis, size) in [height, width].into_iter().enumerate() {
            let reach = moves.dilation[axis] * (size.max(1) - 1);
            let [before, after] = moves.padding[axis];
            let ends = [(reach, before), (reach + extra[axis], after)];
            for (end, (zeros, off)) in ends.into_iter().enumerate() {
                padding[axis][end] = zeros.saturating_sub(off);
                cut[axis][end] = off.saturating_sub(zeros);
            }
        }
        let moves = Moves {
            stride: [1, 1],
            padding,
            ..moves
        };
        let mut made = x.convolve(&filters, moves);
        for (axis, [before, after]) in [2, 3].into_iter().zip(cut) {
            if before + after > 0 {
                let length = made.shape().axes()[axis];
                made = made.slice(axis, before..length.saturating_sub(after));
            }
        }
        self.convolved(made, one_axis, inputs.get(2))
    }
}
