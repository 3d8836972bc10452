//! Silent OT extension: Ferret (Yang, Weng, Lan, Zhang and Wang, CCS 2020, ePrint 2020/924) for
//! semi-honest parties, with half-tree single-point OTs (Guo et al., Eurocrypt 2023, ePrint
//! 2022/1431).
//!
//! It makes correlated OTs with **random choices**, some 4 million from 290 000 of their own kind,
//! at three quarters of a bit of communication each. Only the sender speaks, so it never waits: random
//! OTs cost no round at all. For chosen OTs, the receiver sends
//! [`choice_flips`](crate::flavour::choice_flips), one bit per OT.
//!
//! # An iteration
//! Given k rows q_i = t_i ^ r_i Delta for the code and h for each of t trees:
//!
//! 1. Each tree ([`SilentSender`] and [`SilentReceiver`] grow four at a time) gives 2^h rows v_j at
//!    the sender and w_j = v_j ^ e_j Delta at the receiver, where e is one at a random place known
//!    to the receiver alone, zero elsewhere. The sender sends h blocks.
//! 2. A public sparse code A of n = t 2^h rows ([`madrigal_kernels::lpn`]) is applied to the k
//!    rows: A q ^ v = (A t ^ w) ^ (A r ^ e) Delta. Its outputs are the new rows, with choices A r ^
//!    e that look random to the sender by the LPN assumption ([`SilentParams`]). Each iteration
//!    has a code of its own, which both parties make from session and instance.
//! 3. The last 7% of the n rows are the base of the next iteration, made when it begins.
//!
//! The choice r_i is kept in the lowest bit of t_i, which is zero in q_i and one in Delta, so that
//! the code encodes choices and rows in one pass. Delta has 127 random bits.
//!
//! The first base comes from another extension (with the same Delta and random choices, as in
//! `examples/silent_only.rs`): 18 400 rows, from which two smaller stages grow the base of the main
//! one. Groups of four trees are made on demand and in order, so the working memory is two bases and
//! one group (10 MB with [`SilentParams::LARGE`]) for any number of OTs, and a message contains exactly
//! the groups of the rows asked for ([`SilentParams::message_len`]).
//!
//! ```
//! use madrigal_kernels::Block;
//! use madrigal_ot::{Delta, Instance, SeededRng, silent::*};
//! # use rand_core::Rng;
//! # fn main() -> Result<(), madrigal_ot::OtError> {
//! # let mut rng = SeededRng::from_seed(Block::new(0, 1));
//! let params = SilentParams::for_ots(10_000);
//! let delta = Delta::random_odd(&mut rng);
//! // Rows of another extension with this Delta and random choices; here dealt in the clear.
//! let n = params.base_rows();
//! let mut choices = vec![0; n.div_ceil(8)];
//! rng.fill_bytes(&mut choices);
//! let q: Vec<Block> = (0..n).map(|_| Block::new(rng.next_u64(), rng.next_u64())).collect();
//! let bit = |bits: &[u8], i: usize| bits[i / 8] >> (i % 8) & 1 == 1;
//! let t: Vec<Block> =
//!     (0..n).map(|i| q[i] ^ (delta.expose() & Block::mask(bit(&choices, i)))).collect();
//!
//! let instance = Instance { session: [7; 32], sender: 0, receiver: 1, stream: 1 };
//! let mut sender = SilentSender::new(&mut rng, instance, params, delta, &q)?;
//! let mut receiver = SilentReceiver::new(instance, params, &choices, &t)?;
//!
//! let m = 10_000;
//! let (mut q, mut t) = (vec![Block::ZERO; m], vec![Block::ZERO; m]);
//! let mut r = vec![0; m.div_ceil(8)];
//! let mut message = vec![0; sender.message_len(m)];
//! let _tweaks = sender.extend(m, &mut message, &mut q)?; // zero -> one: message
//! let _tweaks = receiver.extend(&message, m, &mut r, &mut t)?;
//! for i in 0..m {
//!     assert!(t[i] == q[i] ^ (sender.delta().expose() & Block::mask(bit(&r, i))));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Security
//! Semi-honest, static; there is no check against a malicious party here. That of [VOLE](crate::vole#malicious-parties) covers the OTs that its elements are made of.
//!
//! - *Trees*: what a receiver sees of a tree determines nothing about Delta beyond its own rows, if
//!   the trees' hash is circular correlation robust ([`madrigal_kernels::ggm`] names the
//!   construction), in the ideal-cipher model and with the usual global-key queries (Half-Tree,
//!   theorem on the single-point COT). The rows that mask the level sums are used once. Each group
//!   of four trees has a public key of its own for the permutation, made from session, instance
//!   and a counter. So an evaluation of AES, which is made under one key, can
//!   hit the nodes of one group alone: p = 4 h of them, one for each level of each tree, whose
//!   hash the receiver learns at a point that is off by Delta. By the sum over the groups, as in
//!   ePrint 2019/1168, q evaluations give Delta with a chance of at most q p / 2^127, and nodes of
//!   a group that meet by themselves add p^2 / 2^128 for each group. With h = 11 that is work of
//!   2^121 for 2^30 OTs, for 2^40, and for any other number; the second term is 2^-100 and
//!   2^-90. Under one key for all trees 2^30 OTs would leave 2^104, and 2^40 OTs 2^94.
//! - *Code*: regular LPN, see [`SilentParams`] for parameters and attacks.
//! - *Choices* of the base must be uniform: they are the LPN secret and the places of the errors.
//! - The receiver's places are secret: every node of a level is read and written whatever they are.
//!   The code's memory accesses depend on public indices only.
//!
//! # Cost
//! Per row, at either party: one AES block for the trees (half-trees; two in plain GGM trees), 2.5
//! for the ten indices of the code, and ten reads at random places of a table of 4.3 MB, all
//! divided by 0.93 for the rows that go into the next base. docs/BENCHMARKS.md has the rates.
//!
//! It is the reads that bind. Each moves a cache line of 64 bytes, most of them from the third
//! level, which gives at most 32 bytes a cycle: some 15 cycles for each row, before the second level's
//! share. Huge pages and prefetching change nothing. Bins of 2^10 would do with a table of 2.4 MB
//! (dimension 151 552), take about a tenth less time, and send 1.3 bits for each OT.
//!
//! # Why not another code
//! Dual codes of the expand-accumulate or expand-convolute kind (Raghuraman, Rindal and Tanguy,
//! Crypto 2023) need no reserved base and far less communication, but read at random from a vector
//! longer than the output, which leaves the cache, and their minimum distance at the sizes in use
//! is extrapolated. An earlier code of that family, Silver, was found weak by that very paper. The
//! primal problem with a random local code is the older assumption, and its table stays in the
//! cache.

pub(crate) mod iteration;
mod params;
pub(crate) mod public;
mod queue;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
pub(crate) mod trees;

pub use params::{SilentParams, Stage};
pub use queue::{QueuedReceiver, QueuedSender};
pub use receiver::SilentReceiver;
pub use sender::SilentSender;
