//! Additively correlated OTs over the rings of integers modulo 2^8, 2^16, 2^32, 2^64, 2^128, with
//! one value per OT or a vector of them (MOTION 5.1.3, 5.2.1).
//!
//! For correlations a the sender gets random x, the receiver x + r a. From random strings k0, k1,
//! read as vectors of ring elements, little-endian: x = k0, the message is y = k0 + a - k1, and the
//! receiver adds r y to its k_r.
//!
//! A vector serves matrix products: one choice bit, one extension row and one hash for a whole row
//! of products with the same bit.

use core::fmt::Debug;

use madrigal_core::Zeroizing;

use crate::{
    OtError,
    error::{Message, check_argument, check_message},
    select::bit,
};

mod sealed {
    pub trait Sealed {}
}

/// An element of the ring of integers modulo `2^BITS`: one of the unsigned integer types.
pub trait Word: Copy + Debug + Default + PartialEq + sealed::Sealed {
    /// Width of the ring in bits.
    const BITS: usize;
    /// Bytes of an element on the wire.
    const BYTES: usize = Self::BITS / 8;

    /// The sum in the ring.
    #[must_use]
    fn add(self, other: Self) -> Self;

    /// The difference in the ring.
    #[must_use]
    fn sub(self, other: Self) -> Self;

    /// The element where the bit is 1, zero where it is 0, without a branch.
    #[must_use]
    fn times_bit(self, bit: u8) -> Self;

    /// Reads [`BYTES`](Self::BYTES) bytes, least significant first; what is missing is zero.
    fn read(bytes: &[u8]) -> Self;

    /// Writes [`BYTES`](Self::BYTES) bytes, least significant first, as far as there is room.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! word {
    ($($word:ident)*) => { $(
        impl sealed::Sealed for $word {}

        impl Word for $word {
            const BITS: usize = $word::BITS as usize;

            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline]
            fn times_bit(self, bit: u8) -> Self {
                self & $word::from(bit).wrapping_neg()
            }

            #[inline]
            fn read(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(0, |bytes| $word::from_le_bytes(*bytes))
            }

            #[inline]
            fn write(self, bytes: &mut [u8]) {
                if let Some(bytes) = bytes.first_chunk_mut() {
                    *bytes = self.to_le_bytes();
                }
            }
        }
    )* };
}

word! { u8 u16 u32 u64 u128 }

/// Additively correlated OT, sender: writes x and returns the message, as long as the strings
/// together.
///
/// Takes the outcome of [`sender_random_strings`](super::sender_random_strings) for strings of as
/// many elements as each OT has correlations; `correlation` and `x` have the elements of all OTs
/// side by side.
///
/// # Errors
/// [`OtError::ArgumentLength`] if the lengths do not fit the number of correlations.
pub fn sender_additive<W: Word>(
    correlation: &[W],
    k0: Zeroizing<Vec<u8>>,
    k1: Zeroizing<Vec<u8>>,
    x: &mut [W],
) -> Result<Vec<u8>, OtError> {
    let bytes = correlation.len().saturating_mul(W::BYTES);
    check_argument("k0", bytes, k0.len())?;
    check_argument("k1", bytes, k1.len())?;
    check_argument("x", correlation.len(), x.len())?;
    let mut message = vec![0; bytes];
    let masks = k0.chunks_exact(W::BYTES).zip(k1.chunks_exact(W::BYTES));
    let outputs = message.chunks_exact_mut(W::BYTES).zip(x);
    for (((k0, k1), (y, x)), a) in masks.zip(outputs).zip(correlation) {
        *x = W::read(k0);
        x.add(*a).sub(W::read(k1)).write(y);
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
pub fn receiver_additive<W: Word>(
    choices: &[u8],
    each: usize,
    corrections: &[u8],
    k: Zeroizing<Vec<u8>>,
    out: &mut [W],
) -> Result<(), OtError> {
    let bytes = out.len().saturating_mul(W::BYTES);
    let ots = out.len().checked_div(each).unwrap_or(0);
    check_argument("out", ots.saturating_mul(each), out.len())?;
    check_argument("choices", ots.div_ceil(8), choices.len())?;
    check_argument("k", bytes, k.len())?;
    check_message(Message::Corrections, corrections, bytes)?;
    if out.is_empty() {
        return Ok(());
    }
    let masks = k.chunks_exact(each * W::BYTES);
    let values = masks.zip(corrections.chunks_exact(each * W::BYTES));
    for (i, (out, (k, y))) in out.chunks_exact_mut(each).zip(values).enumerate() {
        let choice = bit(choices, i);
        let pairs = k.chunks_exact(W::BYTES).zip(y.chunks_exact(W::BYTES));
        for (out, (k, y)) in out.iter_mut().zip(pairs) {
            *out = W::read(k).add(W::read(y).times_bit(choice));
        }
    }
    Ok(())
}
