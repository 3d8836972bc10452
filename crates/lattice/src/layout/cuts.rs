//! Cuts of a product into parts, and their cost.

use crate::modulus::{BITS, N};

/// Bytes of a polynomial modulo one prime.
pub(crate) const POLY_BYTES: usize = N * BITS / 8;

/// Ciphertexts of a request, at most: 26 MB, and 64 MB where they are computed with.
pub(super) const REQUESTED: usize = 128;

/// Transforms of an answer for each prime: what hides it, there and back for both halves, and the owner's.
const ANSWER: usize = 6;

/// Numbers of what a product is cut into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    pub(super) stripes: usize,
    /// Length that is summed over, and how much of it a block has.
    pub(super) inner: [usize; 2],
    /// Columns of Y, and how many of them a block has.
    pub(super) columns: [usize; 2],
    /// All results.
    pub(super) results: usize,
}

impl Cuts {
    /// The parts of inner that requests are about.
    pub(super) fn pieces(&self) -> usize {
        let [all, each] = self.inner;
        all.div_ceil(REQUESTED * each)
    }

    pub(super) fn blocks(&self) -> usize {
        let [all, each] = self.inner;
        all.div_ceil(each)
    }

    pub(super) fn answers(&self) -> usize {
        let [all, each] = self.columns;
        all.div_ceil(each)
    }

    /// Bytes of all requests and answers with `primes` primes, to within two in a hundred.
    pub(super) fn bytes(&self, primes: usize, kept: usize) -> usize {
        let all = |factors: &[usize]| factors.iter().copied().fold(1, usize::saturating_mul);
        let pieces = self.pieces();
        let answers = all(&[kept, pieces, self.stripes, self.answers(), POLY_BYTES]);
        let results = all(&[kept, pieces, self.results, BITS]) / 8;
        all(&[self.stripes, self.blocks(), primes, POLY_BYTES])
            .saturating_add(answers)
            .saturating_add(results)
    }

    /// Polynomials that are transformed: see [`Layout::transforms`](super::Layout::transforms).
    pub(super) fn polynomials(&self) -> usize {
        let products = self.stripes * self.blocks() * (1 + self.answers());
        products + ANSWER * self.stripes * self.pieces() * self.answers()
    }
}

/// Gives the lengths of the pieces of `size` elements that have `each` but for the last one, and how many there are of a
/// length.
pub(super) fn lengths(size: usize, each: usize) -> Vec<(usize, usize)> {
    let all = [(each, size / each), (size % each, 1)];
    all.into_iter()
        .filter(|&(len, times)| len > 0 && times > 0)
        .collect()
}
