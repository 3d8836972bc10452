//! Kinds of OTs: what sender and receiver make of an extension's rows, as strings of bytes.

use madrigal_core::{Ring, Zeroizing};
use madrigal_kernels::{Block, xor_into};
use madrigal_ot::{Delta, OtError, Tweaks, flavour};
use rand_core::Rng as _;

use super::bench::{CALL, rng};
use crate::exit::Result;

/// Kind of an OT, by what it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// One of two chosen strings of 1 or 128 bits.
    Chosen(u32),
    /// One of two random strings.
    Random(u32),
    /// One of two strings whose XOR the sender chooses.
    Xor(u32),
    /// One of two numbers whose difference the sender chooses, of 8, 16, 32 or 64 bits.
    Additive(u32),
}

/// Strings of all OTs of a call, one after the other; bits are packed.
pub type Bytes = Zeroizing<Vec<u8>>;

impl Flavour {
    /// Bits of a string.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Chosen(bits) | Self::Random(bits) | Self::Xor(bits) | Self::Additive(bits) => {
                bits
            }
        }
    }

    /// Bytes of the strings of `m` OTs; bits are packed.
    pub const fn bytes(self, m: usize) -> usize {
        (m * self.bits() as usize).div_ceil(8)
    }

    /// Length of the sender's message for `m` OTs.
    pub const fn message_len(self, m: usize) -> usize {
        match self {
            Self::Chosen(_) => 2 * self.bytes(m),
            Self::Random(_) => 0,
            Self::Xor(_) | Self::Additive(_) => self.bytes(m),
        }
    }

    /// Random inputs of the sender for a call.
    pub fn inputs(self) -> Result<[Bytes; 2]> {
        let mut rng = rng()?;
        let mut fill = || {
            let mut bytes = Zeroizing::new(vec![0; self.bytes(CALL)]);
            rng.fill_bytes(&mut bytes);
            bytes
        };
        Ok([fill(), fill()])
    }

    /// Masks of both strings of each OT, at the sender.
    pub fn both_masks(
        self,
        delta: &Delta,
        tweaks: Tweaks,
        rows: &[Block],
    ) -> std::result::Result<[Bytes; 2], OtError> {
        let [mut k0, mut k1] = [(); 2].map(|()| Zeroizing::new(vec![0; self.bytes(rows.len())]));
        match self.bits() {
            1 => flavour::sender_random_bits(delta, tweaks, rows, &mut k0, &mut k1)?,
            bits => {
                let len = bits as usize / 8;
                flavour::sender_random_strings(delta, tweaks, rows, len, &mut k0, &mut k1)?;
            }
        }
        Ok([k0, k1])
    }

    /// Mask of the chosen string of each OT, at the receiver.
    pub fn one_mask(self, tweaks: Tweaks, rows: &[Block]) -> std::result::Result<Bytes, OtError> {
        let mut k = Zeroizing::new(vec![0; self.bytes(rows.len())]);
        match self.bits() {
            1 => flavour::receiver_random_bits(tweaks, rows, &mut k)?,
            bits => flavour::receiver_random_strings(tweaks, rows, bits as usize / 8, &mut k)?,
        }
        Ok(k)
    }

    /// The sender's message, and the strings of each OT.
    pub fn made(
        self,
        m: usize,
        inputs: &mut [Bytes; 2],
        [k0, k1]: [Bytes; 2],
    ) -> std::result::Result<(Option<Vec<u8>>, [Bytes; 2]), OtError> {
        let bytes = self.bytes(m);
        let [x0, x1] = inputs.each_ref().map(|input| &input[..bytes]);
        let copied = |x: &[u8]| Zeroizing::new(x.to_vec());
        Ok(match self {
            Self::Random(_) => (None, [k0, k1]),
            // Packed bits are masked as strings are: one string of all.
            Self::Chosen(_) => {
                let message = flavour::sender_chosen_strings(x0, x1, k0, k1)?;
                (Some(message), [copied(x0), copied(x1)])
            }
            Self::Xor(_) => {
                let message = flavour::sender_correlated_strings(x0, &k0, k1)?;
                let mut other = copied(&k0);
                xor_into(&mut other, x0);
                (Some(message), [k0, other])
            }
            Self::Additive(8) => additive::<u8>(x0, k0, k1)?,
            Self::Additive(16) => additive::<u16>(x0, k0, k1)?,
            Self::Additive(32) => additive::<u32>(x0, k0, k1)?,
            Self::Additive(_) => additive::<u64>(x0, k0, k1)?,
        })
    }

    /// The receiver's strings.
    pub fn chosen(
        self,
        m: usize,
        choices: &[u8],
        message: Option<&[u8]>,
        mut k: Bytes,
    ) -> std::result::Result<Bytes, OtError> {
        let message = message.unwrap_or_default();
        let len = self.bits() as usize / 8;
        match self {
            Self::Random(_) => {}
            Self::Chosen(1) => {
                let (y0, y1) = message.split_at(self.bytes(m));
                for (at, k) in k.iter_mut().enumerate() {
                    *k ^= y0[at] ^ ((y0[at] ^ y1[at]) & choices[at]);
                }
            }
            Self::Xor(1) => flavour::receiver_correlated_bits(m, choices, message, &mut k)?,
            Self::Chosen(_) => flavour::receiver_chosen_strings(choices, len, message, &mut k)?,
            Self::Xor(_) => flavour::receiver_correlated_strings(choices, len, message, &mut k)?,
            Self::Additive(8) => return chosen_additive::<u8>(choices, message, k),
            Self::Additive(16) => return chosen_additive::<u16>(choices, message, k),
            Self::Additive(32) => return chosen_additive::<u32>(choices, message, k),
            Self::Additive(_) => return chosen_additive::<u64>(choices, message, k),
        }
        Ok(k)
    }
}

type Made = (Option<Vec<u8>>, [Bytes; 2]);

fn elements<T: Ring>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(T::BYTES).map(T::read).collect()
}

fn bytes_of<T: Ring>(elements: &[T]) -> Bytes {
    let mut bytes = Zeroizing::new(vec![0; elements.len() * T::BYTES]);
    let places = bytes.chunks_exact_mut(T::BYTES).zip(elements);
    places.for_each(|(place, element)| element.write(place));
    bytes
}

fn additive<T: Ring>(
    correlation: &[u8],
    k0: Bytes,
    k1: Bytes,
) -> std::result::Result<Made, OtError> {
    let correlation = elements::<T>(correlation);
    let mut x0 = vec![T::ZERO; correlation.len()];
    let message = flavour::sender_additive(&correlation, k0, k1, &mut x0)?;
    let x1: Vec<T> = x0
        .iter()
        .zip(&correlation)
        .map(|(x, a)| x.add(*a))
        .collect();
    Ok((Some(message), [bytes_of(&x0), bytes_of(&x1)]))
}

fn chosen_additive<T: Ring>(
    choices: &[u8],
    message: &[u8],
    k: Bytes,
) -> std::result::Result<Bytes, OtError> {
    let mut out = vec![T::ZERO; k.len() / T::BYTES];
    flavour::receiver_additive(choices, 1, message, k, &mut out)?;
    Ok(bytes_of(&out))
}
