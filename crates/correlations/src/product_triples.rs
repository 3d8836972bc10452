//! Triples of products over Z_2^l: shares of random A and B, and of C = A B. Of matrices A is m x k and B k x n; of a
//! convolution A are the filters and B the images, so that an operation masks images as they are, and not each of their
//! elements as often as a filter meets it.
//!
//! Where an operation has a factor that one of two parties knows ([`Tripled::left`]), that party has all of the mask:
//! one of the two products of what different parties have goes away, and with it half of what is sent and computed.

use madrigal_core::{Party, Product, Ring, Zeroizing};
use madrigal_kernels::products::{add_band, bands};
use madrigal_net::{Error, Result, breathe};

use crate::shares::{Shares, Strings, elements, written};

/// A product that triples are made of, and who has its factors.
///
/// In a *split* one, A is drawn by one of two parties and B by the other, and only C is shared. It is a triple like any
/// other, with shares of A and B that are zeros at the party that does not have them: who knows an operand masks it
/// alone, and of x = x_0 + x_1 only the part x_1 that it does not know takes a product with the other party.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tripled {
    /// Product that it is of.
    pub product: Product,
    /// The one of two parties that has A, where the other one has B; where there is none, all have shares of both.
    pub left: Option<Party>,
}

impl From<Product> for Tripled {
    fn from(product: Product) -> Self {
        Self {
            product,
            left: None,
        }
    }
}

impl Tripled {
    /// One whose A `left` has, and whose B the other one of two parties has.
    pub const fn split(product: Product, left: Party) -> Self {
        Self {
            product,
            left: Some(left),
        }
    }

    /// One of those that are made together, and their number: see [`Product::alike`].
    pub fn alike(self) -> (usize, Self) {
        let (count, product) = self.product.alike();
        (count, Self { product, ..self })
    }

    /// Whether `me` has something of A, and of B.
    pub fn drawn_by(self, me: Party) -> [bool; 2] {
        self.left.map_or([true; 2], |left| [left == me, left != me])
    }

    /// Who has X, of a product of A (or B, if `swapped`) by the other factor; none where all have a share of it.
    pub fn first(self, swapped: bool) -> Option<Party> {
        self.left.map(|left| match (swapped, left.index()) {
            (false, _) => left,
            (true, 0) => Party::new(1),
            (true, _) => Party::new(0),
        })
    }

    /// Checks that `parties` parties can have such a triple.
    ///
    /// # Errors
    /// [`Error::Ended`] for parties among which there is none.
    pub fn check(self, parties: usize) -> Result<()> {
        match self.left {
            Some(left) if parties != 2 || left.index() > 1 => Err(Error::Ended {
                reason: format!(
                    "a triple of which {left} has one factor, and one other party the other, is for two parties, not for {parties}"
                ),
            }),
            _ => Ok(()),
        }
    }
}

/// One party's shares of a triple of a product: the factors and what comes of them, as they lie in a
/// [`Product`]. Not `Clone`; wiped when dropped.
pub struct ProductTriple<T: Ring> {
    product: Product,
    a: Zeroizing<Vec<T>>,
    b: Zeroizing<Vec<T>>,
    c: Zeroizing<Vec<T>>,
}

impl<T: Ring> std::fmt::Debug for ProductTriple<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ProductTriple({:?} of {} bits)", self.product, T::BITS)
    }
}

impl<T: Ring> ProductTriple<T> {
    /// From this party's shares.
    ///
    /// # Panics
    /// If a factor or the result has not as many elements as the product says.
    pub fn new(
        product: Product,
        a: Zeroizing<Vec<T>>,
        b: Zeroizing<Vec<T>>,
        c: Zeroizing<Vec<T>>,
    ) -> Self {
        let lengths = match product {
            // One that has no products may be longer than what can be multiplied.
            Product::Matrices(1, shape) => shape.lengths(),
            _ => product.lengths(),
        };
        assert_eq!(
            [a.len(), b.len(), c.len()],
            lengths,
            "factors and result have the sizes of {product:?}"
        );
        Self { product, a, b, c }
    }

    /// Joins the triples of some pairs of matrices to one of all of them; a single one is itself.
    ///
    /// # Panics
    /// If they are not those of this product.
    pub(crate) fn beside(product: Product, mut triples: Vec<Self>) -> Self {
        if triples.len() == 1 {
            let one = triples.remove(0);
            assert_eq!(one.product, product, "a triple of this product");
            return one;
        }
        let mut all = [(); 3].map(|()| Zeroizing::new(Vec::new()));
        let [left, right, results] = product.lengths();
        for (all, len) in all.iter_mut().zip([left, right, results]) {
            // Growing would leave copies behind.
            all.reserve_exact(len);
        }
        for triple in triples {
            for (all, part) in all.iter_mut().zip(triple.take()) {
                all.extend_from_slice(&part);
            }
        }
        let [a, b, c] = all;
        Self::new(product, a, b, c)
    }

    /// Gives the product that it is a triple of.
    pub fn product(&self) -> Product {
        self.product
    }

    /// Uses the triple: the shares of A, B and C.
    pub fn take(self) -> [Zeroizing<Vec<T>>; 3] {
        [self.a, self.b, self.c]
    }
}

/// One party's shares of triples of one product.
#[derive(Debug)]
pub struct ProductTriples<T: Ring>(Vec<ProductTriple<T>>);

impl<T: Ring> ProductTriples<T> {
    /// Takes triples of one product together.
    pub fn new(triples: Vec<ProductTriple<T>>) -> Self {
        Self(triples)
    }

    /// Gives all triples that are left.
    pub fn into_vec(self) -> Vec<ProductTriple<T>> {
        self.0
    }

    /// Reads `count` triples of one product from their strings.
    pub(crate) fn from_strings(product: Product, strings: &Strings, count: usize) -> Self {
        let part = |which: usize, index: usize| {
            let string = &strings[which];
            let bytes = string.len() / count;
            elements(&string[index * bytes..(index + 1) * bytes])
        };
        let triple = |index| {
            let [a, b, c] = [0, 1, 2].map(|which| part(which, index));
            ProductTriple::new(product, a, b, c)
        };
        Self((0..count).map(triple).collect())
    }
}

impl<T: Ring> Shares for ProductTriples<T> {
    fn left(&self) -> usize {
        self.0.len()
    }

    /// Splits triples off at the end, so that none is moved but these.
    fn split_front(&mut self, count: usize) -> Self {
        let left = self.0.len();
        assert!(count <= left, "{count} items wanted, {left} left");
        Self(self.0.split_off(left - count))
    }

    fn concat(parts: Vec<Self>) -> Self {
        Self(parts.into_iter().flat_map(|part| part.0).collect())
    }

    fn strings(self) -> Strings {
        let column = |part: fn(&ProductTriple<T>) -> &[T]| {
            let pieces: Vec<&[T]> = self.0.iter().map(part).collect();
            written(&pieces)
        };
        vec![column(|t| &t.a), column(|t| &t.b), column(|t| &t.c)]
    }
}

/// Adds a product, `c += a b`, band by band.
pub async fn add_product<T: Ring>(product: Product, a: &[T], b: &[T], c: &mut [T]) {
    for band in bands(&product) {
        add_band(&product, [(a, b)], c, &band);
        breathe().await;
    }
}
