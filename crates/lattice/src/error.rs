//! Errors in messages.

/// Reasons why a message cannot be taken. It is the peer's fault; what was computed so far is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LatticeError {
    /// Message of another length than the layout says.
    #[error("a message of {expected} bytes was due, and {got} came")]
    Length {
        /// Bytes that were due.
        expected: usize,
        /// Bytes that came.
        got: usize,
    },
    /// A number that is no residue.
    #[error("a residue is not below its prime")]
    Residue,
    /// Bits after the last number that are not zero.
    #[error("its padding is not zero")]
    Padding,
}
