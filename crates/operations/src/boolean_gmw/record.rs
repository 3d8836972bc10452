//! The record of Boolean GMW.

use std::sync::Arc;

use madrigal_core::MAX_PARTIES;
use madrigal_engine::Sharing;

use super::{BooleanGmwTool, PlaceTable, ShuffleTable, SortTable};
use crate::backend::{Backend, Bits, CircuitSupply, Keeping, Of, RowSort};
use crate::joint::JointBits;
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
            sort: Some(RowSort {
                parties: 2..=2,
                numbers: &[Sharing::A],
                operation: |keys, rounds| Arc::new(SortTable::new(keys, rounds.depth())),
                shuffle: || Arc::new(ShuffleTable),
                place: || Arc::new(PlaceTable),
                counts: true,
            }),
            joint: Some(|bits, len| Arc::new(JointBits::<Self>::new(bits, len))),
            compose: None,
        }),
        numbers: None,
    };
}
