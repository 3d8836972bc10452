//! Values that both parties know and neither chooses: the codes, and the keys of the trees' permutation.

use madrigal_core::domains::{SILENT_COINS, VOLE_COINS};
use madrigal_kernels::{Block, Prg, RowHash, ggm::GgmTrees, lpn::LocalCode};
use sha2::{Digest, Sha256};

use super::params::Stage;
use crate::Instance;

/// Two streams of AES-128 in counter mode, whose keys a hash makes from the instance's name. Within an
/// instance no block of a stream comes twice (a permutation of a counter), and between instances
/// equal ones are as rare as collisions of 128 random bits.
pub(crate) struct PublicCoins {
    codes: Prg,
    trees: Prg,
}

impl PublicCoins {
    /// The coins of silent OTs.
    pub(crate) fn silent(instance: Instance) -> Self {
        Self::new(instance, SILENT_COINS)
    }

    /// The coins of VOLE.
    pub(crate) fn vole(instance: Instance) -> Self {
        Self::new(instance, VOLE_COINS)
    }

    fn new(instance: Instance, domain: &[u8; 24]) -> Self {
        let digest: [u8; 32] = instance.hash::<Sha256>(domain).finalize().into();
        let [codes, trees] = [0, 16].map(|start| {
            let mut seed = [0; 16];
            seed.copy_from_slice(&digest[start..start + 16]);
            // Number 0: the seeds are public.
            Prg::new(Block::from_bytes(seed))
        });
        PublicCoins { codes, trees }
    }

    /// The code of the next iteration. Each has its own, so that what an attacker finds out about
    /// one code helps against one secret alone.
    pub(crate) fn next_code(&mut self, stage: &Stage) -> LocalCode {
        LocalCode::new(self.codes.next_block(), stage.dimension())
    }

    /// The trees of the next group, whose permutation no other group uses.
    pub(crate) fn next_trees(&mut self) -> GgmTrees {
        GgmTrees::new(self.trees.next_block())
    }

    /// The hash of the leaves of the next group, whose key no other group has.
    pub(crate) fn next_hash(&mut self) -> RowHash {
        RowHash::new(self.trees.next_block())
    }

    /// Blocks drawn from both streams.
    #[cfg(test)]
    pub(crate) fn drawn(&self) -> u64 {
        self.codes.position() + self.trees.position()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Two instances that differ anywhere have other codes and keys; within one, none comes twice.
    #[test]
    fn no_two_groups_or_iterations_share_their_coins() {
        let instances = [(0, 0, 1, 0), (1, 0, 1, 0), (0, 1, 0, 0), (0, 0, 1, 1)].map(
            |(session, sender, receiver, stream)| Instance {
                session: [session; 32],
                sender,
                receiver,
                stream,
            },
        );
        let mut seen = HashSet::new();
        for instance in instances {
            for coins in [PublicCoins::silent(instance), PublicCoins::vole(instance)] {
                let PublicCoins {
                    mut codes,
                    mut trees,
                } = coins;
                for _ in 0..5000 {
                    assert!(seen.insert(u128::from(trees.next_block())));
                    assert!(seen.insert(u128::from(codes.next_block())));
                }
            }
        }
    }
}
