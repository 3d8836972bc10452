//! Limits of share files.

/// The longest header, in bytes.
pub const MAX_HEADER: usize = 1 << 14;

/// The longest name and the longest text of a type, in bytes.
pub const MAX_TEXT: usize = 1024;

/// The most axes of a value.
pub(crate) const MAX_RANK: usize = 8;

/// The most elements of a value.
pub(crate) const MAX_ELEMENTS: usize = 1 << 40;
