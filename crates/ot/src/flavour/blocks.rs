//! OTs of 128-bit blocks.

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, blocks_as_bytes_mut};

use crate::{
    Delta, OtError, Tweaks,
    error::{Message, check_argument, check_message},
    select::bit_mask,
};

/// Random OT of blocks, sender: two random blocks per OT, 2 AES blocks each OT.
///
/// # Errors
/// [`OtError::ArgumentLength`] for the argument that does not fit the number of tweaks.
pub fn sender_random_blocks(
    delta: &Delta,
    tweaks: Tweaks,
    rows: &[Block],
    k0: &mut [Block],
    k1: &mut [Block],
) -> Result<(), OtError> {
    check_argument("rows", tweaks.len(), rows.len())?;
    check_argument("k0", rows.len(), k0.len())?;
    check_argument("k1", rows.len(), k1.len())?;
    let hash = tweaks.hash();
    hash.hash_pairs(tweaks.first(), delta.expose(), rows, k0, k1);
    Ok(())
}

/// Random OT of blocks, receiver: the block that its choice selected, an AES block each OT.
///
/// # Errors
/// [`OtError::ArgumentLength`] for the argument that does not fit the number of tweaks.
pub fn receiver_random_blocks(
    tweaks: Tweaks,
    rows: &[Block],
    out: &mut [Block],
) -> Result<(), OtError> {
    check_argument("rows", tweaks.len(), rows.len())?;
    check_argument("out", rows.len(), out.len())?;
    tweaks.hash().hash_blocks(tweaks.first(), rows, out);
    Ok(())
}

/// XOR-correlated OT of blocks, sender: for correlations a_i gets random x_i, the receiver
/// x_i ^ r_i a_i. From random blocks k0, k1: x = k0, and the message is k0 ^ k1 ^ a.
///
/// Takes the outcome of [`sender_random_blocks`]: `k0` stays and is x, `k1` is used up. Returns
/// the message, 16 bytes per OT.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths differ.
pub fn sender_correlated_blocks(
    correlation: &[Block],
    k0: &[Block],
    k1: Zeroizing<Vec<Block>>,
) -> Result<Vec<u8>, OtError> {
    check_argument("k0", correlation.len(), k0.len())?;
    check_argument("k1", correlation.len(), k1.len())?;
    Ok(correlation
        .iter()
        .zip(k0)
        .zip(k1.iter())
        .flat_map(|((&a, &k0), &k1)| (k0 ^ k1 ^ a).to_bytes())
        .collect())
}

/// XOR-correlated OT of blocks, receiver: turns its random blocks k_r into x ^ r a.
///
/// `corrections` is the sender's message, 16 bytes per OT.
///
/// # Errors
/// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] if `choices` does not
/// fit the length of `out`.
pub fn receiver_correlated_blocks(
    choices: &[u8],
    corrections: &[u8],
    out: &mut [Block],
) -> Result<(), OtError> {
    check_argument("choices", out.len().div_ceil(8), choices.len())?;
    check_message(
        Message::Corrections,
        corrections,
        out.len().saturating_mul(16),
    )?;
    for (i, (out, y)) in out.iter_mut().zip(read_blocks(corrections)).enumerate() {
        *out ^= y & bit_mask(choices, i);
    }
    Ok(())
}

/// Chosen-message OT of blocks, sender: masks each pair of messages with a pair of random blocks.
/// Returns the message, 32 bytes per OT: x0 ^ k0, then x1 ^ k1.
///
/// Takes the outcome of [`sender_random_blocks`], each pair good for one use.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths differ.
pub fn sender_chosen_blocks(
    messages: &[[Block; 2]],
    k0: Zeroizing<Vec<Block>>,
    k1: Zeroizing<Vec<Block>>,
) -> Result<Vec<u8>, OtError> {
    check_argument("k0", messages.len(), k0.len())?;
    check_argument("k1", messages.len(), k1.len())?;
    let mut masked = Vec::with_capacity(messages.len() * 32);
    for ((&[x0, x1], &k0), &k1) in messages.iter().zip(k0.iter()).zip(k1.iter()) {
        masked.extend_from_slice(&(x0 ^ k0).to_bytes());
        masked.extend_from_slice(&(x1 ^ k1).to_bytes());
    }
    Ok(masked)
}

/// Chosen-message OT of blocks, receiver: turns its random blocks k_r into the chosen messages.
///
/// `masked` is the sender's message, 32 bytes per OT.
///
/// # Errors
/// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] if `choices` does not
/// fit the length of `out`.
pub fn receiver_chosen_blocks(
    choices: &[u8],
    masked: &[u8],
    out: &mut [Block],
) -> Result<(), OtError> {
    check_argument("choices", out.len().div_ceil(8), choices.len())?;
    check_message(Message::MaskedPairs, masked, out.len().saturating_mul(32))?;
    for (i, (out, pair)) in out.iter_mut().zip(masked.chunks_exact(32)).enumerate() {
        let mut pair = read_blocks(pair);
        if let (Some(y0), Some(y1)) = (pair.next(), pair.next()) {
            *out ^= y0 ^ ((y0 ^ y1) & bit_mask(choices, i));
        }
    }
    Ok(())
}

fn read_blocks(bytes: &[u8]) -> impl Iterator<Item = Block> {
    bytes.chunks_exact(16).map(|chunk| {
        let mut block = [Block::ZERO];
        blocks_as_bytes_mut(&mut block).copy_from_slice(chunk);
        block[0]
    })
}
