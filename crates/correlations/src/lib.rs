//! Correlated randomness for N parties.
//!
//! | kind | shares of | for |
//! |---|---|---|
//! | [`BitTriples`] | bits a, b, a & b | AND |
//! | [`VectorTriples`] | a bit a, n bits b, a b | a bit times a vector (VS gates) |
//! | [`RingTriples`] | a, b, a b mod 2^l | products |
//! | [`SquarePairs`] | a, a^2 mod 2^l | squares |
//! | [`SharedBits`] | a bit, mod 2^l and as XOR | conversions |
//! | [`MatrixTriple`] | A, B, A B over Z_2^l | matrix products |
//!
//! Operations register what they need in [`Needs`]; [`Stock::fill`] has a [`Source`] make exactly
//! that, in batches, and hands it out, each item once. Where it comes from is the source's business.
//! [`OtSource`] makes all kinds by oblivious transfer between all pairs of parties and needs to trust
//! nobody; it is secure against semi-honest corruption of all parties but one, and every kind states
//! its rounds and bytes. A `store::Store` keeps what a source has made on disk, for later jobs; a
//! [`Supply`] is the source that a job's parties agreed on.
//!
//! `examples/triples_only.rs` makes triples, and nothing else, over connections of one's own.

mod bit_triples;
mod columns;
mod dealer;
mod gilboa;
mod kind;
mod matrices;
mod needs;
mod ot_triples;
mod packing;
mod pairs;
mod products;
mod rings;
mod source;
#[cfg(feature = "store")]
pub mod store;
mod supply;
mod vectors;

pub use bit_triples::{BitTriples, Scratch, TripleBits};
pub use dealer::{DealerSource, deal};
pub use kind::{Kind, NeedsError, Width};
pub use matrices::{MatrixShape, MatrixTriple};
pub use needs::{Kept, Needs, Stock};
pub use ot_triples::OtTriples;
pub use pairs::{Base, base_cost, stream_cost};
pub use rings::{BitShares, RingTriples, SharedBits, SquarePairs, SquareShares, TripleShares};
pub use source::{OtSource, Source};
pub use supply::{Means, Origin, Supply};
pub use vectors::{VectorShares, VectorTriples};

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
