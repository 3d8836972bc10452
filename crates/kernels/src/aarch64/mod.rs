//! Kernels for AArch64, and the detection of what they need.

pub(crate) mod neon;

pub(crate) fn has_neon_aes() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
        && std::arch::is_aarch64_feature_detected!("aes")
}
