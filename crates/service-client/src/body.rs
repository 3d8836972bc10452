//! Bodies of uploads: piece by piece, from any place on.

use bytes::Bytes;
use madrigal_core::Zeroizing;

/// A server's body of a submission. It can be asked for any piece, as often as it takes until the server has it.
pub trait Body: Send + Sync {
    /// Bytes of the body.
    fn length(&self) -> u64;

    /// The bytes from `offset` on, `length` of them.
    ///
    /// # Errors
    /// [`std::io::Error`]: what it is made of cannot be read.
    fn piece(&self, offset: u64, length: usize) -> std::io::Result<Bytes>;
}

/// A body in memory, wiped with its last piece.
pub(crate) struct InMemory(Bytes);

impl InMemory {
    pub(crate) fn new(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(Bytes::from_owner(Owned(bytes)))
    }
}

struct Owned(Zeroizing<Vec<u8>>);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Body for InMemory {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn piece(&self, offset: u64, length: usize) -> std::io::Result<Bytes> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(length);
        match end <= self.0.len() {
            true => Ok(self.0.slice(start..end)),
            false => Err(std::io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
