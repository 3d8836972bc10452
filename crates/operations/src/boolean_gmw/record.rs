//! The record of Boolean GMW.

use madrigal_core::MAX_PARTIES;
use madrigal_engine::Sharing;

use super::BooleanGmwTool;
use crate::backend::{Backend, Bits, CircuitSupply, Keeping, Of};
use crate::parts::Parts;

impl BooleanGmwTool {
    /// Record of the protocol, for whoever plans programs.
    pub(crate) const RECORD: Backend = Backend {
        name: "B",
        sharing: Sharing::B,
        about: "Boolean GMW: for each bit shares whose XOR is the bit, one for each party",
        parties: 2..=MAX_PARTIES,
        honest_majority: false,
        kept: Keeping::as_it_is(Sharing::B, Parts::OneEach),
        edges: &Of::<Self>::NEW,
        bits: Some(Bits {
            circuits: &Of::<Self>::NEW,
            supply: CircuitSupply::Anything,
            ring: Sharing::A,
            layered: true,
            pairs: false,
            vectors: true,
            branches: Ok(()),
            test: None,
            split: None,
            shares_anew: &[],
            sort: None,
            compose: None,
        }),
        numbers: None,
    };
}
