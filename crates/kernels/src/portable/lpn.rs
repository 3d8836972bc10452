//! GGM trees and the encoder of LPN in plain Rust.

use crate::Block;
use crate::Element;
use crate::block::RoundKeys;
use crate::sizes::{LOCALITY, TREES};

/// Nodes hashed at a time: a few batches of the bitsliced AES.
const PIECE: usize = 64;

/// See [`crate::ggm`].
pub(crate) fn ggm_expand(keys: &RoundKeys, nodes: &mut [Block]) -> [Block; TREES] {
    let (left, right) = nodes.split_at_mut(nodes.len() / 2);
    let mut sums = [Block::ZERO; TREES];
    for (left, right) in left.chunks_mut(PIECE).zip(right.chunks_mut(PIECE)) {
        let mut inner = [Block::ZERO; PIECE];
        let inner = &mut inner[..left.len()];
        for (inner, &x) in inner.iter_mut().zip(&*left) {
            *inner = Block::new(x.hi(), x.hi() ^ x.lo());
        }
        right.copy_from_slice(inner);
        super::encrypt(keys, inner);
        for (i, ((left, right), inner)) in left.iter_mut().zip(right).zip(inner).enumerate() {
            let parent = *left;
            *left = *inner ^ *right;
            *right = parent ^ *left;
            sums[i % TREES] ^= *left;
        }
    }
    sums
}

/// All ones if `a == b`, else zero, for values below 2^63; without a comparison that could become a
/// branch.
#[inline(always)]
fn equal_mask(a: u64, b: u64) -> u64 {
    ((a ^ b).wrapping_sub(1) as i64 >> 63) as u64
}

/// XORs the correction of each tree into the node at its place of either half.
#[inline(always)]
pub(crate) fn ggm_correct(
    nodes: &mut [Block],
    places: &[u64; TREES],
    corrections: &[Block; TREES],
) {
    let (left, right) = nodes.split_at_mut(nodes.len() / 2);
    let left = left.as_chunks_mut::<TREES>().0.iter_mut();
    for (j, (left, right)) in left.zip(right.as_chunks_mut::<TREES>().0).enumerate() {
        for i in 0..TREES {
            let mask = equal_mask(j as u64, places[i]);
            let add = corrections[i] & Block::new(mask, mask);
            left[i] ^= add;
            right[i] ^= add;
        }
    }
}

/// Makes the lowest bit of each node one at the place of its tree and zero elsewhere.
#[inline(always)]
pub(crate) fn ggm_mark(nodes: &mut [Block], places: &[u64; TREES]) {
    for (j, nodes) in nodes.as_chunks_mut::<TREES>().0.iter_mut().enumerate() {
        for i in 0..TREES {
            let bit = equal_mask(j as u64, places[i]) & 1;
            nodes[i].0[0] = (nodes[i].0[0] & !1) | bit;
        }
    }
}

/// Adds to each node of a tree, at the place of its tree, the tree's value.
#[inline(always)]
fn ggm_add<V: Element>(nodes: &mut [V], places: &[u64; TREES], values: &[V; TREES]) {
    for (j, nodes) in nodes.as_chunks_mut::<TREES>().0.iter_mut().enumerate() {
        for i in 0..TREES {
            nodes[i] ^= values[i].masked(equal_mask(j as u64, places[i]) & 1);
        }
    }
}

#[inline(always)]
pub(crate) fn ggm_add_blocks(nodes: &mut [Block], places: &[u64; TREES], values: &[Block; TREES]) {
    ggm_add(nodes, places, values);
}

#[inline(always)]
pub(crate) fn ggm_add_words(nodes: &mut [u64], places: &[u64; TREES], values: &[u64; TREES]) {
    ggm_add(nodes, places, values);
}

/// Adds to each row the elements of `table` that its ten words of `stream` name; the words are used
/// up.
#[inline(always)]
fn gather<V: Element>(stream: &mut [[u32; LOCALITY]], table: &[V], rows: &mut [V]) {
    let k = table.len() as u64;
    assert!(k > 0 && k < 1 << 28, "lpn: a table of {k} elements");
    let size = const { size_of::<V>().ilog2() };
    const { assert!(size_of::<V>().is_power_of_two() && size_of::<V>() <= 16) }
    for word in stream.as_flattened_mut() {
        // Byte offsets: they save a shift per look-up.
        *word = (((u64::from(*word) * k) >> 32) as u32) << size;
    }
    for (row, offsets) in rows.iter_mut().zip(&*stream) {
        let mut sums = [*row, V::default()];
        for (i, &offset) in offsets.iter().enumerate() {
            // SAFETY: the loop above made every word the size of an element times `w k / 2^32` with `w < 2^32`,
            // hence the place of a whole element in `table`, which has `k` of them; `k < 2^28` and a size of at
            // most 16 keep it exact.
            sums[i % 2] ^= unsafe { *table.as_ptr().byte_add(offset as usize) };
        }
        *row = sums[0] ^ sums[1];
    }
}

#[inline(always)]
pub(crate) fn lpn_gather_blocks(
    stream: &mut [[u32; LOCALITY]],
    table: &[Block],
    rows: &mut [Block],
) {
    gather(stream, table, rows);
}

#[inline(always)]
pub(crate) fn lpn_gather_words(stream: &mut [[u32; LOCALITY]], table: &[u64], rows: &mut [u64]) {
    gather(stream, table, rows);
}
