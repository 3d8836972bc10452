//! The kinds that are made by OTs alone, each with its recipe.

use madrigal_correlations::{Kind, with_ring};

use crate::ot::recipe::Recipe;
use crate::ot::{bits, chains, chosen_numbers, rings, vectors};

/// Gives the recipe of a kind: none for triples of products, which have another way besides, and for correlated OTs,
/// of which all directions are made together.
pub(crate) fn recipe(kind: Kind) -> Option<Recipe> {
    Some(match kind {
        Kind::BitTriples => bits::recipe(),
        Kind::VectorTriples { length } => vectors::recipe(length),
        Kind::RingTriples(width) => with_ring!(width, T => rings::triples::<T>()),
        Kind::SquarePairs(width) => with_ring!(width, T => rings::squares::<T>()),
        Kind::SharedBits(width) => with_ring!(width, T => chains::recipe::<T>()),
        Kind::ChosenNumbers(width, owner) => {
            with_ring!(width, T => chosen_numbers::recipe::<T>(owner))
        }
        _ => return None,
    })
}
