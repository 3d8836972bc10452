//! What triples of products are of, and who has which factor.

use madrigal_core::{Party, Product};
use madrigal_net::{Error, Result};

/// A product that triples are made of, and who has its factors.
///
/// Of a *split* one, A is drawn by one of two parties and B by the other, and only C is shared. It is a triple like any
/// other, with shares of A and B that are zeros at the party that does not have them: who knows an operand masks it
/// alone, and of x = x_0 + x_1 only the part x_1 that it does not know takes a product with the other party.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tripled {
    /// Of what.
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
    pub(crate) fn drawn_by(self, me: Party) -> [bool; 2] {
        self.left.map_or([true; 2], |left| [left == me, left != me])
    }

    /// Who has X, of a product of A (or B, if `swapped`) by the other factor; none where all have a share of it.
    pub(crate) fn first(self, swapped: bool) -> Option<Party> {
        self.left.map(|left| match (swapped, left.index()) {
            (false, _) => left,
            (true, 0) => Party::new(1),
            (true, _) => Party::new(0),
        })
    }

    /// # Errors
    /// Parties among which there is no such triple.
    pub(crate) fn check(self, parties: usize) -> Result<()> {
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
