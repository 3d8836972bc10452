//! A veil before the optimiser.

/// Gives the same value, of which the optimiser knows nothing: neither that it is but 0 or 1, nor that
/// it does not change. A result that is computed from a secret bit through this stays arithmetic.
///
/// Without it `y & (bit & 1).wrapping_neg()` may become a branch: the compiler knows that such a mask
/// has two values, and where it is the same for a whole inner loop makes two loops of it. This
/// costs no instruction where there is inline assembly for the processor.
#[inline(always)]
#[must_use]
pub fn opaque(value: u8) -> u8 {
    opaque_word(u64::from(value)) as u8
}

/// [`opaque`] for a word, such as a mask.
#[inline(always)]
#[must_use]
pub fn opaque_word(value: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut word = value;
        // SAFETY: there is no instruction; the register keeps what it holds, and nothing else is
        // touched, as the options say.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags));
        }
        word
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    core::hint::black_box(value)
}

/// Gives the same reference, of which the optimiser does not know that it is: what was read through the other
/// is read again rather than kept in registers that there are not.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[allow(
    clippy::pointers_in_nomem_asm_block,
    reason = "nothing is read or written through it there"
)]
#[inline(always)]
pub(crate) fn again<T>(x: &T) -> &T {
    let mut place = core::ptr::from_ref(x);
    // SAFETY: there is no instruction; the register keeps what it holds, and nothing else is touched,
    // as the options say. It is not `pure`: that would let all of a loop be one before it.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) place, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: `place` is still where `x` points to, and the result lives no longer than `x`.
    unsafe { &*place }
}

/// [`again`] for what has been written through another reference, and waits in memory meanwhile: it is read from
/// there.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(crate) fn written<T>(x: &T) -> &T {
    let mut place = core::ptr::from_ref(x);
    // SAFETY: there is no instruction: nothing is read or written, and the register keeps what it holds. For all
    // that the optimiser knows memory is, so that what is in registers for it goes there before.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) place, options(nostack, preserves_flags));
    }
    // SAFETY: `place` is still where `x` points to, and the result lives no longer than `x`.
    unsafe { &*place }
}
