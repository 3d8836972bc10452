//! Errors of shares.

use madrigal_core::Party;

/// Shares that cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharesError {
    /// A party's components differ in number.
    #[error(
        "{first} first components came with {second} second ones, where each element has one of either: whoever made the shares is at fault"
    )]
    Lengths {
        /// First components.
        first: usize,
        /// Second components.
        second: usize,
    },
    /// A component of bits has the wrong length.
    #[error(
        "a component has {got} bytes where the rows take {expected}: whoever made the shares is at fault"
    )]
    Bytes {
        /// Number of bytes that came.
        got: usize,
        /// Number of bytes that the shape takes.
        expected: usize,
    },
    /// Two parties' batches differ in length.
    #[error(
        "{party} has shares of {got} elements and party 0 of {expected}: ask them for shares of the same batch"
    )]
    Counts {
        /// Party with another number.
        party: Party,
        /// Number that it has.
        got: usize,
        /// Number that party 0 has.
        expected: usize,
    },
    /// Two parties' copies of one component differ.
    #[error(
        "{first} and {second} disagree on a component that both have of element {element}: one of the two sent wrong shares, or they are of two batches; do not use the result"
    )]
    Copies {
        /// One of the two.
        first: Party,
        /// The other one.
        second: Party,
        /// The first element concerned.
        element: usize,
    },
}
