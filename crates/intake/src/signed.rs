//! Bytes with a server's signature.

use bytes::Bytes;
use madrigal_net::identity::Signature;

/// Bytes of a receipt and the signature of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The receipt, in its one encoding.
    pub bytes: Bytes,
    /// The server's signature.
    pub signature: Signature,
}
