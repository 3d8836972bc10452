//! How matrices are cut into polynomials, and what goes over the network for them.
//!
//! For the product of X (p x k) and Y (k x q), X is cut into blocks of a x b and Y into blocks of
//! b x c with a b c <= N. Entry (i, j) of a block of X is the coefficient of X^(i b c + b - 1 - j), entry
//! (j, h) of one of Y that of X^(h b + j). Then entry (i, h) of the blocks' product is the coefficient
//! of X^(i b c + h b + b - 1) of the polynomials' product: an exponent is that modulo b if and only if the
//! two j are equal, and what wraps around lands below b - 1 (after Huang, Lu, Hong and Ding, *Cheetah*,
//! USENIX Security 2022, 3.2 and appendix A).

use std::ops::Range;

use crate::modulus::{BITS, N};
use crate::params::Params;
use crate::sample::{MASK_BLOCKS, SMALL_BLOCKS, UNIFORM_BLOCKS};

/// Bytes of a polynomial modulo one prime.
pub(crate) const POLY_BYTES: usize = N * BITS / 8;
/// Bytes of a seed.
pub(crate) const SEED_BYTES: usize = 16;
/// Ciphertexts of a request, at most: 26 MB, and 64 MB where they are computed with.
const REQUESTED: usize = 128;
/// Ciphertexts of an answer, at most: 0.4 to 1.6 MB, so that several are under way while the next is
/// computed.
const ANSWERED: usize = 8;

/// Transforms of an answer for each prime: what hides it, there and back for both halves, and the owner's.
const ANSWER: usize = 6;

/// A product of matrices over Z_2^l: X (p x k), which one party holds and encrypts, by Y (k x q), which
/// the other one holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    bits: usize,
    /// Primes of requests and of answers.
    primes: usize,
    kept: usize,
    /// p, k, q.
    sizes: [usize; 3],
    /// a, b, c.
    block: [usize; 3],
}

/// What one request is about: a part of X. Its products with all columns of Y, over all requests,
/// add up to the whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Of X.
    pub rows: Range<usize>,
    /// Columns of X, rows of Y.
    pub inner: Range<usize>,
}

/// A block of a matrix: its rows and columns.
type Cut = [Range<usize>; 2];

/// AES blocks that a step takes, of whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AesBlocks {
    /// Of the party that encrypts, from its request to its share.
    pub owner: u64,
    /// Of the party that answers.
    pub responder: u64,
}

impl Layout {
    /// The blocks with the fewest bytes for a product of p x k by k x q mod 2^bits. None unless `bits`
    /// is 8, 16, 32 or 64.
    ///
    /// # Panics
    /// If a size is zero.
    pub fn new(bits: usize, rows: usize, inner: usize, columns: usize) -> Option<Self> {
        let params = Params::new(bits)?;
        let (primes, kept) = (params.moduli.len(), params.kept().len());
        let sizes = [rows, inner, columns];
        assert!(sizes.iter().all(|&size| size > 0), "no matrix is empty");
        let powers = |size: usize| {
            (0..=size.next_power_of_two().min(N).ilog2()).map(|power| 1_usize << power)
        };
        let blocks = powers(rows)
            .flat_map(|a| powers(inner).map(move |b| [a, b]))
            .flat_map(|[a, b]| powers(columns).map(move |c| [a, b, c]))
            .filter(|block| block.iter().product::<usize>() <= N);
        let layouts = blocks.map(|block| Self {
            bits,
            primes,
            kept,
            sizes,
            block,
        });
        layouts.min_by_key(|layout| layout.bytes())
    }

    /// The requests. All are needed, in any order.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = Request> + use<> {
        let [a, b, _] = self.block;
        let [p, k, _] = self.sizes;
        let each = REQUESTED * b;
        let across = k.div_ceil(each);
        (0..p.div_ceil(a) * across).map(move |index| {
            let [row, column] = [index / across * a, index % across * each];
            Request {
                rows: row..p.min(row + a),
                inner: column..k.min(column + each),
            }
        })
    }

    /// The requests that differ in size, each with the number of its like.
    pub fn kinds(&self) -> Vec<(Request, usize)> {
        let [a, b, _] = self.block;
        let [p, k, _] = self.sizes;
        let lengths = |size: usize, each: usize| {
            [
                (each, size / each),
                (size % each, usize::from(!size.is_multiple_of(each))),
            ]
        };
        let mut kinds = Vec::new();
        for (rows, stripes) in lengths(p, a) {
            for (inner, pieces) in lengths(k, REQUESTED * b) {
                if stripes * pieces > 0 {
                    let request = Request {
                        rows: 0..rows,
                        inner: 0..inner,
                    };
                    kinds.push((request, stripes * pieces));
                }
            }
        }
        kinds
    }

    /// The columns of Y that each answer to a request is about; there is one for each.
    pub fn answers(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        cut(0..self.sizes[2], ANSWERED * self.block[2])
    }

    /// Bytes of all requests and answers, to within two in a hundred.
    pub fn bytes(&self) -> usize {
        let [a, b, c] = self.block;
        let [p, k, q] = self.sizes;
        let stripes = p.div_ceil(a);
        let pieces = k.div_ceil(REQUESTED * b);
        let all = |factors: &[usize]| factors.iter().copied().fold(1, usize::saturating_mul);
        let answers = all(&[self.kept, pieces, stripes, q.div_ceil(c), POLY_BYTES]);
        let results = all(&[self.kept, pieces, p, q, BITS]) / 8;
        all(&[stripes, k.div_ceil(b), self.primes, POLY_BYTES])
            .saturating_add(answers)
            .saturating_add(results)
    }

    /// About as many number-theoretic transforms as both sides compute together, and what goes with each: a block of X
    /// when it is encrypted; a block of Y for each that it is multiplied with; an answer when it is made and opened.
    pub fn transforms(&self) -> u64 {
        let [a, b, c] = self.block;
        let [p, k, q] = self.sizes;
        let (stripes, across, columns) = (p.div_ceil(a), k.div_ceil(b), q.div_ceil(c));
        let answers = stripes * k.div_ceil(REQUESTED * b) * columns;
        let polynomials = stripes * across * (1 + columns) + ANSWER * answers;
        (self.primes * polynomials) as u64
    }

    /// l, in bits.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Bytes of a request.
    pub fn request_len(&self, request: &Request) -> usize {
        SEED_BYTES + self.requested(request).count() * self.primes * POLY_BYTES
    }

    /// Bytes of the answer about some columns.
    pub fn answer_len(&self, request: &Request, columns: &Range<usize>) -> usize {
        let blocks = self.answered(columns);
        blocks
            .map(|columns| self.block_len(request, &columns))
            .sum()
    }

    /// Bytes of all answers to a request.
    pub fn answers_len(&self, request: &Request) -> usize {
        let [c, q] = [self.block[2], self.sizes[2]];
        let [full, rest] =
            [0..c.min(q), 0..q % c].map(|columns| (self.block_len(request, &columns), columns));
        q / c * full.0 + if rest.1.is_empty() { 0 } else { rest.0 }
    }

    /// Bytes of one answered block.
    pub(crate) fn block_len(&self, request: &Request, columns: &Range<usize>) -> usize {
        let results = request.rows.len() * columns.len();
        self.kept * POLY_BYTES + (self.kept * results * BITS).div_ceil(8)
    }

    /// What a request and all answers to it take of both.
    pub fn aes_blocks(&self, request: &Request) -> AesBlocks {
        let [_, _, c] = self.block;
        let q = self.sizes[2];
        let uniform = self.primes as u64 * UNIFORM_BLOCKS;
        let requested = self.requested(request).count() as u64;
        let answered = q.div_ceil(c) as u64;
        let results = (request.rows.len() * q) as u64;
        AesBlocks {
            owner: 1 + requested * (uniform + SMALL_BLOCKS),
            responder: requested * uniform + answered * 2 * SMALL_BLOCKS + results * MASK_BLOCKS,
        }
    }

    /// The ranges of `inner` whose blocks of X are ciphertexts of a request.
    pub(crate) fn requested(
        &self,
        request: &Request,
    ) -> impl Iterator<Item = Range<usize>> + use<> {
        cut(request.inner.clone(), self.block[1])
    }

    /// The ranges of `columns` that are ciphertexts of an answer.
    pub(crate) fn answered(
        &self,
        columns: &Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + use<> {
        cut(columns.clone(), self.block[2])
    }

    /// The entries of a block of X (all its columns k) as (index, exponent).
    pub(crate) fn left(&self, [rows, inner]: Cut) -> impl Iterator<Item = (usize, usize)> + use<> {
        let ([_, b, c], k) = (self.block, self.sizes[1]);
        rows.clone().flat_map(move |row| {
            let i = row - rows.start;
            inner
                .clone()
                .enumerate()
                .map(move |(j, column)| (row * k + column, i * b * c + b - 1 - j))
        })
    }

    /// The same for a block of Y.
    pub(crate) fn right(
        &self,
        [inner, columns]: Cut,
    ) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (b, q) = (self.block[1], self.sizes[2]);
        inner.enumerate().flat_map(move |(j, row)| {
            columns
                .clone()
                .enumerate()
                .map(move |(h, column)| (row * q + column, h * b + j))
        })
    }

    /// The same for a block of the result.
    pub(crate) fn results(
        &self,
        [rows, columns]: Cut,
    ) -> impl Iterator<Item = (usize, usize)> + use<> {
        let ([_, b, c], q) = (self.block, self.sizes[2]);
        rows.enumerate().flat_map(move |(i, row)| {
            columns
                .clone()
                .enumerate()
                .map(move |(h, column)| (row * q + column, i * b * c + h * b + b - 1))
        })
    }
}

/// `range` in pieces of `size`.
fn cut(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range
        .step_by(size)
        .map(move |start| start..end.min(start + size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_cover_every_product_once() {
        for [p, k, q] in [
            [1, 1, 1],
            [3, 700, 5],
            [130, 9, 2000],
            [1, 8193, 1],
            [300, 20, 300],
            [2, 70_000, 3],
        ] {
            let layout = Layout::new(64, p, k, q).expect("64 bits");
            let columns: Vec<_> = layout.answers().collect();
            let covered: usize = columns.iter().map(Range::len).sum();
            assert_eq!(covered, q);
            let requests = || layout.requests();
            let covered: usize = requests().map(|r| r.rows.len() * r.inner.len()).sum();
            assert_eq!(covered, p * k, "{layout:?}");
            let requested: usize = requests().map(|r| layout.request_len(&r)).sum();
            let all = requests().flat_map(|r| columns.iter().map(move |c| (r.clone(), c)));
            let answered: usize = all.map(|(r, c)| layout.answer_len(&r, c)).sum();
            let kinds = layout.kinds().into_iter();
            let [again, asked] = kinds.fold([0; 2], |[again, asked], (request, times)| {
                [
                    again + times * layout.answers_len(&request),
                    asked + times * layout.request_len(&request),
                ]
            });
            assert_eq!([again, asked], [answered, requested], "{layout:?}");
            let (bytes, near) = (requested + answered, layout.bytes());
            assert!(
                (near..near + near / 50).contains(&bytes),
                "{bytes} and {near}"
            );
        }
    }

    /// The larger a product, the less each of its products of elements takes.
    #[test]
    fn few_bytes_for_large_products() {
        let bytes = |n: usize| {
            let layout = Layout::new(64, n, n, n).expect("64 bits");
            layout.bytes() as f64 / (n * n * n) as f64
        };
        assert!(bytes(128) < 2.7, "{}", bytes(128));
        assert!(bytes(1000) < 0.18, "{}", bytes(1000));
    }
}
