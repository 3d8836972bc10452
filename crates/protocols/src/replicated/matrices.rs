//! Matrix products and convolutions: an element per output, whatever the inner dimension.

use std::ops::Range;

use madrigal_core::{Convolution, MatrixShape, Product, Ring};
use madrigal_kernels::rings;
use madrigal_net::Result;

use super::{ReplicatedRings, RingShares, RingView, ZeroKeys};
use madrigal_core::Zeroizing;

/// Rows of a product that are computed before the first of them is sent: enough to use each part of
/// the right matrix many times while it is in the cache.
const BAND: usize = 128;

/// Elements of a band's operands that stand for one output row of a convolution.
const UNFOLDED: usize = 1 << 16;

impl ReplicatedRings {
    /// Shares of products of matrices, or of convolutions, with the left operand (filters) in `x`. One
    /// round, an element per output.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If the batches have not the product's [lengths](Product::lengths).
    pub async fn products<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        y: impl Into<RingView<'a, T>>,
        product: &Product,
    ) -> Result<RingShares<T>> {
        let (x, y) = (x.into(), y.into());
        let [left, right, len] = product.lengths();
        assert!(
            x.len() == left && y.len() == right,
            "{} by {} elements are no operands of {product:?}",
            x.len(),
            y.len()
        );
        if let Product::Matrices(1, shape) = *product {
            return self.matrix_product(x, y, shape).await;
        }
        let products = match product {
            Product::Matrices(..) => pairs(x, y, product),
            Product::Convolution(convolution) => convolved(x, y, convolution),
        };
        let mut z = RingShares::zeros(len);
        let local = |outputs: Range<usize>, z: &mut [T], zeros: &mut ZeroKeys| {
            zeros.fill(z);
            rings::add_into(z, &products[outputs]);
        };
        self.strand.reshare_elements(&mut z, local).await?;
        Ok(z)
    }

    /// The product of one pair: each band of rows is sent while the next one is computed.
    async fn matrix_product<T: Ring>(
        &mut self,
        x: RingView<'_, T>,
        y: RingView<'_, T>,
        shape: MatrixShape,
    ) -> Result<RingShares<T>> {
        let MatrixShape {
            rows,
            inner,
            columns,
        } = shape;
        let mut z = RingShares::zeros(rows * columns);
        let mut sum = Zeroizing::from(y.components()[0].to_vec());
        rings::add_into(&mut sum, y.components()[1]);
        let sides = [&*sum, y.components()[0]];
        let x = x.components();
        let mut products = Zeroizing::zeros(BAND.min(rows) * columns);
        let mut done = 0..0;
        let local = |mut outputs: Range<usize>, mut z: &mut [T], zeros: &mut ZeroKeys| {
            zeros.fill(z);
            while !outputs.is_empty() {
                if outputs.start >= done.end {
                    let first = outputs.start / columns;
                    let last = (first + BAND).min(rows);
                    done = first * columns..last * columns;
                    products.fill(T::ZERO);
                    let band = &mut products[..done.len()];
                    for (x, y) in x.iter().zip(sides) {
                        rings::multiply_add(
                            &x[first * inner..last * inner],
                            y,
                            band,
                            inner,
                            columns,
                        );
                    }
                }
                let count = outputs.end.min(done.end) - outputs.start;
                let (part, rest) = std::mem::take(&mut z).split_at_mut(count);
                rings::add_into(part, &products[outputs.start - done.start..][..count]);
                outputs.start += count;
                z = rest;
            }
        };
        self.strand.reshare_elements(&mut z, local).await?;
        Ok(z)
    }
}

/// Computes this party's part of products of pairs of matrices.
fn pairs<T: Ring>(x: RingView<'_, T>, y: RingView<'_, T>, product: &Product) -> Zeroizing<Vec<T>> {
    let (count, shape) = product.pieces();
    let [_, right, len] = shape.lengths();
    let mut products = Zeroizing::zeros(count * len);
    let ([x0, x1], [y0, y1]) = (x.components(), y.components());
    let mut sum = Zeroizing::zeros(right);
    for piece in 0..count {
        let (left, right) = (product.left(piece), piece * right..(piece + 1) * right);
        let z = &mut products[piece * len..][..len];
        rings::multiply_add(
            &x1[left.clone()],
            &y0[right.clone()],
            z,
            shape.inner,
            shape.columns,
        );
        sum.copy_from_slice(&y0[right.clone()]);
        rings::add_into(&mut sum, &y1[right]);
        rings::multiply_add(&x0[left], &sum, z, shape.inner, shape.columns);
    }
    products
}

/// Multiplies as convolutions do, of which some columns at a time are unfolded.
fn convolved<T: Ring>(
    filters: RingView<'_, T>,
    images: RingView<'_, T>,
    convolution: &Convolution,
) -> Zeroizing<Vec<T>> {
    let product = Product::Convolution(*convolution);
    let (count, shape) = product.pieces();
    let (inner, columns) = (shape.inner, shape.columns);
    let each = (UNFOLDED / inner.max(1)).clamp(1, columns.max(1));
    let mut products = Zeroizing::zeros(product.lengths()[2]);
    let mut unfolded = [(); 2].map(|()| Zeroizing::zeros(inner * each));
    let mut part = Zeroizing::zeros(shape.rows * each);
    for group in 0..count {
        let [x0, x1] = filters.components().map(|x| &x[product.left(group)]);
        for first in (0..columns).step_by(each) {
            let these = first..(first + each).min(columns);
            let [y0, y1] = &mut unfolded;
            let width = these.len();
            let (y0, y1) = (&mut y0[..inner * width], &mut y1[..inner * width]);
            for (y, images) in [&mut *y0, &mut *y1].into_iter().zip(images.components()) {
                convolution.unfold(group, images, these.clone(), y);
            }
            let part = &mut part[..shape.rows * width];
            part.fill(T::ZERO);
            rings::multiply_add(x1, y0, part, inner, width);
            rings::add_into(y1, y0);
            rings::multiply_add(x0, y1, part, inner, width);
            product.add(group, these, part, &mut products);
        }
    }
    products
}
