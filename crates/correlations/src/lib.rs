//! Correlated randomness for N parties.
//!
//! | kind | shares of | for |
//! |---|---|---|
//! | [`BitTriples`] | bits a, b, a & b | AND |
//! | [`VectorTriples`] | a bit a, n bits b, a b | a bit times a vector (VS gates) |
//! | [`CorrelatedOts`] | no shares: q and q ^ c Delta of two parties | garbled circuits |
//! | [`RingTriples`] | a, b, a b mod 2^l | products |
//! | [`SquarePairs`] | a, a^2 mod 2^l | squares |
//! | [`SharedBits`] | a bit, mod 2^l and as XOR | conversions |
//! | [`ProductTriple`] | A, B, A B over Z_2^l | matrix products, convolutions |
//!
//! Operations register what they need in [`Needs`]; [`Stock::fill`] has a [`Source`] make exactly
//! that, in batches, and hands it out, each item once. Where it comes from is the source's business.
//! [`OtSource`] makes all kinds by oblivious transfer between all pairs of parties and needs to trust
//! nobody; it is secure against semi-honest corruption of all parties but one. Every kind works over
//! every [`Extension`], which one names or has [chosen](Extension::choose), and [`OtCosts`] knows the
//! rounds and bytes of each call ahead. A [`DealerSource`] has a trusted dealer make them, and a
//! `store::Store` keeps what a source has made on disk, for later jobs; a [`Supply`] is the source that
//! a job's parties agreed on.
//!
//! # What the parties must agree on
//! All parties make the same calls: the same kinds, counts, widths, shapes and extension, in the same
//! order. Not every difference is noticed at once: messages are rounded up to whole blocks, so that a
//! party which asks for four Boolean triples more than the others may well get them, and everything
//! made after that is wrong. The end of the [job](madrigal_net::Job::finish) shows it, if not before. To
//! know it before any work, put all of it into the facts of the [job](madrigal_net::Session::job), which
//! the parties compare: `needs.to_string()` and `extension.to_string()`. The engine's plans do so.
//!
//! One job has one [`OtSource`]; a second one goes into a [step](madrigal_net::Context::step) of its
//! own. The futures of sources are not `Send`, because `made` need not be `Sync`: run them with
//! [`block_on`](madrigal_net::block_on) on a thread of their own, or in a runtime's local task.
//!
//! # What it costs
//! Bytes that both parties of a pair send together, per item, in the long run; s bytes are those of an
//! OT's extension: 16 / k with SoftSpoken (rounded up, see
//! [`FieldBits`](madrigal_ot::softspoken::FieldBits)), 1/8 with silent OT for given choices and 0.09
//! on top for all. For N > 2 the pairs add up, and bits and vectors have corrections besides.
//!
//! | kind | bytes | k = 2 | k = 4 | silent |
//! |---|---|---|---|---|
//! | Boolean triple | 2 s (silent: without the 1/8) | 16 | 8 | 0.2 |
//! | triple of 64 bits | 128 s + 520 | 1544 | 1032 | 548 |
//! | square pair of 64 bits | 63 s + 252 | 756 | 504 | 266 |
//! | shared bit of 32 bits (silent: without the 1/8) | s + 3.9 | 12 | 7.9 | 4.0 |
//! | product of elements in a matrix triple, 128 x 128 x 128, 64 bits | s + 520 | 528 | 524 | 520 |
//! | the same, split: one party has the left factor, the other one the right | half | | | |
//! | the same [by encryption](OtSource::with_lattice_matrices), without OT | 4.9 | | | |
//! | product of elements in a triple of a convolution, 64 x 56 x 56 by 64 x 3 x 3, 64 bits, by encryption | 0.27 | | | |
//! | vector triple of 128 bits | 2 s | 16 | 8 | 0.4 |
//!
//! In time the AES blocks count most, then transposition and the rows' way through the caches, for
//! rings the sums and shifts of corrections, which are as long as the masks, and for short vectors the
//! handling of each one by itself. docs/BENCHMARKS.md has the rates.
//!
//! `examples/triples_only.rs` makes triples, and nothing else, over connections of one's own.

mod base;
mod bit_triples;
mod choice;
mod columns;
mod correlated;
mod dealer;
mod elements;
mod extension;
mod gilboa;
mod in_order;
mod kind;
mod layout;
mod ledger;
mod lines;
mod links;
mod maker;
mod matrices;
mod needs;
mod ot_costs;
mod ot_source;
mod ot_triples;
mod precomputed;
mod products;
mod provider;
mod rings;
mod rows;
mod shared_bits;
mod source;
#[cfg(feature = "store")]
pub mod store;
mod store_cost;
mod supply;
mod vectors;

pub use bit_triples::{BitTriples, Scratch, TripleBits, TriplePieces};
pub use choice::Choice;
pub use correlated::{CorrelatedOts, Direction};
#[doc(hidden)]
pub use dealer::fuzz_request;
pub use dealer::{DealerSource, deal};
pub use extension::{Extension, ExtensionError};
pub use in_order::Hand;
pub use kind::{Kind, NeedsError, Width};
pub use lines::MAX_THREADS;
pub use maker::{Maker, Strings};
pub use matrices::{Matrices, MatrixShape, ProductTriple, Tripled};
pub use needs::{Kept, Needs, Steps, Stock};
pub use ot_costs::OtCosts;
pub use ot_source::OtSource;
pub use precomputed::{PrecomputedReceiver, PrecomputedSender, precomputed_cost};
pub use provider::{Call, Own, Provider};
pub use rings::{RingTriples, SquarePairs, SquareShares, TripleShares};
pub use shared_bits::{BitShares, SharedBits};
pub use source::Source;
pub use supply::{Means, Origin, Supply, SupplyCosts};
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

    /// The same, of which `hand` gets what is ready, piece by piece in the same order at all parties, while the
    /// rest is made. What was handed out counts as used, also where the call fails later. A source that has
    /// nothing earlier hands all of it out at the end.
    ///
    /// # Errors
    /// As [`bit_triples`](Self::bit_triples).
    fn bit_triples_as_made(
        &mut self,
        count: usize,
        made: &dyn Fn(usize),
        hand: &Hand,
    ) -> impl Future<Output = Result<()>> {
        async move {
            hand(self.bit_triples(count, made).await?);
            Ok(())
        }
    }
}
