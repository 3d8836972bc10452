//! The record of protocol beta.

use std::sync::Arc;

use madrigal_engine::Sharing;

use super::BetaTool;
use crate::backend::{Backend, Bits, CircuitSupply, Keeping, Of};
use crate::over_shares::{Mask, Unmask};
use crate::parts::Parts;

impl BetaTool {
    /// Record of the protocol, for whoever plans programs.
    pub(crate) const RECORD: Backend = Backend {
        name: "beta",
        sharing: Sharing::BETA,
        about: "ABY2.0: a public bit and shares of its mask; an AND opens one bit online",
        parties: 2..=2,
        honest_majority: false,
        kept: Keeping {
            sharing: Sharing::B,
            parts: Parts::OneEach,
            to: Some(|| Arc::new(Unmask::<Self>::new())),
            from: Some(|| Arc::new(Mask::<Self>::new())),
        },
        edges: &Of::<Self>::NEW,
        bits: Some(Bits {
            circuits: &Of::<Self>::NEW,
            supply: CircuitSupply::Anything,
            ring: Sharing::ALPHA,
            layered: true,
            pairs: true,
            vectors: false,
            branches: Err("for in beta each AND's masks are multiplied ahead"),
            test: None,
            split: None,
            shares_anew: &[],
            sort: None,
            joint: None,
            compose: None,
        }),
        numbers: None,
    };
}
