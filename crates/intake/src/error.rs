//! Reasons why bytes are no message.

use crate::limits::{MAX_GREETING, MAX_MESSAGE};

/// Bytes that are no message of `schema/service.proto`, or one beyond its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// A message that is too long.
    #[error(
        "a message of {got} bytes, where {most} are the most ({MAX_GREETING} before the greeting is over, {MAX_MESSAGE} after it): the other side speaks another protocol"
    )]
    Long {
        /// Bytes that it says it has.
        got: usize,
        /// The most that it may have.
        most: usize,
    },
    /// Bytes that are no message of the schema.
    #[error("bytes that are not of schema/service.proto: the other side speaks another protocol")]
    Schema,
    /// A message that this version does not know.
    #[error(
        "a message that this version does not know: the other side has to speak the version that was agreed on"
    )]
    Unknown,
    /// A field that no message has.
    #[error("{0}, which schema/SERVICE.md rules out: the program on the other side is at fault")]
    Field(&'static str),
}
