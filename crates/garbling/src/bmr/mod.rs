//! Circuits garbled by N parties together: BMR (MOTION, section 6.3), the local computations, without I/O.
//!
//! Tables, columns, masks and colours, the hash, and the argument for its security are explained in
//! `crates/kernels/src/bmr.rs`. Every party garbles and evaluates.
//!
//! # What is known of a wire within a circuit
//! At P_i: its share `lambda^i` of the mask, its key of 0, and for each other party j two *rows*, `t_ij` and
//! `q_ij`, with `t_ij ^ q_ji = lambda^i R_j`: shares of the product of its share of the mask with P_j's offset, of
//! which P_j has the other. All of this is linear: XOR is that of keys, shares and rows. NOT is done by party 0,
//! which flips its share of the mask; for that all others add `R_j` to `q_j0`, and leave the keys alone.
//!
//! So products of masks with offsets are made once for each wire that is new, an input or an AND's result, and not
//! for each AND that reads it: **two** correlated OTs for an AND in each direction, and one for an input, where the
//! paper has three for an AND; and none for the product of the masks themselves. Between circuits a wire has no rows:
//! its *setup part* at P_i is its share of the mask and its key of 0 ([`WireSetup`]).
//!
//! # A block of lanes, in the setup phase
//! 1. Correlated OTs with random choices, the same with all senders: two for each AND and lane, one for each
//!    input and lane. Our choices of an AND's first are our share of the result's mask, `lambda_w`: nothing is
//!    corrected, and the OTs' rows are the wire's. The choices r of an input are not its `lambda`: each tells all the
//!    others where to *flip* them, `r ^ lambda`, one bit, and who has the offset adds it there. [`MaskWalk::new`] goes
//!    through the circuit with shares of masks, [`Hashed::new`] with rows.
//! 2. `lambda_a lambda_b`: for each ordered pair (i, j), P_j and P_i have `q_a` and `t_a = q_a ^ lambda_a^i R_j`,
//!    which is an OT already: `H(q_a)` and `H(q_a ^ R_j)`, of which P_i knows the one of its choice. P_j sends **one
//!    bit**, `d = h(q_a) ^ h(q_a ^ R_j) ^ lambda_b^j` with the lowest bits of these hashes, and they have shares of
//!    `lambda_a^i lambda_b^j`: `h(q_a)`, and `h(t_a) ^ lambda_a^i d`. That does not wait for the flips: the rows hashed
//!    are those before, whose choice is `r_a = lambda_a^i ^ f_a` with the flips' sum f_a, a public bit, and P_j adds
//!    `f_a lambda_b^j` to its share.
//! 3. Each tells all by **one bit** where its second OT's choice differs from its share of `lambda_a lambda_b`;
//!    whoever has the offset adds it where it does. Both OTs together are shares of
//!    `R_j (lambda_a lambda_b ^ lambda_w)`; those of `R_j lambda_a` and `R_j lambda_b` are the operands' rows.
//! 4. [`Garbling::garble`], chunk by chunk: shares of all columns. P_p needs the sums of the columns of all
//!    others, not of its own, for it knows its own keys from the colour: so `48 (N - 1)` bytes for each AND
//!    and lane are kept, where the paper keeps `64 N`.
//!
//! # Three OTs for an AND
//! With [`Gates::ThreeOts`] wires have no rows, and each AND takes three OTs in each direction, for the products of the
//! offsets with its three coefficients: the variant of Ben-Efraim et al. that MOTION 6.3 begins with, for comparisons.
//! Masks of results are drawn. In step 1 there are no OTs of inputs; in step 2 the rows hashed are those of the OT for
//! `lambda_a`, whose choice is flipped there, by a bit for each AND that all are told, and that of the one for `lambda_b`
//! beside it; in step 3 the third OT's choice becomes `lambda_a lambda_b ^ lambda_w`. Who has the offset adds all these flips
//! to its own bits. Tables are the same. The paper's coefficients are the colour's values, `lambda_ab`, `lambda_ab ^ lambda_a` and
//! `lambda_ab ^ lambda_b`, each with `lambda_w`: sums of ours. It counts a string of kappa bits for each OT besides, as an
//! extension with a Delta of its own needs it: our Delta is the offset, as in its own optimisation.
//!
//! # Security of steps 1 to 3
//! The kernels' file argues for the tables. Here, semi-honest parties of which some, not all, are honest.
//!
//! `d` is under the hash of the one of `q_a`, `q_a ^ R_j` that P_i lacks: it looks random to P_i, and others do not
//! see it. H is correlation robust (`crates/kernels/src/hash.rs`: `p` evaluations of AES have advantage
//! `2 p 1024 / 2^127`, a key for each 1024 hashes of a direction); that argument wants hash inputs under one key
//! that differ. A wire may be the operand of many ANDs, and one operand another one plus `R_j` (a NOT), so
//! the AND's number is added in the upper word: equal inputs of two ANDs need rows that are independent and
//! meet, as there. Nothing that is masked by H depends on R, so no circularity is asked of it.
//!
//! Messages about choices, in steps 1 and 3, are under the choice of an OT that is used for nothing else, and which
//! senders do not know. It is the same with all of them, as if P_i had one OT with each for the same bit.
//!
//! With three OTs an AND all of this holds: each OT is for one AND, its row is hashed once or not at all, and each flip is
//! under a choice of its own.
//!
//! At the active colours tables show each honest party's share of the colour's polynomial. It contains the party's
//! share of `lambda_w`, which is fresh for each AND, and which else only the ANDs that read w have in what they
//! show, where it stands beside the fresh share of their own result. So, from the last AND back to the first, all of these
//! are random but for their sum over the honest parties, which the colours tell.
//!
//! # In the online phase
//! [`Evaluation`] goes through the same chunks with the tables; nothing is sent.
//!
//! A wire's *online part* is the active keys of all parties ([`ActiveKeys`]), whose lowest bits are the wire's
//! colour.

mod arena;
mod evaluation;
mod garbling;
mod hashed;
mod masks;
mod shape;
mod wires;

pub use evaluation::Evaluation;
pub use garbling::{Garbling, Products};
pub use hashed::{Hashed, PeerRows};
pub use masks::{BlockSeed, Choices, MaskWalk};
pub use shape::{Gates, Instance, Shape};
pub use wires::{ActiveKeys, Keys, WireSetup};

/// Number of the colour's coefficients that are secret, for each AND and lane.
pub const COEFFICIENTS: usize = 3;

/// The place of a peer among a party's peers.
pub(crate) fn place_of(me: usize, peer: usize) -> usize {
    peer - usize::from(peer > me)
}
