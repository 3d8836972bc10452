//! Shares of the product of two matrices over Z_2^l that two parties hold, one each, by encryption that
//! adds: for l = 8, 16, 32, 64.
//!
//! The party with X, the [`Owner`], sends X encrypted; the party with Y, the [`Responder`], multiplies by
//! Y without decrypting, takes a random mask off and sends the result back. Their shares add up to X Y.
//! Bytes grow with the matrices, not with the products: for two square matrices of 64 bits and 128 rows
//! 2.5 bytes for each product of elements, with 1000 rows 0.17, where OT takes 260.
//!
//! Everything is synchronous and free of I/O; a [`Layout`] says how long each message is, and in which
//! pieces a large product goes.
//!
//! ```
//! use madrigal_kernels::Block;
//! use madrigal_lattice::{Layout, Owner, Responder};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (p, k, q) = (2, 3, 2);
//! let x = [1_u32, 2, 3, 4, 5, 6]; // 2 rows
//! let y = [7_u32, 8, 9, 10, 11, 12]; // 3 rows
//! let layout = Layout::new(32, p, k, q).ok_or("a width")?;
//!
//! // Secret, uniform and fresh seeds, in truth.
//! let mut owner = Owner::new(32, Block::new(1, 1)).ok_or("a width")?;
//! let key = owner.public_key(); // once
//! let mut responder = Responder::new(32, &key, Block::new(2, 2))?;
//!
//! let (mut z, mut w) = ([0_u32; 4], [0_u32; 4]);
//! for request in layout.requests() {
//!     let message = owner.request(&layout, &request, &x);
//!     let asked = responder.read(&layout, &request, &message)?;
//!     for columns in layout.answers() {
//!         let message = responder.answer(&asked, &columns, &y, &mut w);
//!         owner.open(&layout, &request, &columns, &message, &mut z)?;
//!     }
//! }
//! let product: Vec<u32> = z.iter().zip(&w).map(|(z, w)| z.wrapping_add(*w)).collect();
//! assert_eq!(product, [58, 64, 139, 154]);
//! # Ok(())
//! # }
//! ```
//!
//! # Security
//! Against **semi-honest** parties. A malformed message is an error, never a panic; but a malformed
//! ciphertext is not recognised as such.
//!
//! *Assumption*: ring learning with errors in Z_q\[X\] / (X^8192 + 1), secrets uniform in {-1, 0, 1},
//! noise centred binomial with variance 10.5 (standard deviation 3.24), q of 100 bits (l = 8, 16), 150
//! (l = 32) or 200 (l = 64). For secrets of that kind the table of the homomorphic encryption
//! standard (Albrecht et al., *Homomorphic Encryption Standard*, 2018, table 1) allows 218 bits for
//! 128 bits of security against the attacks of its time, and 202 against quantum ones. Halves that a seed
//! stands for are expanded by AES-128 in counter mode under a public key: there AES is taken for
//! an ideal cipher.
//!
//! *What the responder learns*: ciphertexts under a key it does not have; nothing, under the assumption.
//!
//! *What the owner learns*: its answer is the product plus a fresh encryption of zero under its public
//! key, plus a flood. The public half is then pseudorandom to the owner too, by the responder's u. What is
//! left is the noise, which depends on Y: it is drowned by a flood that is uniform in
//! \[-D/8, D/8) (rounded to a power of two) for D = q / 2^l. With Y uniform, as in triples, and 2^20 terms
//! (the most that an answer sums up), the noise has a mean size below 2^(l + 9.6), so an
//! answered element is within 2^-60 of one that does not depend on Y but through the product (l = 64;
//! for smaller l nearer still), and all elements of a 1000 x 1000 result together within 2^-40. For a Y
//! chosen to be as large as can be, the noise is below 2^(l + 23.4) always: 2^-47 for an element.
//! Only coefficients that carry results are sent, and of the answer only its leading bits (rounded to q's
//! first primes), which is done to what has been flooded.
//!
//! *Decryption* is never wrong: the noise is below D / 8 + 2^-40 D whatever the matrices, and D / 2 is
//! allowed.
//!
//! Secrets are wiped when dropped; no branch and no memory index depends on one.

mod cipher;
mod error;
mod layout;
mod modulus;
mod owner;
mod params;
mod responder;
mod sample;
mod wire;

pub use error::LatticeError;
pub use layout::{AesBlocks, Layout, Request};
pub use owner::Owner;
pub use responder::{Asked, Responder};
