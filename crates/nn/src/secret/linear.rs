//! Sums of products: matrices, convolutions.

use madrigal_program::{Tensor as Secret, Window as Moves};

use super::forms::Form;
use super::lowering::Lowering;
use super::planar::{Planar, along_two, fits, with_rows, without_rows};
use super::stop::{Lowered, cannot};
use crate::graph::{ValueId, Window};

/// Operands of a convolution.
struct Operands {
    x: Secret,
    filters: Secret,
    one_axis: bool,
    integers: bool,
}

impl Lowering<'_> {
    /// Adds a bias with as many bits after the point as a product has.
    fn with_bias(
        &mut self,
        product: Form,
        bias: Option<&ValueId>,
        axes: &[usize],
    ) -> Lowered<Form> {
        let Some(&bias) = bias else {
            return Ok(product);
        };
        let more = match &product {
            Form::Number(_, more) => *more,
            _ => 0,
        };
        let bias = self.forms.with_bits(bias, more)?;
        let bias = match axes {
            [] => bias.secret().clone(),
            axes => bias.secret().reshape(axes),
        };
        Ok(product.map(|product| product.plus(&bias)))
    }

    /// Two factors of sums of products, and whether these are integers.
    fn factors_of(&mut self, x: ValueId, y: ValueId) -> Lowered<(Secret, Secret, bool)> {
        match (self.forms.form(x)?, self.forms.form(y)?) {
            (Form::Integer(a), Form::Integer(b)) => Ok((a, b, true)),
            _ => Ok((self.forms.number(x)?, self.forms.number(y)?, false)),
        }
    }

    fn summed(&self, product: Secret, integers: bool) -> Form {
        match integers {
            true => Form::Integer(product),
            false => self.product(product),
        }
    }

    pub(super) fn matmul(&mut self, inputs: &[ValueId]) -> Lowered<Form> {
        let (a, b, integers) = self.factors_of(inputs[0], inputs[1])?;
        let product = match (a.shape().axes(), b.shape().axes()) {
            // One matrix for all rows, so that it is not repeated.
            (&[ref outer @ .., rows, inner], [_, columns]) if !outer.is_empty() => {
                let all = outer.iter().product::<usize>() * rows;
                let axes = [outer, &[rows, *columns]].concat();
                a.reshape([all, inner]).matmul(&b).reshape(axes)
            }
            _ => a.matmul(&b),
        };
        let product = self.summed(product, integers);
        self.with_bias(product, inputs.get(2), &[])
    }

    pub(super) fn convolution(
        &mut self,
        window: &Window,
        groups: usize,
        inputs: &[ValueId],
    ) -> Lowered<Form> {
        let planar = Planar::new(window)?;
        let Operands {
            x,
            filters,
            one_axis,
            integers,
        } = self.operands(inputs)?;
        let made = x.convolve(&filters, planar.moves(groups));
        let window = filters.shape().axes().get(1..).unwrap_or(&[]);
        let places = [0, 2, 3].map(|axis| made.shape().axes().get(axis).copied().unwrap_or(0));
        fits(&[window, &places].concat())?;
        self.convolved(made, (one_axis, integers), inputs.get(2))
    }

    /// Data and filters, which have rows, whether the model has or not.
    fn operands(&mut self, inputs: &[ValueId]) -> Lowered<Operands> {
        let (x, filters, integers) = self.factors_of(inputs[0], inputs[1])?;
        Ok(Operands {
            x: with_rows(&x),
            filters: with_rows(&filters),
            one_axis: x.shape().rank() == 3,
            integers,
        })
    }

    fn convolved(
        &mut self,
        made: Secret,
        (one_axis, integers): (bool, bool),
        bias: Option<&ValueId>,
    ) -> Lowered<Form> {
        let &[_, channels, _, _] = made.shape().axes() else {
            return cannot("its shapes do not fit");
        };
        let product = self.summed(made, integers);
        let made = self.with_bias(product, bias, &[1, channels, 1, 1])?;
        Ok(made.map(|made| without_rows(made.clone(), one_axis)))
    }

    /// Computes a transposed convolution as a convolution of the image with zeros between its elements.
    pub(super) fn transposed_convolution(
        &mut self,
        window: &Window,
        extra: &[usize],
        groups: usize,
        inputs: &[ValueId],
    ) -> Lowered<Form> {
        let moves = Planar::new(window)?.moves(groups);
        let extra = along_two(extra, 0)?;
        let Operands {
            mut x,
            filters,
            one_axis,
            integers,
        } = self.operands(inputs)?;
        fits(&[x.shape().axes(), &moves.stride].concat())?;
        let zero = self.forms.public(x.element(), 0.0)?;
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
        // Elements that are taken off the result are not computed; zeros that are more than there are places for are cut off.
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
        self.convolved(made, (one_axis, integers), inputs.get(2))
    }
}
