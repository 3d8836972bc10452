//! Reasons why a receipt is refused.

use madrigal_net::identity::NotSigned;

/// A receipt that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiptError {
    /// Bytes that are no receipt.
    #[error(
        "its bytes are no receipt as schema/SERVICE.md has it: the server is at fault, or the receipt was changed"
    )]
    Encoding,
    /// A receipt that names another server than the one that signed.
    #[error("it names another server than the one that gave it: ask that server's operator")]
    Server,
    /// A signature that does not fit.
    #[error("{0}")]
    Signature(#[from] NotSigned),
    /// A receipt for something else.
    #[error(
        "its {field} is {got}, and {expected} was expected: the server has receipted something else"
    )]
    Other {
        /// Field that differs.
        field: &'static str,
        /// Content of the receipt.
        got: String,
        /// Content that was expected.
        expected: String,
    },
    /// Receipts of two servers that differ.
    #[error(
        "server {server} says that the {field} is {got}, and server 0 says {expected}: the servers have not run one job; do not use its outputs, and ask both operators"
    )]
    Apart {
        /// Place of the server.
        server: usize,
        /// Field that differs.
        field: &'static str,
        /// Content of its receipt.
        got: String,
        /// Content of server 0's.
        expected: String,
    },
    /// Too few or too many receipts.
    #[error(
        "{got} receipts, where {expected} servers sign one each: give those of all servers, in the order of their list"
    )]
    Count {
        /// Receipts.
        got: usize,
        /// Servers.
        expected: usize,
    },
    /// A receipt of one server that is refused.
    #[error("receipt of server {server} `{name}`: {fault}")]
    Of {
        /// Place of the server.
        server: usize,
        /// Name of the server.
        name: String,
        /// Fault of the receipt.
        fault: Box<ReceiptError>,
    },
}
