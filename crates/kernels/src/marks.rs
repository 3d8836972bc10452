//! Marks for `cargo xtask secrets`: which memory is secret, and where it becomes public.
//!
//! Under Valgrind's Memcheck a secret is marked as undefined. Memcheck carries the mark, bit by bit, to
//! all that is computed from it, and reports a branch that depends on a marked bit, or an address that
//! does, with its line. It is the method of ctgrind (Langley, 2010) and of TIMECOP.
//!
//! [`secret`] stands where secrets arise: generators, keys, choices. [`public`] stands where something
//! that was computed from them is public by the protocol, with the argument beside it. Without the feature
//! `marks`, which `cargo xtask secrets` alone turns on, neither is any code; with it, they do nothing
//! unless Memcheck looks on.

/// Marks the memory of `value` as secret; not what it points to.
///
/// It is borrowed mutably so that the compiler reads it again: a copy in a register would go on unmarked.
#[inline(always)]
pub fn secret<T: ?Sized>(value: &mut T) {
    #[cfg(all(feature = "marks", target_arch = "x86_64"))]
    requests::mark(requests::MAKE_MEM_UNDEFINED, value);
    let _ = value;
}

/// Marks the memory of `value` as public; not what it points to. The caller says why it is.
#[inline(always)]
pub fn public<T: ?Sized>(value: &mut T) {
    #[cfg(all(feature = "marks", target_arch = "x86_64"))]
    requests::mark(requests::MAKE_MEM_DEFINED, value);
    let _ = value;
}

/// Counts the bits of `value`'s memory that are marked as secret. Nothing where marks have no effect: without
/// the feature, on another processor than x86-64, or where no Memcheck looks on.
#[must_use]
pub fn secret_bits<T: ?Sized>(value: &T) -> Option<usize> {
    #[cfg(all(feature = "marks", target_arch = "x86_64"))]
    let bits = requests::bits(value);
    #[cfg(not(all(feature = "marks", target_arch = "x86_64")))]
    let bits = {
        let _ = value;
        None::<Vec<u8>>
    };
    bits.map(|bits| bits.iter().map(|byte| byte.count_ones() as usize).sum())
}

/// Valgrind's client requests, by the numbers in its `memcheck.h`, which never change.
#[cfg(all(feature = "marks", target_arch = "x86_64"))]
mod requests {
    /// The first request of the tool named MC.
    const FIRST: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;
    pub(super) const MAKE_MEM_UNDEFINED: usize = FIRST + 1;
    pub(super) const MAKE_MEM_DEFINED: usize = FIRST + 2;
    const GET_VBITS: usize = FIRST + 8;
    /// Answer of `GET_VBITS` when it has written the bits.
    const WRITTEN: usize = 1;

    // Never inlined: to its callers this may change `value`.
    #[inline(never)]
    pub(super) fn mark<T: ?Sized>(request: usize, value: &mut T) {
        let address = (&raw mut *value).cast::<u8>().expose_provenance();
        // SAFETY: the requests to mark change no memory of ours.
        unsafe { ask([request, address, size_of_val(value), 0, 0, 0]) };
    }

    #[inline(never)]
    pub(super) fn bits<T: ?Sized>(value: &T) -> Option<Vec<u8>> {
        let mut bits = vec![0; size_of_val(value)];
        let address = (&raw const *value).cast::<u8>().expose_provenance();
        let to = bits.as_mut_ptr().expose_provenance();
        // SAFETY: the answer is as many bytes as `value` and `bits` have.
        let answer = unsafe { ask([GET_VBITS, address, to, bits.len(), 0, 0]) };
        (answer == WRITTEN).then_some(bits)
    }

    /// Gives Valgrind's answer, 0 where there is no Valgrind.
    ///
    /// # Safety
    /// The request writes only memory that it may write.
    unsafe fn ask(request: [usize; 6]) -> usize {
        let mut answer = 0_usize;
        // SAFETY: to a processor, these instructions rotate a register by 128 bits in all and swap
        // another with itself: nothing changes but the flags, which are not said to be kept. Valgrind
        // takes the sequence for the request that `rax` points to, and puts its answer in `rdx`.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") request.as_ptr(),
                inout("rdx") answer,
                options(nostack),
            );
        }
        answer
    }
}
