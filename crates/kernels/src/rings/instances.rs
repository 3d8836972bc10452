//! The ring kernels for each of the five rings, compiled once, in this crate. Were they generic down to
//! the vectors, every crate that calls one would have it compiled again for all levels, with what
//! optimisation and what inlining that crate happens to get.

use core::mem::{ManuallyDrop, transmute_copy};

/// Defines a module for each ring that has all kernels; in it, `T` is that ring.
macro_rules! instances {
    ($(fn $kernel:ident($($argument:ident: $type:ty),*);)*) => {
        instances! {@ring bits_8 u8 $($kernel($($argument: $type),*))*}
        instances! {@ring bits_16 u16 $($kernel($($argument: $type),*))*}
        instances! {@ring bits_32 u32 $($kernel($($argument: $type),*))*}
        instances! {@ring bits_64 u64 $($kernel($($argument: $type),*))*}
        instances! {@ring bits_128 u128 $($kernel($($argument: $type),*))*}
    };
    (@ring $module:ident $ring:ident $($kernel:ident($($argument:ident: $type:ty),*))*) => {
        mod $module {
            use super::*;
            use $crate::dispatch::dispatch;

            type T = $ring;

            $(
                pub(in crate::rings) fn $kernel(kernels: Kernels, $($argument: $type),*) {
                    dispatch!(kernels, $kernel::<T>($($argument),*));
                }
            )*
        }
    };
}

pub(super) use instances;

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
            $crate::rings::$module::$kernel(
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
