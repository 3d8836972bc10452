//! OTs of single bits, packed.

use madrigal_kernels::{Block, xor, xor_into};

use crate::{
    Delta, OtError, Tweaks,
    error::{Message, check_argument, check_bit_message},
    select::clear_padding,
};

/// Random OT of bits, sender: two random bits per OT, 2 AES blocks each OT.
///
/// `k0` and `k1` take `ceil(m / 8)` bytes for `m` rows.
///
/// # Errors
/// [`OtError::ArgumentLength`] for the argument that does not fit the number of tweaks.
pub fn sender_random_bits(
    delta: &Delta,
    tweaks: Tweaks,
    rows: &[Block],
    k0: &mut [u8],
    k1: &mut [u8],
) -> Result<(), OtError> {
    check_argument("rows", tweaks.len(), rows.len())?;
    check_argument("k0", rows.len().div_ceil(8), k0.len())?;
    check_argument("k1", rows.len().div_ceil(8), k1.len())?;
    let (hash, first) = (tweaks.hash(), tweaks.first());
    hash.hash_bits(first, Block::ZERO, rows, k0);
    hash.hash_bits(first, delta.expose(), rows, k1);
    Ok(())
}

/// Random OT of bits, receiver: the bit that its choice selected, an AES block each OT.
///
/// `out` takes `ceil(m / 8)` bytes for `m` rows.
///
/// # Errors
/// [`OtError::ArgumentLength`] for the argument that does not fit the number of tweaks.
pub fn receiver_random_bits(tweaks: Tweaks, rows: &[Block], out: &mut [u8]) -> Result<(), OtError> {
    check_argument("rows", tweaks.len(), rows.len())?;
    check_argument("out", rows.len().div_ceil(8), out.len())?;
    let hash = tweaks.hash();
    hash.hash_bits(tweaks.first(), Block::ZERO, rows, out);
    Ok(())
}

/// XOR-correlated OT of bits, sender: for correlations a_i gets random x_i, the receiver
/// x_i ^ r_i a_i. From random bits k0, k1: x = k0, and the message is k0 ^ k1 ^ a.
///
/// `k0` and `k1` come from [`sender_random_bits`] for `m` OTs and are used up, but for `k0` being
/// x. `message`, `correlation` and they have `ceil(m / 8)` bytes each.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths do not fit `m`.
pub fn sender_correlated_bits(
    m: usize,
    correlation: &[u8],
    k0: &[u8],
    k1: &[u8],
    message: &mut [u8],
) -> Result<(), OtError> {
    check_argument("correlation", m.div_ceil(8), correlation.len())?;
    check_argument("k0", m.div_ceil(8), k0.len())?;
    check_argument("k1", m.div_ceil(8), k1.len())?;
    check_argument("message", m.div_ceil(8), message.len())?;
    xor(message, k0, k1);
    xor_into(message, correlation);
    clear_padding(message, m);
    Ok(())
}

/// XOR-correlated OT of bits, receiver: turns its random bits k_r into x ^ r a.
///
/// `corrections` is the sender's message, `ceil(m / 8)` bytes.
///
/// # Errors
/// [`OtError::MessageLength`] or [`OtError::Padding`] for the message,
/// [`OtError::ArgumentLength`] if `choices` or `out` do not fit `m`.
pub fn receiver_correlated_bits(
    m: usize,
    choices: &[u8],
    corrections: &[u8],
    out: &mut [u8],
) -> Result<(), OtError> {
    check_argument("choices", m.div_ceil(8), choices.len())?;
    check_argument("out", m.div_ceil(8), out.len())?;
    check_bit_message(Message::Corrections, corrections, m)?;
    for ((out, choice), y) in out.iter_mut().zip(choices).zip(corrections) {
        *out ^= choice & y;
    }
    Ok(())
}
