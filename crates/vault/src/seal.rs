//! Sealed values: AES-256-GCM under a key that is fresh each time the vault is opened.
//!
//! A nonce is a counter in memory, and it never repeats under a key: the key is derived from the vault's key and 32 random bytes that are drawn when
//! the vault is opened, so the counter and the key begin and end together. No counter on disk could be set back, by a lost write or by a copy of
//! the file that is restored. The random bytes are committed before the first value that is sealed with them; if that commit is lost, so are
//! all values after it.
//!
//! Additional data binds a value to its table, its key there and its kind of jobs, so that whoever has the disk cannot pass one for another. An older copy
//! of the whole file is not noticed here, but by the other servers ([`crate::agreement`]).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::{constant_time, hkdf, rand};
use madrigal_core::{Zeroizing, domains};

use crate::error::{Result, VaultError};
use crate::key::VaultKey;

/// Before the ciphertext: number of the opening, and the counter. After it: the tag.
const PREFIX: usize = 4 + 8;
const TAG: usize = 16;
/// Bytes that sealing adds to a value.
pub(crate) const SEALED: usize = PREFIX + TAG;

/// A place that a value is bound to.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Name of the table.
    pub(crate) table: &'static str,
    /// Key in the table.
    pub(crate) key: &'a [u8],
    /// Kind of jobs, or nothing.
    pub(crate) kind: &'a str,
}

impl Place<'_> {
    /// Additional data: each part has its length before it.
    fn aad(&self) -> Vec<u8> {
        let parts = [self.table.as_bytes(), self.key, self.kind.as_bytes()];
        let mut aad = Vec::with_capacity(12 + parts.iter().map(|part| part.len()).sum::<usize>());
        for part in parts {
            aad.extend((part.len() as u32).to_le_bytes());
            aad.extend(part);
        }
        aad
    }

    /// The error of a value that is not what was written here.
    pub(crate) fn damaged(&self) -> VaultError {
        let key = self.key.iter().map(|byte| format!("{byte:02x}"));
        let (table, key) = (self.table, key.collect());
        VaultError::Damaged { table, key }
    }
}

/// Derives a key for a purpose.
fn derive(key: &VaultKey, salt: &[u8; 32], purpose: &[u8]) -> Result<Zeroizing<[u8; 32]>> {
    let mut derived = Zeroizing::new([0; 32]);
    hkdf::Salt::new(hkdf::HKDF_SHA256, salt)
        .extract(&*key.0)
        .expand(&[domains::VAULT_DATA, purpose], hkdf::HKDF_SHA256)
        .and_then(|okm| okm.fill(&mut *derived))
        .map_err(|_| VaultError::Cryptography)?;
    Ok(derived)
}

/// Key of the stores beside a vault. No salt: it is the same whenever the vault is opened.
pub(crate) fn key_of_stores(key: &VaultKey) -> Result<Zeroizing<[u8; 32]>> {
    let mut derived = Zeroizing::new([0; 32]);
    hkdf::Salt::new(hkdf::HKDF_SHA256, &[])
        .extract(&*key.0)
        .expand(&[domains::VAULT_STORES], hkdf::HKDF_SHA256)
        .and_then(|okm| okm.fill(&mut *derived))
        .map_err(|_| VaultError::Cryptography)?;
    Ok(derived)
}

/// Random bytes that nobody drew before.
pub(crate) fn fresh_salt() -> Result<[u8; 32]> {
    let mut salt = [0; 32];
    rand::fill(&mut salt).map_err(|_| VaultError::Cryptography)?;
    Ok(salt)
}

/// Value that tells a wrong key: it stands in the vault beside its salt.
pub(crate) fn check_value(key: &VaultKey, salt: &[u8; 32]) -> Result<[u8; 32]> {
    Ok(*derive(key, salt, b"check")?)
}

/// Whether `stored` is the check value.
pub(crate) fn is_key(key: &VaultKey, salt: &[u8; 32], stored: &[u8]) -> Result<bool> {
    let ours = check_value(key, salt)?;
    Ok(constant_time::verify_slices_are_equal(&ours, stored).is_ok())
}

/// Seals and opens a vault's values.
pub(crate) struct Sealer {
    key: VaultKey,
    generation: u32,
    data: LessSafeKey,
    counter: AtomicU64,
    /// Salts of all openings, and the keys that were needed.
    salts: HashMap<u32, [u8; 32]>,
    keys: Mutex<HashMap<u32, Arc<LessSafeKey>>>,
}

madrigal_core::opaque!(Sealer);

impl Sealer {
    /// A sealer whose own salt is that of `generation`, which must be on disk before anything that it seals.
    pub(crate) fn new(
        key: VaultKey,
        generation: u32,
        salts: HashMap<u32, [u8; 32]>,
    ) -> Result<Self> {
        let salt = salts.get(&generation).ok_or(VaultError::Cryptography)?;
        let data = data_key(&key, salt)?;
        Ok(Self {
            key,
            generation,
            data,
            counter: AtomicU64::new(0),
            salts,
            keys: Mutex::default(),
        })
    }

    /// Seals a value.
    pub(crate) fn seal(&self, place: Place<'_>, value: &[u8]) -> Result<Vec<u8>> {
        // 2^64 values are never written.
        let counter = self.counter.fetch_add(1, Ordering::Relaxed);
        let mut sealed = Vec::with_capacity(value.len() + SEALED);
        sealed.extend(self.generation.to_le_bytes());
        sealed.extend(counter.to_le_bytes());
        sealed.extend(value);
        let nonce = nonce(&sealed);
        let aad = Aad::from(place.aad());
        let tag = self
            .data
            .seal_in_place_separate_tag(nonce, aad, &mut sealed[PREFIX..])
            .map_err(|_| VaultError::Cryptography)?;
        sealed.extend(tag.as_ref());
        Ok(sealed)
    }

    /// Opens a value.
    pub(crate) fn open(&self, place: Place<'_>, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        if sealed.len() < SEALED {
            return Err(place.damaged());
        }
        let generation = sealed.first_chunk().copied().map_or(0, u32::from_le_bytes);
        let mut value = Zeroizing::new(sealed[PREFIX..].to_vec());
        let aad = Aad::from(place.aad());
        let nonce = nonce(sealed);
        let opened = if generation == self.generation {
            self.data.open_in_place(nonce, aad, &mut value)
        } else {
            let key = self.key_of(generation)?.ok_or_else(|| place.damaged())?;
            key.open_in_place(nonce, aad, &mut value)
        };
        opened.map_err(|_| place.damaged())?;
        value.truncate(sealed.len() - SEALED);
        Ok(value)
    }

    /// The key of an earlier opening; nothing if there was none with this number.
    fn key_of(&self, generation: u32) -> Result<Option<Arc<LessSafeKey>>> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.get(&generation) {
            return Ok(Some(key.clone()));
        }
        let Some(salt) = self.salts.get(&generation) else {
            return Ok(None);
        };
        let key = Arc::new(data_key(&self.key, salt)?);
        keys.insert(generation, key.clone());
        Ok(Some(key))
    }
}

fn data_key(key: &VaultKey, salt: &[u8; 32]) -> Result<LessSafeKey> {
    let data = derive(key, salt, b"data")?;
    let data = UnboundKey::new(&AES_256_GCM, &*data).map_err(|_| VaultError::Cryptography)?;
    Ok(LessSafeKey::new(data))
}

/// The nonce of a value: its whole prefix.
fn nonce(sealed: &[u8]) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce.copy_from_slice(&sealed[..PREFIX]);
    Nonce::assume_unique_for_key(nonce)
}
