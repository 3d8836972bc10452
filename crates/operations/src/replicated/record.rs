//! The record of replicated sharing.

use std::sync::Arc;

use madrigal_engine::Sharing;
use madrigal_protocols::replicated::Depth;

use super::{
    PlaceRows, Predicate, ReplicatedTool, Rounding, ShuffleRows, SortRows, Test, Truncate,
};
use crate::backend::{
    Backend, Bits, CircuitSupply, DynOperation, Keeping, Numbers, Of, RowSort, SortRounds,
};
use crate::joint::JointBits;
use crate::parts::Parts;

impl ReplicatedTool {
    /// Record of the protocol, for whoever plans programs.
    pub(crate) const RECORD: Backend = Backend {
        name: "R",
        sharing: Sharing::R,
        about: "replicated sharing: three components, of which each of three parties has two",
        parties: 3..=3,
        honest_majority: true,
        kept: Keeping::as_it_is(Sharing::R, Parts::TwoOfThree),
        edges: &Of::<Self>::NEW,
        bits: Some(Bits {
            circuits: &Of::<Self>::NEW,
            supply: CircuitSupply::Nothing,
            ring: Sharing::R,
            layered: true,
            pairs: false,
            vectors: false,
            branches: Err("for in R an AND sends one bit already"),
            test: Some(|predicate: Predicate, depth: Depth| Arc::new(Test::new(predicate, depth))),
            split: None,
            shares_anew: &[],
            sort: Some(RowSort {
                parties: 3..=3,
                numbers: &[Sharing::R],
                operation: |keys, rounds| {
                    let sort = SortRows::new(keys, rounds.depth());
                    match rounds {
                        SortRounds::Fewest => Arc::new(sort.by_digits()),
                        _ => Arc::new(sort),
                    }
                },
                shuffle: || Arc::new(ShuffleRows),
                place: || Arc::new(PlaceRows),
                counts: false,
            }),
            joint: Some(|bits, len| Arc::new(JointBits::<Self>::new(bits, len))),
            compose: None,
        }),
        numbers: Some(Numbers {
            rings: &Of::<Self>::NEW,
            with: &[Sharing::R],
            exact_quotients: true,
            sums_of_shares: false,
            squares_are_products: true,
            branches: false,
            known_product: None,
            known_bit_times: None,
            truncate: |by, exact, _| {
                let rounding = match exact {
                    true => Rounding::Exact,
                    false => Rounding::Probabilistic,
                };
                Some(vec![Arc::new(Truncate::new(by, rounding)) as DynOperation])
            },
        }),
    };
}
