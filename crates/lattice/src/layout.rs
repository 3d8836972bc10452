//! Layouts: the cuts of factors into polynomials, and what goes over the network for them.
//!
//! X is cut into *stripes*, what is summed over (*inner*) into blocks, and what Y has beside it (*columns*)
//! too. A ciphertext is a stripe's part of a block, and its product with a polynomial of Y, summed up over the blocks,
//! has the results of that stripe and those columns among its coefficients. The place of each coefficient is said by
//! [`matrices`] and [`images`] each.

mod cuts;
mod images;
mod matrices;

use std::ops::Range;

use madrigal_core::Convolution;

pub(crate) use self::cuts::POLY_BYTES;
use self::cuts::{Cuts, REQUESTED, lengths};
use self::images::Images;
use self::matrices::Matrices;
use crate::modulus::BITS;
use crate::params::Params;
use crate::sample::{MASK_BLOCKS, SMALL_BLOCKS, UNIFORM_BLOCKS};

/// Bytes of a seed.
pub(crate) const SEED_BYTES: usize = 16;
/// Ciphertexts of an answer, at most: 0.4 to 1.6 MB, so that several are under way while the next is
/// computed.
const ANSWERED: usize = 8;

/// A product over Z_2^l of X, which one party holds and encrypts, and Y, which the other one holds: of matrices, or
/// of images X by filters Y.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    bits: usize,
    /// Primes of requests and of answers.
    primes: usize,
    kept: usize,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Matrices(Matrices),
    Images(Images),
}

/// A part of X that one request is about. Its products with all columns of Y, over all requests,
/// add up to the whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    stripe: usize,
    inner: Range<usize>,
}

/// AES blocks that a step takes, of whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AesBlocks {
    /// AES blocks of the party that encrypts, from its request to its share.
    pub owner: u64,
    /// AES blocks of the party that answers.
    pub responder: u64,
}

impl Layout {
    /// The blocks with the fewest bytes for a product of matrices, X (p x k) by Y (k x q), mod 2^bits. None unless
    /// `bits` is 8, 16, 32 or 64.
    ///
    /// # Panics
    /// If a size is zero.
    pub fn new(bits: usize, rows: usize, inner: usize, columns: usize) -> Option<Self> {
        let sizes = [rows, inner, columns];
        assert!(sizes.iter().all(|&size| size > 0), "no matrix is empty");
        Self::best(bits, Matrices::all(sizes).map(Form::Matrices))
    }

    /// Makes the layout of a convolution of images X by filters Y. None, too, if no part of an image that a filter
    /// needs fits a polynomial.
    ///
    /// # Panics
    /// If there is no such convolution, or it has no products.
    pub fn of_images(bits: usize, convolution: &Convolution) -> Option<Self> {
        Self::best(bits, Images::all(*convolution).map(Form::Images))
    }

    fn best(bits: usize, forms: impl Iterator<Item = Form>) -> Option<Self> {
        let params = Params::new(bits)?;
        let (primes, kept) = (params.moduli.len(), params.kept().len());
        let layouts = forms.map(|form| Self {
            bits,
            primes,
            kept,
            form,
        });
        layouts.min_by_key(|layout| {
            let cuts = layout.cuts();
            (cuts.bytes(primes, kept), cuts.polynomials())
        })
    }

    fn cuts(&self) -> Cuts {
        match &self.form {
            Form::Matrices(matrices) => matrices.cuts(),
            Form::Images(images) => images.cuts(),
        }
    }

    /// The requests. All are needed, in any order.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = Request> + use<> {
        let cuts = self.cuts();
        let pieces = cuts.pieces();
        let [inner, each] = cuts.inner;
        let each = REQUESTED * each;
        (0..cuts.stripes * pieces).map(move |index| {
            let start = index % pieces * each;
            Request {
                stripe: index / pieces,
                inner: start..inner.min(start + each),
            }
        })
    }

    /// The requests that differ in size, each with the number of its like.
    pub fn kinds(&self) -> Vec<(Request, usize)> {
        let [all, each] = self.cuts().inner;
        let each = REQUESTED * each;
        let stripes = match &self.form {
            Form::Matrices(matrices) => matrices.kinds(),
            Form::Images(images) => images.kinds(),
        };
        let mut kinds = Vec::new();
        for (stripe, alike) in stripes {
            for (len, pieces) in lengths(all, each) {
                let inner = 0..len;
                kinds.push((Request { stripe, inner }, alike * pieces));
            }
        }
        kinds
    }

    /// The columns of Y that each answer to a request is about; there is one for each.
    pub fn answers(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let [all, each] = self.cuts().columns;
        cut(0..all, ANSWERED * each)
    }

    /// Bytes of all requests and answers, to within two in a hundred.
    pub fn bytes(&self) -> usize {
        self.cuts().bytes(self.primes, self.kept)
    }

    /// About as many number-theoretic transforms as both sides compute together, and what goes with each: a block of X
    /// when it is encrypted; a block of Y for each that it is multiplied with; an answer when it is made and opened.
    pub fn transforms(&self) -> u64 {
        (self.primes * self.cuts().polynomials()) as u64
    }

    /// Results that the answers about some columns have.
    fn results(&self, request: &Request, columns: &Range<usize>) -> usize {
        match &self.form {
            Form::Matrices(matrices) => matrices.rows(request.stripe).len() * columns.len(),
            Form::Images(images) => images.positions(request.stripe) * columns.len(),
        }
    }

    /// Products of elements that the answer about some columns sums up.
    pub fn products(&self, request: &Request, columns: &Range<usize>) -> usize {
        let terms = match &self.form {
            Form::Matrices(_) => request.inner.len(),
            Form::Images(images) => images.terms(request.inner.clone()),
        };
        self.results(request, columns) * terms
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
        let [all, each] = self.cuts().columns;
        let blocks = lengths(all, each).into_iter();
        blocks
            .map(|(len, times)| times * self.block_len(request, &(0..len)))
            .sum()
    }

    /// Bytes of one answered block.
    pub(crate) fn block_len(&self, request: &Request, columns: &Range<usize>) -> usize {
        let results = self.results(request, columns);
        self.kept * POLY_BYTES + (self.kept * results * BITS).div_ceil(8)
    }

    /// AES blocks that a request and all answers to it take of both parties.
    pub fn aes_blocks(&self, request: &Request) -> AesBlocks {
        let cuts = self.cuts();
        let uniform = self.primes as u64 * UNIFORM_BLOCKS;
        let requested = self.requested(request).count() as u64;
        let answered = cuts.answers() as u64;
        let results = self.results(request, &(0..cuts.columns[0])) as u64;
        AesBlocks {
            owner: 1 + requested * (uniform + SMALL_BLOCKS),
            responder: requested * uniform + answered * 2 * SMALL_BLOCKS + results * MASK_BLOCKS,
        }
    }

    /// The parts of inner whose blocks of X are ciphertexts of a request.
    pub(crate) fn requested(
        &self,
        request: &Request,
    ) -> impl Iterator<Item = Range<usize>> + use<> {
        cut(request.inner.clone(), self.cuts().inner[1])
    }

    /// The ranges of `columns` that are ciphertexts of an answer.
    pub(crate) fn answered(
        &self,
        columns: &Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + use<> {
        cut(columns.clone(), self.cuts().columns[1])
    }

    /// Tells the elements of a stripe's block of X, each with its place in X and its exponent.
    pub(crate) fn left(&self, stripe: usize, inner: Range<usize>, tell: impl FnMut(usize, usize)) {
        match &self.form {
            Form::Matrices(matrices) => matrices.left(stripe, inner, tell),
            Form::Images(images) => images.left(stripe, inner, tell),
        }
    }

    /// Gives the places of a block of Y, for the request about a stripe.
    pub(crate) fn right(
        &self,
        stripe: usize,
        inner: Range<usize>,
        columns: Range<usize>,
        tell: impl FnMut(usize, usize),
    ) {
        match &self.form {
            Form::Matrices(matrices) => matrices.right(inner, columns, tell),
            Form::Images(images) => images.right(stripe, inner, columns, tell),
        }
    }

    /// Gives the places of a block of the result, as (place, exponent).
    pub(crate) fn places(&self, stripe: usize, columns: Range<usize>) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        let tell = |place, exponent| places.push((place, exponent));
        match &self.form {
            Form::Matrices(matrices) => matrices.results(stripe, columns, tell),
            Form::Images(images) => images.results(stripe, columns, tell),
        }
        places
    }
}

impl Request {
    pub(crate) fn stripe(&self) -> usize {
        self.stripe
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

    /// Checks that all requests and answers together have as many bytes and blocks as is said in advance.
    fn covers(layout: &Layout, results: usize, products: usize) {
        let columns: Vec<_> = layout.answers().collect();
        let mut found = vec![0_usize; results];
        let mut summed = 0;
        let requests = || layout.requests();
        for request in requests() {
            for columns in columns.iter().flat_map(|columns| layout.answered(columns)) {
                let places = layout.places(request.stripe, columns.clone());
                assert_eq!(places.len(), layout.results(&request, &columns));
                places.iter().for_each(|&(place, _)| found[place] += 1);
                summed += layout.products(&request, &columns);
            }
        }
        let pieces = layout.cuts().pieces();
        assert!(found.iter().all(|&times| times == pieces), "{layout:?}");
        assert_eq!(summed, products, "{layout:?}");
        let requested: usize = requests().map(|r| layout.request_len(&r)).sum();
        let all = requests().flat_map(|r| columns.iter().map(move |c| (r.clone(), c)));
        let answered: usize = all.map(|(r, c)| layout.answer_len(&r, c)).sum();
        let blocks = requests().map(|r| layout.aes_blocks(&r));
        let blocks: u64 = blocks.map(|blocks| blocks.owner + blocks.responder).sum();
        let mut again = (0, 0, 0);
        for (request, times) in layout.kinds() {
            let aes = layout.aes_blocks(&request);
            again.0 += times * layout.request_len(&request);
            again.1 += times * layout.answers_len(&request);
            again.2 += times as u64 * (aes.owner + aes.responder);
        }
        assert_eq!(again, (requested, answered, blocks), "{layout:?}");
        let (bytes, near) = (requested + answered, layout.bytes());
        assert!(
            (near..near + near / 50).contains(&bytes),
            "{bytes} and {near}"
        );
    }

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
            covers(&layout, p * q, p * k * q);
        }
    }

    #[test]
    fn so_do_those_of_images() {
        let plain = Convolution::new(3, [20, 30], 4, [3, 3]);
        let all = [
            plain,
            Convolution::new(1, [1, 1], 1, [1, 1]),
            Convolution::new(2000, [7, 7], 40, [1, 1]),
            Convolution::new(3, [224, 224], 8, [7, 7]),
            Convolution {
                images: 5,
                groups: 2,
                channels: 6,
                stride: [2, 3],
                dilation: [2, 1],
                padding: [[1, 2], [0, 3]],
                ..plain
            },
        ];
        for convolution in all {
            let layout = Layout::of_images(64, &convolution).expect("64 bits");
            let product = madrigal_core::Product::Convolution(convolution);
            let [.., results] = product.lengths();
            covers(&layout, results, product.multiplications());
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

    /// Images are not unfolded: far fewer ciphertexts and products of them than for the same product of matrices.
    #[test]
    fn images_take_fewer_polynomials_than_matrices() {
        let convolution = Convolution {
            padding: [[1, 1]; 2],
            ..Convolution::new(64, [56, 56], 64, [3, 3])
        };
        let layout = Layout::of_images(64, &convolution).expect("64 bits");
        let shape = convolution.matrices();
        let matrices = Layout::new(64, shape.columns, shape.inner, shape.rows).expect("64 bits");
        assert!(4 * layout.transforms() < matrices.transforms());
        assert!(2 * layout.bytes() < matrices.bytes());
    }
}
