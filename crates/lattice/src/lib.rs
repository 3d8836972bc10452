//! Shares of the product of two matrices over Z_2^l that two parties hold, one each, or of images and filters, by
//! encryption that adds: for l = 8, 16, 32, 64.
//!
//! The party with X, the [`Owner`], sends X encrypted; the party with Y, the [`Responder`], multiplies by
//! Y without decrypting, takes a random mask off and sends the result back. Their shares add up to X Y.
//! Bytes grow with the matrices, not with the products: for two square matrices of 64 bits and 128 rows
//! 2.4 bytes for each product of elements, with 1000 rows 0.14, where OT takes 260.
//!
//! Convolutions are not unfolded into matrices ([`Layout::of_images`]): one of 64 channels of 56 x 56 by 64 filters of
//! 3 x 3 takes 0.14 bytes for each product of elements, and less than a quarter of the work of the same product of matrices.
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
//! let mut owner = Owner::new(32, Block::new(1, 1), 1).ok_or("a width")?;
//! let key = owner.public_key(); // once
//! let mut responder = Responder::new(32, &key, Block::new(2, 2), 2)?;
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
//! Against **semi-honest** parties. A malformed message is an error, never a panic; but nothing shows
//! whether residues are a ciphertext, and an owner that deviates (with a public key of zeros, say) learns
//! Y.
//!
//! *Assumption*: ring learning with errors in Z_q\[X\] / (X^8192 + 1), secrets uniform in {-1, 0, 1},
//! noise centred binomial with variance 10.5 (standard deviation 3.24), q of 100 bits (l = 8), 150
//! (l = 16, 32) or 200 (l = 64). For secrets of that kind the tables of the homomorphic encryption
//! standard (Albrecht et al., *Homomorphic Encryption Standard*, 2018) allow 218 bits for 128 bits of
//! security against the attacks of its time, and 202 against quantum ones; the primal attack by the same
//! count takes 2^140 for 200 bits. Public halves are expanded from a public seed by AES-128 in counter
//! mode: there AES is taken for an ideal cipher.
//!
//! *What the responder learns*: ciphertexts under a key it does not have; nothing, under the assumption.
//!
//! *What the owner learns*: an answer is the product, plus a fresh encryption of zero under the owner's
//! public key, plus a mask and a flood. The owner can take off everything but the noise on the
//! coefficients that carry results: sum e y + u e' + e'' s, with e the noise of its ciphertexts, e' that
//! of its public key, and the responder's u and e''. First, that is drowned by the flood, which is
//! uniform in \[-D/8, D/8) (rounded to a power of two) for D = q / 2^l: a statistical argument, below.
//! Then, nothing else depends on u but the public half u a + e'', one sample of the problem above to
//! whoever does not know u: it hides the product of public halves, which would give Y away.
//! Coefficients without results are not sent, and answers are rounded to q's first primes: both are done
//! to what is hidden already.
//!
//! Distance of an answered element from one that depends on Y through the product alone, at most, for
//! the most terms that an answer sums up (2^20; k c are usual):
//!
//! | l | Y uniform, as in triples | any Y |
//! |---|---|---|
//! | 8 | 2^-72 | 2^-58 |
//! | 16 | 2^-106 | 2^-92 |
//! | 32 | 2^-74 | 2^-60 |
//! | 64 | 2^-60 | 2^-46 |
//!
//! These add up over elements, requests, products and owners: with l = 64 and Y uniform, a whole product of
//! two 1000 x 1000 matrices is within 2^-45, and of 4096 x 4096 ones within 2^-40.
//!
//! *Decryption* is never wrong: the noise is below D / 8 + D / 64, of which the last is what rounding adds
//! for l = 32, whatever the matrices, and D / 2 is allowed.
//!
//! Secrets are wiped when dropped; no branch and no memory index depends on one.

mod cipher;
mod error;
#[cfg(test)]
mod hiding;
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
