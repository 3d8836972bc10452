//! Matrix products and convolutions: an element per output, whatever the inner dimension.

use std::ops::Range;

use madrigal_core::{MatrixShape, Product, Ring};
use madrigal_kernels::products::{add_band, bands};
use madrigal_kernels::{crew, rings};
use madrigal_net::{Result, breathe};

use super::{ReplicatedRings, RingShares, RingView, ZeroKeys};
use madrigal_core::Zeroizing;

/// Rows of a product that are computed before the first of them is sent: enough to use each part of
/// the right matrix many times while it is in the cache.
const BAND: usize = 128;

/// Elements that are worth a thread's attention.
const SHARED: usize = 1 << 14;

/// The sum of both components, by the [crew] at work.
fn sum_of<T: Ring>(y: RingView<'_, T>) -> Zeroizing<Vec<T>> {
    let [first, second] = y.components();
    if crew::threads() == 1 || y.len() < 2 * SHARED {
        let mut sum = Zeroizing::from(first.to_vec());
        rings::add_into(&mut sum, second);
        return sum;
    }
    let mut sum = Zeroizing::zeros(y.len());
    crew::each(crew::slices(&mut sum, 1, SHARED), |(at, sum)| {
        let part = at..at + sum.len();
        sum.copy_from_slice(&first[part.clone()]);
        rings::add_into(sum, &second[part]);
    });
    sum
}

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
        let ([x0, x1], y0) = (x.components(), y.components()[0]);
        let sum = sum_of(y);
        let mut z = RingShares::zeros(len);
        for band in bands(product) {
            let own = &mut z.components[0];
            add_band(product, [(x1, y0), (x0, &sum)], own, &band);
            breathe().await;
        }
        drop(sum);
        let local = |_, z: &mut [T], zeros: &mut ZeroKeys| zeros.add_to(z);
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
        let sum = sum_of(y);
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
