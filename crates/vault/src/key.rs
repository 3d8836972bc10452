//! The key of a vault.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use aws_lc_rs::{hkdf, rand};
use madrigal_core::{Zeroizing, domains, hexadecimal};

use crate::error::{Result, VaultError};
use crate::folder::sync_folder;

/// The 32 secret bytes that a vault is sealed under. Wiped when dropped.
#[derive(Clone)]
pub struct VaultKey(pub(crate) Zeroizing<[u8; 32]>);

madrigal_core::opaque!(VaultKey);

impl VaultKey {
    /// A key from the operating system's randomness.
    ///
    /// # Errors
    /// [`VaultError::Cryptography`].
    pub fn generate() -> Result<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        rand::fill(&mut *bytes).map_err(|_| VaultError::Cryptography)?;
        Ok(Self(bytes))
    }

    /// A key that the caller has from elsewhere: 32 random bytes.
    pub fn from_bytes(bytes: Zeroizing<[u8; 32]>) -> Self {
        Self(bytes)
    }

    /// Key of the stores of correlations that lie beside the vault. It tells nothing of the vault's key, nor of what that seals.
    ///
    /// # Errors
    /// [`VaultError::Cryptography`].
    pub fn of_stores(&self) -> Result<Zeroizing<[u8; 32]>> {
        let mut derived = Zeroizing::new([0; 32]);
        // No salt: it is the same whenever the vault is opened.
        hkdf::Salt::new(hkdf::HKDF_SHA256, &[])
            .extract(&*self.0)
            .expand(&[domains::VAULT_STORES], hkdf::HKDF_SHA256)
            .and_then(|okm| okm.fill(&mut *derived))
            .map_err(|_| VaultError::Cryptography)?;
        Ok(derived)
    }

    /// Makes a key, and has it on disk in a new file that its owner alone may read, as digits, so that it can be copied on paper.
    ///
    /// # Errors
    /// There is such a file already, or it cannot be written; randomness.
    pub fn make(path: &Path) -> Result<Self> {
        let key = Self::generate()?;
        let written = key.save(path);
        written.map_err(|source| VaultError::KeyFile {
            path: path.into(),
            source,
        })?;
        Ok(key)
    }

    fn save(&self, path: &Path) -> io::Result<()> {
        let mut text = Zeroizing::new(Vec::with_capacity(65));
        text.extend(self.0.iter().copied().flat_map(hexadecimal::encode));
        text.push(b'\n');
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(&text)?;
        file.sync_all()?;
        // A vault without its key is lost, so the name is on disk, too.
        sync_folder(path)
    }

    /// Reads a key file: 32 bytes, or 64 hexadecimal digits. Its owner alone may read it.
    ///
    /// # Errors
    /// It is missing, open to others, or holds no key; the text says how to make one.
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => VaultError::KeyMissing { path: path.into() },
            _ => VaultError::KeyFile {
                path: path.into(),
                source,
            },
        };
        let file = File::open(path).map_err(failed)?;
        check_mode(&file, path).map_err(failed)??;
        // Room for the digits and one byte too many: it never grows, which would leave a copy.
        let mut text = Zeroizing::new(Vec::with_capacity(67));
        file.take(67).read_to_end(&mut text).map_err(failed)?;
        let mut key = Zeroizing::new([0; 32]);
        let digits = text
            .strip_suffix(b"\n")
            .map_or(&text[..], |text| text.strip_suffix(b"\r").unwrap_or(text));
        if text.len() == 32 {
            key.copy_from_slice(&text);
        } else if digits.len() != 64 || hexadecimal::decode(digits, &mut *key) != 0 {
            return Err(VaultError::KeyDamaged { path: path.into() });
        }
        Ok(Self(key))
    }
}

#[cfg(unix)]
fn check_mode(file: &File, path: &Path) -> io::Result<Result<()>> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions()) & 0o7777;
    if mode & 0o077 != 0 {
        let path = path.into();
        return Ok(Err(VaultError::KeyReadable { path, mode }));
    }
    Ok(Ok(()))
}

#[cfg(not(unix))]
fn check_mode(_: &File, _: &Path) -> io::Result<Result<()>> {
    Ok(Ok(()))
}
