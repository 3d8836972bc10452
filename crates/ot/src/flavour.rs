//! OT flavours (MOTION 5.1.3): what one makes of the rows of an extension.
//!
//! With the sender's rows q_i, the receiver's rows t_i = q_i ^ r_i Delta and the tweak of row i,
//! the masks are k_{i,0} = H(q_i, i), k_{i,1} = H(q_i ^ Delta, i) at the sender and
//! k_{i,r_i} = H(t_i, i) at the receiver.
//!
//! # The hash
//! The masks ask for a *tweakable correlation-robust* hash: for secret uniform Delta and distinct
//! tweaks, the values H(t_i ^ Delta, i) look random to whoever knows the t_i. Nothing here needs
//! *circular* robustness, because no mask ever covers anything that depends on Delta. The hash is
//! `TweakableHash::fixed()`, TMMO of Guo, Katz, Wang and Yu (S&P 2020):
//! H(x, i) = pi(pi(x) ^ i) ^ pi(x) with pi AES-128 under a fixed key. It is tweakable *circular*
//! correlation robust, hence more than enough, when pi is modelled as a random permutation.
//! Cutting the mask keeps the property; masks longer than a block are stretched from it
//! (`stretch_blocks` of the kernels, with a second fixed key and thus a permutation of its own).
//!
//! One application of pi instead of two would be MMO, pi(x) ^ x, which is correlation robust and
//! would do for *distinct* t_i; those of a semi-honest receiver are pseudorandom, hence distinct but
//! with probability m^2 / 2^129. But without a tweak one guess of Delta's place is held against all
//! m masks at once: the best known attack finds Delta after 2^128 / m applications of pi, 2^98 for
//! 2^30 OTs of an instance. With TMMO the tweak ties a guess to one row. Half a nanosecond is not
//! worth those 30 bits.
//!
//! The rows themselves are a correlated OT with the one correlation Delta. Who uses them unhashed
//! (BMR's optimisation) argues for that use himself, and drops the [`Tweaks`](crate::Tweaks).
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

mod additive;
mod bits;
mod blocks;
mod one_of_n;
mod precomputed;
mod strings;

pub use additive::{Word, receiver_additive, sender_additive};
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
pub use precomputed::{choice_flips, sender_precomputed_correlated_bits, swap_bits, swap_blocks};
pub use strings::{
    receiver_chosen_strings, receiver_correlated_strings, receiver_random_strings,
    sender_chosen_strings, sender_correlated_strings, sender_random_strings,
};
