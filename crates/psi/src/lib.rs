//! Private set intersection of two parties, semi-honest: the *receiver* learns which of its keys the *sender* has, and of the sender's
//! list its size besides; the sender learns the size of the receiver's list, and if both want it the result.
//!
//! After Rindal and Schoppmann, "VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE" (Eurocrypt 2021, ePrint 2021/266), and Raghuraman and
//! Rindal, "Blazing Fast PSI from Improved OKVS and Subfield VOLE" (CCS 2022, ePrint 2022/320), with band matrices for the store
//! ([`madrigal_okvs`]), silent VOLE of this project, and tags that are sorted and told by their places.
//!
//! # The protocol
//! For each partition of the lists (ranges of digests; one for lists of up to some millions of keys):
//! 1. *VOLE* gives the sender Delta and keys K, the receiver values U and M = K + U Delta: one for each column of a store.
//! 2. *Receiver*: encodes its digests as a store P under a fresh seed, sends the seed and P + U.
//! 3. *Sender*: has K' = K + Delta (P + U), and for each of its digests the hash of Decode(K', d) + d Delta: a *tag*. It sends all tags, sorted.
//! 4. *Receiver*: has the tag of each of its own digests d, the hash of Decode(M, d), and looks it up. With
//!    [replies](PsiPlan::replies) it sends a bit for each of the sender's tags.
//!
//! # Cost
//! For n keys each: 1.09 n elements of 64 bits (of 128 bits beyond [some ten million keys](PsiPlan)), 1.1 bytes of VOLE for each of them, and 8.3 (9.3) bytes for a
//! tag: 18 bytes a key, 29 for longer lists, and half a megabyte to begin. Three messages that wait for each other after VOLE's. [`PsiCosts`] has it to the byte.
//!
//! # Security
//! Semi-honest parties. *Sender's view*: VOLE's messages of the receiver, a seed, and P + U, which is uniform as U is (LPN: [`madrigal_ot::vole`]), each
//! U used once. The seed is drawn after the keys are settled and told after encoding has succeeded. *Receiver's view*: tags of keys that it does not have are hashes of
//! a c + c' Delta with c' not zero: H is correlation robust (ideal cipher) for some 2,000 of them under one key of AES, whose advantage is bounded by
//! 2 p 2,000 / 2^128 for p evaluations ([`RowHash`](madrigal_kernels::RowHash)). Two honest parties get a wrong result with a chance of some 2^-39: tags that agree by chance and a store that has a key's value
//! by chance, each 2^-40 at most, and keys of one digest, which is far less.
//!
//! Digests are SHA-256 under a [salt] that is drawn when parties meet, cut to 128 bits: whoever chooses keys of others, and is no party, finds no two of one digest.
//!
//! With bounds in place of sizes all work after the first message is that of the bounds; a seed goes out as soon as a store is encoded, so encoding has padded keys, too.
//!
//! A *malicious* party is not held to anything by this protocol: a receiver can put about 1.09 times as many keys into its store as it says, and a sender can send tags of any
//! keys. Both choose their lists anyway.

mod costs;
mod error;
mod lists;
mod oprf;
mod oracle;
mod plan;
mod run;
mod shares;
mod tags;

pub use costs::PsiCosts;
pub use madrigal_correlations_make::Security;
pub use error::PsiError;
pub use lists::{List, ListFailed, Matched};
pub use plan::{PsiPlan, STATISTICAL, Sizes, partition_of};
pub use run::{Role, agree, intersect, salt};
pub use shares::{BinsPlan, MOST_IN_BINS, ReceiverBins, receive_bins, send_bins};
