//! Matrix products and convolutions from triples of products: each operand's mask is opened once, whatever it
//! is multiplied with. Images are masked as they are, not unfolded: what a convolution opens is filters and images, not
//! each pixel as often as filters meet it.

use std::ops::Range;

use madrigal_core::{MatrixShape, Party, PhaseCost, Product, Ring};
use madrigal_correlations::ProductTriple;
use madrigal_kernels::rings;
use madrigal_net::{Result, breathe};
use zeroize::Zeroizing;

use super::{ArithmeticGmw, opening_cost};
use crate::Opening;
use crate::secret::Secret;

/// Products of elements between two looks at what else is ready: some ten milliseconds.
const BAND: usize = 1 << 25;

impl ArithmeticGmw {
    /// Shares of a product of matrices, or of a convolution, from its triple, in one opening:
    ///
    /// D = open(X - A), E = open(Y - B), Z = C + D B + A E + D E, where the leader alone adds D E.
    ///
    /// # Panics
    /// If the vectors have not the product's [lengths](Product::lengths), or the triple is of another one: a
    /// plan was wrong. So do all operations here.
    pub async fn products<T: Ring>(
        &mut self,
        triple: ProductTriple<T>,
        x: &[T],
        y: &[T],
        z: &mut [T],
    ) -> Result<()> {
        let product = triple.product();
        let mut shares = triple.take();
        let mut opened = masked_factors(&shares, x, y);
        self.open_differences(&mut opened).await?;
        finish_products(&product, &mut shares, &opened, self.leads(), z).await;
        Ok(())
    }

    /// Cost for party `me` of [`products`](Self::products), but for rounds.
    pub fn products_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        product: &Product,
    ) -> PhaseCost {
        opening_cost(opening, me, parties, opened(product) * T::BYTES)
    }
}

/// Elements that a product opens.
pub(crate) fn opened(product: &Product) -> usize {
    let [left, right, _] = product.lengths();
    left + right
}

/// X - A, then Y - B.
pub(crate) fn masked_factors<T: Ring>(
    [a, b, _]: &[Zeroizing<Vec<T>>; 3],
    x: &[T],
    y: &[T],
) -> Secret<T> {
    let lengths = [a.len(), b.len()];
    assert_eq!([x.len(), y.len()], lengths, "operands of a triple's sizes");
    let mut masked = Secret::zeros(a.len() + b.len());
    let (d, e) = masked.split_at_mut(a.len());
    for (masked, (value, mask)) in [d, e].into_iter().zip([(x, a), (y, b)]) {
        masked.copy_from_slice(value);
        rings::sub_into(masked, mask);
    }
    masked
}

/// `z = C + D B + A E`, and D E at one party alone.
pub(crate) async fn finish_products<T: Ring>(
    product: &Product,
    [a, b, c]: &mut [Zeroizing<Vec<T>>; 3],
    opened: &[T],
    leads: bool,
    z: &mut [T],
) {
    let (d, e) = opened.split_at(a.len());
    if leads {
        rings::add_into(b, e);
    }
    z.copy_from_slice(c);
    add_all(product, [(d, b), (a, e)], z).await;
}

/// `z += sum of x y`, piece by piece; images are unfolded here.
pub(crate) async fn add_all<T: Ring>(product: &Product, factors: [(&[T], &[T]); 2], z: &mut [T]) {
    let (pieces, shape) = product.pieces();
    let mut part = Secret::zeros(shape.rows * shape.columns);
    for piece in 0..pieces {
        part.fill(T::ZERO);
        let left = product.left(piece);
        let [(x0, y0), (x1, y1)] = factors;
        let [y0, y1] = [y0, y1].map(|y| product.right(piece, y));
        let factors = [(&x0[left.clone()], &*y0), (&x1[left], &*y1)];
        add_products(&mut part, factors, shape).await;
        product.add(piece, 0..shape.columns, &part, z);
    }
}

/// Elements of a left matrix.
pub(super) const fn left(shape: MatrixShape) -> usize {
    shape.rows * shape.inner
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
