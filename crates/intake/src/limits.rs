//! Limits of the wire, the same on both sides.

/// Versions of this protocol that this program speaks.
pub const VERSIONS: std::ops::RangeInclusive<u32> = 1..=1;

/// Bytes of a frame before its message.
pub const LENGTH_BYTES: usize = 4;

/// The longest message of a client before the server's welcome, in bytes.
pub const MAX_GREETING: usize = 4 << 10;

/// The longest message, in bytes.
pub const MAX_MESSAGE: usize = 96 << 10;

/// Bytes of a piece of a body or of an output, but for the last one.
pub const PIECE: usize = 64 << 10;

/// The most bytes of the headers of a submission, with their lengths.
pub const MAX_HEADERS: usize = 16 << 10;

/// The longest token, in bytes.
pub const MAX_TOKEN: usize = 1024;

/// The longest name of a program with its version, in bytes.
pub const MAX_SOFTWARE: usize = 64;

/// The longest text for people, in bytes.
pub const MAX_WORDS: usize = 1024;

/// The longest body of a submission and the longest output, in bytes: those of share files.
pub const MAX_BODY: u64 = 1 << 46;

/// The most kinds of a server.
pub const MAX_KINDS: usize = 256;

/// The most inputs and the most outputs of a kind.
pub const MAX_VALUES: usize = 64;

/// The most axes of a value.
pub const MAX_RANK: usize = 8;

/// The most bytes of a request or an answer.
pub const MAX_REQUEST: usize = 4 << 10;

/// The most uploads in pieces that are open at once on a connection.
pub const MAX_UPLOADS: usize = 16;

/// The most messages that wait for an answer at once on a connection, uploads and requests aside.
pub const MAX_CALLS: usize = 1024;

/// The largest window of requests.
pub const MAX_REQUEST_WINDOW: u32 = 1 << 20;

/// The smallest window of bodies, in bytes: with a quarter of it kept back there is still room for a piece.
pub const MIN_BODY_WINDOW: u64 = 2 * PIECE as u64;

/// The largest window of bodies, in bytes.
pub const MAX_BODY_WINDOW: u64 = 1 << 30;

/// Bytes that a side has ready to be sent before it takes no further messages.
pub const MAX_OUTPUT: usize = 256 << 10;

/// The most recipients in a job receipt.
pub const MAX_RECIPIENTS: usize = 64;

/// The most held submissions in a job receipt.
pub const MAX_HELD: usize = 16;

/// The longest receipt, in bytes.
pub const MAX_RECEIPT: usize = 64 << 10;
