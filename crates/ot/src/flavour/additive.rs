//! Additively correlated OTs over the rings of integers modulo 2^8, 2^16, 2^32, 2^64, 2^128, with
//! one value per OT or a vector of them (MOTION 5.1.3, 5.2.1).
//!
//! For correlations a the sender gets random x, the receiver x + r a. From random strings k0, k1,
//! read as vectors of ring elements, little-endian: x = k0, the message is y = k0 + a - k1, and the
//! receiver adds r y to its k_r.
//!
//! A vector serves matrix products: one choice bit, one extension row and one hash for a whole row
//! of products with the same bit.

use madrigal_core::{Ring, Zeroizing};

use crate::{
    OtError,
    error::{Message, check_argument, check_message},
    select::bit,
};

/// Additively correlated OT, sender: writes x and returns the message, as long as the strings
/// together.
///
/// Takes the outcome of [`sender_random_strings`](super::sender_random_strings) for strings of as
/// many elements as each OT has correlations; `correlation` and `x` have the elements of all OTs
/// side by side.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths do not fit the number of correlations.
pub fn sender_additive<T: Ring>(
    correlation: &[T],
    k0: Zeroizing<Vec<u8>>,
    k1: Zeroizing<Vec<u8>>,
    x: &mut [T],
) -> Result<Vec<u8>, OtError> {
    let bytes = correlation.len().saturating_mul(T::BYTES);
    check_argument("k0", bytes, k0.len())?;
    check_argument("k1", bytes, k1.len())?;
    check_argument("x", correlation.len(), x.len())?;
    let mut message = vec![0; bytes];
    let masks = k0.chunks_exact(T::BYTES).zip(k1.chunks_exact(T::BYTES));
    let outputs = message.chunks_exact_mut(T::BYTES).zip(x);
    for (((k0, k1), (y, x)), a) in masks.zip(outputs).zip(correlation) {
        *x = T::read(k0);
        x.add(*a).sub(T::read(k1)).write(y);
    }
    Ok(message)
}

/// Additively correlated OT, receiver: writes x + r a, `each` elements per OT.
///
/// Takes the outcome of [`receiver_random_strings`](super::receiver_random_strings) for strings of
/// `each` elements. `corrections` is the sender's message.
///
/// # Errors
/// [`OtError::MessageLength`] for the message, [`OtError::ArgumentLength`] if `out` has not `each`
/// elements per OT, or if `k` or `choices` do not fit it.
pub fn receiver_additive<T: Ring>(
    choices: &[u8],
    each: usize,
    corrections: &[u8],
    k: Zeroizing<Vec<u8>>,
    out: &mut [T],
) -> Result<(), OtError> {
    let bytes = out.len().saturating_mul(T::BYTES);
    let ots = out.len().checked_div(each).unwrap_or(0);
    check_argument("out", ots.saturating_mul(each), out.len())?;
    check_argument("choices", ots.div_ceil(8), choices.len())?;
    check_argument("k", bytes, k.len())?;
    check_message(Message::Corrections, corrections, bytes)?;
    if out.is_empty() {
        return Ok(());
    }
    let masks = k.chunks_exact(each * T::BYTES);
    let values = masks.zip(corrections.chunks_exact(each * T::BYTES));
    for (i, (out, (k, y))) in out.chunks_exact_mut(each).zip(values).enumerate() {
        let choice = T::from_u128(bit(choices, i).into()).spread(0);
        let pairs = k.chunks_exact(T::BYTES).zip(y.chunks_exact(T::BYTES));
        for (out, (k, y)) in out.iter_mut().zip(pairs) {
            *out = T::read(k).add(T::read(y).and(choice));
        }
    }
    Ok(())
}
