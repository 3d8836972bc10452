//! Reads that duplicate parts of a vector on the way, which takes no more than reading. From their intrinsics the compiler
//! makes a read and a shuffle.

/// Defines `low_words` and `high_words`, the lower and the upper halves of the 64-bit words, twice each, and `low_twice`, the
/// low 64 bits of each block, twice, for vectors of a number of bytes, as memory and registers of them are named.
macro_rules! reads {
    ($features:literal, $bytes:literal, $memory:literal, $register:ident) => {
        reads!(low_words, "vmovsldup", $features, $bytes, $memory, $register);
        reads!(high_words, "vmovshdup", $features, $bytes, $memory, $register);
        reads!(low_twice, "vmovddup", $features, $bytes, $memory, $register);
    };
    ($name:ident, $instruction:literal, $features:literal, $bytes:literal, $memory:literal, $register:ident) => {
        #[inline]
        #[target_feature(enable = $features)]
        fn $name(x: &[u8; $bytes]) -> Vector {
            let out;
            // SAFETY: the instruction reads the bytes of the reference, at any alignment, and writes one register.
            unsafe {
                core::arch::asm!(
                    concat!($instruction, " {0}, ", $memory, " ptr [{1}]"),
                    lateout($register) out, in(reg) x.as_ptr(),
                    options(pure, readonly, nostack, preserves_flags)
                );
            }
            out
        }
    };
}
pub(super) use reads;
