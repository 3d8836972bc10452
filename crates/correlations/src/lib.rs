//! Correlated randomness for N parties: the kinds that there are, what a computation needs of them, the stock that
//! gives out each item once, and the traits of what makes them.
//!
//! | kind | shares of | for |
//! |---|---|---|
//! | [`BitTriples`] | bits a, b, a & b | AND |
//! | [`VectorTriples`] | a bit a, n bits b, a b | a bit times a vector (VS gates) |
//! | [`CorrelatedOts`] | no shares: q and q ^ c Delta of two parties | garbled circuits |
//! | [`RingTriples`] | a, b, a b mod 2^l | products |
//! | [`SquarePairs`] | a, a^2 mod 2^l | squares |
//! | [`SharedBits`] | a bit, mod 2^l and as XOR | conversions |
//! | [`ChosenNumbers`] | a bit r, a number u of one party's, r u mod 2^l | a bit times a number that one party knows |
//! | [`ProductTriple`] | A, B, A B over Z_2^l | matrix products, convolutions |
//!
//! Operations register what they need in [`Needs`]; [`Stock::fill`] has a [`Source`] make exactly
//! that, in batches, and hands it out, each item once. Where it comes from is the source's business:
//! `madrigal-correlations-make` has sources by oblivious transfer, by encryption and by a trusted dealer,
//! `madrigal-correlations-store` keeps what a source has made on disk, for later jobs, and a [`Provider`] is a source of
//! a user's own.
//!
//! # Kinds as data
//! The [`Descriptor`] of a kind has all that is true of it. It says
//!
//! | field | who reads it |
//! |---|---|
//! | tag and numbers | requests to a dealer; the order in which a stock has kinds made |
//! | name | tallies of calls, which the parties compare at the end of a job |
//! | ring, and who has the left factor | tallies, requests |
//! | columns: what an item has in each, and who draws it | stores (how items lie in a file), the dealer (what is expanded from seeds, added up, cleared), the check of deliveries, bytes of [`Needs`] |
//! | dependence: how the last column follows from the others | the dealer, who computes it; `madrigal-opcheck`, which checks it |
//! | unit: steps that a source tells of for an item | progress, limits of requests |
//! | OTs that an item is worth | estimates of time, trials |
//!
//! Beside it a kind has a text ([`Needs`] are read and written by it, store files are named by it) and a container for
//! its shares ([`Kind::shares`]), which sources, stocks and stores pass on as [`AnyShares`]. All of this is in
//! `kind.rs`; a new kind is a variant of [`Kind`] and a line in each table there. A source by oblivious transfer has a
//! recipe for it besides (`recipes.rs` of `madrigal-correlations-make`). No other file has to know a kind; sources and stocks have typed calls beside, for kinds that many use.
//!
//! # Rooms
//! This crate knows no protocol. `madrigal-correlations-make` knows all that make correlations between the parties,
//! with their costs (the ledger of OTs too: it follows the messages of OT extensions, so it belongs to them), and
//! `Supply`, the source that a job agreed on. `madrigal-correlations-store` knows files. The two do not know each
//! other: a store comes to a supply as [`Means`].

mod bit_shares;
mod bit_triples;
mod chosen_numbers;
mod columns;
mod convolutions;
mod correlated;
mod descriptor;
mod kind;
mod maker;
mod needs;
mod product_triples;
mod provider;
mod reserve;
mod ring_triples;
mod rows;
mod shares;
mod source;
mod stock;
mod text;
mod vector_triples;
mod width;

pub use bit_shares::{BitShares, SharedBits, lowest_bits};
pub use bit_triples::{BitTriples, Scratch, TripleBits, TriplePieces};
pub use chosen_numbers::{ChosenNumbers, ChosenShares};
pub use correlated::{CorrelatedOts, Direction};
pub use descriptor::{Cells, Column, Dependence, Descriptor, Holders, NUMBERS};
pub use kind::{Kind, KindError};
pub use madrigal_core::MatrixShape;
pub use maker::Maker;
pub use needs::{Needs, NeedsError, calls, products_together};
pub use product_triples::{ProductTriple, ProductTriples, Tripled, add_product};
pub use provider::{Call, Own, Provider};
pub use reserve::{ID_BYTES, Means, Reserve, exchange_cost, reserve_cost};
pub use ring_triples::{RingTriples, SquarePairs, SquareShares, TripleShares};
pub use rows::{Pool, Pooled};
pub use shares::{AnyShares, Shares, Strings};
pub use source::{Hand, Source};
pub use stock::{Steps, Stock};
pub use vector_triples::{VectorShares, VectorTriples};
pub use width::Width;
