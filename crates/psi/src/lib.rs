//! Private set intersection of two parties, semi-honest or malicious ([`Security`]): the *receiver* learns which of its keys the *sender* has, and of the sender's
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
//! Against [malicious parties](#malicious-parties) 34 bytes a key in lists of a million, a third of a megabyte more to begin, two rounds more in VOLE's setup, and 1.7 times the work.
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
//! A *malicious* party is not held to anything by this protocol. For such parties there is another one:
//!
//! # Malicious parties
//! [`PsiPlan::with_security`] makes a plan against them, after the malicious protocol of Rindal and Schoppmann, without its coin. It differs in this:
//! - VOLE is checked ([`madrigal_correlations_make::Security`]): no thread of the sender uses Delta, which is that of all threads, before the receiver's columns are checked on each; with the seed the receiver sends a challenge, and the sender's answer comes before its tags. The receiver
//!   looks at no tag before the answer is right.
//! - Values have 128 bits, and tags 128 in place of 40 and what the sizes need, because a party can look for digests that agree in fewer.
//! - The hash is SHA-256 as a random oracle of the step, the element and the digest, and gives a tag and a pad. Without the digest a sender with Delta = 0 and keys of zeros could send one
//!   tag that all of the receiver's keys match ([VOLE](madrigal_ot::vole) here gives no such Delta, but nothing rests on that).
//! - With its reply the receiver sends a hash of the pads of all keys that it marks, in the order of the tags: 64 bits of each, of which it knows nothing without the key.
//!
//! *What this computes.* For each partition in turn: the corrupted party gives a set, and the honest one gives its own; the receiver learns the intersection (and payloads), then
//! the corrupted party may end the run, or let the sender learn the intersection, without keys that a corrupted receiver leaves out. So a cheat chooses its keys of a partition
//! with the answers of earlier ones at hand, and may stop as soon as it has its own. A sender's set has as many keys as it has tags. A receiver's has more than it says: see below.
//! Digests have to be those of a random oracle that begins when both have met, as [`salt`] makes it: parties would otherwise choose them.
//!
//! *Simulation, corrupted receiver* (hashes as random oracles, AES of [rows](madrigal_okvs) as an ideal cipher, VOLE as its functionality, whose U and M a corrupted receiver chooses). From the seed and P + U the simulator has P, and its set is all
//! keys x whose digest d was asked of the oracle with Decode(P, d) = d. Others that are asked for later are right with a chance of 2^-128 each. It gives the set to the functionality, and makes
//! tags: of keys in the intersection what the oracle gives for (Decode(M, d), d), which it samples as the receiver's own evaluation would; the rest are random, as are masked payloads of the rest. The receiver tells these
//! from true ones if it asks the oracle for Decode(M, d) + (Decode(P, d) + d) Delta of another of the sender's keys: a guess of Delta, with a chance of 2^-127 each (a receiver that has cheated in VOLE's setup and was not found knows c bits of
//! Delta with a chance of 2^-c). Since tags are taken from the oracle where it has been asked already, nothing has to be programmed before the set is known, and this is why the
//! coin that Rindal and Schoppmann add to each element is not needed: theirs is a pseudorandom function for any use, whose values at the receiver's keys come from outside; in one
//! intersection nobody outside ever sees them. Marks with a right hash are keys of the intersection: of others the pad is unknown to the receiver, a chance of 2^-64. The sender's refusal is one and the same
//! for marks of keys, of padding, and for a wrong hash.
//!
//! *Simulation, corrupted sender.* It sees a challenge, which the mask of VOLE hides, and P + U, uniform as U is (LPN; a sender that guesses places of errors in VOLE's trees learns whether
//! the guess was right, and the run ends if not). Its set is all keys x with a digest d that were asked of the oracle as (Decode(K', d) + d Delta, d), with the answer among the tags. A tag that was not asked for is one of the receiver's with a chance of 2^-128, and two keys
//! share a tag after 2^64 questions, as they share a digest. The simulator knows K' and Delta, which the sender gave to VOLE. Marks and their hash follow from the intersection, as its pads came with its tags. Whether an honest receiver ends the run depends on VOLE's check and on the form of messages alone,
//! and on its keys only where its own list fails: [`List::matched`] may, when a disk is full of what it has learnt, and then the run ends when the intersection is known. Its time depends on its keys by a
//! few comparisons: more tags of one beginning than an honest list has are refused.
//!
//! *How many keys a receiver has.* It can solve for as many as the store has columns, which is 1.09 times what it says for long lists, and some hundreds for a list of one. More than that needs luck: for a given P and seed the digests of n given keys meet it with a
//! chance of 2^(-128 n); there are 2^(128 m) stores of m columns, 2^128 seeds, and less than (e q / n)^n choices of n keys among q that it has hashed. [`PsiPlan::most_of_store`] tells where that becomes 2^-40: for q = 2^80
//! at about twice as many keys as it says in a long list, and at 734 in a list of one. That is a union over all choices, for the ideal cipher's rows and digests jointly: the seed is among what is chosen, so that it does not matter which of them is
//! asked for first. Each partition has a store, so whoever cuts lists takes care that partitions have thousands of the receiver's keys. (The argument is that of Pinkas, Rosulek, Trieu and Yanai: ePrint 2020/193. Known methods, which look for digests of dependent rows, gain a few hundredths.)
//!
//! *What it does not do.* Nobody is made to tell the truth of its list, or of payloads. Two keys of one digest take 2^64 hashes while the other party waits: tags and digests have 128 bits.

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
pub use error::PsiError;
pub use lists::{List, ListFailed, Matched};
pub use madrigal_correlations_make::Security;
pub use plan::{PsiPlan, STATISTICAL, Sizes, partition_of};
pub use run::{Role, agree, intersect, salt};
pub use shares::{BinsPlan, MOST_IN_BINS, ReceiverBins, receive_bins, send_bins};
