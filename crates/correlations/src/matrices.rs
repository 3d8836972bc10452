//! Triples of products over Z_2^l: shares of random A and B, and of C = A B. Of matrices A is m x k and B k x n; of a
//! convolution A are the filters and B the images, so that an operation masks images as they are, and not each of their
//! elements as often as a filter meets it.
//!
//! Where an operation has a factor that one of two parties knows ([`Tripled::left`]), that party has all of the mask:
//! one of the two products of what different parties have goes away, and with it half of what is sent and computed.
//!
//! They are made by [oblivious transfer](oblivious), or by [encryption](encrypted): [`Matrices`] says which.

mod encrypted;
mod factors;
mod layout;
mod oblivious;
mod strings;
mod tripled;

pub use madrigal_core::MatrixShape;
use madrigal_core::{Party, Product, Ring, Zeroizing};

pub(crate) use self::encrypted::{Encrypted, EncryptedCosts, serves, transforms};
pub(crate) use self::factors::{add_product, empty};
pub(crate) use self::layout::MatrixLayout;
pub(crate) use self::oblivious::triples;
pub use self::tripled::Tripled;
use crate::extension::Extension;
use crate::needs::Needs;
use crate::supply::Origin;

/// What makes triples of products. All other correlations are made by oblivious transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matrices {
    /// Additively homomorphic encryption ([`OtSource::with_lattice_matrices`](crate::OtSource::with_lattice_matrices)),
    /// which sends a fraction of the bytes; those of 128-bit elements by oblivious transfer.
    #[default]
    Lattice,
    /// Oblivious transfer.
    Ot,
}

impl std::fmt::Display for Matrices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Lattice => "lattice",
            Self::Ot => "ot",
        })
    }
}

impl Matrices {
    /// What sends fewer bytes for the triples of products among `needs`, between so many parties. It depends on nothing
    /// else, so that parties that have agreed on these have agreed on it.
    #[must_use]
    pub fn choose(extension: Extension, parties: usize, needs: &Needs) -> Self {
        let mut matrices = Needs::new();
        for (kind, count) in needs.kinds() {
            if kind.product().is_some() {
                matrices.add(kind, count);
            }
        }
        if matrices.is_empty() || parties < 2 {
            return Self::Ot;
        }
        let bytes = |of: Self| {
            let origin = Origin::Ot {
                extension,
                threads: 1,
                matrices: of,
            };
            let all = Party::all(parties).map(|me| origin.costs(me, parties).fill(&matrices));
            all.map(|cost| cost.bytes_sent).sum::<u64>()
        };
        match bytes(Self::Lattice) < bytes(Self::Ot) {
            true => Self::Lattice,
            false => Self::Ot,
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

    /// Those of some pairs of matrices, as one of all of them; a single one is itself.
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

    /// What it is a triple of.
    pub fn product(&self) -> Product {
        self.product
    }

    /// Uses the triple: the shares of A, B and C.
    pub fn take(self) -> [Zeroizing<Vec<T>>; 3] {
        [self.a, self.b, self.c]
    }
}
