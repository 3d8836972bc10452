//! The record of BMR.

use std::sync::Arc;

use madrigal_core::MAX_PARTIES;
use madrigal_correlations::Width;
use madrigal_engine::Sharing;

use super::{BmrTool, ComposeKeys, FromKeys, ToKeys};
use crate::backend::{Backend, Bits, CircuitSupply, Keeping, Of};
use crate::parts::Parts;

impl BmrTool {
    /// Record of the protocol, for whoever plans programs.
    pub(crate) const RECORD: Backend = Backend {
        name: "Y",
        sharing: Sharing::Y,
        about: "BMR: circuits that all parties garble together, evaluated in a constant number of rounds",
        parties: 2..=MAX_PARTIES,
        honest_majority: false,
        kept: Keeping {
            sharing: Sharing::B,
            parts: Parts::OneEach,
            to: Some(|| Arc::new(FromKeys::new())),
            from: Some(|| Arc::new(ToKeys::new())),
        },
        edges: &Of::<Self>::NEW,
        bits: Some(Bits {
            circuits: &Of::<Self>::NEW,
            supply: CircuitSupply::Ot,
            ring: Sharing::A,
            layered: false,
            pairs: false,
            vectors: false,
            branches: Err("for in Y tables of branches are not stacked"),
            test: None,
            split: None,
            shares_anew: &[],
            sort: None,
            joint: None,
            compose: Some(|width: Width, signed| Arc::new(ComposeKeys::new(width, signed))),
        }),
        numbers: None,
    };
}
