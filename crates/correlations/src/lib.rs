//! Correlated randomness for N parties: multiplication triples.
//!
//! A protocol asks a [`BitTripleSource`] for exactly as many triples as its plan needs and uses each
//! once; where they come from is the source's business. [`OtTriples`] makes them by oblivious
//! transfer between all pairs of parties and needs to trust nobody.

mod bit_triples;
mod columns;
mod gilboa;
mod ot_triples;
mod packing;
mod pairs;
mod products;
mod rings;
mod source;

pub use bit_triples::{BitTriples, Scratch, TripleBits};
pub use ot_triples::OtTriples;
pub use pairs::{Base, base_cost, stream_cost};
pub use rings::{BitShares, RingTriples, SharedBits, SquarePairs, SquareShares, TripleShares};
pub use source::{OtSource, Source};

use madrigal_net::Result;

/// A place that Boolean multiplication triples come from.
pub trait BitTripleSource {
    /// Makes this party's shares of `count` fresh triples. All parties ask for the same counts in
    /// the same order. `made` hears, as it goes, how many more are done.
    ///
    /// # Errors
    /// Those of the network; a failure leaves the source unusable.
    fn bit_triples(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
    ) -> impl Future<Output = Result<BitTriples>>;
}
