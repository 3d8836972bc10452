//! Correlations as data: what makes a kind as strings of bytes is a source of all typed ones.

use futures_util::future::{LocalBoxFuture, ready};
use madrigal_core::{Ring, Zeroizing};
use madrigal_net::Result;

use crate::BitTripleSource;
use crate::bit_triples::BitTriples;
use crate::kind::{Kind, Width};
use crate::matrices::{ProductTriple, Tripled};
use crate::rings::{RingTriples, SquarePairs};
use crate::shared_bits::SharedBits;
use crate::source::Source;
use crate::vectors::VectorTriples;

/// One party's shares of some items of a kind, as strings in which the items stand one after the other:
/// [`Kind::strings`] of them.
pub type Strings = Vec<Zeroizing<Vec<u8>>>;

/// One party's end of a source that makes correlations as strings of bytes: from a dealer, from stores, or
/// from a [`Provider`](crate::Provider) of one's own. It is a [`Source`] of every kind that it makes.
///
/// A call is for many items, so that it does not matter what a call costs.
pub trait Maker {
    /// This party's shares of `count` fresh items, at least one: all parties call it with the same numbers
    /// in the same order. `made` hears, as it goes, how many more [steps](Kind::steps) are done.
    ///
    /// An item that was given out is gone, also where the call fails later.
    ///
    /// # Errors
    /// Those of the network, and of whatever it reads; a failure leaves the source unusable.
    fn make<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Strings>>;

    /// Hears that nothing more is wanted. Part of every job that ends well.
    ///
    /// # Errors
    /// Those of the network.
    fn end(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        Box::pin(ready(Ok(())))
    }
}

/// So many strings; without items they are empty, and nothing is made.
async fn strings<const K: usize>(
    maker: &mut (impl Maker + ?Sized),
    kind: Kind,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<[Zeroizing<Vec<u8>>; K]> {
    let mut strings = match count {
        0 => Vec::new(),
        _ => maker.make(kind, count, made).await?,
    }
    .into_iter();
    Ok(std::array::from_fn(|_| strings.next().unwrap_or_default()))
}

async fn rings<T: Ring, const K: usize>(
    maker: &mut (impl Maker + ?Sized),
    kind: fn(Width) -> Kind,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<[Zeroizing<Vec<T>>; K]> {
    let kind = kind(Width::of::<T>());
    let strings = strings::<K>(maker, kind, count, made).await?;
    Ok(strings.map(|string| elements(&string)))
}

/// The elements of a string.
fn elements<T: Ring>(bytes: &[u8]) -> Zeroizing<Vec<T>> {
    Zeroizing::new(bytes.chunks_exact(T::BYTES).map(T::read).collect())
}

impl<M: Maker + ?Sized> BitTripleSource for M {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        let [a, b, c] = strings(self, Kind::BitTriples, count, made).await?;
        Ok(BitTriples::new(a, b, c, count))
    }
}

impl<M: Maker + ?Sized> Source for M {
    async fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<RingTriples<T>> {
        let [a, b, c] = rings(self, Kind::RingTriples, count, made).await?;
        Ok(RingTriples::new(a, b, c))
    }

    async fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SquarePairs<T>> {
        let [a, c] = rings(self, Kind::SquarePairs, count, made).await?;
        Ok(SquarePairs::new(a, c))
    }

    async fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<SharedBits<T>> {
        let [b] = rings(self, Kind::SharedBits, count, made).await?;
        Ok(SharedBits::new(b))
    }

    async fn product_triples<T: Ring>(
        &mut self,
        one: impl Into<Tripled>,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<Vec<ProductTriple<T>>> {
        let one = one.into();
        let (kind, _) = Kind::of_product(Width::of::<T>(), one);
        let strings = strings::<3>(self, kind, count, made).await?;
        let part = |which: usize, index: usize| {
            let string = &strings[which];
            let bytes = string.len() / count;
            elements(&string[index * bytes..(index + 1) * bytes])
        };
        let triple = |index| {
            let [a, b, c] = [0, 1, 2].map(|which| part(which, index));
            ProductTriple::new(one.product, a, b, c)
        };
        Ok((0..count).map(triple).collect())
    }

    async fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        let [a, b, c] = strings(self, Kind::VectorTriples { length }, count, made).await?;
        Ok(VectorTriples::new(length, a, b, c))
    }
}
