//! Matrix products and convolutions from matrix triples: each operand's mask is opened once, whatever it
//! is multiplied with.

use std::ops::Range;

use madrigal_core::{MatrixShape, Party, PhaseCost, Product, Ring};
use madrigal_correlations::MatrixTriple;
use madrigal_kernels::rings;
use madrigal_net::{Result, breathe};
use zeroize::Zeroizing;

use super::{ArithmeticGmw, opening_cost};
use crate::Opening;
use crate::secret::Secret;

/// Products of elements between two looks at what else is ready: some ten milliseconds.
const BAND: usize = 1 << 25;

impl ArithmeticGmw {
    /// Shares of products of matrices, or of convolutions, from a triple for each of
    /// [`Product::pieces`], all in one opening:
    ///
    /// D = open(X - A), E = open(Y - B), Z = C + D B + A E + D E, where the leader alone adds D E.
    ///
    /// Images are unfolded where they are masked, and nowhere else.
    ///
    /// # Panics
    /// If the vectors have not the product's [lengths](Product::lengths), or triples have not its pieces' shape: a
    /// plan was wrong. So do all operations here.
    pub async fn products<T: Ring>(
        &mut self,
        product: &Product,
        triples: Vec<MatrixTriple<T>>,
        x: &[T],
        y: &[T],
        z: &mut [T],
    ) -> Result<()> {
        assert_triples(product, &triples, [x.len(), y.len(), z.len()]);
        let mut shares: Vec<_> = triples.into_iter().map(MatrixTriple::take).collect();
        let mut opened = masked_factors(product, &shares, x, y);
        self.open_differences(&mut opened).await?;
        finish_products(product, &mut shares, &opened, self.leads(), z).await;
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
    let (count, shape) = product.pieces();
    let [left, right, _] = shape.lengths();
    count * (left + right)
}

/// That the triples and vectors are this product's.
pub(crate) fn assert_triples<T: Ring>(
    product: &Product,
    triples: &[MatrixTriple<T>],
    lengths: [usize; 3],
) {
    let (count, shape) = product.pieces();
    assert!(
        triples.len() == count && triples.iter().all(|triple| triple.shape() == shape),
        "triples of {product:?}"
    );
    assert_eq!(lengths, product.lengths(), "operands of {product:?}");
}

/// X - A of all pieces, then Y - B of each.
pub(crate) fn masked_factors<T: Ring>(
    product: &Product,
    triples: &[[Zeroizing<Vec<T>>; 3]],
    x: &[T],
    y: &[T],
) -> Secret<T> {
    let mut masked = Secret::zeros(opened(product));
    let (d, mut rest) = masked.split_at_mut(x.len());
    d.copy_from_slice(x);
    for (piece, [a, b, _]) in triples.iter().enumerate() {
        rings::sub_into(&mut d[product.left(piece)], a);
        let (e, after) = std::mem::take(&mut rest).split_at_mut(b.len());
        e.copy_from_slice(&product.right(piece, y));
        rings::sub_into(e, b);
        rest = after;
    }
    masked
}

/// `z = C + D B + A E`, and D E at one party alone, of all pieces.
pub(crate) async fn finish_products<T: Ring>(
    product: &Product,
    triples: &mut [[Zeroizing<Vec<T>>; 3]],
    opened: &[T],
    leads: bool,
    z: &mut [T],
) {
    let (_, shape) = product.pieces();
    let (d, mut rest) = opened.split_at(product.lengths()[0]);
    z.fill(T::ZERO);
    for (piece, [a, b, c]) in triples.iter_mut().enumerate() {
        let (e, after) = rest.split_at(b.len());
        rest = after;
        if leads {
            rings::add_into(b, e);
        }
        add_products(c, [(&d[product.left(piece)], b), (a, e)], shape).await;
        product.add(piece, 0..shape.columns, c, z);
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
