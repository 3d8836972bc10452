//! Kernels that the levels with vectors share, written once, as macros over a vector type and its
//! instructions, because `#[target_feature]` takes no generic argument.

pub(crate) mod bmr;
pub(crate) mod choice;
pub(crate) mod crc;
pub(crate) mod fold;
pub(crate) mod garble;
pub(crate) mod ggm;
pub(crate) mod loops;
pub(crate) mod modes;
pub(crate) mod three;
pub(crate) mod unpack;

/// Defines the functions of one level that stand for a few instructions and are compiled into their callers.
macro_rules! instructions {
    ($features:literal; $(
        $(#[$doc:meta])*
        $vis:vis fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $body:expr;
    )*) => { $(
        $(#[$doc])*
        #[inline]
        #[target_feature(enable = $features)]
        $vis fn $name($($argument: $type),*) $(-> $result)? {
            $body
        }
    )* };
}
pub(crate) use instructions;

/// Defines `hold` for one level, whose vectors are in registers of the class `$register`.
macro_rules! hold {
    ($features:literal, $template:literal, $register:ident) => {
        /// Gives the same vector, which the compiler must have in a register here: it would otherwise take states
        /// that are meant to be in flight together one after the other.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn hold(x: Vector) -> Vector {
            let mut x = x;
            // SAFETY: there is no instruction; the register keeps what it holds, and nothing else is touched,
            // as the options say.
            unsafe {
                core::arch::asm!($template, inout($register) x, options(nomem, nostack, preserves_flags));
            }
            x
        }
    };
}
pub(crate) use hold;

/// Defines the kernels that every level has with its own instructions. What fills no vector is left to the module
/// `$single`, of one block for each vector; `$words` multiplies matrices of 64 bits. A level beside it expands
/// [`lpn`](loops::lpn) and has `transpose_strip` and `expand_key`.
macro_rules! level {
    ($features:literal, $single:ident, $words:path) => {
        use zeroize::Zeroize;

        use crate::block::{Block, RoundKeys, blocks_as_bytes, blocks_as_bytes_mut};
        use crate::fold::LastKeys;

        crate::vector::modes::modes!($features, $single);
        crate::vector::crc::crc!($features, $single);
        crate::vector::fold::fold!($features);
        crate::vector::garble::garble!($features, $single);
        crate::vector::three::three!($features, $single);
        crate::vector::bmr::bmr!($features, $single);
        crate::vector::ggm::ggm!($features);
        crate::vector::loops::rows!($features);
        crate::vector::loops::rings!($features, $words);
    };
}
pub(crate) use level;
