//! OT flavours (motion.txt 5.1.3): what one makes of the rows of an extension.
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
//! Cutting the mask to its lowest bit keeps the property.
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
//! | switch of a precomputed OT's choice | nothing | 1 bit |

mod bits;
mod blocks;
mod precomputed;

pub use bits::{
    receiver_correlated_bits, receiver_random_bits, sender_correlated_bits, sender_random_bits,
};
pub use blocks::{
    receiver_chosen_blocks, receiver_correlated_blocks, receiver_random_blocks,
    sender_chosen_blocks, sender_correlated_blocks, sender_random_blocks,
};
pub use precomputed::{choice_flips, sender_precomputed_correlated_bits, swap_bits, swap_blocks};
