//! The function's hash against malicious parties, and proofs that a receiver has keys.
//!
//! Tag and pad of an element are SHA-256 as a random oracle, with the digest as input, too. Delta and keys are the sender's choice in VOLE's functionality: with Delta = 0 and
//! keys of zeros all elements are zero, and without the digest a single tag would match whatever the receiver has. (VOLE here gives no Delta of 0; nothing rests on that.)

use madrigal_core::{Zeroizing, domains};
use madrigal_kernels::Block;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Bytes of a proof.
pub(crate) const PROOF_BYTES: usize = 32;

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// The oracle of a step.
#[derive(Clone)]
pub(crate) struct Oracle {
    /// SHA-256 after its first block, which is that of the step.
    begun: Sha256,
}

impl Oracle {
    /// The oracle of the step with this public identifier.
    pub(crate) fn new(public_id: &[u8; 32]) -> Self {
        let mut block = [0; BLOCK];
        let (domain, rest) = block.split_at_mut(domains::PSI_ORACLE.len());
        domain.copy_from_slice(domains::PSI_ORACLE);
        rest[..32].copy_from_slice(public_id);
        let begun = Sha256::new().chain_update(block);
        Self { begun }
    }

    /// Tag and pad of each element under its digest.
    pub(crate) fn hash(
        &self,
        elements: &[Block],
        digests: &[Block],
        tags: &mut [Block],
        pads: &mut [Block],
    ) {
        let outputs = tags.iter_mut().zip(pads);
        for ((element, digest), (tag, pad)) in elements.iter().zip(digests).zip(outputs) {
            let hash = self.begun.clone();
            let hash = hash.chain_update(element.to_bytes());
            let hash =
                Zeroizing::<[u8; 32]>::new(hash.chain_update(digest.to_bytes()).finalize().into());
            let (words, _) = hash.as_chunks();
            let word = |at: usize| u64::from_be_bytes(words[at]);
            *tag = Block::new(word(1), word(0));
            *pad = Block::new(word(3), word(2));
        }
    }
}

/// The part of a pad by which a receiver proves that it has the key. The other part masks a payload.
pub(crate) const fn to_prove(pad: Block) -> u64 {
    pad.hi()
}

/// Proof of having the keys of these pads, in the order of the sender's tags. Without a key's element its pad is known to nobody but the sender, who alone can check
/// a guess.
pub(crate) fn proof(public_id: &[u8; 32], pads: impl Iterator<Item = u64>) -> [u8; PROOF_BYTES] {
    let mut hash = Sha256::new()
        .chain_update(domains::PSI_PROOF)
        .chain_update(public_id);
    pads.for_each(|pad| hash.update(pad.to_le_bytes()));
    hash.finalize().into()
}

/// Whether two proofs are one, in a time that does not depend on them.
pub(crate) fn same(one: &[u8; PROOF_BYTES], other: &[u8]) -> bool {
    one.as_slice().ct_eq(other).into()
}
