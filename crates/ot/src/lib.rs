//! Oblivious transfer: base OTs, OT extension and its flavours.
//!
//! Everything here is synchronous and free of I/O: a state machine takes the peer's last message
//! as bytes and returns its own as bytes, and what carries them is somebody else's business. The
//! size of every message follows from the number of OTs alone ([`cost`]), so a driver knows how
//! much to read before it reads.
//!
//! | module | step | security rests on |
//! |---|---|---|
//! | [`base`] | Hauck-Loss base OTs on Ristretto255 | CDH, hash as random oracle |
//! | [`iknp`] | IKNP extension with the optimisations of Asharov et al. | PRG (AES-CTR) |
//! | [`flavour`] | random, correlated and chosen OTs from the extension's rows | tweakable correlation robustness |
//!
//! All of it is for **semi-honest** parties with static corruption. A malformed message is
//! nevertheless an error, never a panic.
//!
//! # The order of things
//! The *extension sender* (who will hold two messages per OT and the global offset Delta) is the
//! *base receiver*, with the bits of Delta as its choices; the *extension receiver* is the *base
//! sender*. `examples/two_parties.rs` runs the whole of it.
//!
//! # Bits
//! Choice bits and bit outputs are packed: OT `i` is bit `i % 8` of byte `i / 8`. `m` OTs take
//! `ceil(m / 8)` bytes; bits past the end are zero in all that this crate writes, must be zero in
//! what a peer sends, and are ignored in what the caller passes.

pub mod base;
pub mod cost;
mod error;
pub mod flavour;
pub mod iknp;
mod instance;
mod rng;
mod select;

pub use error::{Fault, Message, OtError};
pub use instance::{Delta, Instance, KAPPA, Tweaks};
pub use rng::SeededRng;
