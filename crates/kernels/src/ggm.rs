//! Levels of correlated GGM trees: Guo, Yang, Wang, Zhang, Xie, Liu and Zhao, "Half-Tree: Halving
//! the Cost of Tree Expansion in COT and DPF" (Eurocrypt 2023, ePrint 2022/1431), section 4.
//!
//! A parent `x` has the left child `H(x)` and the right child `x ^ H(x)`, one AES block for two
//! children; so the sum of the nodes is the same on every level. `H(x) = pi(sigma(x)) ^ sigma(x)`
//! with `sigma(lo, hi) = (hi, lo ^ hi)`: the MMO hash of Guo, Katz, Wang and Yu (IEEE S&P 2020,
//! ePrint 2019/074), section 7.3. Property: *circular correlation robustness*, which the trees need
//! because right children cover nodes that differ from known ones by a secret offset, with `pi`
//! modelled as a random permutation. `pi` is AES-128 under a fixed public key of its own, because
//! the same offset may go through [`crate::TweakableHash`], which is proved for a permutation not
//! used elsewhere.
//!
//! # Layout
//! [`TREES`] trees grow at once, so that even the first levels fill vectors: node `j` of tree `i`
//! lies at `TREES * j + i`. A level's children replace it: those of node `j` of `m` are nodes `j`
//! (left) and `m + j` (right), hence bit `l` of a leaf's number is the turn taken at level `l`.

use std::sync::OnceLock;

use crate::dispatch::dispatch;
use crate::{Aes128, Block, Kernels};

/// Trees that grow side by side.
pub const TREES: usize = 4;

/// The public key of `pi`: bits 128 to 255 after the point of the number pi (a4093822 299f31d0
/// 082efa98 ec4e6c89), so that nobody chose it.
const TREE_KEY: [u8; 16] = [
    0xa4, 0x09, 0x38, 0x22, 0x29, 0x9f, 0x31, 0xd0, 0x08, 0x2e, 0xfa, 0x98, 0xec, 0x4e, 0x6c, 0x89,
];

/// The permutation that GGM trees grow by, expanded once.
#[derive(Debug)]
pub struct GgmTrees {
    pi: Aes128,
}

impl Kernels {
    /// GGM trees at this handle's level.
    #[must_use]
    pub fn ggm_trees(self) -> GgmTrees {
        GgmTrees {
            pi: self.aes128(Block::from_bytes(TREE_KEY)),
        }
    }
}

impl GgmTrees {
    /// The trees' permutation at the default level.
    #[must_use]
    pub fn fixed() -> &'static Self {
        static FIXED: OnceLock<GgmTrees> = OnceLock::new();
        FIXED.get_or_init(|| Kernels::detect().ggm_trees())
    }

    /// Grows the trees by one level. The first half of `nodes` holds the parents; afterwards it
    /// holds their left children and the second half the right ones. Returns the sum of each tree's
    /// left children.
    ///
    /// # Panics
    /// If `nodes` is no multiple of twice [`TREES`].
    pub fn expand(&self, nodes: &mut [Block]) -> [Block; TREES] {
        assert_whole(nodes, 2 * TREES);
        dispatch!(self.pi.kernels(), ggm_expand(self.pi.keys(), nodes))
    }

    /// XORs `corrections[i]` into both children of parent `places[i]` of tree `i`, for `nodes` as
    /// [`Self::expand`] leaves them. Every node is read and written, so that the places may be
    /// secret.
    ///
    /// # Panics
    /// If `nodes` is no multiple of twice [`TREES`].
    pub fn correct(
        &self,
        nodes: &mut [Block],
        places: &[u64; TREES],
        corrections: &[Block; TREES],
    ) {
        assert_whole(nodes, 2 * TREES);
        dispatch!(self.pi.kernels(), ggm_correct(nodes, places, corrections));
    }

    /// Sets the lowest bit of node `places[i]` of tree `i` and clears that of all others; a place
    /// past the end marks no node. Every node is read and written, so that the places may be
    /// secret.
    ///
    /// # Panics
    /// If `nodes` is no multiple of [`TREES`].
    pub fn mark(&self, nodes: &mut [Block], places: &[u64; TREES]) {
        assert_whole(nodes, TREES);
        dispatch!(self.pi.kernels(), ggm_mark(nodes, places));
    }
}

fn assert_whole(nodes: &[Block], unit: usize) {
    assert!(
        nodes.len().is_multiple_of(unit),
        "GGM trees: {} nodes are no multiple of {unit}",
        nodes.len()
    );
}
