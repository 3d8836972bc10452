//! Precomputed OTs (Beaver; MOTION 5.1 and 5.1.3): random OTs made with random choices r
//! ahead of time, switched to the real choices c when these are known.
//!
//! The receiver sends p = r ^ c, the sender swaps the two masks where p is 1, and from there on
//! the OT runs as if made with c; the receiver's mask k_r is the one of the new choice without
//! any work. p is a one-time pad of c, so r must be uniform and used once.

use madrigal_kernels::{Block, xor};

use crate::{
    OtError,
    error::{Message, check_argument, check_bit_message},
    select::{bit_mask, clear_padding},
};

/// Receiver: the message p = r ^ c for `m` OTs, `ceil(m / 8)` bytes. Used up: `random`.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths do not fit `m`.
pub fn choice_flips(m: usize, random: &[u8], wanted: &[u8]) -> Result<Vec<u8>, OtError> {
    check_argument("random", m.div_ceil(8), random.len())?;
    check_argument("wanted", m.div_ceil(8), wanted.len())?;
    let mut flips = vec![0; m.div_ceil(8)];
    xor(&mut flips, random, wanted);
    clear_padding(&mut flips, m);
    Ok(flips)
}

/// Sender: swaps packed pairs of bits where the receiver's message says so.
///
/// # Errors
/// [`OtError::MessageLength`] or [`OtError::Padding`] for the message,
/// [`OtError::ArgumentLength`] if `k0` or `k1` do not fit `m`.
pub fn swap_bits(m: usize, flips: &[u8], k0: &mut [u8], k1: &mut [u8]) -> Result<(), OtError> {
    check_argument("k0", m.div_ceil(8), k0.len())?;
    check_argument("k1", m.div_ceil(8), k1.len())?;
    check_bit_message(Message::ChoiceFlips, flips, m)?;
    for ((k0, k1), p) in k0.iter_mut().zip(k1).zip(flips) {
        let change = (*k0 ^ *k1) & p;
        *k0 ^= change;
        *k1 ^= change;
    }
    Ok(())
}

/// Sender: swaps pairs of blocks where the receiver's message says so.
///
/// # Errors
/// [`OtError::MessageLength`] or [`OtError::Padding`] for the message,
/// [`OtError::ArgumentLength`] if the lengths of `k0` and `k1` differ.
pub fn swap_blocks(flips: &[u8], k0: &mut [Block], k1: &mut [Block]) -> Result<(), OtError> {
    check_argument("k1", k0.len(), k1.len())?;
    check_bit_message(Message::ChoiceFlips, flips, k0.len())?;
    for (i, (k0, k1)) in k0.iter_mut().zip(k1).enumerate() {
        let change = (*k0 ^ *k1) & bit_mask(flips, i);
        *k0 ^= change;
        *k1 ^= change;
    }
    Ok(())
}

/// Precomputed XOR-correlated OT in one round (MOTION 5.1.3, "our optimization"), sender.
///
/// The corrections k0 ^ k1 ^ a do not depend on the order of k0 and k1, so the sender sends them
/// ([`sender_correlated_bits`](super::sender_correlated_bits)) without waiting for p; p only tells
/// which of the two masks is its output x. Turns `k0` into x. The receiver takes x ^ c a with
/// [`receiver_correlated_bits`](super::receiver_correlated_bits) and the choices c that it wanted.
///
/// # Errors
/// [`OtError`] in the same cases as [`swap_bits`].
pub fn sender_precomputed_correlated_bits(
    m: usize,
    flips: &[u8],
    k0: &mut [u8],
    k1: &[u8],
) -> Result<(), OtError> {
    check_argument("k0", m.div_ceil(8), k0.len())?;
    check_argument("k1", m.div_ceil(8), k1.len())?;
    check_bit_message(Message::ChoiceFlips, flips, m)?;
    for ((k0, k1), p) in k0.iter_mut().zip(k1).zip(flips) {
        *k0 ^= (*k0 ^ k1) & p;
    }
    Ok(())
}
