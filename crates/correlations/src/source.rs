//! Where correlations come from.

use madrigal_core::{Product, Ring};
use madrigal_kernels::Block;
use madrigal_net::{Error, Result};

use crate::BitTripleSource;
use crate::correlated::{CorrelatedOts, Direction};
use crate::matrices::{MatrixShape, ProductTriple, Tripled};
use crate::rings::{RingTriples, SquarePairs};
use crate::shared_bits::SharedBits;
use crate::vectors::VectorTriples;

/// A place that correlations of every kind come from.
///
/// All parties call the same methods with the same counts in the same order. `made` hears, as it
/// goes, how many more items are done. Errors are those of the network; a failure leaves the source
/// unusable.
pub trait Source: BitTripleSource {
    /// Makes this party's shares of `count` fresh triples over Z_2^l.
    ///
    /// # Errors
    /// Those of the network.
    fn ring_triples<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<RingTriples<T>>>;

    /// Makes this party's shares of `count` fresh square pairs over Z_2^l.
    ///
    /// # Errors
    /// Those of the network.
    fn square_pairs<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<SquarePairs<T>>>;

    /// Makes this party's shares of `count` fresh random bits over Z_2^l.
    ///
    /// # Errors
    /// Those of the network.
    fn shared_bits<T: Ring>(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<SharedBits<T>>>;

    /// Makes this party's shares of a fresh matrix triple over Z_2^l. `made` hears of products of
    /// elements.
    ///
    /// # Errors
    /// Those of the network.
    fn matrix_triple<T: Ring>(
        &mut self,
        shape: MatrixShape,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<ProductTriple<T>>> {
        async move {
            let mut triples = self.matrix_triples(shape, 1, made).await?;
            Ok(triples.remove(0))
        }
    }

    /// Makes this party's shares of `count` fresh matrix triples of one shape over Z_2^l, in one call: all
    /// of them are there at once.
    ///
    /// # Errors
    /// Those of the network.
    fn matrix_triples<T: Ring>(
        &mut self,
        shape: MatrixShape,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<Vec<ProductTriple<T>>>> {
        self.product_triples(Product::Matrices(1, shape), count, made)
    }

    /// Makes this party's shares of `count` fresh triples of one product over Z_2^l, in one call: A and B random, C
    /// their product. Matrices come as one pair for each triple.
    ///
    /// # Errors
    /// Those of the network; factors that two parties have, among others than two.
    fn product_triples<T: Ring>(
        &mut self,
        one: impl Into<Tripled>,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<Vec<ProductTriple<T>>>>;

    /// Makes this party's shares of `count` fresh vector triples, of vectors of `length` bits.
    ///
    /// # Errors
    /// Those of the network.
    fn vector_triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<VectorTriples>>;

    /// Makes fresh correlated OTs, so many from each sender to each receiver, all at the same time; gives
    /// those that this party has a part in. Directions are in ascending order, each there once.
    ///
    /// # Errors
    /// Those of the network; that this source makes none (plans refuse such a job beforehand).
    fn correlated_ots(
        &mut self,
        counts: &[(Direction, usize)],
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<CorrelatedOts>> {
        let _ = (counts, made);
        std::future::ready(Err(Error::Ended {
            reason: "correlated OTs come from oblivious transfer alone; choose it as the origin of correlations".into(),
        }))
    }

    /// The offset of the correlated OTs that this party sends: odd, secret, one for the whole job. `None`
    /// where the source makes no OTs.
    fn offset(&self) -> Option<Block> {
        None
    }
}
