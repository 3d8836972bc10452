//! Checksums of a state, and what else is hashed under its salt.

use std::io::{self, Read};

use madrigal_core::domains;
use sha2::{Digest as _, Sha256};

/// Bytes of a checksum.
pub(super) const CHECK: usize = 16;

/// Name of a run in the ledger of a party that asks so.
pub(crate) fn id(salt: &[u8; 32], question: &[(String, String)]) -> String {
    let mut hash = hash(b"ledger", salt);
    for part in question.iter().flat_map(|(name, value)| [name, value]) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    format!("{:032x}", u128::from_be_bytes(first(hash)))
}

pub(super) fn word(from: &mut impl Read) -> io::Result<u32> {
    let mut word = [0; 4];
    from.read_exact(&mut word)?;
    Ok(u32::from_le_bytes(word))
}

/// A hash of one purpose under the salt.
pub(super) fn hash(purpose: &[u8], salt: &[u8; 32]) -> Sha256 {
    Sha256::new()
        .chain_update(domains::PSI_STATE)
        .chain_update([purpose.len() as u8])
        .chain_update(purpose)
        .chain_update(salt)
}

pub(super) fn check<'a>(
    purpose: &[u8],
    salt: &[u8; 32],
    parts: impl IntoIterator<Item = &'a [u8]>,
) -> [u8; CHECK] {
    let mut hash = hash(purpose, salt);
    parts.into_iter().for_each(|part| hash.update(part));
    first(hash)
}

/// The checksum that a hash gives.
pub(super) fn first(hash: Sha256) -> [u8; CHECK] {
    let whole: [u8; 32] = hash.finalize().into();
    *whole.first_chunk().unwrap_or(&[0; CHECK])
}
