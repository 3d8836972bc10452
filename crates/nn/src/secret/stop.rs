//! Reasons why nodes are not lowered.

use madrigal_core::budget::Spent;

/// Reasons why a node is not lowered.
pub(super) enum Stop {
    /// An operand was not, and that is told already.
    Missing,
    /// A node that cannot be done on secrets.
    Reason(String),
    /// A node that takes more memory than the file may.
    Memory(Spent),
}

pub(super) type Lowered<T> = Result<T, Stop>;

pub(super) fn too_large(spent: &Spent) -> String {
    format!("planning it: {spent}; use a smaller batch, or raise `Limits::memory`")
}

/// Gives the error that something cannot be done, in words.
pub(super) fn cannot<T>(reason: impl Into<String>) -> Lowered<T> {
    Err(Stop::Reason(reason.into()))
}
