//! Digests of submissions, piece by piece.
//!
//! ```text
//! c_0     = SHA-256(VAULT_HEADER, bytes of the header, header)
//! c_(i+1) = SHA-256(VAULT_PIECE, bytes of the piece, c_i, offset of the piece, piece)
//! digest  = SHA-256(VAULT_END, c_last, bytes of the body)
//! ```
//! Integers have 8 bytes, little-endian. All pieces but the last have [`PIECE_BYTES`], and an empty body has none. A value of the chain is all that
//! is needed to go on after a piece, which a hash of the whole body would not give.

use madrigal_core::domains;
use sha2::{Digest, Sha256};

/// Bytes of a piece of a body or of a result, but the last.
pub const PIECE_BYTES: usize = 64 << 10;

/// A chain over a header and the pieces of a body so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    value: [u8; 32],
    length: u64,
}

impl Chain {
    /// Begins with a header.
    pub fn new(header: &[u8]) -> Self {
        let mut hash = Sha256::new_with_prefix(domains::VAULT_HEADER);
        hash.update((header.len() as u64).to_le_bytes());
        hash.update(header);
        let value = hash.finalize().into();
        Self { value, length: 0 }
    }

    /// Goes on from a value that was stored after `length` bytes of the body.
    pub(crate) fn at(value: [u8; 32], length: u64) -> Self {
        Self { value, length }
    }

    pub(crate) fn value(&self) -> [u8; 32] {
        self.value
    }

    /// Takes the next piece.
    pub fn piece(&mut self, piece: &[u8]) {
        let mut hash = Sha256::new_with_prefix(domains::VAULT_PIECE);
        hash.update((piece.len() as u64).to_le_bytes());
        hash.update(self.value);
        hash.update(self.length.to_le_bytes());
        hash.update(piece);
        self.value = hash.finalize().into();
        self.length += piece.len() as u64;
    }

    /// The digest, if the body ends here.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(domains::VAULT_END);
        hash.update(self.value);
        hash.update(self.length.to_le_bytes());
        hash.finalize().into()
    }
}

/// Digest of a header and a whole body.
pub fn submission_digest(header: &[u8], body: &[u8]) -> [u8; 32] {
    let mut chain = Chain::new(header);
    body.chunks(PIECE_BYTES)
        .for_each(|piece| chain.piece(piece));
    chain.digest()
}
