//! Bodies of uploads: piece by piece, from any place on.

use std::sync::Arc;

use bytes::Bytes;
use madrigal_clients::StreamDealer;
use madrigal_core::{Party, Zeroizing};

/// A server's body of a submission. It can be asked for any piece, as often as it takes until the server has it.
pub(crate) trait Body: Send + Sync {
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

/// A body that is dealt again whenever a piece of it is wanted.
pub(crate) struct Streamed {
    dealers: Arc<Vec<StreamDealer>>,
    place: Party,
    length: u64,
}

impl Streamed {
    pub(crate) fn new(dealers: Arc<Vec<StreamDealer>>, place: Party, length: u64) -> Self {
        Self {
            dealers,
            place,
            length,
        }
    }
}

impl Body for Streamed {
    fn length(&self) -> u64 {
        self.length
    }

    fn piece(&self, offset: u64, length: usize) -> std::io::Result<Bytes> {
        let mut piece = Zeroizing::new(vec![0; length]);
        let (mut before, mut made) = (0, 0);
        for dealer in &*self.dealers {
            if made == length {
                break;
            }
            let bytes = dealer.header().body_bytes(self.place);
            // All that was made lies in the bodies before, and so does the offset, or in this one.
            let at = offset + made as u64 - before;
            if at < bytes {
                let here = (bytes - at).min((length - made) as u64) as usize;
                let dealt = dealer.body(self.place, at, &mut piece[made..made + here]);
                dealt.map_err(std::io::Error::other)?;
                made += here;
            }
            before += bytes;
        }
        match made == length {
            true => Ok(Bytes::from_owner(Owned(piece))),
            false => Err(std::io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
