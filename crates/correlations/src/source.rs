//! Where correlations come from.

use std::future::ready;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{MatrixShape, Product, Ring};
use madrigal_kernels::Block;
use madrigal_net::{Error, Result};

use crate::bit_shares::SharedBits;
use crate::bit_triples::BitTriples;
use crate::correlated::{CorrelatedOts, Direction};
use crate::kind::Kind;
use crate::product_triples::{ProductTriple, ProductTriples, Tripled};
use crate::ring_triples::{RingTriples, SquarePairs};
use crate::shares::{AnyShares, Shares};
use crate::vector_triples::VectorTriples;
use crate::width::Width;

/// Function that takes triples as they are made, in pieces that come in order, from whichever thread makes them. It
/// must be quick.
pub type Hand = Arc<dyn Fn(BitTriples) + Send + Sync>;

/// A place that correlations of every kind come from.
///
/// All parties call the same methods with the same counts in the same order. `made` hears, as it
/// goes, how many more [steps](Kind::steps) are done. Errors are those of the network; a failure leaves the source
/// unusable.
pub trait Source {
    /// Makes this party's shares of `count` fresh items of a kind, in one call.
    ///
    /// # Errors
    /// [`Error`] of the network; of a source that has none of the kind (plans refuse such a job beforehand).
    fn items<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<AnyShares>>;

    /// Makes triples of products, several kinds at a time, each with its number of triples; gives them in the same order. A
    /// source that gains nothing from having them together makes one after the other.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items).
    fn products<'a>(
        &'a mut self,
        wanted: &'a [(Kind, usize)],
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Vec<AnyShares>>> {
        Box::pin(async move {
            let mut all = Vec::with_capacity(wanted.len());
            for &(kind, count) in wanted {
                all.push(self.items(kind, count, made).await?);
            }
            Ok(all)
        })
    }

    /// Makes Boolean triples, of which `hand` gets what is ready, piece by piece in the same order at all parties,
    /// while the rest is made. What was handed out counts as used, also where the call fails later. A source that has
    /// nothing earlier hands all of it out at the end.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items).
    fn bit_triples_as_made<'a>(
        &'a mut self,
        count: usize,
        made: &'a dyn Fn(usize),
        hand: &'a Hand,
    ) -> LocalBoxFuture<'a, Result<()>> {
        Box::pin(async move {
            hand(self.items(Kind::BitTriples, count, made).await?.typed());
            Ok(())
        })
    }

    /// Makes fresh correlated OTs, `counts` from each sender to each receiver, all at the same time; gives
    /// those that this party has a part in. Directions are in ascending order, each there once.
    ///
    /// # Errors
    /// [`Error`] of the network; of a source that makes none.
    fn correlated_ots<'a>(
        &'a mut self,
        counts: &'a [(Direction, usize)],
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<CorrelatedOts>> {
        let _ = (counts, made);
        Box::pin(ready(Err(Error::Ended {
            reason: "correlated OTs come from oblivious transfer alone; choose it as the origin of correlations".into(),
        })))
    }

    /// Gives the offset of the correlated OTs that this party sends: odd, secret, one for the whole job. `None`
    /// where the source makes no OTs.
    fn offset(&self) -> Option<Block> {
        None
    }

    /// Hears that nothing more is wanted. Part of every job that ends well.
    ///
    /// # Errors
    /// [`Error`](madrigal_net::Error) of the network.
    fn close(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        Box::pin(ready(Ok(())))
    }

    /// Makes items of a kind whose shares have the type `S`.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items); so for all methods below.
    fn typed<S: Shares>(
        &mut self,
        kind: Kind,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<S>>
    where
        Self: Sized,
    {
        async move { Ok(self.items(kind, count, made).await?.typed()) }
    }

    /// Makes Boolean triples.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items).
    fn bit_triples(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<BitTriples>>
    where
        Self: Sized,
    {
        self.typed(Kind::BitTriples, count, made)
    }

    /// Makes triples over Z_2^l.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items).
    fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<RingTriples<T>>>
    where
        Self: Sized,
    {
        self.typed(Kind::RingTriples(Width::of::<T>()), count, made)
    }

    /// Makes square pairs over Z_2^l.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items).
    fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<SquarePairs<T>>>
    where
        Self: Sized,
    {
        self.typed(Kind::SquarePairs(Width::of::<T>()), count, made)
    }

    /// Makes random bits over Z_2^l.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items).
    fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<SharedBits<T>>>
    where
        Self: Sized,
    {
        self.typed(Kind::SharedBits(Width::of::<T>()), count, made)
    }

    /// Makes a matrix triple over Z_2^l. `made` hears of products of elements.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items).
    fn matrix_triple<T: Ring>(
        &mut self,
        shape: MatrixShape,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<ProductTriple<T>>>
    where
        Self: Sized,
    {
        async move { Ok(self.matrix_triples(shape, 1, made).await?.remove(0)) }
    }

    /// Makes `count` matrix triples of one shape over Z_2^l, in one call: all of them are there at once.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items).
    fn matrix_triples<T: Ring>(
        &mut self,
        shape: MatrixShape,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<Vec<ProductTriple<T>>>>
    where
        Self: Sized,
    {
        self.product_triples(Product::Matrices(1, shape), count, made)
    }

    /// Makes `count` triples of one product over Z_2^l, in one call: A and B random, C their product. Matrices come as
    /// one pair for each triple.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items); factors that two parties have, among others than two.
    fn product_triples<T: Ring>(
        &mut self,
        one: impl Into<Tripled>,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<Vec<ProductTriple<T>>>>
    where
        Self: Sized,
    {
        let (kind, _) = Kind::of_product(Width::of::<T>(), one);
        async move {
            let triples = self.typed::<ProductTriples<T>>(kind, count, made);
            Ok(triples.await?.into_vec())
        }
    }

    /// Makes vector triples, of vectors of `length` bits.
    ///
    /// # Errors
    /// [`Error`] of [`items`](Self::items).
    fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<VectorTriples>>
    where
        Self: Sized,
    {
        self.typed(Kind::VectorTriples { length }, count, made)
    }
}
