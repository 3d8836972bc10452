//! Punctured trees: how one block's base OTs become `2^w` seeds at one party and all but one at
//! the other (Goldreich, Goldwasser, Micali 1986; the OT-based puncturing of Roy 2022, section 6).
//!
//! The tree has depth w. A node is expanded by G(x) = (AES_x(0), AES_x(1)), where the upper half of both blocks is
//! the public number of the tree and level: a length-doubling generator if AES-128 is a pseudorandom permutation;
//! every node keys its own AES, so nothing about fixed keys is assumed. Base OT i with keys K_0, K_1 belongs to level i: the two keys of
//! level 0 are the nodes below the root, and for each further level the party that knows the tree
//! sends, for both sides b, the sum of all nodes on side b, masked by K_b. The peer knows all nodes
//! of the level but the two below its gap, and K_b for one side: it learns the one of the two on
//! side b.
//!
//! # Names of nodes
//! With base choices Delta the peer learns, at level i, the side Delta_i; so its gap lies on the
//! path of complements. A node's *number* x is the complement of its path, bit i for level i: the
//! gap has number Delta. The peer keeps each node at x ^ Delta, so that the gap is always at 0 and
//! no index depends on Delta: going down a level, it swaps the two children by a mask.

use madrigal_core::Zeroizing;
use madrigal_kernels::{Aes128, Block};

/// Bytes of the message for one tree of depth `width`: two masked sums for each level but the first.
pub(super) const fn message_len(width: usize) -> usize {
    32 * (width - 1)
}

/// Grows the whole tree from the keys of its base OTs. Returns the leaves by number and appends
/// the message. The nodes of level l are expanded under the number `number + l`, from 1 on.
pub(super) fn grow(
    keys: &[[Block; 2]],
    number: u64,
    message: &mut Vec<u8>,
) -> Zeroizing<Vec<Block>> {
    let mut nodes = Zeroizing::new(vec![Block::ZERO; 1 << keys.len()]);
    for (level, keys) in keys.iter().enumerate() {
        let bit = 1 << level;
        if level == 0 {
            (nodes[1], nodes[0]) = (keys[0], keys[1]);
            continue;
        }
        let mut sums = *keys;
        for x in 0..bit {
            let children = double(nodes[x], number.wrapping_add(level as u64));
            (nodes[x + bit], nodes[x]) = (children[0], children[1]);
            sums[0] ^= children[0];
            sums[1] ^= children[1];
        }
        message.extend_from_slice(&sums[0].to_bytes());
        message.extend_from_slice(&sums[1].to_bytes());
    }
    nodes
}

/// Grows the tree with a gap at Delta, whose bits are `delta`, from one key per base OT and the
/// message. Returns all leaves but the gap: leaf x ^ Delta at `x ^ Delta - 1`.
pub(super) fn grow_punctured(
    keys: &[Block],
    delta: u8,
    message: &[[[u8; 16]; 2]],
    number: u64,
) -> Zeroizing<Vec<Block>> {
    let mut nodes = Zeroizing::new(vec![Block::ZERO; 1 << keys.len()]);
    for (level, &key) in keys.iter().enumerate() {
        let bit = 1 << level;
        if level == 0 {
            nodes[1] = key;
            continue;
        }
        let side = Block::mask(delta >> level & 1 == 1);
        let sums = message[level - 1].map(Block::from_bytes);
        let mut sibling = key ^ select(side, sums[0], sums[1]);
        for x in 1..bit {
            let children = double(nodes[x], number.wrapping_add(level as u64));
            // The child on side Delta_i goes where bit i of x ^ Delta is 1.
            let near = select(side, children[0], children[1]);
            (nodes[x + bit], nodes[x]) = (near, near ^ children[0] ^ children[1]);
            sibling ^= near;
        }
        nodes[bit] = sibling;
    }
    Zeroizing::new(nodes[1..].to_vec())
}

/// `one` where the mask is all ones, `zero` where it is all zeros.
fn select(mask: Block, zero: Block, one: Block) -> Block {
    zero ^ ((zero ^ one) & mask)
}

fn double(node: Block, number: u64) -> [Block; 2] {
    let mut children = [Block::new(0, number), Block::new(1, number)];
    Aes128::new(node).encrypt_blocks(&mut children);
    children
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRng;
    use rand_core::Rng;

    #[test]
    fn all_leaves_but_the_gap_agree() {
        let mut rng = SeededRng::from_seed(Block::new(5, 5));
        let mut block = || Block::new(rng.next_u64(), rng.next_u64());
        for width in 1..=8 {
            let keys: Vec<[Block; 2]> = (0..width).map(|_| [block(), block()]).collect();
            let mut message = Vec::new();
            let leaves = grow(&keys, u64::MAX - 2, &mut message);
            assert_eq!(message.len(), message_len(width));
            for delta in 0..=u8::MAX >> (8 - width) {
                let chosen: Vec<Block> = (0..width)
                    .map(|i| keys[i][usize::from(delta >> i & 1)])
                    .collect();
                let sums: Vec<[[u8; 16]; 2]> =
                    message.as_chunks::<16>().0.as_chunks::<2>().0.to_vec();
                let punctured = grow_punctured(&chosen, delta, &sums, u64::MAX - 2);
                assert_eq!(punctured.len(), leaves.len() - 1);
                for (y, leaf) in (1..).zip(punctured.iter()) {
                    assert!(
                        *leaf == leaves[y ^ usize::from(delta)],
                        "leaf {y} of {width}"
                    );
                }
                assert!(!punctured.contains(&leaves[usize::from(delta)]));
            }
        }
    }
}
