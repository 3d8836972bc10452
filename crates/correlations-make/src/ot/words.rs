//! Words that products of ring elements are computed in, and elements packed bit by bit.

use madrigal_core::Ring;
use madrigal_core::packing::{BitReader, BitWriter};
use madrigal_kernels::Block;

/// Word that products are computed in: 64 bits for all rings up to that, else 128.
pub(crate) trait Word: Ring {
    fn from_block(block: Block) -> Self;
    /// The lowest `1 <= bits <= BITS` bits.
    fn low(self, bits: usize) -> Self;
    fn push(self, bits: usize, out: &mut BitWriter<'_>);
    fn pull(bits: usize, from: &mut BitReader<'_>) -> Self;
}

macro_rules! words {
    ($($word:ident, $from:expr, $push:expr, $pull:expr;)*) => {$(
        impl Word for $word {
            #[inline(always)]
            fn from_block(block: Block) -> Self {
                $from(block)
            }

            #[inline(always)]
            fn low(self, bits: usize) -> Self {
                self & ($word::MAX >> (<$word as Ring>::BITS - bits))
            }

            #[inline(always)]
            fn push(self, bits: usize, out: &mut BitWriter<'_>) {
                $push(self, bits, out);
            }

            #[inline(always)]
            fn pull(bits: usize, from: &mut BitReader<'_>) -> Self {
                $pull(bits, from)
            }
        }
    )*};
}
words! {
    u64,
        Block::lo,
        |value, bits, out: &mut BitWriter<'_>| out.push(value, bits),
        |bits, from: &mut BitReader<'_>| from.pull(bits);
    u128,
        u128::from,
        |value: u128, bits: usize, out: &mut BitWriter<'_>| {
            out.push(value as u64, bits.min(64));
            if bits > 64 {
                out.push((value >> 64) as u64, bits - 64);
            }
        },
        |bits: usize, from: &mut BitReader<'_>| {
            let low = from.pull(bits.min(64));
            let high = if bits > 64 { from.pull(bits - 64) } else { 0 };
            u128::from(low) | u128::from(high) << 64
        };
}

/// The lowest `width` bits of each value, packed; `out` has exactly the bytes for it.
pub(crate) fn pack<T: Ring>(values: &[T], width: usize, out: &mut [u8]) {
    let mut writer = BitWriter::new(out);
    for value in values {
        let value = value.to_u128().low(width);
        if T::BITS > 64 {
            value.push(width, &mut writer);
        } else {
            (value as u64).push(width, &mut writer);
        }
    }
    writer.finish();
}

/// Replaces the lowest `width` bits of each value by those that are packed in `bytes`.
pub(crate) fn unpack<T: Ring>(bytes: &[u8], width: usize, values: &mut [T]) {
    let mut reader = BitReader::new(bytes);
    for value in values {
        let old = value.to_u128();
        let low = if T::BITS > 64 {
            u128::pull(width, &mut reader)
        } else {
            u64::pull(width, &mut reader).into()
        };
        *value = T::from_u128(old ^ old.low(width) | low);
    }
}

pub(crate) fn wide<T: Ring, W: Word>(value: T) -> W {
    W::from_u128(value.to_u128())
}

pub(crate) fn narrow<T: Ring, W: Word>(value: W) -> T {
    T::from_u128(value.to_u128())
}
