//! Matrix products and convolutions from matrix triples: each operand's mask is opened once, whatever it
//! is multiplied with.

use std::ops::Range;

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_correlations::MatrixTriple;
use madrigal_kernels::rings;
use madrigal_net::{Result, breathe};

use super::{ArithmeticGmw, Convolution, MatrixShape, opening_cost};
use crate::Opening;
use crate::secret::Secret;

/// Products of elements between two looks at what else is ready: some ten milliseconds.
const BAND: usize = 1 << 25;

impl ArithmeticGmw {
    /// Shares of matrix products, one for each triple and of its shape, all in one opening:
    ///
    /// D = open(X - A), E = open(Y - B), Z = C + D B + A E + D E, where the leader alone adds D E.
    ///
    /// `x` has the left matrices one after the other, `y` the right ones, `z` the products; each is row by
    /// row.
    ///
    /// # Panics
    /// If the vectors have not the triples' sizes: a plan was wrong. So do all operations here.
    pub async fn matrix_products<T: Ring>(
        &mut self,
        triples: Vec<MatrixTriple<T>>,
        x: &[T],
        y: &[T],
        z: &mut [T],
    ) -> Result<()> {
        let shapes = || triples.iter().map(MatrixTriple::shape);
        let sizes: [usize; 2] = [shapes().map(left).sum(), shapes().map(right).sum()];
        assert_eq!([x.len(), y.len()], sizes, "matrices of the triples' sizes");
        let mut masked = Secret::zeros(x.len() + y.len());
        let (mut to, mut x, mut y) = (&mut masked[..], x, y);
        for shape in shapes() {
            copy(&mut to, &mut x, left(shape));
            copy(&mut to, &mut y, right(shape));
        }
        self.multiply(triples, masked, z).await
    }

    /// Shares of the convolution of an image with filters, both in the order of [`Convolution`]'s indices,
    /// from a triple of [`Convolution::matrices`]. The image is unfolded where it is masked, and nowhere
    /// else.
    pub async fn convolve<T: Ring>(
        &mut self,
        triple: MatrixTriple<T>,
        image: &[T],
        filters: &[T],
        shape: &Convolution,
        z: &mut [T],
    ) -> Result<()> {
        let (matrices, [image_len, ..]) = (shape.matrices(), shape.lengths());
        assert!(
            triple.shape() == matrices
                && image.len() == image_len
                && filters.len() == left(matrices),
            "{} by {} elements with a triple of {:?} are no {shape:?}",
            image.len(),
            filters.len(),
            triple.shape()
        );
        let mut masked = Secret::zeros(left(matrices) + right(matrices));
        let (x, y) = masked.split_at_mut(left(matrices));
        x.copy_from_slice(filters);
        shape.unfold(image, 0..matrices.columns, y);
        self.multiply(vec![triple], masked, z).await
    }

    /// The products of the triples' shapes; `operands` has the left and the right one of each in turn.
    async fn multiply<T: Ring>(
        &mut self,
        triples: Vec<MatrixTriple<T>>,
        mut operands: Secret<T>,
        z: &mut [T],
    ) -> Result<()> {
        let shapes: Vec<_> = triples.iter().map(MatrixTriple::shape).collect();
        let results = shapes.iter().map(|shape| shape.rows * shape.columns);
        assert_eq!(z.len(), results.sum(), "products of the triples' sizes");
        let mut shares: Vec<_> = triples.into_iter().map(MatrixTriple::take).collect();
        let mut rest = &mut operands[..];
        for [a, b, _] in &shares {
            for mask in [a, b] {
                let (operand, after) = rest.split_at_mut(mask.len());
                rings::sub_into(operand, mask);
                rest = after;
            }
        }
        self.open_differences(&mut operands).await?;
        let (mut opened, mut z) = (&operands[..], z);
        for (shape, [a, b, c]) in shapes.into_iter().zip(&mut shares) {
            let (d, after) = opened.split_at(a.len());
            let (e, after) = after.split_at(b.len());
            opened = after;
            let (product, after) = z.split_at_mut(c.len());
            z = after;
            product.copy_from_slice(c);
            if self.leads() {
                rings::add_into(b, e);
            }
            add_products(product, [(d, b), (a, e)], shape).await;
        }
        Ok(())
    }

    /// Cost for party `me` of [`matrix_products`](Self::matrix_products) of these shapes, but for rounds.
    pub fn matrix_products_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        shapes: &[MatrixShape],
    ) -> PhaseCost {
        let operands = shapes.iter().map(|&shape| left(shape) + right(shape));
        opening_cost(opening, me, parties, operands.sum::<usize>() * T::BYTES)
    }

    /// Cost for party `me` of one [`convolve`](Self::convolve), but for rounds.
    pub fn convolve_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        shape: &Convolution,
    ) -> PhaseCost {
        Self::matrix_products_cost::<T>(opening, me, parties, &[shape.matrices()])
    }
}

/// Elements of a left matrix.
pub(crate) const fn left(shape: MatrixShape) -> usize {
    shape.rows * shape.inner
}

/// Elements of a right matrix.
const fn right(shape: MatrixShape) -> usize {
    shape.inner * shape.columns
}

/// Moves the first elements of `from` to the front of `to`, and both past them.
fn copy<T: Ring>(to: &mut &mut [T], from: &mut &[T], count: usize) {
    let (here, after) = std::mem::take(to).split_at_mut(count);
    let (these, others) = from.split_at(count);
    here.copy_from_slice(these);
    (*to, *from) = (after, others);
}

/// `z += sum of x y`, where messages move on between bands of rows.
pub(crate) async fn add_products<T: Ring>(
    z: &mut [T],
    factors: [(&[T], &[T]); 2],
    shape: MatrixShape,
) {
    let MatrixShape {
        rows,
        inner,
        columns,
    } = shape;
    let each = (BAND / (inner * columns).max(1)).max(1);
    let part = |rows: &Range<usize>, by: usize| rows.start * by..rows.end * by;
    for first in (0..rows).step_by(each) {
        let band = first..(first + each).min(rows);
        for (x, y) in factors {
            let (x, z) = (&x[part(&band, inner)], &mut z[part(&band, columns)]);
            rings::multiply_add(x, y, z, inner, columns);
        }
        if band.end < rows {
            breathe().await;
        }
    }
}
