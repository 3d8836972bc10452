//! Square roots, digit by digit without restoring.
//!
//! With the root q of the digits that came and the partial remainder r, which may be negative, the
//! next pair of digits p gives `r' = 4 r + p - (4 q + 1)` if r was not negative and
//! `4 r + p + (4 q + 3)` if it was, and the next digit of the root is 1 if r' is not negative
//! (Ercegovac and Lang, "Digital Arithmetic", chapter 6).

use crate::builder::{Builder, Wire};

impl Builder {
    /// The root of an unsigned number of an even number of bits, rounded down, half as wide; and
    /// whether it is not exact. About width^2 / 8 ANDs in a chain for size.
    ///
    /// # Panics
    /// If the number of bits is odd.
    pub fn square_root(&mut self, a: &[Wire]) -> (Vec<Wire>, Wire) {
        assert!(
            a.len().is_multiple_of(2),
            "a square root of {} bits: an even number of them",
            a.len()
        );
        let (zero, one) = (self.constant(false), self.constant(true));
        let mut root: Vec<Wire> = Vec::new();
        let mut remainder: Vec<Wire> = Vec::new();
        let mut negative = zero;
        for pair in a.rchunks(2) {
            // |r'| is at most 2 q + 1 with q of one bit more: that many bits and a sign.
            let bits = root.len() + 3;
            let mut shifted = pair.to_vec();
            shifted.extend(&remainder);
            let shifted = match remainder.is_empty() {
                true => self.zero_extend(&shifted, bits),
                false => self.sign_extend(&shifted, bits),
            };
            // 4 q + 1, or 4 q + 3 to add; subtracted as the sum with all bits flipped, and one.
            let minus = self.not(negative);
            let mut term = vec![one, negative];
            term.extend(&root);
            term.resize(bits, zero);
            remainder = self.add_or_sub(&shifted, &term, minus);
            negative = remainder[bits - 1];
            let digit = self.not(negative);
            root.insert(0, digit);
        }
        // The rest is r, or r + 2 q + 1 where r is negative.
        let mut term = vec![one];
        term.extend(&root);
        let term = self.zero_extend(&term, remainder.len());
        let back = self.mask(&term, negative);
        let rest = self.add(&remainder, &back);
        let inexact = self.any(&rest);
        (root, inexact)
    }
}
