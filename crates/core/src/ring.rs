//! The rings Z_2^l of the arithmetic protocols, l = 8, 16, 32, 64, 128 bits: unsigned integers that
//! wrap around.

use std::fmt::Debug;

use zeroize::Zeroize;

use crate::wipe::Plain;

mod sealed {
    pub trait Sealed {}
}

/// An element of Z_2^l: `u8`, `u16`, `u32`, `u64` or `u128`.
pub trait Ring:
    sealed::Sealed + Plain + Default + Eq + Debug + Zeroize + Send + Sync + 'static
{
    /// l, in bits.
    const BITS: usize;
    /// Bytes of an element.
    const BYTES: usize = Self::BITS / 8;
    /// The neutral element of addition.
    const ZERO: Self;
    /// The neutral element of multiplication.
    const ONE: Self;

    /// `self + other` mod 2^l.
    #[must_use]
    fn add(self, other: Self) -> Self;
    /// `self - other` mod 2^l.
    #[must_use]
    fn sub(self, other: Self) -> Self;
    /// `self * other` mod 2^l.
    #[must_use]
    fn mul(self, other: Self) -> Self;
    /// `self * 2^by` mod 2^l, for `by < l`.
    #[must_use]
    fn shl(self, by: usize) -> Self;
    /// `self / 2^by`, rounded down, for `by < l`.
    #[must_use]
    fn shr(self, by: usize) -> Self;
    /// The bits that both have.
    #[must_use]
    fn and(self, other: Self) -> Self;
    /// The bits that one of the two has.
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// Bit `i < l`, as 0 or 1; without a branch.
    fn bit(self, i: usize) -> u8;
    /// All ones if bit `i < l` is set, else zero; without a branch, which the compiler would make
    /// of a mask that it knows to have two values.
    #[inline(always)]
    #[must_use]
    fn spread(self, i: usize) -> Self {
        let bit = std::hint::black_box(self.bit(i));
        Self::ZERO.sub(Self::from_u128(bit.into()))
    }
    /// The value as an integer.
    fn to_u128(self) -> u128;
    /// The integer mod 2^l.
    fn from_u128(value: u128) -> Self;
    /// Reads an element from the first [`BYTES`](Self::BYTES) of `bytes`, least significant first.
    ///
    /// # Panics
    /// If there are fewer.
    fn read(bytes: &[u8]) -> Self;
    /// Writes an element into the first [`BYTES`](Self::BYTES) of `bytes`, least significant first.
    ///
    /// # Panics
    /// If there are fewer.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! rings {
    ($($word:ident)*) => {$(
        impl sealed::Sealed for $word {}

        impl Ring for $word {
            const BITS: usize = $word::BITS as usize;
            const ZERO: Self = 0;
            const ONE: Self = 1;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn shl(self, by: usize) -> Self {
                self << by
            }

            #[inline(always)]
            fn shr(self, by: usize) -> Self {
                self >> by
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn bit(self, i: usize) -> u8 {
                (self >> i & 1) as u8
            }

            #[inline(always)]
            fn to_u128(self) -> u128 {
                self as u128
            }

            #[inline(always)]
            fn from_u128(value: u128) -> Self {
                value as $word
            }

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut word = [0; size_of::<$word>()];
                word.copy_from_slice(&bytes[..size_of::<$word>()]);
                $word::from_le_bytes(word)
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes[..size_of::<$word>()].copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
rings!(u8 u16 u32 u64 u128);

#[cfg(test)]
mod tests {
    use super::*;

    fn laws<T: Ring>() {
        let top = T::ZERO.sub(T::ONE);
        assert_eq!(top.add(T::ONE), T::ZERO);
        assert_eq!(top.mul(top), T::ONE);
        assert_eq!(top.shr(1).bit(T::BITS - 1), 0);
        assert_eq!(T::from_u128(top.to_u128()), top);
        let mut bytes = [0; 16];
        T::from_u128(0x1234_5678_9abc_def0_0fed_cba9_8765_4321).write(&mut bytes);
        assert_eq!(bytes[0], 0x21);
        assert_eq!(T::read(&bytes).to_u128() & 0xff, 0x21);
    }

    #[test]
    fn all_widths_wrap() {
        laws::<u8>();
        laws::<u16>();
        laws::<u32>();
        laws::<u64>();
        laws::<u128>();
    }
}
