//! Matrix products and convolutions from triples of products: each operand's mask is opened once, whatever it
//! is multiplied with. Images are masked as they are, not unfolded: what a convolution opens is filters and images, not
//! each pixel as often as filters meet it.

use bytes::Bytes;
use madrigal_core::{MatrixShape, Party, PhaseCost, Product, Ring, Zeroizing};
use madrigal_correlations::ProductTriple;
#[cfg(doc)]
use madrigal_correlations::Tripled;
use madrigal_kernels::products::{add_band, bands};
use madrigal_kernels::rings;
use madrigal_net::{Channel, Result, breathe, exchange_one};

use super::products::OpensDifferences;
use super::{ArithmeticGmw, opening_cost};
use crate::Opening;

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
        multiply_matrices(self, triple, [x, y], z).await
    }

    /// Multiplies between two parties, of which one knows the operand on this side, from a [split](Tripled) triple of
    /// which it has that side's factor: one message each way.
    ///
    /// The party that knows Y masks it alone, and of X = X_0 + X_1 it multiplies its own share by itself: with the other
    /// party's X_1 and A and its own B it sends E = Y - B, gets D = X_1 - A, and has Z_0 = C_0 + (X_0 + D) Y. The other one has
    /// Z_1 = C_1 + A E. The sum is X_0 Y + X_1 Y - A Y + A B + A (Y - B) = X Y; where the left operand is known the same holds
    /// the other way round. D and E are under pads that their receiver knows nothing of, and the shares of A B under one as
    /// well, so that nothing is learnt, and the shares of Z are random.
    ///
    /// `known` is the operand at the party that knows it, and nothing at the other one; `shared` is the other operand.
    ///
    /// # Panics
    /// Among others than two parties; as [`products`](Self::products).
    pub async fn known_products<T: Ring>(
        &mut self,
        triple: ProductTriple<T>,
        side: Side,
        known: Option<&[T]>,
        shared: &[T],
        z: &mut [T],
    ) -> Result<()> {
        let [Channel { tx, rx }] = &mut self.channels[..] else {
            panic!("a product with an operand that one of two parties knows");
        };
        let product = triple.product();
        let [a, b, c] = triple.take();
        z.copy_from_slice(&c);
        let (left, right) = (a.len(), b.len());
        let (mut own, expected) = match (side, known) {
            (Side::Left, Some(known)) => (difference(known, &a), right),
            (Side::Left, None) => (difference(shared, &b), left),
            (Side::Right, Some(known)) => (difference(known, &b), left),
            (Side::Right, None) => (difference(shared, &a), right),
        };
        let message = Bytes::copy_from_slice(rings::as_bytes(&own));
        let theirs = exchange_one(tx, message, rx, expected * T::BYTES).await?;
        own.resize(expected, T::ZERO);
        rings::as_bytes_mut(&mut own).copy_from_slice(&theirs);
        if known.is_some() {
            rings::add_into(&mut own, shared);
        }
        let factors: (&[T], &[T]) = match (side, known) {
            (Side::Left, Some(known)) => (known, &own),
            (Side::Left, None) => (&own, &b),
            (Side::Right, Some(known)) => (&own, known),
            (Side::Right, None) => (&a, &own),
        };
        add_all(&product, [factors], z).await;
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

/// Operand of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The left one: filters, of a convolution.
    Left,
    /// The right one: images.
    Right,
}

/// x - y.
fn difference<T: Ring>(x: &[T], y: &[T]) -> Zeroizing<Vec<T>> {
    let mut difference = Zeroizing::new(x.to_vec());
    rings::sub_into(&mut difference, y);
    difference
}

/// Elements that a product opens.
pub(crate) fn opened(product: &Product) -> usize {
    let [left, right, _] = product.lengths();
    left + right
}

/// [`ArithmeticGmw::products`] of any party that opens differences.
pub(crate) async fn multiply_matrices<T: Ring>(
    party: &mut impl OpensDifferences,
    triple: ProductTriple<T>,
    operands: [&[T]; 2],
    z: &mut [T],
) -> Result<()> {
    let product = triple.product();
    let [a, mut b, c] = triple.take();
    // X - A, then Y - B.
    let mut opened = Zeroizing::zeros(a.len() + b.len());
    let (d, e) = opened.split_at_mut(a.len());
    for (masked, (value, mask)) in [d, e].into_iter().zip(operands.into_iter().zip([&a, &b])) {
        assert_eq!(value.len(), mask.len(), "operands of a triple's sizes");
        masked.copy_from_slice(value);
        rings::sub_into(masked, mask);
    }
    party.open_differences(&mut opened).await?;
    let (d, e) = opened.split_at(a.len());
    if party.leads() {
        rings::add_into(&mut b, e);
    }
    z.copy_from_slice(&c);
    add_all(&product, [(d, &b[..]), (&a[..], e)], z).await;
    Ok(())
}

/// `z += sum of x y`, where messages move on between bands.
pub(crate) async fn add_all<T: Ring, const K: usize>(
    product: &Product,
    factors: [(&[T], &[T]); K],
    z: &mut [T],
) {
    for (number, band) in bands(product).enumerate() {
        if number > 0 {
            breathe().await;
        }
        add_band(product, factors, z, &band);
    }
}

/// Elements of a left matrix.
pub(super) const fn left(shape: MatrixShape) -> usize {
    shape.rows * shape.inner
}
