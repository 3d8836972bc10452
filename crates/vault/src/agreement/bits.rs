//! Bits of a list, and the error of bytes that are no message.

/// Bytes that are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message about batches is damaged or of another version: {0}")]
pub struct MessageError(pub(super) &'static str);

/// One bit for each id of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    len: usize,
    bytes: Vec<u8>,
}

impl Bits {
    /// Packs bits.
    pub fn new(bits: impl ExactSizeIterator<Item = bool>) -> Self {
        let len = bits.len();
        let mut bytes = vec![0; len.div_ceil(8)];
        for (i, bit) in bits.enumerate() {
            bytes[i / 8] |= u8::from(bit) << (i % 8);
        }
        Self { len, bytes }
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`; past the end it is not set.
    pub fn get(&self, i: usize) -> bool {
        self.bytes.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 == 1)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bits of a message: as many bytes as they need, and nothing past the last bit.
    pub(super) fn from_bytes(len: usize, bytes: Vec<u8>) -> Option<Self> {
        let spare = len % 8;
        let past = spare != 0 && bytes.last().is_some_and(|last| last >> spare != 0);
        (bytes.len() == len.div_ceil(8) && !past).then_some(Self { len, bytes })
    }
}
