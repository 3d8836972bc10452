//! Single-point correlated OTs, [`TREES`] at a time: figure 6 of "Half-Tree" (ePrint 2022/1431)
//! without the malicious check.
//!
//! For a tree of h levels the parties use up h rows q_l = t_l ^ r_l Delta. The receiver's point
//! alpha is what its random choices make it: turn l is NOT r_l (0 is left), so that it sends
//! nothing.
//!
//! - The sender's nodes add up to Delta on every level. At level l it sends c_l = S_l ^ q_l, with
//!   S_l the sum of the left nodes.
//! - c_l ^ t_l = S_l ^ r_l Delta is the sum of the left nodes if r_l = 0, of the right ones if r_l
//!   = 1: of those on the side that alpha does not take.
//!
//! The receiver keeps, in the place of the node on the path to alpha that it must not know, that
//! node plus Delta. Its nodes of a level then add up to zero, and a level grows as the sender's
//! does, but for the two children of the node on the path: both are off by the same e = c_l ^ t_l ^
//! S'_l, with S'_l the receiver's sum of left nodes. Putting it right takes one pass over the
//! level; neither branch nor index depends on alpha. At the end the leaf at alpha is the sender's
//! plus Delta, which is what the correlated OT wants, without another message.

use madrigal_core::Zeroizing;
use madrigal_kernels::{
    Block, Prg, blocks_as_bytes_mut,
    ggm::{GgmTrees, TREES},
};

/// A place in no tree.
const NOWHERE: [u64; TREES] = [1 << 62; TREES];

/// Grows the sender's trees into `nodes` and writes the level sums to `message`: a block per tree,
/// level by level. `rows` are as many. The leaves' lowest bit is cleared.
pub(crate) fn grow_sender(
    trees: &GgmTrees,
    delta: Block,
    roots: &mut Prg,
    rows: &[Block],
    message: &mut [u8],
    nodes: &mut [Block],
) {
    let mut sums = Zeroizing::new([Block::ZERO; TREES]);
    roots.fill_blocks(&mut *sums);
    nodes[..TREES].copy_from_slice(&*sums);
    for (right, &left) in nodes[TREES..2 * TREES].iter_mut().zip(sums.iter()) {
        *right = left ^ delta;
    }
    let messages = message.chunks_exact_mut(16 * TREES);
    for (level, (rows, message)) in rows.chunks_exact(TREES).zip(messages).enumerate() {
        if level > 0 {
            *sums = trees.expand(&mut nodes[..(2 * TREES) << level]);
        }
        for ((message, &sum), &row) in message.chunks_exact_mut(16).zip(sums.iter()).zip(rows) {
            message.copy_from_slice(&(sum ^ row).to_bytes());
        }
    }
    trees.mark(nodes, &NOWHERE);
}

/// Grows the receiver's trees into `nodes`. The lowest bit of row t_l is r_l; that of the leaf at
/// alpha becomes one, that of all others zero. Gives the place alpha in each tree.
pub(crate) fn grow_receiver(
    trees: &GgmTrees,
    rows: &[Block],
    message: &[u8],
    nodes: &mut [Block],
) -> Zeroizing<[u64; TREES]> {
    let mut places = Zeroizing::new([0_u64; TREES]);
    let mut sums = Zeroizing::new([Block::ZERO; TREES]);
    nodes[..2 * TREES].fill(Block::ZERO);
    let messages = message.chunks_exact(16 * TREES);
    for (level, (rows, message)) in rows.chunks_exact(TREES).zip(messages).enumerate() {
        let nodes = &mut nodes[..(2 * TREES) << level];
        if level > 0 {
            *sums = trees.expand(nodes);
        }
        let mut corrections = Zeroizing::new([Block::ZERO; TREES]);
        blocks_as_bytes_mut(&mut *corrections).copy_from_slice(message);
        for ((correction, &sum), &row) in corrections.iter_mut().zip(sums.iter()).zip(rows) {
            *correction ^= sum ^ row;
        }
        trees.correct(nodes, &places, &corrections);
        for (place, row) in places.iter_mut().zip(rows) {
            *place |= (!row.lo() & 1) << level;
        }
    }
    trees.mark(nodes, &places);
    places
}
