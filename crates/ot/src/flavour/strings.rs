//! OTs of strings of any length, `len` bytes each, side by side: OT `i` has bytes
//! `i * len..(i + 1) * len`.
//!
//! Up to 16 bytes a string is the beginning of the block that the row hashes to. A longer one is
//! that block stretched ([`Tweaks::stretch`]): 1 + `ceil(len / 16)` AES blocks a string, and the
//! row is hashed once whatever the length.

use madrigal_core::Zeroizing;
use madrigal_kernels::{Block, blocks_as_bytes, xor};

use crate::{
    Delta, OtError, Tweaks,
    error::{Message, check_argument, check_message},
    select::bit,
};

/// Bytes of masks that are made at a time: fits the first-level cache.
const PIECE_BYTES: usize = 8192;

/// Random OT of strings, sender: two random strings of `len` bytes per OT. `k0` and `k1` take
/// `m * len` bytes for `m` rows.
///
/// # Errors
/// [`OtError::ArgumentLength`] for the argument that does not fit the number of tweaks.
pub fn sender_random_strings(
    delta: &Delta,
    tweaks: Tweaks,
    rows: &[Block],
    len: usize,
    k0: &mut [u8],
    k1: &mut [u8],
) -> Result<(), OtError> {
    check_argument("rows", tweaks.len(), rows.len())?;
    check_argument("k0", rows.len().saturating_mul(len), k0.len())?;
    check_argument("k1", rows.len().saturating_mul(len), k1.len())?;
    hash_strings(&tweaks, Block::ZERO, rows, len, k0);
    hash_strings(&tweaks, delta.expose(), rows, len, k1);
    Ok(())
}

/// Random OT of strings, receiver: the string of `len` bytes that its choice selected. `out` takes
/// `m * len` bytes for `m` rows.
///
/// # Errors
/// [`OtError::ArgumentLength`] for the argument that does not fit the number of tweaks.
pub fn receiver_random_strings(
    tweaks: Tweaks,
    rows: &[Block],
    len: usize,
    out: &mut [u8],
) -> Result<(), OtError> {
    check_argument("rows", tweaks.len(), rows.len())?;
    check_argument("out", rows.len().saturating_mul(len), out.len())?;
    hash_strings(&tweaks, Block::ZERO, rows, len, out);
    Ok(())
}

/// The strings of the rows with `offset` added.
fn hash_strings(tweaks: &Tweaks, offset: Block, rows: &[Block], len: usize, out: &mut [u8]) {
    if len == 0 {
        return;
    }
    let (hash, mut stretch) = (tweaks.hash(), tweaks.stretch());
    let each = len.div_ceil(16);
    let piece = (PIECE_BYTES / 16 / each).max(1);
    let mut seeds = Zeroizing::new(vec![Block::ZERO; piece]);
    let mut blocks = Zeroizing::new(vec![Block::ZERO; if each > 1 { piece * each } else { 0 }]);
    let pieces = rows.chunks(piece).zip(out.chunks_mut(piece * len));
    for (index, (rows, out)) in pieces.enumerate() {
        let index = index * piece;
        let seeds = &mut seeds[..rows.len()];
        hash.hash_shifted(tweaks.first() + index as u64, offset, rows, seeds);
        let bytes = if each > 1 {
            let blocks = &mut blocks[..rows.len() * each];
            stretch.stretch_blocks(index, seeds, each, blocks);
            blocks_as_bytes(blocks)
        } else {
            blocks_as_bytes(seeds)
        };
        for (out, bytes) in out.chunks_exact_mut(len).zip(bytes.chunks_exact(16 * each)) {
            out.copy_from_slice(&bytes[..len]);
        }
    }
}

/// XOR-correlated OT of strings, sender: for correlations a_i gets random x_i, the receiver
/// x_i ^ r_i a_i. Takes the outcome of [`sender_random_strings`]: `k0` stays and is x, `k1` is used
/// up. Returns the message k0 ^ k1 ^ a, as long as the strings together.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths differ.
pub fn sender_correlated_strings(
    correlation: &[u8],
    k0: &[u8],
    k1: Zeroizing<Vec<u8>>,
) -> Result<Vec<u8>, OtError> {
    check_argument("k0", correlation.len(), k0.len())?;
    check_argument("k1", correlation.len(), k1.len())?;
    let mut message = vec![0; correlation.len()];
    xor(&mut message, k0, &k1);
    madrigal_kernels::xor_into(&mut message, correlation);
    Ok(message)
}

/// XOR-correlated OT of strings, receiver: turns its random strings k_r into x ^ r a. `corrections`
/// is the sender's message.
///
/// # Errors
/// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] if `out` does not consist
/// of strings of `len` bytes or if `choices` does not fit their number.
pub fn receiver_correlated_strings(
    choices: &[u8],
    len: usize,
    corrections: &[u8],
    out: &mut [u8],
) -> Result<(), OtError> {
    check_strings(choices, len, out)?;
    check_message(Message::Corrections, corrections, out.len())?;
    if len > 0 {
        let strings = out.chunks_exact_mut(len).zip(corrections.chunks_exact(len));
        for (i, (out, y)) in strings.enumerate() {
            let mask = bit(choices, i).wrapping_neg();
            for (out, y) in out.iter_mut().zip(y) {
                *out ^= y & mask;
            }
        }
    }
    Ok(())
}

/// Chosen-message OT of strings, sender: masks both strings of each OT. Returns the message: x0 ^ k0
/// of all OTs, then x1 ^ k1 of all.
///
/// Takes the outcome of [`sender_random_strings`], each pair good for one use.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths differ.
pub fn sender_chosen_strings(
    x0: &[u8],
    x1: &[u8],
    k0: Zeroizing<Vec<u8>>,
    k1: Zeroizing<Vec<u8>>,
) -> Result<Vec<u8>, OtError> {
    check_argument("x1", x0.len(), x1.len())?;
    check_argument("k0", x0.len(), k0.len())?;
    check_argument("k1", x0.len(), k1.len())?;
    let mut masked = vec![0; 2 * x0.len()];
    let (y0, y1) = masked.split_at_mut(x0.len());
    xor(y0, x0, &k0);
    xor(y1, x1, &k1);
    Ok(masked)
}

/// Chosen-message OT of strings, receiver: turns its random strings k_r into the chosen ones.
/// `masked` is the sender's message.
///
/// # Errors
/// [`OtError`] in the same cases as [`receiver_correlated_strings`].
pub fn receiver_chosen_strings(
    choices: &[u8],
    len: usize,
    masked: &[u8],
    out: &mut [u8],
) -> Result<(), OtError> {
    check_strings(choices, len, out)?;
    check_message(Message::MaskedPairs, masked, out.len().saturating_mul(2))?;
    if len > 0 {
        let (y0, y1) = masked.split_at(out.len());
        let pairs = y0.chunks_exact(len).zip(y1.chunks_exact(len));
        for (i, (out, (y0, y1))) in out.chunks_exact_mut(len).zip(pairs).enumerate() {
            let mask = bit(choices, i).wrapping_neg();
            for (out, (y0, y1)) in out.iter_mut().zip(y0.iter().zip(y1)) {
                *out ^= y0 ^ ((y0 ^ y1) & mask);
            }
        }
    }
    Ok(())
}

/// Checks that `out` has one string per choice. Choices are counted in bytes: up to 7 may be unused.
fn check_strings(choices: &[u8], len: usize, out: &[u8]) -> Result<(), OtError> {
    let strings = out.len().checked_div(len).unwrap_or(0);
    check_argument("out", strings.saturating_mul(len), out.len())?;
    if len > 0 {
        check_argument("choices", strings.div_ceil(8), choices.len())?;
    }
    Ok(())
}
