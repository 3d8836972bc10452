//! Signatures of identities, for purposes of their own.

use std::fmt;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use madrigal_core::domains;

use crate::fingerprint::Fingerprint;

/// Bytes of a [`Signature`].
pub const SIGNATURE_BYTES: usize = KEY_BYTES + ED25519_BYTES;

/// Bytes of a public key of Ed25519.
const KEY_BYTES: usize = 32;
/// Bytes of a signature of Ed25519.
const ED25519_BYTES: usize = 64;
/// Bytes before a public key of Ed25519 in its SubjectPublicKeyInfo (RFC 8410, section 4).
const SPKI: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// A public key of Ed25519 (32 bytes), and its signature (64 bytes) of a separator, the length of a purpose (1 byte), the purpose, and
/// bytes.
///
/// An identity's key signs in TLS too, and signs its certificate. Nobody can take one signature for another: TLS 1.3 signs bytes that
/// begin with 64 spaces (RFC 8446, section 4.4.3), and certificates and requests for them are DER, which begins with `0`; the separator
/// [`IDENTITY_SIGNS`](domains::IDENTITY_SIGNS) begins with a letter. The key is part of the signature since others know its
/// [`Fingerprint`] alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature([u8; SIGNATURE_BYTES]);

/// A signature that is not one of the pinned key for these bytes and this purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSigned {
    /// The signature of another key.
    #[error(
        "it is signed by the key {got}, and {expected} was expected: it is of another party, or the list of parties is not current"
    )]
    Key {
        /// Fingerprint of the key that comes with the signature.
        got: Fingerprint,
        /// Fingerprint that is pinned.
        expected: Fingerprint,
    },
    /// Bytes that the key has not signed for this purpose.
    #[error(
        "the signature of the key {key} does not fit: what was signed was changed, or is something else"
    )]
    Bytes {
        /// Fingerprint of the key.
        key: Fingerprint,
    },
}

impl Signature {
    pub(super) fn make(pair: &Ed25519KeyPair, purpose: &[u8], bytes: &[u8]) -> Self {
        let mut signature = [0; SIGNATURE_BYTES];
        let (key, signed) = signature.split_at_mut(KEY_BYTES);
        key.copy_from_slice(pair.public_key().as_ref());
        signed.copy_from_slice(pair.sign(&message(purpose, bytes)).as_ref());
        Self(signature)
    }

    /// Checks that the key with fingerprint `signer` has signed `bytes` for `purpose`.
    ///
    /// # Errors
    /// [`NotSigned`].
    pub fn verify(
        &self,
        signer: &Fingerprint,
        purpose: &[u8],
        bytes: &[u8],
    ) -> Result<(), NotSigned> {
        let (key, signed) = self.0.split_at(KEY_BYTES);
        let got = Fingerprint::of_spki(&[&SPKI[..], key].concat());
        if got != *signer {
            let expected = *signer;
            return Err(NotSigned::Key { got, expected });
        }
        let key = UnparsedPublicKey::new(&ED25519, key);
        let verified = key.verify(&message(purpose, bytes), signed);
        verified.map_err(|_| NotSigned::Bytes { key: got })
    }

    /// The bytes: key, then signature.
    pub const fn as_bytes(&self) -> &[u8; SIGNATURE_BYTES] {
        &self.0
    }

    /// A signature from its bytes, whatever they are: [`Signature::verify`] tells.
    pub const fn from_bytes(bytes: [u8; SIGNATURE_BYTES]) -> Self {
        Self(bytes)
    }
}

impl TryFrom<&[u8]> for Signature {
    type Error = std::array::TryFromSliceError;

    fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
        bytes.try_into().map(Self)
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signature(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Everything that is signed.
fn message(purpose: &[u8], bytes: &[u8]) -> Vec<u8> {
    debug_assert!(purpose.len() < 256, "a purpose of the registry");
    let mut message =
        Vec::with_capacity(domains::IDENTITY_SIGNS.len() + 1 + purpose.len() + bytes.len());
    message.extend(domains::IDENTITY_SIGNS);
    message.push(purpose.len() as u8);
    message.extend(purpose);
    message.extend(bytes);
    message
}
