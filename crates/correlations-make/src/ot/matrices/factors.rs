//! Shares that one party brings to triples of products, and the factors as products of matrices.

use std::ops::Range;

use madrigal_core::{Party, Piece, Product, Ring, Zeroizing};
use madrigal_correlations::{ProductTriple, Tripled, add_product};
use madrigal_net::Context;

use super::strings::transpose;
use crate::ot::elements;

/// One party's shares of the factors of some triples of one product, one after the other, and what it has of their
/// products so far.
pub(super) struct Factors<T: Ring> {
    one: Product,
    count: usize,
    pub(super) a: Zeroizing<Vec<T>>,
    pub(super) b: Zeroizing<Vec<T>>,
    pub(super) c: Zeroizing<Vec<T>>,
}

/// Random ones, and their own products.
pub(super) async fn random<T: Ring>(
    context: &Context,
    tripled: Tripled,
    count: usize,
) -> Factors<T> {
    let one = tripled.product;
    let [left, right, results] = one.lengths();
    let [a, b] = draw::<T>(context, tripled, [count * left, count * right]);
    let mut c = Zeroizing::new(vec![T::ZERO; count * results]);
    // One factor of a split triple is zeros.
    let own = if tripled.left.is_none() { count } else { 0 };
    for triple in 0..own {
        let of = |len: usize| triple * len..(triple + 1) * len;
        let (a, b) = (&a[of(left)], &b[of(right)]);
        add_product(one, a, b, &mut c[of(results)]).await;
    }
    Factors {
        one,
        count,
        a,
        b,
        c,
    }
}

/// Draws the shares that this party has of A and B: random elements, or zeros where they are another party's.
fn draw<T: Ring>(
    context: &Context,
    tripled: Tripled,
    lengths: [usize; 2],
) -> [Zeroizing<Vec<T>>; 2] {
    let mut prg = context.private_prg();
    let ours = tripled.drawn_by(context.me());
    std::array::from_fn(|factor| match ours[factor] {
        true => elements::random::<T>(&mut prg, lengths[factor]),
        false => Zeroizing::new(vec![T::ZERO; lengths[factor]]),
    })
}

/// Counts the AES blocks that a party draws for `count` triples.
pub(super) fn drawn<T: Ring>(me: Party, tripled: Tripled, count: usize) -> u64 {
    let [left, right, _] = match tripled.product {
        Product::Matrices(_, shape) => shape.lengths(),
        Product::Convolution(_) => tripled.product.lengths(),
    };
    let factors = tripled.drawn_by(me).into_iter().zip([left, right]);
    let ours = factors.filter(|(ours, _)| *ours);
    ours.map(|(_, len)| elements::random_blocks(count * len, T::BYTES))
        .sum()
}

/// Makes triples that take no messages: the product is empty, or of nothing.
pub(crate) fn empty<T: Ring>(
    context: &Context,
    tripled: Tripled,
    count: usize,
) -> Vec<ProductTriple<T>> {
    let one = tripled.product;
    let [left, right, results] = match one {
        Product::Matrices(_, shape) => shape.lengths(),
        Product::Convolution(_) => one.lengths(),
    };
    let [a, b] = draw::<T>(context, tripled, [count * left, count * right]);
    let c = Zeroizing::new(vec![T::ZERO; count * results]);
    Factors {
        one,
        count,
        a,
        b,
        c,
    }
    .triples()
}

impl<T: Ring> Factors<T> {
    /// The numbers of the elements of a triple among those of all.
    pub(super) fn place(all: &[T], count: usize, triple: usize) -> Range<usize> {
        let each = all.len() / count;
        triple * each..(triple + 1) * each
    }

    pub(super) fn triples(self) -> Vec<ProductTriple<T>> {
        let Self {
            one,
            count,
            a,
            b,
            c,
        } = self;
        if count == 1 {
            return vec![ProductTriple::new(one, a, b, c)];
        }
        let of = |triple: usize| {
            let part = |all: &[T]| Zeroizing::new(all[Self::place(all, count, triple)].to_vec());
            ProductTriple::new(one, part(&a), part(&b), part(&c))
        };
        (0..count).map(of).collect()
    }
}

/// A product as products of matrices X (p x k) by Y (k x q), one for each of its [pieces](Product::pieces): A and B of
/// the piece, or, `swapped`, the transposes of B and A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unfolded {
    one: Product,
    pieces: usize,
    /// p, k, q.
    pub(super) sizes: [usize; 3],
    pub(super) swapped: bool,
}

impl Unfolded {
    pub(super) fn new(one: Product, swapped: bool) -> Self {
        let (pieces, shape) = one.pieces();
        let sizes = match swapped {
            false => [shape.rows, shape.inner, shape.columns],
            true => [shape.columns, shape.inner, shape.rows],
        };
        Self {
            one,
            pieces,
            sizes,
            swapped,
        }
    }

    /// With p <= q.
    pub(super) fn shorter_first(one: Product) -> Self {
        let (_, shape) = one.pieces();
        Self::new(one, shape.rows > shape.columns)
    }

    /// Products of matrices for one triple.
    pub(super) fn pieces(&self) -> usize {
        self.pieces
    }

    /// X and Y of all pieces of all triples, one after the other.
    pub(super) fn factors<'a, T: Ring>(
        &self,
        count: usize,
        a: &'a [T],
        b: &'a [T],
    ) -> [Piece<'a, T>; 2] {
        let [p, k, q] = self.sizes;
        if !self.swapped && matches!(self.one, Product::Matrices(..)) {
            return [a, b].map(Piece::from);
        }
        let mut x = Vec::with_capacity(count * self.pieces * p * k);
        let mut y = Vec::with_capacity(count * self.pieces * k * q);
        for triple in 0..count {
            let a = &a[Factors::place(a, count, triple)];
            let b = &b[Factors::place(b, count, triple)];
            for piece in 0..self.pieces {
                let (a, b) = (&a[self.one.left(piece)], self.one.right(piece, b));
                if self.swapped {
                    x.extend_from_slice(&transpose(&b, k, p));
                    y.extend_from_slice(&transpose(a, q, k));
                } else {
                    x.extend_from_slice(a);
                    y.extend_from_slice(&b);
                }
            }
        }
        [x, y].map(Piece::from)
    }

    /// Adds Z of all pieces of all triples to C.
    pub(super) fn add<T: Ring>(&self, z: &[T], c: &mut [T]) {
        let [p, _, q] = self.sizes;
        let each = self.pieces * p * q;
        let columns = if self.swapped { p } else { q };
        for (z, c) in z.chunks_exact(each).zip(c.chunks_exact_mut(each)) {
            for (piece, z) in z.chunks_exact(p * q).enumerate() {
                if self.swapped {
                    let z = transpose(z, p, q);
                    self.one.add(piece, 0..columns, &z, c);
                } else {
                    self.one.add(piece, 0..columns, z, c);
                }
            }
        }
    }
}
