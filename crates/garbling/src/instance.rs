//! Name of one instance of garbling, and the public key that its labels are hashed under.

use madrigal_core::{KeyNumbers, domains};
use madrigal_kernels::{Block, GateHash, RowHash};
use sha2::{Digest, Sha256};

/// The name of one instance of garbling: no two in the world have the same.
///
/// It gives the hash keys of the instance's pieces, which are numbered from 0 over its whole life. All
/// blocks of lanes of a job may share an instance if their numbers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Identifier of the session, fresh for every run and the same for both parties. It is public,
    /// but nobody should know it before the run.
    pub session: [u8; 32],
    /// Party that garbles.
    pub garbler: u16,
    /// Party that evaluates.
    pub evaluator: u16,
    /// Tells apart several instances between the same two parties.
    pub stream: u32,
}

impl Instance {
    /// The hash of its gates (SHA-256 as a random oracle gives the key).
    pub(crate) fn hash(&self) -> GateHash {
        GateHash::new(self.key(domains::GATE_HASH))
    }

    /// The hash of labels that become numbers, by another such key.
    pub(crate) fn number_hash(&self) -> RowHash {
        RowHash::new(self.key(domains::NUMBER_HASH))
    }

    /// The numbers of the garbler's generators of coins, one for each piece.
    pub(crate) fn key_numbers(&self) -> KeyNumbers {
        KeyNumbers::from_digest(&self.digest(domains::GARBLER_KEY_NUMBERS))
    }

    fn key(&self, domain: &[u8]) -> Block {
        Block::from_bytes(*self.digest(domain).first_chunk().unwrap_or(&[0; 16]))
    }

    fn digest(&self, domain: &[u8]) -> [u8; 32] {
        let direction = u64::from(self.garbler) << 16 | u64::from(self.evaluator);
        let place = direction << 32 | u64::from(self.stream);
        Sha256::new()
            .chain_update(domain)
            .chain_update(self.session)
            .chain_update(place.to_le_bytes())
            .finalize()
            .into()
    }
}
