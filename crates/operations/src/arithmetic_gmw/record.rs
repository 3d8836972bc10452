//! The record of arithmetic GMW.

use std::sync::Arc;

use madrigal_core::MAX_PARTIES;
use madrigal_engine::Sharing;

use super::{ArithmeticGmwTool, KnownBitTimes, KnownProduct};
use crate::backend::{Backend, DynOperation, Keeping, Numbers, Of};
use crate::parts::Parts;
use crate::truncate::TruncateLocally;

impl ArithmeticGmwTool {
    /// Record of the protocol, for whoever plans programs.
    pub(crate) const RECORD: Backend = Backend {
        name: "A",
        sharing: Sharing::A,
        about: "arithmetic GMW: shares that add up modulo 2^l, one for each party",
        parties: 2..=MAX_PARTIES,
        honest_majority: false,
        kept: Keeping::as_it_is(Sharing::A, Parts::OneEach),
        edges: &Of::<Self>::NEW,
        bits: None,
        numbers: Some(Numbers {
            rings: &Of::<Self>::NEW,
            with: &[Sharing::B, Sharing::Y, Sharing::Y2],
            exact_quotients: false,
            sums_of_shares: true,
            squares_are_products: false,
            branches: true,
            known_product: Some(|product, side, owner| {
                Arc::new(KnownProduct::new(product, side, owner))
            }),
            known_bit_times: Some(|owner| Arc::new(KnownBitTimes::new(owner))),
            truncate: |by, exact, parties| {
                (!exact && parties == 2)
                    .then(|| vec![Arc::new(TruncateLocally::new(by)) as DynOperation])
            },
        }),
    };
}
