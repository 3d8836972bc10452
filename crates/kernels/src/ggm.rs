//! Levels of correlated GGM trees: Guo, Yang, Wang, Zhang, Xie, Liu and Zhao, "Half-Tree: Halving
//! the Cost of Tree Expansion in COT and DPF" (Eurocrypt 2023, ePrint 2022/1431), section 4.
//!
//! A parent `x` has the left child `H(x)` and the right child `x ^ H(x)`, one AES block for two
//! children; so the sum of the nodes is the same on every level. `H(x) = pi(sigma(x)) ^ sigma(x)`
//! with `sigma(lo, hi) = (hi, lo ^ hi)`: the MMO hash of Guo, Katz, Wang and Yu (IEEE S&P 2020,
//! ePrint 2019/074), section 7.3. Property: *circular correlation robustness*, which the trees need
//! because right children cover nodes that differ from known ones by a secret offset.
//!
//! `pi` is AES-128 under a **public key of the group's own**, as Guo, Katz, Wang, Weng and Yu key it
//! for each gate ("Better Concrete Security for Half-Gates Garbling", Crypto 2020, ePrint
//! 2019/1168, section 4): then AES is modelled as an ideal cipher, and an evaluation of it tests a
//! guess of the offset against the few nodes of one group rather than against all that ever were.
//! The caller sees to it that no key serves two groups with one offset.
//!
//! # Layout
//! [`TREES`] trees grow at once, so that even the first levels fill vectors: node `j` of tree `i`
//! lies at `TREES * j + i`. A level's children replace it: those of node `j` of `m` are nodes `j`
//! (left) and `m + j` (right), hence bit `l` of a leaf's number is the turn taken at level `l`.

use crate::dispatch::dispatch;
use crate::{Aes128, Block, Element, Kernels};

pub use crate::sizes::TREES;

/// The permutation that one group of GGM trees grows by.
#[derive(Debug)]
pub struct GgmTrees {
    pi: Aes128,
}

impl Kernels {
    /// [`GgmTrees::new`], run at this handle's level.
    #[must_use]
    pub fn ggm_trees(self, key: Block) -> GgmTrees {
        GgmTrees {
            pi: self.aes128(key),
        }
    }
}

impl GgmTrees {
    /// Trees that grow by AES-128 under the public `key`.
    #[must_use]
    pub fn new(key: Block) -> Self {
        Kernels::detect().ggm_trees(key)
    }

    /// Grows the trees by one level. The first half of `nodes` holds the parents; afterwards it
    /// holds their left children and the second half the right ones. Returns the sum of each tree's
    /// left children.
    ///
    /// # Panics
    /// If `nodes` is no multiple of twice [`TREES`].
    pub fn expand(&self, nodes: &mut [Block]) -> [Block; TREES] {
        assert_whole(nodes, 2 * TREES);
        let keys = self.pi.keys_for(nodes.len() / 2);
        dispatch!(self.pi.kernels(), ggm_expand(keys, nodes))
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

impl Kernels {
    /// Adds (XOR) `values[i]` to node `places[i]` of tree `i`, for elements laid out as the nodes of a level; a place past the
    /// end is no node. Every node is read and written, so that the places may be secret.
    ///
    /// # Panics
    /// If `nodes` is no multiple of [`TREES`].
    pub fn ggm_add<V: Element>(self, nodes: &mut [V], places: &[u64; TREES], values: &[V; TREES]) {
        assert_whole(nodes, TREES);
        V::add_at(self, nodes, places, values);
    }
}

fn assert_whole<T>(nodes: &[T], unit: usize) {
    assert!(
        nodes.len().is_multiple_of(unit),
        "GGM trees: {} nodes are no multiple of {unit}",
        nodes.len()
    );
}
