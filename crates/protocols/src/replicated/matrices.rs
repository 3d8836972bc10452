//! Matrix products and convolutions: an element per output, whatever the inner dimension.

use std::ops::Range;

use madrigal_core::Ring;
use madrigal_kernels::rings;
use madrigal_net::Result;

use super::{Convolution, MatrixShape, ReplicatedRings, RingShares, ZeroKeys};
use crate::secret::Secret;

/// Rows of a product that are computed before the first of them is sent: enough to use each part of
/// the right matrix many times while it is in the cache.
const BAND: usize = 128;

/// Elements of a band's operands that stand for one output row of a convolution.
const UNFOLDED: usize = 1 << 16;

impl ReplicatedRings {
    /// Shares of the matrix product x y. One round, an element per output.
    ///
    /// # Errors
    /// Those of the network.
    ///
    /// # Panics
    /// If the batches do not have the shape's sizes.
    pub async fn matrix_product<T: Ring>(
        &mut self,
        x: &RingShares<T>,
        y: &RingShares<T>,
        shape: MatrixShape,
    ) -> Result<RingShares<T>> {
        let MatrixShape {
            rows,
            inner,
            columns,
        } = shape;
        assert!(
            x.len() == rows * inner && y.len() == inner * columns,
            "{} by {} elements are no matrices of {shape:?}",
            x.len(),
            y.len()
        );
        let mut z = RingShares::zeros(rows * columns);
        let mut sum = Secret::from(y.components()[0].to_vec());
        rings::add_into(&mut sum, y.components()[1]);
        let sides = [&*sum, y.components()[0]];
        let x = x.components();
        let mut products = Secret::zeros(BAND.min(rows) * columns);
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

    /// Shares of the convolution of an image with filters, both in the order of [`Convolution`]'s
    /// indices. One round, an element per output.
    ///
    /// # Errors
    /// Those of the network.
    ///
    /// # Panics
    /// If the batches do not have the shape's sizes.
    pub async fn convolve<T: Ring>(
        &mut self,
        image: &RingShares<T>,
        filters: &RingShares<T>,
        shape: &Convolution,
    ) -> Result<RingShares<T>> {
        let [image_len, filters_len, output_len] = shape.lengths();
        assert!(
            image.len() == image_len && filters.len() == filters_len,
            "{} by {} elements are no {shape:?}",
            image.len(),
            filters.len()
        );
        let inner = shape.window();
        let positions = output_len / shape.filters.max(1);
        let each = (UNFOLDED / inner.max(1)).clamp(1, positions.max(1));
        let mut products = Secret::zeros(output_len);
        let [x0, x1] = filters.components();
        let mut unfolded = [(); 2].map(|()| Secret::zeros(inner * each));
        let mut part = Secret::zeros(shape.filters * each);
        for left in (0..positions).step_by(each) {
            let width = each.min(positions - left);
            let [y0, y1] = &mut unfolded;
            let (y0, y1) = (&mut y0[..inner * width], &mut y1[..inner * width]);
            for (y, image) in [&mut *y0, &mut *y1].into_iter().zip(image.components()) {
                shape.unfold(image, left..left + width, y);
            }
            let part = &mut part[..shape.filters * width];
            part.fill(T::ZERO);
            rings::multiply_add(x1, y0, part, inner, width);
            rings::add_into(y1, y0);
            rings::multiply_add(x0, y1, part, inner, width);
            for (row, part) in part.chunks_exact(width).enumerate() {
                products[row * positions + left..][..width].copy_from_slice(part);
            }
        }
        let mut z = RingShares::zeros(output_len);
        let local = |outputs: Range<usize>, z: &mut [T], zeros: &mut ZeroKeys| {
            zeros.fill(z);
            rings::add_into(z, &products[outputs]);
        };
        self.strand.reshare_elements(&mut z, local).await?;
        Ok(z)
    }
}
