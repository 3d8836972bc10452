//! Precomputed OTs (Beaver; MOTION 5.1 and 5.1.3): random OTs made with random choices r
//! ahead of time, switched to the real choices c when these are known.
//!
//! The receiver sends p = r ^ c, the sender swaps the two masks where p is 1, and from there on
//! the OT runs as if made with c; the receiver's mask k_r is the one of the new choice without
//! any work. p is a one-time pad of c, so r must be uniform and used once.

use madrigal_core::Ring;
use madrigal_kernels::{Block, xor};

use crate::{
    OtError,
    error::{Message, check_argument, check_bit_message, check_message},
    select::{bit, bit_mask, clear_padding},
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

/// Precomputed XOR-correlated OT of strings in one round (MOTION 5.1.3), sender: the output of strings of `len` bytes.
///
/// The sender sends what [`sender_correlated_strings`](super::sender_correlated_strings) gives without waiting for p, which
/// only tells which of the two masks is its output x. Turns `k0` into x. The receiver takes x ^ c a with
/// [`receiver_correlated_strings`](super::receiver_correlated_strings) and the choices c that it wanted.
///
/// # Errors
/// [`OtError::MessageLength`] or [`OtError::Padding`] for the message p, [`OtError::ArgumentLength`] if the lengths of
/// `k0` and `k1` differ or are not of strings of `len` bytes.
pub fn sender_precomputed_correlated_strings(
    flips: &[u8],
    len: usize,
    k0: &mut [u8],
    k1: &[u8],
) -> Result<(), OtError> {
    let m = k0.len().checked_div(len).unwrap_or(0);
    check_argument("k0", m.saturating_mul(len), k0.len())?;
    check_argument("k1", k0.len(), k1.len())?;
    check_bit_message(Message::ChoiceFlips, flips, m)?;
    let pairs = k0
        .chunks_exact_mut(len.max(1))
        .zip(k1.chunks_exact(len.max(1)));
    for (i, (k0, k1)) in pairs.enumerate() {
        let mask = bit(flips, i).wrapping_neg();
        for (k0, k1) in k0.iter_mut().zip(k1) {
            *k0 ^= (*k0 ^ k1) & mask;
        }
    }
    Ok(())
}

/// Precomputed additively correlated OT in one round (MOTION 5.1.3), sender: the message for correlations a, `each`
/// elements per OT, little-endian as the masks are.
///
/// The paper's y = k0 + a - k1 becomes k1 + a - k0 where the masks are swapped: unlike with XOR it depends on p. So here
/// y = k0 + k1 + a. Whoever knows k_r has y - k_r = k_{1-r} + a, and a is hidden by the other mask. With x = k_p the
/// receiver has x = k_r if its choice c is 0, since then p = r, and x + a = y - k_r if c is 1.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths do not fit the number of correlations.
pub fn sender_precomputed_additive<T: Ring>(
    correlation: &[T],
    k0: &[u8],
    k1: &[u8],
) -> Result<Vec<u8>, OtError> {
    let bytes = correlation.len().saturating_mul(T::BYTES);
    check_argument("k0", bytes, k0.len())?;
    check_argument("k1", bytes, k1.len())?;
    let mut message = vec![0; bytes];
    let masks = k0.chunks_exact(T::BYTES).zip(k1.chunks_exact(T::BYTES));
    let outputs = message.chunks_exact_mut(T::BYTES).zip(correlation);
    for ((k0, k1), (y, a)) in masks.zip(outputs) {
        T::read(k0).add(T::read(k1)).add(*a).write(y);
    }
    Ok(message)
}

/// Precomputed additively correlated OT, sender: writes x, `each` elements per OT, once the receiver's message p is there.
///
/// # Errors
/// [`OtError::MessageLength`] or [`OtError::Padding`] for the message, [`OtError::ArgumentLength`] if `x` has not `each`
/// elements per OT, or if `k0` or `k1` do not fit it.
pub fn sender_precomputed_additive_shares<T: Ring>(
    flips: &[u8],
    each: usize,
    k0: &[u8],
    k1: &[u8],
    x: &mut [T],
) -> Result<(), OtError> {
    let (bytes, m) = (x.len().saturating_mul(T::BYTES), ots("x", each, x.len())?);
    check_argument("k0", bytes, k0.len())?;
    check_argument("k1", bytes, k1.len())?;
    check_bit_message(Message::ChoiceFlips, flips, m)?;
    let masks = k0.chunks_exact(T::BYTES).zip(k1.chunks_exact(T::BYTES));
    for (i, (x, (k0, k1))) in x.iter_mut().zip(masks).enumerate() {
        let p = T::from_u128(bit(flips, i / each).into());
        let k0 = T::read(k0);
        *x = k0.add(T::read(k1).sub(k0).mul(p));
    }
    Ok(())
}

/// Precomputed additively correlated OT, receiver: writes x + c a for the choices c that it wanted, `each` elements per
/// OT. Takes its masks `k` and the sender's message.
///
/// # Errors
/// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] if `out` has not `each` elements per OT, or
/// if `k` or `choices` do not fit it.
pub fn receiver_precomputed_additive<T: Ring>(
    choices: &[u8],
    each: usize,
    corrections: &[u8],
    k: &[u8],
    out: &mut [T],
) -> Result<(), OtError> {
    let (bytes, m) = (
        out.len().saturating_mul(T::BYTES),
        ots("out", each, out.len())?,
    );
    check_argument("choices", m.div_ceil(8), choices.len())?;
    check_argument("k", bytes, k.len())?;
    check_message(Message::Corrections, corrections, bytes)?;
    let values = k
        .chunks_exact(T::BYTES)
        .zip(corrections.chunks_exact(T::BYTES));
    for (i, (out, (k, y))) in out.iter_mut().zip(values).enumerate() {
        let c = T::from_u128(bit(choices, i / each).into());
        let k = T::read(k);
        // y - k if c is 1.
        *out = k.add(T::read(y).sub(k.shl(1)).mul(c));
    }
    Ok(())
}

/// Number of OTs of `each` elements that `elements` elements are for.
fn ots(what: &'static str, each: usize, elements: usize) -> Result<usize, OtError> {
    let m = elements.checked_div(each).unwrap_or(0);
    check_argument(what, m.saturating_mul(each), elements)?;
    Ok(m)
}

#[cfg(test)]
mod tests {
    use madrigal_core::Zeroizing;
    use madrigal_kernels::Prg;

    use super::*;
    use crate::flavour::{receiver_correlated_strings, sender_correlated_strings};

    /// Bytes of a generator.
    fn bytes(prg: &mut Prg, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        prg.fill(&mut bytes);
        bytes
    }

    /// Choices and flips of `m` OTs in which all four cases come, with the masks that the receiver has.
    fn chosen(m: usize, len: usize, k: [&[u8]; 2]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        let (mut random, mut wanted) = (vec![0; m.div_ceil(8)], vec![0; m.div_ceil(8)]);
        let mut known = Vec::new();
        for i in 0..m {
            random[i / 8] |= ((i & 1) as u8) << (i % 8);
            wanted[i / 8] |= ((i >> 1 & 1) as u8) << (i % 8);
            known.extend_from_slice(&k[i & 1][i * len..(i + 1) * len]);
        }
        let flips = choice_flips(m, &random, &wanted).unwrap_or_default();
        (wanted, flips, known)
    }

    fn additive<T: Ring>(m: usize, each: usize) -> Result<(), OtError> {
        let mut prg = Prg::new(Block::new(m as u64, each as u64));
        let len = each * T::BYTES;
        let [k0, k1, a] = [(); 3].map(|()| bytes(&mut prg, m * len));
        let a: Vec<T> = a.chunks_exact(T::BYTES).map(T::read).collect();
        let (wanted, flips, known) = chosen(m, len, [&k0, &k1]);
        let message = sender_precomputed_additive(&a, &k0, &k1)?;
        let (mut x, mut z) = (vec![T::ZERO; a.len()], vec![T::ZERO; a.len()]);
        sender_precomputed_additive_shares(&flips, each, &k0, &k1, &mut x)?;
        receiver_precomputed_additive(&wanted, each, &message, &known, &mut z)?;
        for (i, a) in a.iter().enumerate() {
            let c = T::from_u128(bit(&wanted, i / each).into());
            assert_eq!(z[i], x[i].add(a.mul(c)), "element {i} of {m} OTs of {each}");
        }
        // A message that is too short, and one with padding, are the peer's fault.
        let short = &message[..message.len() - 1];
        assert!(receiver_precomputed_additive(&wanted, each, short, &known, &mut z).is_err());
        let mut padded = flips.clone();
        padded[m / 8] |= 0x80;
        let refused = sender_precomputed_additive_shares(&padded, each, &k0, &k1, &mut x);
        assert_eq!(refused.is_err(), !m.is_multiple_of(8));
        Ok(())
    }

    #[test]
    fn additive_ots_of_every_width() -> Result<(), OtError> {
        for (m, each) in [(1, 1), (13, 1), (29, 3)] {
            additive::<u8>(m, each)?;
            additive::<u16>(m, each)?;
            additive::<u32>(m, each)?;
            additive::<u64>(m, each)?;
            additive::<u128>(m, each)?;
        }
        Ok(())
    }

    #[test]
    fn ots_of_strings() -> Result<(), OtError> {
        for (m, len) in [(1, 2), (13, 7), (29, 64)] {
            let mut prg = Prg::new(Block::new(m as u64, len as u64));
            let [mut k0, k1, a] = [(); 3].map(|()| bytes(&mut prg, m * len));
            let (wanted, flips, mut z) = chosen(m, len, [&k0, &k1]);
            let message = sender_correlated_strings(&a, &k0, Zeroizing::new(k1.clone()))?;
            sender_precomputed_correlated_strings(&flips, len, &mut k0, &k1)?;
            receiver_correlated_strings(&wanted, len, &message, &mut z)?;
            for (i, (x, a)) in k0.iter().zip(&a).enumerate() {
                let c = bit(&wanted, i / len).wrapping_neg();
                assert_eq!(z[i], x ^ (a & c), "byte {i} of {m} OTs of {len}");
            }
            // Strings that are cut off.
            let cut = sender_precomputed_correlated_strings(&flips, len, &mut k0[1..], &k1[1..]);
            assert!(cut.is_err(), "{m} OTs of {len}");
        }
        Ok(())
    }
}
