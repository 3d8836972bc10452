//! An instance of OTs: its name, its secret offset, and its supply of hash tweaks.

use madrigal_core::{KeyNumbers, domains};
use madrigal_kernels::{Block, RowHash, Stretch};
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

use crate::error::OtError;

/// Symmetric security parameter in bits: number of base OTs, columns of the extension matrix.
pub const KAPPA: usize = 128;

/// Numbers for one tree of SoftSpoken: its leaves have the first one, the nodes of each level another.
const KEYS_OF_A_TREE: u64 = 8;

/// Numbers for all trees, of which there is one for a column at most.
const KEYS_OF_TREES: u64 = KAPPA as u64 * KEYS_OF_A_TREE;

/// The name of one instance of OTs, base OTs or an extension: no two in the world have the same.
///
/// It is bound into the hashes of base OTs, and gives an extension's hash keys of its own. The
/// direction is part of it: (sender, receiver) and (receiver, sender) are two instances. Base OTs
/// and the extensions that start from them may have one name, since each hashes under domains of
/// its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Identifier of the session, fresh for every run and the same for both parties. It is public,
    /// but nobody should know it before the run.
    pub session: [u8; 32],
    /// Party that sends, in the role of the OTs that this instance produces.
    pub sender: u16,
    /// Party that receives (has choice bits).
    pub receiver: u16,
    /// Tells apart several instances between the same two parties.
    pub stream: u32,
}

impl Instance {
    /// A hash that begins with the name. All its fields have fixed lengths.
    pub(crate) fn hash<D: Digest>(&self, domain: &[u8; 24]) -> D {
        let direction = u64::from(self.sender) << 16 | u64::from(self.receiver);
        let place = direction << 32 | u64::from(self.stream);
        D::new()
            .chain_update(domain)
            .chain_update(self.session)
            .chain_update(place.to_le_bytes())
    }

    /// The numbers of the instance's secret keys of AES: [`KEYS_OF_A_TREE`] for each tree of SoftSpoken, from 0
    /// on, then those of [`base_key_number`](Self::base_key_number), [`roots_number`](Self::roots_number) and
    /// [`vole_roots_number`](Self::vole_roots_number).
    pub(crate) fn key_numbers(&self) -> KeyNumbers {
        KeyNumbers::from_digest(
            &self
                .hash::<Sha256>(domains::OT_KEY_NUMBERS)
                .finalize()
                .into(),
        )
    }

    /// The public number of the leaves of SoftSpoken's tree `tree`; the nodes of level l are expanded under the
    /// number l higher. With k = 1 that is the number of column `tree`'s two streams.
    #[must_use]
    pub fn tree_number(&self, tree: usize) -> u64 {
        self.key_numbers().of(KEYS_OF_A_TREE * tree as u64)
    }

    /// The public number under which the key of base OT `index` gives a key of this extension: the counter
    /// block's upper half, where the lower one is the stream's number.
    #[must_use]
    pub fn base_key_number(&self, index: usize) -> u64 {
        self.key_numbers().of(KEYS_OF_TREES + index as u64)
    }

    /// Number of the key of the generator of silent OT's roots.
    pub(crate) fn roots_number(&self) -> u64 {
        self.key_numbers().of(KEYS_OF_TREES + KAPPA as u64)
    }

    /// Number of the key of the generator of VOLE's roots.
    pub(crate) fn vole_roots_number(&self) -> u64 {
        self.key_numbers().of(KEYS_OF_TREES + KAPPA as u64 + 1)
    }

    /// A public block that belongs to this instance and purpose alone (SHA-256 as a random oracle).
    pub(crate) fn public_block(&self, domain: &[u8; 24]) -> Block {
        let digest: [u8; 32] = self.hash::<Sha256>(domain).finalize().into();
        Block::from_bytes(*digest.first_chunk().unwrap_or(&[0; 16]))
    }
}

/// The extension sender's global offset: rows satisfy `q = t ^ r * Delta`. Secret.
pub struct Delta(Block);

impl Delta {
    /// Draws a uniformly random offset.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let mut bytes = [0u8; 16];
        rng.fill_bytes(&mut bytes);
        let delta = Delta(Block::from_bytes(bytes));
        bytes.zeroize();
        delta
    }

    /// Draws an offset whose lowest bit is one and whose other bits are uniform, as
    /// [silent OT](crate::silent) needs it: the lowest bit of a row then tells its choice.
    pub fn random_odd(rng: &mut impl CryptoRng) -> Self {
        let mut delta = Delta::random(rng);
        delta.0.0[0] |= 1;
        delta
    }

    /// Takes an offset that the caller chose, uniformly up to the few bits it fixes (BMR's R^j
    /// with its point-and-permute bit).
    pub fn from_block(block: Block) -> Self {
        Delta(block)
    }

    /// The offset itself: for protocols that use the rows as they are, such as BMR garbling.
    pub fn expose(&self) -> Block {
        self.0
    }

    /// The offset as the base receiver's [`KAPPA`] packed choice bits.
    pub fn choice_bits(&self) -> [u8; KAPPA / 8] {
        self.0.to_bytes()
    }
}

impl Drop for Delta {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

madrigal_core::opaque!(Delta);

/// The rows of one instance, counted, and the public keys that hash them.
#[derive(Clone, Copy)]
pub(crate) struct TweakCounter {
    instance: Instance,
    hash: RowHash,
    stretch_key: Block,
    next: u64,
}

impl TweakCounter {
    pub(crate) fn new(instance: Instance) -> Self {
        TweakCounter {
            instance,
            hash: RowHash::new(instance.public_block(domains::ROW_HASH)),
            stretch_key: instance.public_block(domains::ROW_STRETCH),
            next: 0,
        }
    }

    pub(crate) fn instance(&self) -> Instance {
        self.instance
    }

    /// Number of rows that have names.
    pub(crate) fn taken(&self) -> u64 {
        self.next
    }

    /// Names the next `m` rows.
    pub(crate) fn take(&mut self, m: usize) -> Tweaks {
        let first = self.next;
        self.next += m as u64;
        Tweaks {
            hash: self.hash,
            stretch_key: self.stretch_key,
            first,
            len: m,
        }
    }
}

/// The right to hash each of a run of rows once.
///
/// An extension hands one out with its rows and a [flavour](crate::flavour) consumes it; it cannot
/// be cloned, because masks made twice from the same rows would cancel out.
///
/// The tweak of a row is the instance's public key and the row's number, counted over the
/// instance's whole life. So no tweak comes twice in the world, and
/// [what it costs](crate::flavour#the-hash) to attack a row does not fall with their number.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "rows without their tweaks are of no use"]
pub struct Tweaks {
    hash: RowHash,
    stretch_key: Block,
    first: u64,
    len: usize,
}

impl Tweaks {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no row is left.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the first `n` off, to hash the rows piece by piece.
    ///
    /// # Errors
    /// [`OtError::Exhausted`] if fewer than `n` are left; nothing is taken then.
    pub fn take(&mut self, n: usize) -> Result<Tweaks, OtError> {
        if n > self.len {
            return Err(OtError::Exhausted {
                wanted: n,
                left: self.len,
            });
        }
        let taken = Tweaks { len: n, ..*self };
        self.first += n as u64;
        self.len -= n;
        Ok(taken)
    }

    /// Makes the hash that stretches the random blocks of these rows, by their place among them.
    pub fn stretch(&self) -> Stretch {
        Stretch::new(self.stretch_key, self.first)
    }

    pub(crate) fn hash(&self) -> &RowHash {
        &self.hash
    }

    /// Number of the first row.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_keys_of_an_instance_have_one_number() {
        let mut seen = HashSet::new();
        for (sender, receiver) in [(0, 1), (1, 0)] {
            for stream in [0, 1, 1 << 31] {
                let instance = Instance {
                    session: [9; 32],
                    sender,
                    receiver,
                    stream,
                };
                for tree in 0..KAPPA {
                    for level in 0..KEYS_OF_A_TREE {
                        let number = instance.tree_number(tree).wrapping_add(level);
                        assert!(seen.insert(number), "tree {tree}, level {level}");
                    }
                }
                for ot in 0..KAPPA {
                    assert!(seen.insert(instance.base_key_number(ot)), "base OT {ot}");
                }
                assert!(seen.insert(instance.roots_number()));
                assert!(seen.insert(instance.vole_roots_number()));
            }
        }
    }
}
