//! Products of matrices X (p x k) and Y (k x q).
//!
//! X is cut into blocks of a x b and Y into blocks of b x c with a b c <= N. Entry (i, j) of a block of X is the
//! coefficient of X^(i b c + b - 1 - j), entry (j, h) of one of Y that of X^(h b + j). Then entry (i, h) of the blocks'
//! product is the coefficient of X^(i b c + h b + b - 1) of the polynomials' product: an exponent is that modulo b if
//! and only if the two j are equal, and what wraps around lands below b - 1 (after Huang, Lu, Hong and Ding,
//! *Cheetah*, USENIX Security 2022, 3.2 and appendix A).

use std::ops::Range;

use super::cuts::{Cuts, lengths};
use crate::modulus::N;

/// A way to cut matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Matrices {
    /// p, k, q.
    sizes: [usize; 3],
    /// a, b, c.
    block: [usize; 3],
}

impl Matrices {
    /// Ways to cut them.
    pub(super) fn all(sizes: [usize; 3]) -> impl Iterator<Item = Self> {
        let [rows, inner, columns] = sizes;
        let powers = |size: usize| {
            (0..=size.next_power_of_two().min(N).ilog2()).map(|power| 1_usize << power)
        };
        let blocks = powers(rows)
            .flat_map(move |a| powers(inner).map(move |b| [a, b]))
            .flat_map(move |[a, b]| powers(columns).map(move |c| [a, b, c]))
            .filter(|block| block.iter().product::<usize>() <= N);
        blocks.map(move |block| Self { sizes, block })
    }

    pub(super) fn cuts(&self) -> Cuts {
        let [a, b, c] = self.block;
        let [p, k, q] = self.sizes;
        Cuts {
            stripes: p.div_ceil(a),
            inner: [k, b],
            columns: [q, c],
            results: p.saturating_mul(q),
        }
    }

    /// The rows of a stripe.
    pub(super) fn rows(&self, stripe: usize) -> Range<usize> {
        let ([a, ..], [p, ..]) = (self.block, self.sizes);
        stripe * a..p.min((stripe + 1) * a)
    }

    /// Stripes of different heights, each with the number of its like.
    pub(super) fn kinds(&self) -> Vec<(usize, usize)> {
        let ([a, ..], [p, ..]) = (self.block, self.sizes);
        let kinds = lengths(p, a).into_iter();
        kinds
            .map(|(len, times)| (if len == a { 0 } else { p / a }, times))
            .collect()
    }

    pub(super) fn left(
        &self,
        stripe: usize,
        inner: Range<usize>,
        mut tell: impl FnMut(usize, usize),
    ) {
        let ([_, b, c], k) = (self.block, self.sizes[1]);
        for (i, row) in self.rows(stripe).enumerate() {
            for (j, column) in inner.clone().enumerate() {
                tell(row * k + column, i * b * c + b - 1 - j);
            }
        }
    }

    pub(super) fn right(
        &self,
        inner: Range<usize>,
        columns: Range<usize>,
        mut tell: impl FnMut(usize, usize),
    ) {
        let (b, q) = (self.block[1], self.sizes[2]);
        for (j, row) in inner.enumerate() {
            for (h, column) in columns.clone().enumerate() {
                tell(row * q + column, h * b + j);
            }
        }
    }

    pub(super) fn results(
        &self,
        stripe: usize,
        columns: Range<usize>,
        mut tell: impl FnMut(usize, usize),
    ) {
        let ([_, b, c], q) = (self.block, self.sizes[2]);
        for (i, row) in self.rows(stripe).enumerate() {
            for (h, column) in columns.clone().enumerate() {
                tell(row * q + column, i * b * c + h * b + b - 1);
            }
        }
    }
}
