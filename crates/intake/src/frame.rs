//! Frames: messages after their lengths, cut out of what a connection brings.

use bytes::{BufMut as _, Bytes, BytesMut};
use prost::Message;

use crate::error::WireError;
use crate::limits::{LENGTH_BYTES, MAX_GREETING, MAX_MESSAGE};

/// Appends a message and its length.
pub(crate) fn put(message: &impl Message, to: &mut BytesMut) {
    let length = message.encoded_len();
    to.reserve(LENGTH_BYTES + length);
    to.put_u32_le(length as u32);
    message.encode_raw(to);
}

/// Bytes that came and are in no message yet. They are never more than a frame and what came with its last part.
#[derive(Default)]
pub struct Frames {
    buffer: BytesMut,
    /// Whether messages may be longer than a greeting.
    greeted: bool,
}

impl Frames {
    /// Takes bytes that came.
    pub fn put(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes that are in no message yet.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// Messages may be as long as any from now on.
    pub fn greeted(&mut self) {
        self.greeted = true;
    }

    /// The next message, once all of it is there: a part of the buffer, and no copy.
    ///
    /// # Errors
    /// [`WireError::Long`]: a message that is longer than it may be, before any more of it is taken.
    pub fn message(&mut self) -> Result<Option<Bytes>, WireError> {
        Ok(self.cut()?.map(BytesMut::freeze))
    }

    /// The next message as memory of its own use, so that it can be wiped.
    ///
    /// # Errors
    /// [`WireError::Long`] as [`Frames::message`].
    pub fn cut(&mut self) -> Result<Option<BytesMut>, WireError> {
        let Some((length, rest)) = self.buffer.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        let most = match self.greeted {
            true => MAX_MESSAGE,
            false => MAX_GREETING,
        };
        if length > most {
            return Err(WireError::Long { got: length, most });
        }
        if rest.len() < length {
            return Ok(None);
        }
        let mut message = self.buffer.split_to(LENGTH_BYTES + length);
        if self.buffer.is_empty() {
            // A connection that is idle holds no memory for what may come.
            self.buffer = BytesMut::new();
        }
        Ok(Some(message.split_off(LENGTH_BYTES)))
    }
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frames({} bytes)", self.buffer.len())
    }
}
