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
//! | [`base::endemic`] | Masny-Rindal endemic base OTs, in one round | CDH, hashes as random oracles |
//! | `base::kem` | the same from ML-KEM-768 (feature `ml-kem`) | module LWE |
//! | [`extension`] | what all extensions have in common | |
//! | [`softspoken`] | SoftSpokenOT for k = 1 to 8: 128 / k bits per OT; k = 1 is IKNP | PRG (AES-CTR), GGM trees |
//! | [`silent`] | Ferret: silent extension, random choices | LPN with regular noise, circular correlation robustness |
//! | [`vole`] | silent VOLE over GF(2^128), values of 64 or 128 bits | as silent OT, LPN with errors of as many bits |
//! | [`threads`] | one call on several threads | as the extension |
//! | [`flavour`] | random, correlated, chosen and 1-out-of-n OTs from an extension's rows | correlation robustness |
//!
//! All of it is for **semi-honest** parties with static corruption, but for [`vole`], which has
//! [checks](vole#malicious-parties) against malicious ones, too. A malformed message is
//! nevertheless an error, never a panic.
//!
//! # The order of things
//! The *extension sender* (who will hold two messages per OT and the global offset Delta) is the
//! *base receiver*, with the bits of Delta as its choices; the *extension receiver* is the *base
//! sender*. Each step can be had alone, over any channel: `examples/base_only.rs` runs base OTs over TCP
//! and nothing else, `examples/extension_only.rs` an extension from given keys and a product of bits
//! from its OTs, `examples/silent_only.rs` goes all the way to a million silent OTs. The whole of it:
//!
//! ```
//! use madrigal_kernels::Block;
//! use madrigal_ot::{Delta, ExtensionReceiver, ExtensionSender, Instance, KAPPA, SeededRng};
//! use madrigal_ot::{base::*, softspoken::*};
//!
//! # fn main() -> Result<(), madrigal_ot::OtError> {
//! // Party 0 sends OTs, party 1 receives them; the base OTs run the other way.
//! let (session, stream) = ([7; 32], 0);
//! let extension = Instance { session, sender: 0, receiver: 1, stream };
//! let base = Instance { session, sender: 1, receiver: 0, stream };
//! # let (mut rng0, mut rng1) =
//! #     (SeededRng::from_seed(Block::new(0, 1)), SeededRng::from_seed(Block::new(1, 1)));
//!
//! let (one, s) = BaseSender::new(&mut rng1, base); // one -> zero: s
//! let delta = Delta::random(&mut rng0);
//! let zero = BaseReceiver::new(base);
//! let zero = zero.respond(&mut rng0, &s, &delta.choice_bits(), KAPPA)?; // zero -> one: zero.message
//! let k = FieldBits::new(4)?;
//! let pairs = one.finish(&zero.message, KAPPA)?;
//! let (mut receiver, setup) = SoftSpokenReceiver::new(extension, k, &pairs)?; // one -> zero: setup
//! let mut sender = SoftSpokenSender::new(extension, k, delta, &zero.keys, &setup)?;
//!
//! let (m, choices) = (16, [0b1010_1010, 0b0000_1111]);
//! let mut u = vec![0; k.message_len(m)];
//! let (mut k, mut k0, mut k1) = ([0; 2], [0; 2], [0; 2]);
//! receiver.extend_bits(&choices, m, &mut u, &mut k)?; // one -> zero: u
//! sender.extend_bits(&u, m, &mut k0, &mut k1)?;
//! for i in 0..2 {
//!     assert_eq!(k[i], k0[i] & !choices[i] | k1[i] & choices[i]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What no message shows
//! Nothing travels but what the protocols need, so some mistakes of the caller are not noticed; the
//! outputs of the two sides are then unrelated. Both parties must agree beforehand on the session, the
//! instances' names, the parameters, and the number of OTs of each call ([`extension`]). And two
//! mistakes cost secrets: the keys of base OTs serve one instance, and a session identifier one run.
//!
//! # Bits
//! Choice bits and bit outputs are packed: OT `i` is bit `i % 8` of byte `i / 8`. `m` OTs take
//! `ceil(m / 8)` bytes; bits past the end are zero in all that this crate writes, must be zero in
//! what a peer sends, and are ignored in what the caller passes.

pub mod base;
pub mod cost;
mod error;
pub mod extension;
pub mod flavour;
mod instance;
mod matrix;
mod rng;
mod select;
pub mod silent;
pub mod softspoken;
pub mod threads;
pub mod vole;

pub use error::{Fault, Message, OtError};
pub use extension::{ExtensionReceiver, ExtensionSender};
pub use instance::{Delta, Instance, KAPPA, Tweaks};
pub use madrigal_kernels::Block;
pub use rng::SeededRng;
