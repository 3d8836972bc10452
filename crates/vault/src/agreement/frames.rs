//! Messages in frames: a message of a million ids has 32 MB, and no frame has more than one MiB.
//!
//! A frame begins with a byte: 1 if it ends its message, else 0. Frames of one sender follow each other in order.

use super::bits::MessageError;
use super::message::Message;
use super::outcome::MAX_IDS;

/// The most bytes of a frame.
pub const FRAME_BYTES: usize = 1 << 20;
/// The most bytes of a message: a proposal of [`MAX_IDS`].
const MESSAGE_BYTES: usize = 64 + 32 * MAX_IDS + MAX_IDS.div_ceil(8);

/// Cuts a message into frames.
pub fn frames(message: &Message) -> Vec<Vec<u8>> {
    let bytes = message.encode();
    let mut pieces = bytes.chunks(FRAME_BYTES - 1).peekable();
    let mut frames = Vec::with_capacity(pieces.len());
    while let Some(piece) = pieces.next() {
        let mut frame = Vec::with_capacity(1 + piece.len());
        frame.push(pieces.peek().is_none().into());
        frame.extend_from_slice(piece);
        frames.push(frame);
    }
    frames
}

/// Faults of frames. The sender's later frames mean nothing: the session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame is longer than allowed.
    #[error("a frame has {0} bytes, and {FRAME_BYTES} are the most")]
    Long(usize),
    /// A frame has no content, or begins with no known byte.
    #[error("a frame about batches is damaged or of another version")]
    Damaged,
    /// A message is longer than the longest.
    #[error("a message about batches has more than {MESSAGE_BYTES} bytes")]
    Endless,
    /// The frames are no message.
    #[error(transparent)]
    Message(#[from] MessageError),
}

/// Puts the frames of one sender together. It holds the message that is on its way, and takes memory for bytes that came, not for bytes that were announced.
#[derive(Debug, Default)]
pub struct Assembler(Vec<u8>);

impl Assembler {
    /// An assembler at the beginning of a session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a frame; gives the message that it ends.
    ///
    /// # Errors
    /// [`FrameError`]; what came of the message is dropped.
    pub fn frame(&mut self, frame: &[u8]) -> Result<Option<Message>, FrameError> {
        let taken = self.take(frame);
        if !matches!(taken, Ok(None)) {
            self.0 = Vec::new();
        }
        taken
    }

    fn take(&mut self, frame: &[u8]) -> Result<Option<Message>, FrameError> {
        if frame.len() > FRAME_BYTES {
            return Err(FrameError::Long(frame.len()));
        }
        let (last, content) = match frame.split_first() {
            Some((0, content)) if content.len() == FRAME_BYTES - 1 => (false, content),
            Some((1, content)) if !content.is_empty() => (true, content),
            _ => return Err(FrameError::Damaged),
        };
        if self.0.len() + content.len() > MESSAGE_BYTES {
            return Err(FrameError::Endless);
        }
        if self.0.is_empty() && last {
            return Ok(Some(Message::decode(content)?));
        }
        self.0.extend_from_slice(content);
        if last {
            return Ok(Some(Message::decode(&self.0)?));
        }
        Ok(None)
    }
}
