//! Why a share file is refused.

use std::io;
use std::path::PathBuf;

use madrigal_core::budget::{FileError, Spent};
use madrigal_core::text::plain;
use madrigal_engine::Element;
use madrigal_net::sealing::{PublicSealingKey, SealingError};
use madrigal_operations::CombineError;

use crate::field::Field;
use crate::limits::{MAX_HEADER, MAX_TEXT};

/// A share file that was refused.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {fault}", file.display(), value.as_ref().map(|value| format!(" ({})", plain(value))).unwrap_or_default())]
pub struct ShareFileError {
    /// The file.
    pub file: PathBuf,
    /// The value that its header names, where that was read.
    pub value: Option<String>,
    /// Reason of the refusal.
    #[source]
    pub fault: Box<ShareFault>,
}

/// Reasons why a share file is refused, or cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShareFault {
    /// No bytes.
    #[error("it is empty, and a share file has a header: have it written or copied again")]
    Empty,
    /// Another kind of file.
    #[error(
        "it is no share file, whose first bytes are others: give a file that a client or a server has written"
    )]
    NotOne,
    /// Another version of the format.
    #[error(
        "it has format version {got}, and this program reads version {ours}: use the same version of the program on both sides"
    )]
    Version {
        /// The file's.
        got: u16,
        /// This program's.
        ours: u16,
    },
    /// A header that is too long.
    #[error(
        "its header has {got} bytes, and {MAX_HEADER} are the most: it was changed, have it written again"
    )]
    LongHeader {
        /// Bytes that it says it has.
        got: u64,
    },
    /// Too few bytes.
    #[error(
        "it has {got} bytes where its header asks for {expected}: it was cut off, copy it again"
    )]
    Truncated {
        /// Length of the file.
        got: u64,
        /// Length that it should have.
        expected: u64,
    },
    /// Too many bytes.
    #[error(
        "it has {got} bytes where its header asks for {expected}: something was added at its end, copy it again"
    )]
    Extended {
        /// Length of the file.
        got: u64,
        /// Length that it should have.
        expected: u64,
    },
    /// A field that no file has.
    #[error("{what} is not as in any share file: it was changed or damaged, have it written again")]
    Damaged {
        /// The field.
        what: &'static str,
    },
    /// A name or type that no file may have.
    #[error(
        "the {what} has to be 1 to {MAX_TEXT} bytes of characters that can be seen: choose another"
    )]
    Text {
        /// Text that it is.
        what: &'static str,
    },
    /// A client's name that disturbs.
    #[error("the client's name has to be 1 to 64 letters, digits, `-`, `_` or `.`: choose another")]
    Client,
    /// A shape that no value has.
    #[error("the shape has more than 8 axes or more than 2^40 elements: no value has it")]
    Shape,
    /// A sharing that nothing is kept in.
    #[error(
        "its sharing is `{}`, which values are not kept in: those are A, B and R",
        plain(name)
    )]
    Sharing {
        /// Name of the sharing.
        name: String,
    },
    /// A sharing that cannot hold the value.
    #[error(
        "{servers} servers cannot hold {element} in {sharing}: choose another mix or number of servers"
    )]
    Unshared {
        /// Name of the sharing.
        sharing: &'static str,
        /// Elements of the value.
        element: Element,
        /// Number of servers.
        servers: usize,
    },
    /// A value of other elements than its header says.
    #[error(
        "the value has {got} elements of {got_element}, and its shape and type ask for {expected} of {element}"
    )]
    Value {
        /// Elements of the value.
        got: usize,
        /// Kind of its elements.
        got_element: Element,
        /// Elements of the shape.
        expected: usize,
        /// Kind of element that was asked for.
        element: Element,
    },
    /// More memory than the file may take.
    #[error("{0}")]
    Spent(#[from] Spent),
    /// A sealed file and no key.
    #[error("it is sealed for the key {recipient}: give the secret part of this key")]
    Sealed {
        /// Key that it is sealed for.
        recipient: PublicSealingKey,
    },
    /// A file for another key.
    #[error(
        "it is sealed for the key {recipient}, and the key given is {ours}: it is another server's or client's file, or sealed with an old key; give the right file, or have it written anew with the present parties.toml"
    )]
    OtherKey {
        /// Key that it is sealed for.
        recipient: PublicSealingKey,
        /// Key that was given.
        ours: PublicSealingKey,
    },
    /// A part of a sealed file that does not open.
    #[error("{what} does not open: {source}; copy the file again, or have it written again")]
    Unopened {
        /// Part of the file.
        what: &'static str,
        /// The answer of the sealing.
        source: SealingError,
    },
    /// Sealing failed.
    #[error(transparent)]
    Sealing(SealingError),
    /// A file in the clear whose digest is another.
    #[error("its digest is not that of its bytes: it was damaged, copy it again")]
    Check,
    /// A part that the commitments do not fit.
    #[error(
        "part {part} of the value is not the one that the client has committed to: the client gave the servers different values, or the file is damaged; do not use its value, and ask the client"
    )]
    Commitment {
        /// Number of the part.
        part: usize,
    },
    /// A field that differs from what is expected.
    #[error("its {field} is {got}, and {expected} was expected: {}", field.remedy())]
    Other {
        /// The field.
        field: Field,
        /// Content of the file's.
        got: String,
        /// Content that it should have.
        expected: String,
    },
    /// A file whose twin was given already.
    #[error("it is of the same submission as {}: give each submission once", other.display())]
    Duplicate {
        /// The other file.
        other: PathBuf,
    },
    /// Two submissions with one nonce.
    #[error("it has the nonce of {} and differs from it in the {field}: files of one submission were changed, or the client used a nonce twice; ask the client to share anew", other.display())]
    Nonce {
        /// The other file.
        other: PathBuf,
        /// Field in which they differ.
        field: Field,
    },
    /// Two submissions of a client to one input.
    #[error("the same client has brought {} as well: one value of each client goes into an input; leave one of them out, at all servers the same", other.display())]
    Twice {
        /// The other file.
        other: PathBuf,
    },
    /// Files of different values.
    #[error("its {field} is {got}, and that of {} is {expected}: shares of different values or runs do not go together", other.display())]
    Apart {
        /// The other file.
        other: PathBuf,
        /// Field in which they differ.
        field: Field,
        /// Content of this file's.
        got: String,
        /// Content of the other one's.
        expected: String,
    },
    /// A server's share twice.
    #[error("it is the share of server {server}, as {} is: give the share of each server once", other.display())]
    Again {
        /// Number of the server.
        server: usize,
        /// The other file.
        other: PathBuf,
    },
    /// A server's share missing.
    #[error(
        "the share of server {server} is missing, and {servers} servers have shares of this value: give the files of all of them"
    )]
    Missing {
        /// Number of the server.
        server: usize,
        /// Number of servers.
        servers: usize,
    },
    /// Shares that do not go together.
    #[error(transparent)]
    Combine(#[from] CombineError),
    /// Error of reading or writing.
    #[error("cannot read or write it: {0}; check the path and its permissions")]
    File(#[from] FileError),
    /// No randomness.
    #[error("the operating system gives no randomness ({0}): nothing can be shared without")]
    Randomness(io::Error),
}

impl From<io::Error> for ShareFault {
    fn from(error: io::Error) -> Self {
        Self::File(error.into())
    }
}
