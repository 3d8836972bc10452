//! The key of a vault.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use aws_lc_rs::rand;
use madrigal_core::Zeroizing;

use crate::error::{Result, VaultError};

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
        } else if digits.len() != 64 || !decode(digits, &mut key) {
            return Err(VaultError::KeyDamaged { path: path.into() });
        }
        Ok(Self(key))
    }
}

/// All ones if `x` is below `bound`, else zero; both below 2^31.
fn below(x: u32, bound: u32) -> u32 {
    (x.wrapping_sub(bound) as i32 >> 31) as u32
}

/// Bytes of hexadecimal digits, without a branch or an index that depends on them; whether all are digits.
fn decode(digits: &[u8], key: &mut [u8; 32]) -> bool {
    let mut wrong = 0;
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let mut value = 0;
        for &digit in pair {
            let number = u32::from(digit ^ b'0');
            let letter = u32::from(digit | 0x20).wrapping_sub(u32::from(b'a')) & 0xff;
            let [is_number, is_letter] = [below(number, 10), below(letter, 6)];
            wrong |= !(is_number | is_letter);
            value = value << 4 | number & is_number | (letter + 10) & is_letter;
        }
        *byte = value as u8;
    }
    wrong == 0
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
