//! Keys that files are sealed for, and sealing: what is sealed for a key, its secret part alone opens.
//!
//! Sealing is HPKE (RFC 9180) in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM, as rustls has
//! it. A sealed text consists of pieces: the sequence number of each is in its nonce, so that pieces cannot be
//! moved, and the additional data of the last one says that it is the last, so that none can be cut off. Base mode says
//! nothing of who sealed: anybody can, who has the public key.
//!
//! A sealing key is a key of its own and not the one that a party proves who it is with: a key serves one purpose.
//!
//! [`SealingKey`] is wiped when dropped. The library makes copies of opened pieces that it does not wipe.
//!
//! ```
//! use madrigal_net::sealing::{Piece, SealingKey};
//! let key = SealingKey::generate()?;
//! let (capsule, mut sealer) = key.public().seal(b"what both sides know")?;
//! let sealed = sealer.seal(b"hello", Piece::Last)?;
//!
//! let mut opener = key.open(&capsule, b"what both sides know")?;
//! assert_eq!(*opener.open(&sealed, Piece::Last)?, b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use madrigal_core::Zeroizing;
use rustls::crypto::aws_lc_rs::hpke::DH_KEM_X25519_HKDF_SHA256_AES_128 as SUITE;
use rustls::crypto::hpke::{
    EncapsulatedSecret, Hpke, HpkeOpener, HpkePrivateKey, HpkePublicKey, HpkeSealer,
};

use crate::fingerprint::hex_digit;
use crate::identity::{IdentityError, KeyMode, read_pkcs8, write_key};

/// Bytes of a key, of its public part, and of a capsule.
pub const KEY_BYTES: usize = 32;

/// Bytes that a sealed piece is longer than what it holds.
pub const TAG_BYTES: usize = 16;

const PREFIX: &str = "x25519:";

/// Everything of PKCS#8 (RFC 8410, section 7) that precedes the 32 bytes of an X25519 key.
const PKCS8: &[u8; 16] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x6e\x04\x22\x04\x20";

/// The public part of a sealing key, written `x25519:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicSealingKey([u8; KEY_BYTES]);

/// A key that files are sealed for. Wiped when dropped.
pub struct SealingKey {
    secret: HpkePrivateKey,
    public: PublicSealingKey,
}

/// Position of a piece in a sealed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Others follow.
    Inner,
    /// None follows.
    Last,
}

impl Piece {
    const fn additional(self) -> &'static [u8] {
        match self {
            Self::Inner => &[0],
            Self::Last => &[1],
        }
    }
}

/// Seals the pieces of one text, in order.
#[derive(Debug)]
pub struct Sealer(Box<dyn HpkeSealer>);

/// Opens the pieces of one text, in order.
#[derive(Debug)]
pub struct Opener(Box<dyn HpkeOpener>);

/// Reasons why a text was not sealed or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealingError {
    /// The cryptographic library did not take the public key, or could not read randomness.
    #[error(
        "cannot seal for the key {key}: it is no point of the curve, or this machine gives no randomness; ask its owner for the key again"
    )]
    Seal {
        /// Key that was sealed for.
        key: PublicSealingKey,
    },
    /// A piece that was sealed for another key, with other words, at another place, or changed since.
    #[error("it was sealed for another key, or it was changed since")]
    Open,
}

impl PublicSealingKey {
    /// The key with these bytes.
    pub const fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes of the key (RFC 7748, section 5).
    pub const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Begins a text that only the owner of the key can open: the capsule goes with it. `info` are words that both
    /// sides know; a text is opened with the same words alone.
    ///
    /// # Errors
    /// [`SealingError::Seal`].
    pub fn seal(&self, info: &[u8]) -> Result<([u8; KEY_BYTES], Sealer), SealingError> {
        let failed = SealingError::Seal { key: *self };
        let key = HpkePublicKey(self.0.to_vec());
        let (capsule, sealer) = SUITE.setup_sealer(info, &key).map_err(|_| failed)?;
        let capsule = capsule.0.try_into().map_err(|_| failed)?;
        Ok((capsule, Sealer(sealer)))
    }
}

impl Sealer {
    /// Seals the next piece, which becomes [`TAG_BYTES`] longer.
    ///
    /// # Errors
    /// [`SealingError::Open`] after 2^64 pieces alone.
    pub fn seal(&mut self, piece: &[u8], place: Piece) -> Result<Vec<u8>, SealingError> {
        let sealed = self.0.seal(place.additional(), piece);
        sealed.map_err(|_| SealingError::Open)
    }
}

impl Opener {
    /// Opens the next piece.
    ///
    /// # Errors
    /// [`SealingError::Open`].
    pub fn open(
        &mut self,
        sealed: &[u8],
        place: Piece,
    ) -> Result<Zeroizing<Vec<u8>>, SealingError> {
        let opened = self.0.open(place.additional(), sealed);
        opened.map(Zeroizing::new).map_err(|_| SealingError::Open)
    }
}

impl SealingKey {
    /// A new key from the operating system's randomness.
    ///
    /// # Errors
    /// [`IdentityError::Cryptography`]: the cryptographic library refused.
    pub fn generate() -> Result<Self, IdentityError> {
        let failed = || IdentityError::Cryptography;
        let (public, secret) = SUITE.generate_key_pair().map_err(|_| failed())?;
        let public = public.0.try_into().map_err(|_| failed())?;
        Ok(Self {
            secret,
            public: PublicSealingKey(public),
        })
    }

    /// Reads a key file: PKCS#8 in PEM.
    ///
    /// # Errors
    /// [`IdentityError`]: the file is missing, open to others than `mode` allows, or holds no X25519 key.
    pub fn load(path: &Path, mode: KeyMode) -> Result<Self, IdentityError> {
        let damaged = || IdentityError::DamagedSealingKey {
            path: path.to_owned(),
        };
        let pkcs8 = read_pkcs8(path, mode)?.ok_or_else(damaged)?;
        let secret = pkcs8.strip_prefix(PKCS8).ok_or_else(damaged)?;
        if secret.len() != KEY_BYTES {
            return Err(damaged());
        }
        Self::of_secret(secret).ok_or_else(damaged)
    }

    fn of_secret(secret: &[u8]) -> Option<Self> {
        use aws_lc_rs::agreement::{PrivateKey, X25519};
        let key = PrivateKey::from_private_key(&X25519, secret).ok()?;
        let public = key.compute_public_key().ok()?;
        Some(Self {
            secret: secret.to_vec().into(),
            public: PublicSealingKey(public.as_ref().try_into().ok()?),
        })
    }

    /// Writes the key into a new file, with mode 0600.
    ///
    /// # Errors
    /// [`IdentityError`]: the file exists already, or cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), IdentityError> {
        let mut pkcs8 = Zeroizing::new(Vec::with_capacity(PKCS8.len() + KEY_BYTES));
        pkcs8.extend(PKCS8);
        pkcs8.extend(self.secret.secret_bytes());
        write_key(path, &pkcs8)
    }

    /// The public part, which others seal with.
    pub const fn public(&self) -> PublicSealingKey {
        self.public
    }

    /// Begins to open a text that was sealed for this key.
    ///
    /// # Errors
    /// [`SealingError::Open`]: the capsule is none. That a text is for another key shows at its first piece.
    pub fn open(&self, capsule: &[u8; KEY_BYTES], info: &[u8]) -> Result<Opener, SealingError> {
        let capsule = EncapsulatedSecret(capsule.to_vec());
        let opener = SUITE.setup_opener(&capsule, info, &self.secret);
        opener.map(Opener).map_err(|_| SealingError::Open)
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealingKey({})", self.public)
    }
}

impl fmt::Display for PublicSealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PublicSealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicSealingKey {
    type Err = SealingKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(PREFIX).map(str::as_bytes);
        let digits = digits.filter(|digits| digits.len() == 2 * KEY_BYTES);
        let digits = digits.ok_or(SealingKeyError)?;
        let mut bytes = [0; KEY_BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit| hex_digit(digit).map_err(|_| SealingKeyError);
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

/// A text that is no [`PublicSealingKey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a sealing key is `{PREFIX}` and 64 hexadecimal digits; copy the line that was printed when the key was made"
)]
pub struct SealingKeyError;
