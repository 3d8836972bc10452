//! Memory for secrets, wiped when it is dropped.
//!
//! zeroize writes each element by itself, bytes one at a time: strings of shares took a sixth of the time of
//! Boolean GMW's online phase to wipe. Here memory is filled at once, and zeroize's barrier keeps the
//! compiler from leaving that out.

use std::fmt;
use std::ops::{Deref, DerefMut};

use zeroize::optimization_barrier;

/// A value without pointers, padding or drop, that may be overwritten.
pub trait Plain: Copy {
    /// Value that overwrites it.
    const WIPED: Self;
}

macro_rules! plain {
    ($($integer:ident)*) => {$(
        impl Plain for $integer {
            const WIPED: Self = 0;
        }
    )*};
}
plain!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl<T: Plain, const N: usize> Plain for [T; N] {
    const WIPED: Self = [T::WIPED; N];
}

/// Can be overwritten so that nothing of it stays in memory.
pub trait Wipe {
    /// Overwrites it. Vectors and strings are empty afterwards, and have their capacity overwritten too.
    fn wipe(&mut self);
}

impl<T: Plain> Wipe for T {
    fn wipe(&mut self) {
        *self = T::WIPED;
        optimization_barrier(self);
    }
}

impl<T: Plain> Wipe for [T] {
    fn wipe(&mut self) {
        self.fill(T::WIPED);
        optimization_barrier(self);
    }
}

impl<T: Plain> Wipe for Vec<T> {
    fn wipe(&mut self) {
        self.clear();
        // All there is room for: nothing is allocated.
        self.resize(self.capacity(), T::WIPED);
        optimization_barrier(self.as_slice());
        self.clear();
    }
}

impl Wipe for String {
    fn wipe(&mut self) {
        std::mem::take(self).into_bytes().wipe();
    }
}

/// A wrapper whose value is wiped when it is dropped and not shown by `Debug`. A vector that grows leaves what
/// it had in freed memory: make it as long as it will be.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Zeroizing<Z: Wipe>(Z);

impl<Z: Wipe> Zeroizing<Z> {
    /// Takes a value.
    #[inline(always)]
    pub fn new(value: Z) -> Self {
        Self(value)
    }
}

impl<T: Plain> Zeroizing<Vec<T>> {
    /// Makes `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self(vec![T::WIPED; len])
    }
}

impl<Z: Wipe> From<Z> for Zeroizing<Z> {
    fn from(value: Z) -> Self {
        Self(value)
    }
}

impl<Z: Wipe> Deref for Zeroizing<Z> {
    type Target = Z;

    #[inline(always)]
    fn deref(&self) -> &Z {
        &self.0
    }
}

impl<Z: Wipe> DerefMut for Zeroizing<Z> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Z {
        &mut self.0
    }
}

impl<T: ?Sized, Z: Wipe + AsRef<T>> AsRef<T> for Zeroizing<Z> {
    fn as_ref(&self) -> &T {
        self.0.as_ref()
    }
}

/// Implements [`Debug`](fmt::Debug) for types that hold secrets: it shows the name of the type alone.
#[macro_export]
macro_rules! opaque {
    ($name:ident $(<$life:lifetime>)?) => {
        impl core::fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    };
}

impl<Z: Wipe> fmt::Debug for Zeroizing<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Zeroizing(..)")
    }
}

impl<Z: Wipe> Drop for Zeroizing<Z> {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_a_vector_has_room_for_is_overwritten() {
        let mut vector = Vec::with_capacity(100);
        vector.extend(1..=60u16);
        vector.truncate(20);
        vector.wipe();
        assert!(vector.is_empty() && vector.capacity() >= 100);
        vector.resize(100, 7);
        vector[..].wipe();
        assert_eq!(vector, [0; 100]);
    }

    #[test]
    fn values_and_strings() {
        let mut blocks = [[1u64, 2], [3, 4]];
        blocks.wipe();
        assert_eq!(blocks, [[0; 2]; 2]);
        let mut text = "secret".to_owned();
        text.wipe();
        assert_eq!(text, "");
    }

    #[test]
    fn debug_shows_nothing() {
        let held = Zeroizing::new(vec![77u8]);
        assert_eq!(format!("{held:?}"), "Zeroizing(..)");
        assert_eq!(held.clone(), held);
    }
}
