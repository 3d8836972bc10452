//! Sources of correlated randomness for N parties.
//!
//! [`OtSource`] makes all kinds of `madrigal-correlations` by oblivious transfer between all pairs of parties and needs
//! to trust nobody; it is secure against semi-honest corruption of all parties but one. Every kind works over
//! every [`Extension`], which one names or has [chosen](Extension::choose), and [`OtCosts`] knows the
//! rounds and bytes of each call ahead. A [`DealerSource`] has a trusted dealer make them. A [`Supply`] is the source
//! that a job's parties agreed on ([`Origin`]): one of these, stores that they brought along, or a source of the
//! caller's own.
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
//! # VOLE
//! [`VoleKeys`] and [`VoleValues`] are the two sides of VOLE with one peer, for protocols of a user's own, and the one kind that withstands a malicious party
//! on either side ([`Security::Malicious`]). A checked instance begins with one round trip more and 0.26 MB, and each call of `extend` is followed by a
//! [challenge](VoleValues::challenge) and an [answer](VoleKeys::answer), 64 bytes together, which the caller sends with its own messages.
//! [`madrigal_ot::vole`] says who is protected by which check.
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
//! `examples/triples_only.rs` makes triples, and nothing else, over connections of the caller's.

mod dealer;
mod ot;
mod supply;

#[doc(hidden)]
pub use dealer::fuzz_request;
pub use dealer::{DealerSource, deal};
pub use ot::{
    Choice, Extension, ExtensionError, MAX_THREADS, Matrices, OtCosts, OtSource,
    PrecomputedReceiver, PrecomputedSender, Security, VOLE_ANSWER_BYTES, VOLE_CHALLENGE_BYTES,
    VoleAnswerer, VoleBase, VoleCost, VoleCosts, VoleExpected, VoleKeys, VoleKeysBegun, VoleValues,
    precomputed_cost,
};
pub use supply::{Made, Origin, Primitive, Supply, SupplyCosts};
