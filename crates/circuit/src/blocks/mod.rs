//! Blocks that operators are made of: methods of [`Builder`] for numbers of any width, with
//! as few ANDs or as few layers of them as its [`Goal`](crate::Goal) says.
//!
//! Numbers are slices of wires, least significant bit first; signed ones are in two's complement.
//! Counts and depths beside the best that we know of are in docs/CIRCUITS.md; a test holds each.
//!
//! | block | in |
//! |---|---|
//! | sums, differences, negation, absolute value | `adders.rs` |
//! | the carry out of a sum | `carries.rs` |
//! | comparisons, minimum and maximum, with place | `compare.rs` |
//! | products and squares | `multiply.rs` |
//! | quotients and remainders | `divide.rs` |
//! | choices, look-up by a secret index, one-hot codes | `select.rs` |
//! | shifts and rotations by secret amounts, counts of bits | `shift.rs` |
//! | sorting networks | `sort.rs` |
//! | square roots of integers | `root.rs` |
//! | AES-128, SHA-256 | `aes.rs`, `sha256.rs` |
//! | IEEE floating-point numbers | `float/` |

mod adders;
mod aes;
mod carries;
mod columns;
mod compare;
mod divide;
pub mod float;
mod multiply;
mod root;
mod select;
mod sha256;
mod shift;
mod sort;

pub use sort::sorting_network;

use crate::builder::{Builder, Wire};

impl Builder {
    /// The lowest `width` bits of a public number.
    pub fn number(&mut self, value: u128, width: usize) -> Vec<Wire> {
        let bit = |at: usize| at < 128 && value >> at & 1 == 1;
        (0..width).map(|at| self.constant(bit(at))).collect()
    }

    /// `a` with zeros above, or cut off, to `width` bits.
    pub fn zero_extend(&mut self, a: &[Wire], width: usize) -> Vec<Wire> {
        let zero = self.constant(false);
        let bits = a.iter().copied().chain(std::iter::repeat(zero));
        bits.take(width).collect()
    }

    /// `a` with copies of its highest bit above, or cut off, to `width` bits.
    pub fn sign_extend(&mut self, a: &[Wire], width: usize) -> Vec<Wire> {
        let zero = self.constant(false);
        let sign = a.last().copied().unwrap_or(zero);
        let bits = a.iter().copied().chain(std::iter::repeat(sign));
        bits.take(width).collect()
    }

    /// `!a`, bit by bit.
    pub fn not_all(&mut self, a: &[Wire]) -> Vec<Wire> {
        a.iter().map(|&bit| self.not(bit)).collect()
    }

    /// `a ^ b`, bit by bit.
    pub fn xor_all(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        same_width(a, b);
        a.iter().zip(b).map(|(&a, &b)| self.xor(a, b)).collect()
    }

    /// `a & b`, bit by bit.
    pub fn and_all(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        same_width(a, b);
        a.iter().zip(b).map(|(&a, &b)| self.and(a, b)).collect()
    }

    /// Each bit of `a`, AND `bit`.
    pub fn mask(&mut self, a: &[Wire], bit: Wire) -> Vec<Wire> {
        a.iter().map(|&a| self.and(a, bit)).collect()
    }

    /// Whether all bits are 1; one AND less than there are bits, in a tree over what is there first.
    pub fn all(&mut self, bits: &[Wire]) -> Wire {
        self.tree(bits, true)
    }

    /// Whether any bit is 1; as [`Builder::all`].
    pub fn any(&mut self, bits: &[Wire]) -> Wire {
        self.tree(bits, false)
    }

    /// Joins the two wires of least depth until one is left, as Huffman does.
    fn tree(&mut self, bits: &[Wire], and: bool) -> Wire {
        let mut heap: std::collections::BinaryHeap<_> = bits
            .iter()
            .map(|&bit| std::cmp::Reverse((self.depth(bit), bit)))
            .collect();
        while let Some(std::cmp::Reverse((_, a))) = heap.pop() {
            let Some(std::cmp::Reverse((_, b))) = heap.pop() else {
                return a;
            };
            let joined = if and { self.and(a, b) } else { self.or(a, b) };
            heap.push(std::cmp::Reverse((self.depth(joined), joined)));
        }
        self.constant(and)
    }
}

fn same_width(a: &[Wire], b: &[Wire]) {
    assert_eq!(
        a.len(),
        b.len(),
        "both numbers must have the same width in bits"
    );
}
