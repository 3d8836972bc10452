//! OT flavours (MOTION 5.1.3): what one makes of the rows of an extension.
//!
//! With the sender's rows q_i, the receiver's rows t_i = q_i ^ r_i Delta and the tweak of row i,
//! the masks are k_{i,0} = H(q_i, i), k_{i,1} = H(q_i ^ Delta, i) at the sender and
//! k_{i,r_i} = H(t_i, i) at the receiver.
//!
//! # The hash
//! The masks ask for a *correlation-robust* hash: for secret uniform Delta and rows t_i that differ,
//! the values H(t_i ^ Delta, i) look random to whoever knows the t_i. Nothing here needs *circular*
//! robustness, because no mask ever covers anything that depends on Delta; nor robustness for rows
//! that somebody chose, because those of a semi-honest receiver are pseudorandom. The hash is
//! [`RowHash`](madrigal_kernels::RowHash): H(x, i) = pi(x) ^ x with pi AES-128 under a public key that
//! belongs to this instance and some thousand rows alone; its documentation has the bound and its
//! proof. Cutting the mask keeps the property; masks longer than a block are stretched from it
//! ([`Stretch`](madrigal_kernels::Stretch), likewise under keys of the instance's own).
//!
//! The keys follow from the instance's name ([`Instance`](crate::Instance)), hence from the session.
//! So nobody can compute ahead for a session that has not begun, and what is computed for one, or for
//! one thousand rows of one, is of no use for others: 2^117 applications of AES find a Delta with
//! certainty, however many OTs there are. Under one fixed key, with or without a tweak, it would be
//! 2^128 divided by the number of OTs: 2^88 for 2^40 of them.
//!
//! The rows themselves are a correlated OT with the one correlation Delta. A protocol that uses them unhashed
//! (BMR's optimisation) argues for that use itself, and drops the [`Tweaks`](crate::Tweaks).
//!
//! # Messages
//! | flavour | sender sends per OT | receiver sends per OT |
//! |---|---|---|
//! | random, blocks or bits | nothing | nothing |
//! | XOR-correlated, bits | 1 bit | nothing |
//! | XOR-correlated, blocks | 16 bytes | nothing |
//! | chosen, blocks | 32 bytes | nothing |
//! | strings of L bytes: random | nothing | nothing |
//! | strings of L bytes: XOR-correlated | L bytes | nothing |
//! | strings of L bytes: chosen | 2 L bytes | nothing |
//! | additively correlated, v values of w bits | v w / 8 bytes | nothing |
//! | 1-out-of-n, random, from ceil(log2 n) rows | nothing | nothing |
//! | 1-out-of-n, chosen blocks | 16 n bytes | nothing |
//! | switch of a precomputed OT's choice | nothing | 1 bit |
//! | precomputed, correlated in one round: bits, strings, elements | as the correlated one | 1 bit |

mod additive;
mod bits;
mod blocks;
mod one_of_n;
mod precomputed;
mod strings;

pub use additive::{receiver_additive, sender_additive};
pub use bits::{
    receiver_correlated_bits, receiver_random_bits, sender_correlated_bits, sender_random_bits,
};
pub use blocks::{
    receiver_chosen_blocks, receiver_correlated_blocks, receiver_random_blocks,
    sender_chosen_blocks, sender_correlated_blocks, sender_random_blocks,
};
pub use one_of_n::{
    OneOf, receiver_chosen_one_of, receiver_random_one_of, sender_chosen_one_of,
    sender_random_one_of,
};
pub use precomputed::{
    choice_flips, receiver_precomputed_additive, sender_precomputed_additive,
    sender_precomputed_additive_shares, sender_precomputed_correlated_bits,
    sender_precomputed_correlated_strings, swap_bits, swap_blocks,
};
pub use strings::{
    receiver_chosen_strings, receiver_correlated_strings, receiver_random_strings,
    sender_chosen_strings, sender_correlated_strings, sender_random_strings,
};
