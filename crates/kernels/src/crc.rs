//! CRC-32, the checksum of gzip and of Ethernet frames, in time that depends on the message's length
//! alone. Code that computes it before a message is encrypted must not look tables up by the bytes, as is
//! usual.
//!
//! A message is a polynomial over the field of two elements, its first bit the highest coefficient,
//! and the checksum is its remainder by a polynomial P of degree 32. A block of 128 bits that stands
//! D bits before another is worth the same as its two halves times x^(D + 64) and x^D mod P, added to
//! that other: carry-less products, by which a message of any length *folds* into one block. Source:
//! Gopal, Ozturk, Guilford, Wolrich, Feghali, Dixon and Karakoyunlu, "Fast CRC Computation for Generic
//! Polynomials Using PCLMULQDQ Instruction" (Intel, 2009). There, what fills no block is looked up at
//! the end; here it comes first, after zeros, which change no remainder.
//!
//! # Conventions
//! The lowest bit of a byte is the highest coefficient, so everything is *reflected*: bit `i` of a
//! word of `w` bits is the coefficient of x^(w - 1 - i). The product of two reflected words of 64 bits
//! is one bit short of 128: read as a reflected word of 128 bits it is x times the product. The
//! constants make up for that.

use crate::Kernels;
use crate::dispatch::dispatch;

mod factors;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use factors::factors_to_last;
pub(crate) use factors::{factors, reduce};

/// The checksum of a message that comes in pieces: CRC-32 as in IEEE 802.3, gzip and PNG.
///
/// It has no `Debug`, since it tells something of the message.
#[derive(Clone)]
pub struct Crc32 {
    kernels: Kernels,
    /// The remainder so far, the message begun with 32 ones added to it.
    register: u32,
}

impl Kernels {
    /// [`Crc32::new`], run at this handle's level.
    #[must_use]
    pub fn crc32(self) -> Crc32 {
        Crc32 {
            kernels: self,
            register: u32::MAX,
        }
    }
}

impl Default for Crc32 {
    fn default() -> Self {
        Self::new()
    }
}

impl Crc32 {
    /// Starts the checksum: that of the empty message.
    #[must_use]
    pub fn new() -> Self {
        Kernels::detect().crc32()
    }

    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        // Bytes that fill no block come first. The register is added to the 32 bits that come next.
        let (first, blocks) = bytes.split_at(bytes.len() % 16);
        let [free, taken] = [128 - 8 * first.len(), 8 * first.len()].map(|bits| bits as u32);
        let lead = last_of_block(first) ^ u128::from(self.register).unbounded_shl(free);
        let spill = self.register.unbounded_shr(taken);
        let (blocks, _) = blocks.as_chunks();
        self.register = dispatch!(self.kernels, crc32(lead, spill, blocks));
    }

    /// The checksum.
    #[must_use]
    pub fn value(&self) -> u32 {
        !self.register
    }
}

/// A block that ends with these fewer than 16 bytes, after zeros. Not by a loop: what one writes byte by
/// byte the processor cannot soon read as a block.
fn last_of_block(bytes: &[u8]) -> u128 {
    let place = 128_u32.wrapping_sub(8 * bytes.len() as u32);
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        u128::from(first) << place | u128::from(last) << 64
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        u128::from(first) << place | u128::from(last) << 96
    } else {
        let bytes = bytes.iter().rev();
        bytes
            .fold(0, |word, &byte| word << 8 | u128::from(byte))
            .unbounded_shl(place)
    }
}
