//! Bytes that a message carries.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;

/// Bytes of shares, requests and answers: part of the buffer that they came in. `Debug` tells their number alone.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Payload(pub Bytes);

impl Deref for Payload {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.0
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}
