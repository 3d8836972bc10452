//! The name of a public key: what parties compare, write into `parties.toml` and pin.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest;

/// Bytes in a fingerprint: one SHA-256 output.
pub const FINGERPRINT_BYTES: usize = 32;

const PREFIX: &str = "sha256:";

/// SHA-256 of a key's DER SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7), written `sha256:` and
/// 64 lower-case hexadecimal digits.
///
/// The property needed of the hash is second-preimage resistance: nobody can make another key
/// with a pinned fingerprint. The key is pinned and not the certificate, so a renewed certificate
/// keeps its pin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; FINGERPRINT_BYTES]);

impl Fingerprint {
    /// The fingerprint of a DER encoded SubjectPublicKeyInfo.
    pub fn of_spki(spki_der: &[u8]) -> Self {
        let mut bytes = [0; FINGERPRINT_BYTES];
        bytes.copy_from_slice(digest::digest(&digest::SHA256, spki_der).as_ref());
        Self(bytes)
    }

    /// A fingerprint whose hash was kept.
    pub const fn from_bytes(bytes: [u8; FINGERPRINT_BYTES]) -> Self {
        Self(bytes)
    }

    /// The hash itself.
    pub fn as_bytes(&self) -> &[u8; FINGERPRINT_BYTES] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(PREFIX).ok_or(FingerprintError::Prefix)?;
        if digits.len() != 2 * FINGERPRINT_BYTES {
            return Err(FingerprintError::Length {
                got: digits.chars().count(),
            });
        }
        let mut bytes = [0; FINGERPRINT_BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

/// Upper case is accepted: other tools print fingerprints so.
pub(crate) fn hex_digit(digit: u8) -> Result<u8, FingerprintError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(FingerprintError::Digit),
    }
}

/// A text that is no [`Fingerprint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FingerprintError {
    /// The text does not begin with `sha256:`.
    #[error(
        "a key fingerprint begins with `sha256:`; copy the whole line that was printed when the key was made"
    )]
    Prefix,
    /// The wrong number of digits follows the prefix.
    #[error(
        "a key fingerprint has 64 hexadecimal digits after `sha256:`, this one has {got}; copy the whole line that was printed when the key was made"
    )]
    Length {
        /// Characters after the prefix.
        got: usize,
    },
    /// Something that is no hexadecimal digit.
    #[error(
        "a key fingerprint has only the digits 0-9 and a-f after `sha256:`; copy the line that was printed when the key was made"
    )]
    Digit,
}
