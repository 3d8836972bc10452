//! Kernels for x86-64, and the detection of what they need.

pub(crate) mod aesni;

pub(crate) fn has_aesni() -> bool {
    false
}

pub(crate) fn has_vaes256() -> bool {
    false
}

pub(crate) fn has_vaes512() -> bool {
    false
}

pub(crate) use aesni as vaes256;
pub(crate) use aesni as vaes512;
