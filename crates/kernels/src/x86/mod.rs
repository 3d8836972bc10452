//! Kernels for x86-64, and the detection of what they need.
//!
//! Each level has one module, which names its vectors (how to load, store, and run an AES round on
//! them) and takes most kernels from [`crate::vector`]. All kernels are safe functions with
//! `#[target_feature]`: only those who enter a level, `dispatch!` above all, and the loads and stores are `unsafe`.

pub(crate) mod aesni;
pub(crate) mod avx2;
pub(crate) mod fma;
mod gfni;
pub(crate) mod ifma;
mod matrix;
mod read;
pub(crate) mod vaes256;
pub(crate) mod vaes512;

pub(crate) fn has_aesni() -> bool {
    is_x86_feature_detected!("sse4.1")
        && is_x86_feature_detected!("ssse3")
        && is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq")
}

pub(crate) fn has_avx2() -> bool {
    has_aesni() && is_x86_feature_detected!("avx2")
}

pub(crate) fn has_vaes256() -> bool {
    has_avx2() && is_x86_feature_detected!("vaes") && is_x86_feature_detected!("vpclmulqdq")
}

pub(crate) fn has_vaes512() -> bool {
    has_vaes256()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("gfni")
}

/// Whether the processor has GFNI, which only `vaes512` asks for: Intel's processors for clients have it without AVX-512,
/// and it is for transposition alone.
fn has_gfni() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("gfni")
}

/// Whether the processor has IFMA, which `vaes512` does not ask for: all processors that have that level have this, but it
/// is for the transform alone.
pub(crate) fn has_ifma() -> bool {
    has_vaes512() && is_x86_feature_detected!("avx512ifma")
}

/// Whether the processor has FMA, which no level below `vaes512` asks for: most processors that have these levels have
/// this, but it is for the transform alone.
pub(crate) fn has_fma() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}
