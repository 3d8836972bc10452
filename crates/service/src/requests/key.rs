//! A server's part of the key that a kind of requests is answered under: drawn at its first start, and sealed in the vault from then on.
//!
//! The key is the XOR of all servers' parts, and nobody ever has it. Each server tells the others the digest of its part, which hides it, as a part is
//! random. Once all digests are known they are kept beside the part: they are how servers notice later that a part was lost or another vault put back.

use madrigal_core::{Digest256, Zeroizing, domains};
use madrigal_kernels::Block;
use madrigal_vault::{Vault, VaultError};
use sha2::{Digest as _, Sha256};

const PART: usize = 16;
const DIGEST: usize = 32;
/// Servers that a key is shared by.
pub(crate) const SERVERS: usize = 3;

/// A server's part of a kind's key.
pub(crate) struct Key {
    kind: String,
    part: Zeroizing<Block>,
    digest: Digest256,
    /// Digests of all parts, once they were settled.
    settled: Option<[Digest256; SERVERS]>,
}

madrigal_core::opaque!(Key);

/// A server's word about its part of a key: the part's digest, and the check value of the key that it remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyTold {
    pub(crate) part: Digest256,
    pub(crate) check: Option<Digest256>,
}

/// A key that all servers know as the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settled {
    /// Digests of all parts.
    parts: [Digest256; SERVERS],
    /// The key's check value.
    pub(crate) check: Digest256,
    /// Whether this server remembers it already.
    pub(crate) known: bool,
}

impl Key {
    /// Reads a kind's part of the key from the vault; draws it and has the vault keep it, where there is none yet.
    pub(crate) async fn open(vault: &Vault, kind: &str) -> Result<Self, VaultError> {
        let noted = vault.noted(&note(kind))?;
        if let Some(noted) = noted {
            let wrong = || VaultError::Damaged {
                table: "notes",
                key: note(kind),
            };
            return Self::read(kind, &noted).ok_or_else(wrong);
        }
        let mut part = Zeroizing::new([0; PART]);
        getrandom::fill(&mut *part).map_err(|_| VaultError::Cryptography)?;
        let key = Self::of(kind, Zeroizing::new(Block::from_bytes(*part)), None);
        vault.note(&note(kind), Some(part.to_vec())).await?;
        tracing::warn!(
            kind,
            part = %key.digest,
            "drew this server's part of a new key: without a copy of the vault and its key, what is answered under it cannot be computed again"
        );
        Ok(key)
    }

    fn of(kind: &str, part: Zeroizing<Block>, settled: Option<[Digest256; SERVERS]>) -> Self {
        let bytes = Zeroizing::new(part.to_bytes());
        let digest = digest(kind, &[&bytes[..]]);
        Self {
            kind: kind.to_owned(),
            part,
            digest,
            settled,
        }
    }

    fn read(kind: &str, noted: &[u8]) -> Option<Self> {
        let (part, rest) = noted.split_at_checked(PART)?;
        let part = Zeroizing::new(Block::from_bytes(part.try_into().ok()?));
        let settled = match rest.len() {
            0 => None,
            length if length == SERVERS * DIGEST => {
                let mut parts = [Digest256([0; DIGEST]); SERVERS];
                for (part, bytes) in parts.iter_mut().zip(rest.chunks_exact(DIGEST)) {
                    part.0.copy_from_slice(bytes);
                }
                Some(parts)
            }
            _ => return None,
        };
        Some(Self::of(kind, part, settled))
    }

    /// The part.
    pub(crate) fn part(&self) -> &Block {
        &self.part
    }

    /// Word about it for the others.
    pub(crate) fn told(&self) -> KeyTold {
        let check = self.settled.as_ref();
        KeyTold {
            part: self.digest,
            check: check.map(|parts| check_value(&self.kind, parts)),
        }
    }

    /// Compares what all servers tell of their parts. All come to the same end: either all know the key as the same, or none goes on.
    ///
    /// # Errors
    /// Words about what is wrong at which server, and what to do.
    pub(crate) fn settle(
        &self,
        told: &[KeyTold; SERVERS],
        names: &[String],
    ) -> Result<Settled, String> {
        let name = |server: usize| {
            let name = names.get(server);
            format!("server `{}`", name.map_or("?", |name| name))
        };
        let parts = [0, 1, 2].map(|server: usize| told[server].part);
        let check = check_value(&self.kind, &parts);
        if let Some(known) = &self.settled
            && let Some(other) = (0..SERVERS).find(|&server| known[server] != parts[server])
        {
            return Err(format!(
                "{} has another part of the key than when the key was made (check value {}): its vault was lost or another one put back; put back its vault with the key of the vault",
                name(other),
                check_value(&self.kind, known)
            ));
        }
        let knows_other = |told: &KeyTold| told.check.is_some_and(|known| known != check);
        if let Some(other) = told.iter().position(knows_other) {
            let known = told[other].check.unwrap_or(check);
            return Err(format!(
                "{} remembers a key with check value {known}, and the parts of now are those of {check}: {}; put back the vault that was there before, with its key",
                name(other),
                match self.settled {
                    None => "this server has drawn its part anew, or another one has",
                    Some(_) => "its vault is not the one that was there before",
                }
            ));
        }
        Ok(Settled {
            parts,
            check,
            known: self.settled.is_some(),
        })
    }

    /// Name and value of the vault's note that keeps the part and what was settled.
    pub(crate) fn note(&self, settled: &Settled) -> (String, Vec<u8>) {
        let mut value = self.part.to_bytes().to_vec();
        let parts = settled.parts.iter().flat_map(|part| part.0);
        value.extend(parts);
        (note(&self.kind), value)
    }

    /// Remembers what was settled, once the vault keeps it.
    pub(crate) fn remember(&mut self, settled: &Settled) {
        self.settled = Some(settled.parts);
    }
}

fn note(kind: &str) -> String {
    format!("key of {kind}")
}

fn check_value(kind: &str, parts: &[Digest256; SERVERS]) -> Digest256 {
    let parts = parts.each_ref().map(|part| &part.0[..]);
    digest(kind, &parts)
}

fn digest(kind: &str, parts: &[&[u8]]) -> Digest256 {
    let mut hash = Sha256::new_with_prefix(domains::SERVICE_KEY);
    hash.update((kind.len() as u64).to_le_bytes());
    hash.update(kind);
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    Digest256(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(part: u64) -> Key {
        Key::of("login", Zeroizing::new(Block::new(part, 7)), None)
    }

    fn names() -> Vec<String> {
        ["ann", "ben", "cyd"].map(str::to_owned).to_vec()
    }

    #[test]
    fn whoever_lost_a_part_is_named_by_all() {
        let mut keys = [key(1), key(2), key(3)];
        let told = keys.each_ref().map(Key::told);
        let settled = keys
            .each_ref()
            .map(|key| key.settle(&told, &names()).unwrap());
        assert!(
            settled
                .iter()
                .all(|one| !one.known && one.check == settled[0].check)
        );
        // One server stops before it has written it down.
        keys[0].remember(&settled[0]);
        keys[1].remember(&settled[1]);
        let told = keys.each_ref().map(Key::told);
        for key in &keys {
            assert_eq!(key.settle(&told, &names()).unwrap().check, settled[0].check);
        }
        keys[2].remember(&settled[2]);
        // A vault that is lost, and one of another service.
        for lost in 0..3 {
            let mut after = [1, 2, 3].map(key);
            after.iter_mut().for_each(|key| key.remember(&settled[0]));
            after[lost] = key(9);
            let told = after.each_ref().map(Key::told);
            for (at, key) in after.iter().enumerate() {
                let why = key.settle(&told, &names()).unwrap_err();
                let named = format!("server `{}` has another part", names()[lost]);
                assert_eq!(why.contains(&named), at != lost, "{why}");
                assert!(why.contains("put back"), "{why}");
            }
        }
    }

    #[test]
    fn parts_are_read_as_they_were_written() {
        let mut key = key(5);
        let told = [1, 5, 8].map(|part| super::tests::key(part).told());
        let settled = key.settle(&told, &names()).unwrap();
        let (name, noted) = key.note(&settled);
        assert_eq!(name, "key of login");
        assert!(Key::read("login", &noted[..16]).unwrap().settled.is_none());
        key.remember(&settled);
        assert_eq!(Key::read("login", &noted).unwrap().told(), key.told());
        assert!(Key::read("login", &noted[..47]).is_none());
        // The kind's name is part of what is hashed.
        assert_ne!(Key::read("logins", &noted).unwrap().told(), key.told());
    }
}
