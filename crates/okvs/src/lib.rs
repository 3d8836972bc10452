//! Oblivious key-value stores: [`encode()`] makes a vector of values under keys, [`decode()`] finds the value under any key,
//! and whoever has the vector alone learns how many keys there are, and of random values not which keys.
//!
//! ```
//! use madrigal_kernels::Block;
//! use madrigal_okvs::{Shape, decode, encode};
//! # use madrigal_ot::SeededRng;
//! # fn main() -> Result<(), madrigal_okvs::OkvsError> {
//! # let mut rng = SeededRng::from_seed(Block::new(0, 1));
//! // Digests of keys, and values that look random.
//! let keys = [1, 2, 3].map(|i| Block::new(i, 7));
//! let values = [10_u64, 20, 30];
//! let shape = Shape::for_keys(3)?;
//! let seed = Block::new(4, 5); // fresh and uniform, in truth, and told to the other party
//! let store = encode(&shape, seed, &keys, &values, &mut rng)?;
//!
//! let mut found = [0; 2];
//! decode(&shape, seed, &[keys[2], Block::ZERO], &store, &mut found)?;
//! assert_eq!(found[0], 30); // and found[1] is anything
//! # Ok(())
//! # }
//! ```
//!
//! # The construction
//! Random band matrices: Bienstock, Patel, Seo and Yeo, "Near-Optimal Oblivious Key-Value Stores for Efficient PSI, PSU and
//! Volume-Hiding Multi-Maps" (USENIX Security 2023, ePrint 2023/903). A key's row is zero but for 256 neighbouring columns,
//! where it is random bits; its value is the sum (XOR) of the columns where it is one. So a store is the
//! solution of a linear system, whose rows, in the order of their starts, are nearly triangular already. Values have 64
//! or 128 bits ([`Element`]). Everything is linear over the field of two elements: decoding commutes with any map of values
//! that is, with a product by a constant of GF(2^128) for one.
//!
//! # Properties
//! - *Correctness*: `decode` gives the value of each encoded key, always.
//! - *Failure*: encoding fails if rows are dependent, once in 2^40 times at most with shapes of [`Shape::for_keys`], by the count of
//!   [`failure_bits`], which says what it rests on. Rows are pseudorandom if AES-128 is a pseudorandom function and the seed is
//!   drawn after the keys are settled.
//! - *Obliviousness*: if the values are uniform and independent of the keys, so is the store, whatever the keys are.
//!   Rows that are independent map stores onto values, each value being met by as many stores; free columns are drawn
//!   uniformly, so the store is a uniform one of those that meet the values, and it is a uniform vector when
//!   the values are uniform. That is a fact and needs no assumption but good coins; but a *failure* depends on the
//!   keys, so a party that sees whether encoding failed has learned something of them, once in 2^40 times. Values that
//!   only look random give a store that only looks random. Values that follow from their keys, as hashes of them do, are not
//!   random to whoever can guess a key: such a store must go out masked alone, each mask used once.
//! - *Seeds*: a seed is told once encoding has succeeded, and one under which it failed is told to nobody: it says that these keys are dependent
//!   under it.
//! - *Digests*: keys are digests of 128 bits. Where others may choose items, digests must be keyed by a salt that is drawn when all items are
//!   settled: without one somebody finds two items of one digest in 2^64 steps.
//! - *No more than that*: for a key that was not encoded the result is a sum of columns that may be zero or agree
//!   with a value of one's choice with probability 2^-64 or 2^-128 for uniform stores: of n keys that are looked up one agrees with a chance of
//!   n 2^-64, which is 2^-40.7 for 10^7 keys and too much for more than that; then take 128 bits. Somebody who makes a store on
//!   purpose can put about as many keys into it as it has columns.
//!
//! # Side channels
//! Where a row begins is the address of its columns, and it is a hash of the key under a seed that becomes public. So the
//! addresses, and branches of `encode`, depend on the party's own keys, as in every store that is not scanned
//! for each key. Who sees the addresses that a party uses learns of its keys; nobody at the other end of
//! the network does. Values become addresses or branches nowhere.

mod buckets;
mod decode;
mod encode;
mod error;
mod failure;
mod rows;
mod shape;

pub use decode::{Found, decode, decode_each};
pub use encode::encode;
pub use error::OkvsError;
pub use failure::{expected_losses, failure_bits};
pub use madrigal_kernels::{Block, Element};
pub use shape::Shape;
