//! A matrix whose mask has been opened, to be multiplied with several others.

use std::fmt;

use madrigal_core::{Party, PhaseCost, Product, Ring, Zeroizing};
use madrigal_correlations::ProductTriple;
use madrigal_kernels::rings;
use madrigal_net::Result;

use super::matrices::{add_all, left};
use super::products::OpensDifferences;
use super::{ArithmeticGmw, MatrixShape, opening_cost};
use crate::Opening;

/// A shared left matrix X under an opened mask, D = X - A, with what is left of its triple: each column
/// of B and C serves one column that X is multiplied with, once. So X is opened once for all of its
/// products, which may come at different times.
pub struct MaskedMatrix<T: Ring> {
    shape: MatrixShape,
    /// Public.
    d: Zeroizing<Vec<T>>,
    a: Zeroizing<Vec<T>>,
    b: Zeroizing<Vec<T>>,
    c: Zeroizing<Vec<T>>,
    /// Columns that are used.
    used: usize,
}

impl<T: Ring> fmt::Debug for MaskedMatrix<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, left) = (self.shape, self.columns());
        write!(f, "MaskedMatrix({shape:?}, {left} columns left)")
    }
}

impl<T: Ring> MaskedMatrix<T> {
    /// Number of columns that it can still be multiplied with.
    pub fn columns(&self) -> usize {
        self.shape.columns - self.used
    }
}

impl ArithmeticGmw {
    /// Opens the mask of a left matrix, for products with as many columns as the triple has.
    ///
    /// # Panics
    /// If the triple is not of one pair of matrices, or the matrix has not its size: a plan was wrong.
    pub async fn mask<T: Ring>(
        &mut self,
        triple: ProductTriple<T>,
        x: &[T],
    ) -> Result<MaskedMatrix<T>> {
        let Product::Matrices(1, shape) = triple.product() else {
            panic!(
                "a triple of one pair of matrices, not of {:?}",
                triple.product()
            );
        };
        assert_eq!(x.len(), left(shape), "a left matrix of {shape:?}");
        let [a, b, c] = triple.take();
        let mut d = Zeroizing::from(x.to_vec());
        rings::sub_into(&mut d, &a);
        self.open_differences(&mut d).await?;
        Ok(MaskedMatrix {
            shape,
            d,
            a,
            b,
            c,
            used: 0,
        })
    }

    /// Shares of X Y for a masked X, with the next `columns` columns of its triple: E = open(Y - B), Z = C
    /// + D B + A E + D E, where the leader alone adds D E. `y` and `z` are row by row.
    ///
    /// # Panics
    /// If the matrices do not have these sizes, or fewer columns are left: a plan was wrong.
    pub async fn masked_product<T: Ring>(
        &mut self,
        x: &mut MaskedMatrix<T>,
        y: &[T],
        columns: usize,
        z: &mut [T],
    ) -> Result<()> {
        let MatrixShape { rows, inner, .. } = x.shape;
        assert!(
            columns <= x.columns() && y.len() == inner * columns && z.len() == rows * columns,
            "{} elements are no {inner} by {columns} for {x:?}, or {} no product",
            y.len(),
            z.len()
        );
        let part = |from: &[T], to: &mut [T]| {
            let from = from.chunks_exact(x.shape.columns.max(1));
            for (from, to) in from.zip(to.chunks_exact_mut(columns.max(1))) {
                to.copy_from_slice(&from[x.used..x.used + columns]);
            }
        };
        let mut b = Zeroizing::zeros(y.len());
        part(&x.b, &mut b);
        part(&x.c, z);
        x.used += columns;
        let mut e = Zeroizing::from(y.to_vec());
        rings::sub_into(&mut e, &b);
        self.open_differences(&mut e).await?;
        if self.leads() {
            rings::add_into(&mut b, &e);
        }
        let shape = MatrixShape { columns, ..x.shape };
        add_all(
            &Product::Matrices(1, shape),
            [(&x.d[..], &b[..]), (&x.a, &e)],
            z,
        )
        .await;
        Ok(())
    }

    /// Cost for party `me` of one [`mask`](Self::mask) of a left matrix of this shape, but for rounds.
    pub fn mask_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        shape: MatrixShape,
    ) -> PhaseCost {
        opening_cost(opening, me, parties, left(shape) * T::BYTES)
    }

    /// Cost for party `me` of one [`masked_product`](Self::masked_product) with `columns` columns, but for
    /// rounds.
    pub fn masked_product_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        inner: usize,
        columns: usize,
    ) -> PhaseCost {
        opening_cost(opening, me, parties, inner * columns * T::BYTES)
    }
}
