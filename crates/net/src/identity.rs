//! A party's long-term key and its certificate.
//!
//! The key is Ed25519; the certificate is self-signed and serves only to carry the key and a
//! validity period through TLS. Other parties pin the key by its [`Fingerprint`]. The party's name
//! stands in `parties.toml` alone, so that certificate and roster cannot disagree about it.
//!
//! The key is wiped when an [`Identity`] is dropped. While a key file is read, the PEM decoder makes
//! a short-lived copy that it does not wipe.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use madrigal_core::Zeroizing;
use rcgen::{CertificateParams, DnType, KeyUsagePurpose, PublicKeyData};
use rustls::crypto::aws_lc_rs::sign::any_eddsa_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use zeroize::Zeroize;

use crate::fingerprint::Fingerprint;

mod error;
mod pem;
mod signature;
mod validity;
pub use error::IdentityError;
pub use signature::{NotSigned, SIGNATURE_BYTES, Signature};
pub use validity::{DEFAULT_VALIDITY_DAYS, Validity};
pub(crate) use validity::{certified_fingerprint, check_self_signed, inspect, utc};

/// The subject of every party's certificate; no party reads it.
const COMMON_NAME: &str = "madrigal party";

/// Random bytes in a certificate's serial number; at most 20 are allowed.
const SERIAL_BYTES: usize = 16;

/// Larger files are refused before they are read: an identity has a few hundred bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// A party's Ed25519 key with a self-signed certificate.
pub struct Identity {
    key: Key,
    certificate: CertificateDer<'static>,
    validity: Validity,
}

impl Identity {
    /// A new key from the operating system's randomness, with a certificate valid for `validity`.
    ///
    /// # Errors
    /// [`IdentityError`]: the cryptographic library refused to make the key or the certificate.
    pub fn generate(validity: Validity) -> Result<Self, IdentityError> {
        let pair = Ed25519KeyPair::generate().map_err(|_| IdentityError::Cryptography)?;
        // Version 1 of PKCS#8, which other tools read too; version 2 adds only the public key.
        let pkcs8 = pair.to_pkcs8v1().map_err(|_| IdentityError::Cryptography)?;
        let pkcs8 = Zeroizing::new(pkcs8.as_ref().to_vec());
        Self::certify(Key { pair, pkcs8 }, validity)
    }

    /// Makes a new certificate for the same key: its [`Fingerprint`] stays, so no other party has to
    /// change its `parties.toml`.
    ///
    /// # Errors
    /// [`IdentityError`] in the same cases as [`Identity::generate`].
    pub fn renew(self, validity: Validity) -> Result<Self, IdentityError> {
        Self::certify(self.key, validity)
    }

    /// Renews from the key file alone, for when the certificate file is lost or damaged.
    /// Nothing is written; see [`Identity::save_certificate`].
    ///
    /// # Errors
    /// [`IdentityError`]: the key file is missing, readable by others, or holds no Ed25519 key.
    pub fn renew_from_key(key: &Path, validity: Validity) -> Result<Self, IdentityError> {
        Self::from_key(key, KeyMode::Private, validity)
    }

    /// A key that is kept without a certificate, with one that is made for it now. The file may be a pipe.
    ///
    /// # Errors
    /// [`IdentityError`]: the key file is missing, open to others than `mode` allows, or holds no Ed25519 key.
    pub fn from_key(key: &Path, mode: KeyMode, validity: Validity) -> Result<Self, IdentityError> {
        Self::certify(read_key(key, mode)?, validity)
    }

    fn certify(key: Key, validity: Validity) -> Result<Self, IdentityError> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, COMMON_NAME);
        (params.not_before, params.not_after) = validity.to_dates();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let mut serial = [0; SERIAL_BYTES];
        aws_lc_rs::rand::fill(&mut serial).map_err(|_| IdentityError::Cryptography)?;
        // A serial number is positive and has no leading zero byte (RFC 5280, section 4.1.2.2).
        serial[0] = serial[0] & 0x7f | 0x40;
        params.serial_number = Some(serial.to_vec().into());
        let certificate = params.self_signed(&key).map_err(IdentityError::Certify)?;
        Ok(Self {
            key,
            certificate: certificate.der().clone(),
            validity,
        })
    }

    /// Reads key and certificate, and checks that they belong together. An expired certificate is
    /// read too: whoever uses it checks the dates.
    ///
    /// # Errors
    /// [`IdentityError`]: a file is missing, damaged, or (the key) readable by others; the two files do not match.
    pub fn load(files: &IdentityFiles) -> Result<Self, IdentityError> {
        Self::load_with(files, KeyMode::Private)
    }

    /// Loads as [`Identity::load`] does a key file that is as open to others as `mode` allows.
    ///
    /// # Errors
    /// [`IdentityError`] in the same cases as [`Identity::load`].
    pub fn load_with(files: &IdentityFiles, mode: KeyMode) -> Result<Self, IdentityError> {
        let key = read_key(&files.key, mode)?;
        let file = open(&files.certificate)?;
        let pem = read_limited(file, &files.certificate)?;
        let damaged = || IdentityError::DamagedCertificate {
            path: files.certificate.clone(),
        };
        let certificate = CertificateDer::from_pem_slice(&pem).map_err(|_| damaged())?;
        let (certified, validity) = inspect(&certificate).map_err(|_| damaged())?;
        let fingerprint = key.fingerprint();
        if certified != fingerprint {
            return Err(IdentityError::Mismatch {
                key_path: files.key.clone(),
                key: fingerprint,
                certificate_path: files.certificate.clone(),
                certificate: certified,
            });
        }
        Ok(Self {
            key,
            certificate,
            validity,
        })
    }

    /// Writes both files, the key with mode 0600. An existing key is never overwritten: it may be
    /// the one that the other parties have pinned. Where a file cannot be written, as when the disk is full,
    /// neither is left.
    ///
    /// # Errors
    /// [`IdentityError`]: the key file exists already, or a file cannot be written.
    pub fn save(&self, files: &IdentityFiles) -> Result<(), IdentityError> {
        write_key(&files.key, &self.key.pkcs8)?;
        let saved = self.save_certificate(&files.certificate);
        saved.inspect_err(|_| {
            // It is ours, and nobody knows it yet. A file that cannot be removed either is told by what failed first.
            let _ = fs::remove_file(&files.key);
        })
    }

    /// Writes or replaces the certificate; a reader sees the old one or the new one, whole.
    ///
    /// # Errors
    /// [`IdentityError`]: the file cannot be written.
    pub fn save_certificate(&self, path: &Path) -> Result<(), IdentityError> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        fs::write(&partial, self.certificate_pem())
            .and_then(|()| fs::rename(&partial, path))
            .map_err(|source| {
                let _ = fs::remove_file(&partial);
                file_error(path, source)
            })
    }

    /// The certificate as PEM; it is public.
    pub fn certificate_pem(&self) -> String {
        pem::encode(pem::CERTIFICATE, &self.certificate)
    }

    /// The certificate as DER; it is public.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// Gives the fingerprint that the other parties pin.
    pub fn fingerprint(&self) -> Fingerprint {
        self.key.fingerprint()
    }

    /// Period in which the certificate is accepted.
    pub fn validity(&self) -> Validity {
        self.validity
    }

    /// Signs bytes for a purpose, one of the separators of [`madrigal_core::domains`]: [`Signature`] says how, and why that does not
    /// endanger TLS.
    pub fn sign(&self, purpose: &[u8], bytes: &[u8]) -> Signature {
        Signature::make(&self.key.pair, purpose, bytes)
    }

    /// Key and certificate as rustls signs with them.
    pub(crate) fn certified_key(&self) -> Result<Arc<CertifiedKey>, rustls::Error> {
        let key = any_eddsa_type(&PrivatePkcs8KeyDer::from(self.key.pkcs8.as_slice()))?;
        Ok(Arc::new(CertifiedKey::new(
            vec![self.certificate.clone()],
            key,
        )))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("fingerprint", &self.fingerprint())
            .field("validity", &self.validity)
            .finish_non_exhaustive()
    }
}

/// Users to whom a key file may be open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyMode {
    /// The file's owner alone.
    #[default]
    Private,
    /// Other users may read it, and nobody but its owner may write it: as the secrets of containers are, which a
    /// system hands out with a mode of its own. The key is then open to everybody else on that machine.
    Readable,
}

/// Files where an [`Identity`] is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityFiles {
    /// The private key, PEM, mode 0600.
    pub key: PathBuf,
    /// The certificate, PEM.
    pub certificate: PathBuf,
}

impl IdentityFiles {
    /// `NAME.key` and `NAME.crt` in `directory`.
    pub fn in_directory(directory: &Path, name: &str) -> Self {
        Self {
            key: directory.join(format!("{name}.key")),
            certificate: directory.join(format!("{name}.crt")),
        }
    }
}

/// Signs the certificate.
struct Key {
    pair: Ed25519KeyPair,
    pkcs8: Zeroizing<Vec<u8>>,
}

impl Key {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_spki(&self.subject_public_key_info())
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    fn algorithm(&self) -> &'static rcgen::SignatureAlgorithm {
        &rcgen::PKCS_ED25519
    }
}

impl rcgen::SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        Ok(self.pair.sign(message).as_ref().to_vec())
    }
}

fn read_key(path: &Path, allowed: KeyMode) -> Result<Key, IdentityError> {
    let damaged = || IdentityError::DamagedKey {
        path: path.to_owned(),
    };
    let pkcs8 = read_pkcs8(path, allowed)?.ok_or_else(damaged)?;
    let pair = Ed25519KeyPair::from_pkcs8(&pkcs8).map_err(|_| damaged())?;
    Ok(Key { pair, pkcs8 })
}

/// Reads a file with a secret key; nothing where it holds none in PEM.
pub(crate) fn read_pkcs8(
    path: &Path,
    allowed: KeyMode,
) -> Result<Option<Zeroizing<Vec<u8>>>, IdentityError> {
    let file = open(path)?;
    // Asked of the open file, so that nobody can swap it in between. A pipe is read once, by who has it.
    #[cfg(unix)]
    {
        let metadata = file.metadata().map_err(|source| file_error(path, source))?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        let path = path.to_owned();
        match allowed {
            _ if !metadata.is_file() => {}
            KeyMode::Private if mode & 0o077 != 0 => {
                return Err(IdentityError::KeyReadable { path, mode });
            }
            KeyMode::Readable if mode & 0o022 != 0 => {
                return Err(IdentityError::KeyWritable { path, mode });
            }
            _ => {}
        }
    }
    #[cfg(not(unix))]
    let _ = allowed;
    let pem = Zeroizing::new(read_limited(file, path)?);
    let Ok(mut der) = PrivatePkcs8KeyDer::from_pem_slice(&pem) else {
        return Ok(None);
    };
    let pkcs8 = Zeroizing::new(der.secret_pkcs8_der().to_vec());
    der.zeroize();
    Ok(Some(pkcs8))
}

/// Writes a secret key into a new file with mode 0600; where that fails, no file is left.
pub(crate) fn write_key(path: &Path, pkcs8: &[u8]) -> Result<(), IdentityError> {
    let pem = Zeroizing::new(pem::encode(pem::PRIVATE_KEY, pkcs8));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => IdentityError::KeyExists {
            path: path.to_owned(),
        },
        _ => file_error(path, source),
    })?;
    let written = file
        .write_all(pem.as_bytes())
        .and_then(|()| file.sync_all());
    written.map_err(|source| {
        let _ = fs::remove_file(path);
        file_error(path, source)
    })
}

fn open(path: &Path) -> Result<File, IdentityError> {
    File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => IdentityError::Missing {
            path: path.to_owned(),
        },
        _ => file_error(path, source),
    })
}

fn read_limited(file: File, path: &Path) -> Result<Vec<u8>, IdentityError> {
    let mut bytes = Vec::with_capacity(4096);
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| file_error(path, source))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        bytes.zeroize();
        return Err(IdentityError::TooLarge {
            path: path.to_owned(),
        });
    }
    Ok(bytes)
}

fn file_error(path: &Path, source: io::Error) -> IdentityError {
    IdentityError::File {
        path: path.to_owned(),
        source,
    }
}
