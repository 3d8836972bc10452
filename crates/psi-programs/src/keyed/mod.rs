//! Digests of several parties under a key that nobody knows.
//!
//! Each party draws a key of AES-128; the XOR of all of them encrypts all digests, on secrets, and receivers learn what comes of it, the *tags*. The key's
//! schedule is computed once. Equal digests have equal tags and no others have, as AES is a permutation under any key. Beyond that tags are pseudorandom to
//! whoever lacks a party's key: receivers learn which digests are equal, by where they stand in their owners' orders, and nothing else of them.
//!
//! In protocol R (three parties, one of them corrupted) a digest takes some 340 bytes of each party, in B (any number, all but one of them corrupted) correlations for
//! 5,120 ANDs with each other party.
//!
//! ```
//! use madrigal_core::Party;
//! use madrigal_engine::Sharing;
//! use madrigal_operations::Backend;
//! use madrigal_psi_programs::{Keyed, KeyedPlan};
//! let keyed = Keyed {
//!     to: vec![Party::new(0)],
//!     ..Keyed::new(Backend::of(Sharing::R), vec![1000, 20, 0])
//! };
//! let plan = KeyedPlan::new(&keyed)?;
//! let cost = plan.cost(Party::new(1));
//! assert!(cost.setup.bytes_sent == 0 && cost.online.bytes_sent < 1020 * 400);
//! # Ok::<(), madrigal_psi_programs::KeyedError>(())
//! ```
//!
//! # Source
//! Tags of joined tables by a PRF on secrets: Mohassel, Rindal, Rosulek, "Fast Database Joins and PSI for Secret Shared Data" (CCS 2020, ePrint 2019/518), section 3, who
//! take LowMC; AES-128 (FIPS 197) here, with the S-box of Boyar and Peralta.

mod blocks;
mod circuits;
mod plan;
mod run;

pub use blocks::SharedAes;
pub use plan::{Keyed, KeyedError, KeyedPlan};
pub use run::{OwnPart, Tags};
