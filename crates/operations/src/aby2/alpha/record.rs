//! The record of protocol alpha.

use std::sync::Arc;

use madrigal_engine::Sharing;

use super::AlphaTool;
use crate::backend::{Backend, DynOperation, Keeping, Numbers, Of};
use crate::over_shares::{Mask, Unmask};
use crate::parts::Parts;
use crate::truncate::TruncateLocally;

impl AlphaTool {
    /// Record of the protocol, for whoever plans programs.
    pub(crate) const RECORD: Backend = Backend {
        name: "alpha",
        sharing: Sharing::ALPHA,
        about: "ABY2.0: a public part and shares of its mask, which add up",
        parties: 2..=2,
        honest_majority: false,
        kept: Keeping {
            sharing: Sharing::A,
            parts: Parts::OneEach,
            to: Some(|| Arc::new(Unmask::<Self>::new())),
            from: Some(|| Arc::new(Mask::<Self>::new())),
        },
        edges: &Of::<Self>::NEW,
        bits: None,
        numbers: Some(Numbers {
            rings: &Of::<Self>::NEW,
            with: &[Sharing::BETA, Sharing::Y2],
            exact_quotients: false,
            sums_of_shares: true,
            squares_are_products: false,
            branches: false,
            known_product: None,
            known_bit_times: None,
            truncate: |by, exact, _| {
                (!exact).then(|| {
                    let cut = Arc::new(TruncateLocally::new(by));
                    vec![
                        Arc::new(Unmask::<Self>::new()) as DynOperation,
                        cut,
                        Arc::new(Mask::<Self>::new()),
                    ]
                })
            },
        }),
    };
}
