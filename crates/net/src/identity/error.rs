//! Errors of keys and certificates.

use std::io;
use std::path::PathBuf;

use crate::fingerprint::Fingerprint;

/// Reasons why an identity could not be made, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// No such file.
    #[error("{} does not exist; make this party's key, or renew its certificate if only that is missing", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot read or write {}: {source}; check the path and its permissions", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// Far too large to be a key or certificate.
    #[error("{} is larger than 64 KiB and so no key or certificate of a party; check the path", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Users other than the owner can get at the private key.
    #[error("the private key {} is open to other users (mode {mode:04o}, expected 0600); run `chmod 600 {}`, and replace the key if others may have read it", path.display(), path.display())]
    KeyReadable {
        /// The key file.
        path: PathBuf,
        /// Permission bits of the key file.
        mode: u32,
    },
    /// Users other than the owner can change the private key.
    #[error("the private key {} can be written by other users (mode {mode:04o}, expected 0444 or less); run `chmod go-w {}`, and replace the key if others may have changed it", path.display(), path.display())]
    KeyWritable {
        /// The key file.
        path: PathBuf,
        /// Permission bits of the key file.
        mode: u32,
    },
    /// A key would be overwritten.
    #[error("{} exists already and is not overwritten, because other parties may have pinned it; choose another path, or renew the certificate of the same key", path.display())]
    KeyExists {
        /// The key file.
        path: PathBuf,
    },
    /// No Ed25519 private key in PKCS#8 PEM.
    #[error("{} holds no Ed25519 private key in PEM (`BEGIN PRIVATE KEY`); restore it from a copy, or make a new key at another path and give the other parties its fingerprint", path.display())]
    DamagedKey {
        /// The key file.
        path: PathBuf,
    },
    /// No X25519 private key in PKCS#8 PEM.
    #[error("{} holds no X25519 private key in PEM (`BEGIN PRIVATE KEY`), which is what a sealing key is; restore it from a copy, or make a new key at another path and give those who seal for it its public part", path.display())]
    DamagedSealingKey {
        /// The key file.
        path: PathBuf,
    },
    /// No certificate in PEM.
    #[error("{} holds no self-signed certificate in PEM; renew it, for the same key", path.display())]
    DamagedCertificate {
        /// The certificate file.
        path: PathBuf,
    },
    /// Certificate and key are of different pairs.
    #[error("the certificate {} is for the key {certificate}, but {} holds {key}; renew the certificate, or restore the matching file", certificate_path.display(), key_path.display())]
    Mismatch {
        /// The key file.
        key_path: PathBuf,
        /// The key it holds.
        key: Fingerprint,
        /// The certificate file.
        certificate_path: PathBuf,
        /// The key it certifies.
        certificate: Fingerprint,
    },
    /// A period that ends before it begins, or outside the years 1970 to 9999.
    #[error(
        "a certificate cannot be valid from {from} to {to} (seconds since 1970): the end must follow the beginning and lie before the year 10000; give fewer days"
    )]
    Validity {
        /// Beginning, seconds since 1970.
        from: u64,
        /// End, seconds since 1970.
        to: u64,
    },
    /// The cryptographic library could not make a key or read randomness.
    #[error(
        "the cryptographic library could not make a key; this is a fault of this machine or program, not of your input"
    )]
    Cryptography,
    /// The certificate could not be written.
    #[error(
        "could not write a certificate for a good key: {0}; this is a fault of this program, not of your input"
    )]
    Certify(#[source] rcgen::Error),
}
