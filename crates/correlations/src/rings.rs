//! Correlations over Z_2^l: triples and square pairs.

use madrigal_core::{Ring, Zeroizing};
use madrigal_net::{Context, Result};

use crate::columns::container;
use crate::elements::random;
use crate::links::Links;
use crate::products::{Pattern, ProductLayout, Products};

container! {
    /// One party's shares of multiplication triples over Z_2^l: a and b random, c = a b.
    RingTriples,
    /// Shares of some triples.
    TripleShares {
        /// Shares of a.
        a,
        /// Shares of b.
        b,
        /// Shares of c = a b.
        c
    },
    3
}

container! {
    /// One party's shares of square pairs over Z_2^l: a random, c = a^2.
    SquarePairs,
    /// Shares of some square pairs.
    SquareShares {
        /// Shares of a.
        a,
        /// Shares of c = a^2.
        c
    },
    2
}

/// Triples by products mod 2^l in both directions of each pair of parties (MOTION 5.2.1):
/// c = sum_i a_i b_i + sum_{i != j} a_i b_j.
pub(crate) async fn triples<T: Ring>(
    links: &mut Links,
    context: &Context,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<RingTriples<T>> {
    let mut prg = context.private_prg();
    let (mut a, b) = (random::<T>(&mut prg, count), random::<T>(&mut prg, count));
    let mut c = Zeroizing::new(vec![T::ZERO; count]);
    let mut products = Products {
        me: context.me(),
        parties: context.parties(),
        width: T::BITS,
        pattern: Pattern::Both,
        x: &mut a,
        y: Some(&b),
        z: &mut c,
    };
    links.run(&mut products, made).await?;
    for ((c, &a), &b) in c.iter_mut().zip(a.iter()).zip(b.iter()) {
        *c = c.add(a.mul(b));
    }
    Ok(RingTriples::new(a, b, c))
}

/// Square pairs by one product of each pair of parties (MOTION 5.3):
/// c = sum_i a_i^2 + 2 sum_{i < j} a_i a_j. The factor 2 cuts a bit off, so the products are
/// made mod 2^(l-1) only.
pub(crate) async fn squares<T: Ring>(
    links: &mut Links,
    context: &Context,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<SquarePairs<T>> {
    let mut a = random::<T>(&mut context.private_prg(), count);
    let mut c = Zeroizing::new(vec![T::ZERO; count]);
    let mut products = Products {
        me: context.me(),
        parties: context.parties(),
        width: T::BITS - 1,
        pattern: Pattern::Once,
        x: &mut a,
        y: None,
        z: &mut c,
    };
    links.run(&mut products, made).await?;
    for (c, &a) in c.iter_mut().zip(a.iter()) {
        *c = c.add(*c).add(a.mul(a));
    }
    Ok(SquarePairs::new(a, c))
}

pub(crate) fn triples_layout<T: Ring>(parties: usize, count: usize) -> ProductLayout {
    ProductLayout {
        parties,
        width: T::BITS,
        pattern: Pattern::Both,
        count,
    }
}

pub(crate) fn squares_layout<T: Ring>(parties: usize, count: usize) -> ProductLayout {
    ProductLayout {
        parties,
        width: T::BITS - 1,
        pattern: Pattern::Once,
        count,
    }
}
