//! Digests that parties compare and people read: whole.

use std::fmt;

/// A digest of 256 bits, shown in hexadecimal digits.
///
/// There is no way to show a part: whoever supplies circuits can find two that agree in half of the bits of a digest
/// with `2^64` work, and give one of them to each party.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest256(pub [u8; 32]);

impl<T: Into<[u8; 32]>> From<T> for Digest256 {
    fn from(digest: T) -> Self {
        Self(digest.into())
    }
}

impl fmt::Display for Digest256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parties that compared half of a digest would take two programs that agree in it for one.
    #[test]
    fn digests_are_shown_whole() {
        let digest = Digest256(std::array::from_fn(|i| i as u8));
        let shown = digest.to_string();
        assert_eq!(shown.len(), 64);
        for byte in 0..32 {
            let mut other = digest;
            other.0[byte] ^= 1;
            assert_ne!(other.to_string(), shown);
        }
    }
}
