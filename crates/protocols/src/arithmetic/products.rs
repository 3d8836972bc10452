//! Products, squares and dot products, element by element, from triples and square pairs.

use madrigal_core::{Party, PhaseCost, Ring, Zeroizing};
use madrigal_correlations::{RingTriples, SquarePairs};
use madrigal_kernels::rings;
use madrigal_net::Result;

use super::{ArithmeticGmw, LEADER, opening_cost};
use crate::Opening;

impl ArithmeticGmw {
    /// Shares of x y, element by element, with as many triples (Beaver; MOTION 6.1):
    ///
    /// d = open(x - a), e = open(y - b), z = c + d b + e a + d e, where the leader alone adds d e. d and e
    /// are x and y under one-time pads, so opening them tells nothing.
    ///
    /// # Panics
    /// If the vectors differ in length or there are fewer triples: a plan was wrong. So do all operations
    /// here.
    pub async fn mul<T: Ring>(
        &mut self,
        triples: &mut RingTriples<T>,
        x: &[T],
        y: &[T],
        z: &mut [T],
    ) -> Result<()> {
        multiply(self, triples, [x, y], z).await
    }

    /// Shares of x^2, element by element, with as many square pairs (MOTION 6.1): d = open(x - a), z = c +
    /// 2 d a + d^2, where the leader alone adds d^2.
    pub async fn square<T: Ring>(
        &mut self,
        pairs: &mut SquarePairs<T>,
        x: &[T],
        z: &mut [T],
    ) -> Result<()> {
        square(self, pairs, x, z).await
    }

    /// Shares of dot products: `z[j]` sums up the products of the `length` elements from `j * length` on,
    /// with a triple for each of these.
    ///
    /// Online it is the same from a matrix triple of 1 x `length` x 1 each
    /// ([`products`](Self::products)); such a triple is two thirds as long in a store, and
    /// with encrypted matrices cheaper to make for long vectors.
    pub async fn dot<T: Ring>(
        &mut self,
        triples: &mut RingTriples<T>,
        x: &[T],
        y: &[T],
        length: usize,
        z: &mut [T],
    ) -> Result<()> {
        dot(self, triples, [x, y], length, z).await
    }

    /// Cost for party `me` of one [`mul`](Self::mul) of `count` elements, but for rounds.
    pub fn mul_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        count: usize,
    ) -> PhaseCost {
        opening_cost(opening, me, parties, 2 * count * T::BYTES)
    }

    /// Cost for party `me` of one [`square`](Self::square) of `count` elements, but for rounds.
    pub fn square_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        count: usize,
    ) -> PhaseCost {
        opening_cost(opening, me, parties, count * T::BYTES)
    }

    /// Cost for party `me` of `count` [`dot`](Self::dot) products of vectors of `length` elements, but for
    /// rounds.
    pub fn dot_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        count: usize,
        length: usize,
    ) -> PhaseCost {
        Self::mul_cost::<T>(opening, me, parties, count * length)
    }
}

/// A party that opens differences of elements to all: beside triples, all that Beaver's products take.
pub(crate) trait OpensDifferences {
    /// Whether we add what all know.
    fn leads(&self) -> bool;

    /// Makes opened differences of our shares.
    async fn open_differences<T: Ring>(&mut self, differences: &mut [T]) -> Result<()>;
}

impl OpensDifferences for ArithmeticGmw {
    fn leads(&self) -> bool {
        self.context.me() == LEADER
    }

    async fn open_differences<T: Ring>(&mut self, differences: &mut [T]) -> Result<()> {
        let bytes = rings::as_bytes_mut(differences);
        self.open_masked(&rings::add_strings::<T>, bytes).await
    }
}

/// [`ArithmeticGmw::mul`] of any party that opens differences.
pub(crate) async fn multiply<T: Ring>(
    party: &mut impl OpensDifferences,
    triples: &mut RingTriples<T>,
    [x, y]: [&[T]; 2],
    z: &mut [T],
) -> Result<()> {
    assert_eq!(x.len(), z.len(), "a product for each pair of factors");
    let triple = triples.take(x.len());
    let opened = open_factors(party, [x, triple.a], [y, triple.b]).await?;
    let (d, e) = opened.split_at(x.len());
    let shares = [triple.a, triple.b, triple.c];
    rings::beaver_products(z, shares, [d, e], party.leads());
    Ok(())
}

/// [`ArithmeticGmw::square`] of any party that opens differences.
pub(crate) async fn square<T: Ring>(
    party: &mut impl OpensDifferences,
    pairs: &mut SquarePairs<T>,
    x: &[T],
    z: &mut [T],
) -> Result<()> {
    assert_eq!(x.len(), z.len(), "a square for each element");
    let pair = pairs.take(x.len());
    let mut d = Zeroizing::from(x.to_vec());
    rings::sub_into(&mut d, pair.a);
    party.open_differences(&mut d).await?;
    rings::beaver_squares(z, [pair.a, pair.c], &d, party.leads());
    Ok(())
}

/// [`ArithmeticGmw::dot`] of any party that opens differences.
pub(crate) async fn dot<T: Ring>(
    party: &mut impl OpensDifferences,
    triples: &mut RingTriples<T>,
    [x, y]: [&[T]; 2],
    length: usize,
    z: &mut [T],
) -> Result<()> {
    assert_eq!(
        x.len(),
        z.len() * length,
        "vectors of {length} for each product"
    );
    let triple = triples.take(x.len());
    let opened = open_factors(party, [x, triple.a], [y, triple.b]).await?;
    let (d, e) = opened.split_at(x.len());
    let shares = [triple.a, triple.b, triple.c];
    rings::beaver_dots(z, shares, [d, e], length, party.leads());
    Ok(())
}

/// Opens x - a and y - b.
async fn open_factors<T: Ring>(
    party: &mut impl OpensDifferences,
    [x, a]: [&[T]; 2],
    [y, b]: [&[T]; 2],
) -> Result<Zeroizing<Vec<T>>> {
    assert_eq!(x.len(), y.len(), "factors of one length");
    let mut opened = Zeroizing::zeros(2 * x.len());
    let (d, e) = opened.split_at_mut(x.len());
    d.copy_from_slice(x);
    e.copy_from_slice(y);
    rings::sub_into(d, a);
    rings::sub_into(e, b);
    party.open_differences(&mut opened).await?;
    Ok(opened)
}
