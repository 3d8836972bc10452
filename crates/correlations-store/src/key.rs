//! The key of a store, and the keys derived from it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use aws_lc_rs::aead::{AES_256_GCM, LessSafeKey, UnboundKey};
use aws_lc_rs::{hkdf, hmac, rand};
use madrigal_core::{Zeroizing, domains, hexadecimal};
use madrigal_kernels::marks;

use crate::error::{Result, StoreError};
use crate::files;

/// Length of a key, of a salt and of an authentication code.
pub(crate) const KEY_BYTES: usize = 32;
/// In the file: hexadecimal digits and the end of a line.
const MAX_FILE_BYTES: u64 = 2 * KEY_BYTES as u64 + 2;

/// The 32 random bytes under which a store is encrypted. They stay in a file of their own, with
/// mode 0600, as 64 hexadecimal digits. Wiped when dropped.
#[derive(Clone)]
pub struct StoreKey(Zeroizing<[u8; KEY_BYTES]>);

impl std::fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoreKey")
    }
}

impl StoreKey {
    /// A key from the operating system's randomness.
    ///
    /// # Errors
    /// [`StoreError::Cryptography`].
    pub fn generate() -> Result<Self> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        rand::fill(&mut *bytes).map_err(|_| StoreError::Cryptography)?;
        marks::secret(&mut *bytes);
        Ok(Self(bytes))
    }

    /// A key that the caller has from elsewhere: 32 random bytes.
    pub fn from_bytes(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Self {
        Self(bytes)
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// It is missing, open to others, or holds no key.
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => StoreError::KeyMissing { path: path.into() },
            _ => StoreError::KeyFile {
                action: "read",
                path: path.into(),
                source,
            },
        };
        let file = File::open(path).map_err(failed)?;
        check_mode(&file, path).map_err(failed)??;
        let mut text = Zeroizing::new(Vec::with_capacity(MAX_FILE_BYTES as usize + 1));
        file.take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(failed)?;
        let damaged = || StoreError::KeyDamaged { path: path.into() };
        let length = text.trim_ascii_end().len();
        if length != 2 * KEY_BYTES {
            return Err(damaged());
        }
        let digits = &mut text[..length];
        marks::secret(digits);
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let mut wrong = hexadecimal::decode(digits, &mut *key);
        // Whether a file holds a key is no secret, nor where there is none.
        marks::public(&mut wrong);
        match wrong {
            0 => Ok(Self(key)),
            _ => Err(damaged()),
        }
    }

    /// Reads the key file; where there is none, makes a key and writes it.
    ///
    /// # Errors
    /// [`StoreError`] in the same cases as [`load`](Self::load); where it cannot be written.
    pub fn load_or_make(path: &Path) -> Result<Self> {
        match Self::load(path) {
            Err(StoreError::KeyMissing { .. }) => {}
            other => return other,
        }
        let key = Self::generate()?;
        key.save(path).map_err(|source| StoreError::KeyFile {
            action: "write",
            path: path.into(),
            source,
        })?;
        Ok(key)
    }

    /// Writes a new file, and has it on disk: a store without its key is lost.
    fn save(&self, path: &Path) -> io::Result<()> {
        let mut text = Zeroizing::new(Vec::with_capacity(MAX_FILE_BYTES as usize));
        text.extend(self.0.iter().copied().flat_map(hexadecimal::encode));
        text.push(b'\n');
        let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
        if let Some(parent) = parent {
            fs::create_dir_all(parent)?;
        }
        let mut file = files::private().create_new(true).open(path)?;
        file.write_all(&text)?;
        file.sync_all()?;
        files::sync_directory(parent.unwrap_or(Path::new(".")))
    }

    /// The keys of one store.
    pub(crate) fn with_salt(&self, salt: &[u8; KEY_BYTES]) -> Keys {
        Keys(hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(&*self.0))
    }
}

#[cfg(unix)]
fn check_mode(file: &File, path: &Path) -> io::Result<Result<()>> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions()) & 0o7777;
    if mode & 0o077 != 0 {
        let path = path.into();
        return Ok(Err(StoreError::KeyReadable { path, mode }));
    }
    Ok(Ok(()))
}

#[cfg(not(unix))]
fn check_mode(_: &File, _: &Path) -> io::Result<Result<()>> {
    Ok(Ok(()))
}

/// Keys derived from a store's key by HKDF-SHA256 with the store's salt: one for each purpose.
pub(crate) struct Keys(hkdf::Prk);

impl Keys {
    fn derive(&self, what: &[u8], purpose: &str) -> Result<Zeroizing<[u8; KEY_BYTES]>> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let info = [&domains::STORE[..], what, b" ", purpose.as_bytes()];
        self.0
            .expand(&info, hkdf::HKDF_SHA256)
            .and_then(|okm| okm.fill(&mut *key))
            .map_err(|_| StoreError::Cryptography)?;
        Ok(key)
    }

    /// Encrypts one data file.
    pub(crate) fn of_file(&self, name: &str) -> Result<LessSafeKey> {
        let key = self.derive(b"data", name)?;
        let key = UnboundKey::new(&AES_256_GCM, &*key).map_err(|_| StoreError::Cryptography)?;
        Ok(LessSafeKey::new(key))
    }

    /// Authenticates the header or the journal.
    pub(crate) fn of_code(&self, name: &str) -> Result<hmac::Key> {
        let key = self.derive(b"code", name)?;
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &*key))
    }

    /// Whether `code` is the header's or the journal's. All of it is compared, and only the verdict shown.
    pub(crate) fn vouch_for(&self, name: &str, signed: &[u8], code: &[u8]) -> Result<bool> {
        let mut verdict = hmac::verify(&self.of_code(name)?, signed, code);
        marks::public(&mut verdict);
        Ok(verdict.is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_read_again() -> Result<(), Box<dyn std::error::Error>> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("new/me.store-key");
        assert!(matches!(
            StoreKey::load(&path),
            Err(StoreError::KeyMissing { .. })
        ));
        let made = StoreKey::load_or_make(&path)?;
        assert_eq!(StoreKey::load_or_make(&path)?.0, made.0);
        assert_eq!(fs::read(&path)?.len(), 65);
        assert_eq!(format!("{made:?}"), "StoreKey");
        for wrong in ["", "12", &"g".repeat(64), &"1".repeat(65), &"é".repeat(32)] {
            fs::write(&path, wrong)?;
            let damaged = StoreKey::load(&path);
            assert!(matches!(damaged, Err(StoreError::KeyDamaged { .. })));
        }
        #[cfg(unix)]
        {
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o640);
            fs::set_permissions(&path, open)?;
            let readable = StoreKey::load(&path);
            let Err(StoreError::KeyReadable { mode: 0o640, .. }) = readable else {
                panic!("{readable:?}");
            };
        }
        Ok(())
    }
}
