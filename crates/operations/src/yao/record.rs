//! The records of garbled circuits of two parties, one for each way of garbling.

use std::sync::Arc;

use madrigal_correlations::Width;
use madrigal_engine::Sharing;
use madrigal_garbling::Scheme;

use super::{ComposeLabels, FromLabels, Garbling, SplitLabels, ToLabels, YaoTool};
use crate::aby2::AlphaTool;
use crate::arithmetic_gmw::ArithmeticGmwTool;
use crate::backend::{Backend, Bits, CircuitSupply, Keeping, Of};
use crate::parts::Parts;

impl<G: Garbling> YaoTool<G> {
    /// Record of the protocol, for whoever plans programs.
    pub(crate) const RECORD: Backend = Backend {
        name: match G::SCHEME {
            Scheme::HalfGates => "Y2",
            Scheme::ThreeHalves => G::NAME,
        },
        sharing: Sharing::Y2,
        about: "Yao: circuits that party 0 garbles and party 1 evaluates, in a constant number of rounds",
        parties: 2..=2,
        honest_majority: false,
        kept: Keeping {
            sharing: Sharing::B,
            parts: Parts::OneEach,
            to: Some(|| Arc::new(FromLabels::new())),
            from: Some(|| Arc::new(ToLabels::<G>::new())),
        },
        edges: &Of::<Self>::NEW,
        bits: Some(Bits {
            circuits: &Of::<Self>::NEW,
            supply: CircuitSupply::Ot,
            ring: Sharing::A,
            layered: false,
            pairs: false,
            vectors: false,
            branches: Err("for in Y2 tables of branches are not stacked"),
            test: None,
            split: Some(|ring, negated| match ring == Sharing::ALPHA {
                true => Arc::new(SplitLabels::<AlphaTool, G>::new(negated)),
                false => Arc::new(SplitLabels::<ArithmeticGmwTool, G>::new(negated)),
            }),
            shares_anew: &[Sharing::A],
            sort: None,
            joint: None,
            compose: Some(|width: Width, signed| Arc::new(ComposeLabels::<G>::new(width, signed))),
        }),
        numbers: None,
    };
}
