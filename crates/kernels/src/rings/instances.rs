//! The ring kernels for each of the five rings, compiled once, in this crate. Were they generic down to
//! the vectors, every crate that calls one would have it compiled again for all levels, with what
//! optimisation and what inlining that crate happens to get.

use core::mem::{ManuallyDrop, transmute_copy};

use super::masks::Masks;
use crate::Kernels;
use crate::dispatch::dispatch;

/// Defines a module for each ring that has all kernels; in it, `T` is that ring.
macro_rules! instances {
    ($(fn $kernel:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        instances! {@ring bits_8 u8 $($kernel($($argument: $type),*))*}
        instances! {@ring bits_16 u16 $($kernel($($argument: $type),*))*}
        instances! {@ring bits_32 u32 $($kernel($($argument: $type),*))*}
        instances! {@ring bits_64 u64 $($kernel($($argument: $type),*))*}
        instances! {@ring bits_128 u128 $($kernel($($argument: $type),*))*}
    };
    (@ring $module:ident $ring:ident $($kernel:ident($($argument:ident: $type:ty),*))*) => {
        pub(super) mod $module {
            use super::*;

            type T = $ring;

            $(
                pub(in crate::rings) fn $kernel(kernels: Kernels, $($argument: $type),*) {
                    dispatch!(kernels, $kernel::<T>($($argument),*));
                }
            )*
        }
    };
}

instances! {
    fn multiply_add(x: &[T], y: &[T], z: &mut [T], inner: usize, columns: usize);
    fn add_into(z: &mut [T], x: &[T]);
    fn sub_into(z: &mut [T], x: &[T]);
    fn mul_into(z: &mut [T], x: &[T]);
    fn replicated_products(x: [&[T]; 2], y: [&[T]; 2], minus: &[T], z: &mut [T]);
    fn replicated_dots(x: [&[T]; 2], y: [&[T]; 2], length: usize, z: &mut [T]);
    fn unpack_bits(bits: &[u8], z: &mut [T]);
    fn pack_bits(x: &[T], bits: &mut [u8]);
    fn beaver_products(z: &mut [T], triples: [&[T]; 3], opened: [&[T]; 2], leader: bool);
    fn beaver_squares(z: &mut [T], pairs: [&[T]; 2], opened: &[T], leader: bool);
    fn beaver_dots(
        z: &mut [T],
        triples: [&[T]; 3],
        opened: [&[T]; 2],
        length: usize,
        leader: bool,
    );
    fn add_flipped(z: &mut [T], r: &[T], bits: &[u8], one: T, up: usize);
    fn flip_from(z: &mut [T], x: &[T], bits: &[u8]);
    fn add_strings(z: &mut [u8], x: &[u8]);
    fn add_shifted(z: &mut [T], h: &[u8], down: usize, up: usize);
    fn offer_strings(y: &[T], z: &mut [T], masks: Masks<'_>, bit: usize, out: &mut [u8]);
    fn correct_strings(x: T, bit: usize, unit: &[u8], z: &mut [T]);
}

/// Calls a kernel for the ring that the type `$ring` is.
macro_rules! by_ring {
    ($ring:ident, $kernels:ident.$kernel:ident($($argument:expr),* $(,)?)) => {
        by_ring! {@of $ring $kernels $kernel ($($argument),*)
            8 bits_8, 16 bits_16, 32 bits_32, 64 bits_64, 128 bits_128}
    };
    (@of $ring:ident $kernels:ident $kernel:ident $arguments:tt $($bits:literal $module:ident),*) => {
        match $ring::BITS {
            $($bits => by_ring!(@call $kernels $kernel $module $arguments),)*
            bits => unreachable!("rings have 8 to 128 bits, not {bits}"),
        }
    };
    (@call $kernels:ident $kernel:ident $module:ident ($($argument:expr),*)) => {
        // SAFETY: `Ring` is sealed and has one type of each width, so `$ring` is the type that the
        // module has for T; what is given for each parameter has that parameter's type but for that.
        unsafe {
            $crate::rings::instances::$module::$kernel(
                $kernels,
                $($crate::rings::instances::same($argument)),*
            )
        }
    };
}
pub(super) use by_ring;

/// A value as what it is, for types that are the same although the compiler cannot know it.
///
/// # Safety
/// A and B are the same type, but for lifetimes; those of B do not outlive those of A.
#[inline(always)]
pub(super) unsafe fn same<A, B>(value: A) -> B {
    assert_eq!(size_of::<A>(), size_of::<B>(), "types of one size");
    let value = ManuallyDrop::new(value);
    // SAFETY: by contract B is A's type; the original is neither used nor dropped.
    unsafe { transmute_copy(&value) }
}
