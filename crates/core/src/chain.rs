//! Digests of submissions, piece by piece, so that an upload goes on where it was cut.

use sha2::{Digest as _, Sha256};

use crate::{Digest256, domains};

/// Bytes of a piece of a body, but for the last one.
pub const PIECE: usize = 64 << 10;

/// The chain of a submission's digest: headers first, then the body piece by piece. Its last link is the digest. A link is all that is
/// needed to go on after a piece, which a hash of the whole body would not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain(Digest256);

impl Chain {
    /// Begins the chain of a submission with these headers and a body of `length` bytes.
    pub fn begin(headers: &[u8], length: u64) -> Self {
        let hash = Sha256::new_with_prefix(domains::SUBMISSION_HEADERS)
            .chain_update(length.to_le_bytes())
            .chain_update(headers);
        Self(Digest256(hash.finalize().into()))
    }

    /// Takes up a chain whose link was kept.
    pub const fn from_link(link: Digest256) -> Self {
        Self(link)
    }

    /// The last link: to be kept, or the digest if all of the body was taken.
    pub const fn link(&self) -> Digest256 {
        self.0
    }

    /// Takes the next piece: [`PIECE`] bytes, or less at the body's end.
    pub fn piece(&mut self, bytes: &[u8]) {
        debug_assert!((1..=PIECE).contains(&bytes.len()), "a piece");
        let hash = Sha256::new_with_prefix(domains::SUBMISSION_PIECE)
            .chain_update(self.0.0)
            .chain_update(bytes);
        self.0 = Digest256(hash.finalize().into());
    }

    /// The digest of headers and a body.
    pub fn digest(headers: &[u8], body: &[u8]) -> Digest256 {
        let mut chain = Self::begin(headers, body.len() as u64);
        body.chunks(PIECE).for_each(|piece| chain.piece(piece));
        chain.link()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain that was cut and taken up gives the digest of the whole, and nothing else has that digest.
    #[test]
    fn a_chain_goes_on_from_its_link() {
        let body: Vec<u8> = (0..2 * PIECE + 5).map(|i| i as u8).collect();
        let mut chain = Chain::begin(b"headers", body.len() as u64);
        for piece in body.chunks(PIECE) {
            chain = Chain::from_link(chain.link());
            chain.piece(piece);
        }
        let whole = Chain::digest(b"headers", &body);
        assert_eq!(chain.link(), whole);
        assert_ne!(whole, Chain::digest(b"header", &body));
        assert_ne!(whole, Chain::digest(b"headers", &body[1..]));
        let mut other = body.clone();
        other[PIECE] ^= 1;
        assert_ne!(whole, Chain::digest(b"headers", &other));
        // Bytes that move from the headers into the body are another submission.
        assert_ne!(Chain::digest(b"ab", b"c"), Chain::digest(b"a", b"bc"));
    }
}
