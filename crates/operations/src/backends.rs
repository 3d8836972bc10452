//! The records of all protocols.

use std::sync::Arc;

use madrigal_core::MAX_PARTIES;
use madrigal_correlations::Width;

use crate::aby2::{AlphaTool, BetaTool};
use crate::arithmetic_gmw::ArithmeticGmwTool;
use crate::backend::{Backend, Bits, DynOperation, Keeping, Numbers, Of};
use crate::bmr::{BmrTool, ComposeKeys, FromKeys, ToKeys};
use crate::boolean_gmw::BooleanGmwTool;
use crate::over_shares::{Mask, Unmask};
use crate::replicated::{Predicate, ReplicatedTool, Rounding, Test, Truncate};
use crate::truncate::TruncateLocally;
use crate::yao::{ComposeLabels, FromLabels, HalfGates, SplitLabels, ToLabels, YaoTool};
use madrigal_engine::Sharing;
use madrigal_protocols::replicated::Depth;

/// All protocols: those of ring elements first, in the order in which mixes are listed.
pub static ALL: [Backend; 7] = [
    Backend {
        sharing: Sharing::A,
        about: "shares that add up modulo 2^l, one for each party",
        parties: 2..=MAX_PARTIES,
        honest_majority: false,
        kept: Keeping::as_it_is(Sharing::A),
        edges: &Of::<ArithmeticGmwTool>::NEW,
        bits: None,
        numbers: Some(Numbers {
            rings: &Of::<ArithmeticGmwTool>::NEW,
            with: &[Sharing::B, Sharing::Y, Sharing::Y2],
            exact_quotients: false,
            sums_of_shares: true,
            squares_are_products: false,
            branches: true,
            truncate: |by, exact, parties| {
                (!exact && parties == 2)
                    .then(|| vec![Arc::new(TruncateLocally::new(by)) as DynOperation])
            },
        }),
    },
    Backend {
        sharing: Sharing::ALPHA,
        about: "a public part and shares of a mask that add up, between two parties (ABY2.0)",
        parties: 2..=2,
        honest_majority: false,
        kept: Keeping {
            sharing: Sharing::A,
            to: Some(|| Arc::new(Unmask::<AlphaTool>::new())),
            from: Some(|| Arc::new(Mask::<AlphaTool>::new())),
        },
        edges: &Of::<AlphaTool>::NEW,
        bits: None,
        numbers: Some(Numbers {
            rings: &Of::<AlphaTool>::NEW,
            with: &[Sharing::BETA, Sharing::Y2],
            exact_quotients: false,
            sums_of_shares: true,
            squares_are_products: false,
            branches: false,
            truncate: |by, exact, _| {
                (!exact).then(|| {
                    let cut = Arc::new(TruncateLocally::new(by));
                    vec![
                        Arc::new(Unmask::<AlphaTool>::new()) as DynOperation,
                        cut,
                        Arc::new(Mask::<AlphaTool>::new()),
                    ]
                })
            },
        }),
    },
    Backend {
        sharing: Sharing::R,
        about: "three components, of which each of three parties has two",
        parties: 3..=3,
        honest_majority: true,
        kept: Keeping::as_it_is(Sharing::R),
        edges: &Of::<ReplicatedTool>::NEW,
        bits: Some(Bits {
            circuits: &Of::<ReplicatedTool>::NEW,
            ring: Sharing::R,
            pairs: false,
            branches: Err("for in R an AND sends one bit already"),
            test: Some(|predicate: Predicate, depth: Depth| Arc::new(Test::new(predicate, depth))),
            split: None,
            shares_anew: &[],
            compose: None,
        }),
        numbers: Some(Numbers {
            rings: &Of::<ReplicatedTool>::NEW,
            with: &[Sharing::R],
            exact_quotients: true,
            sums_of_shares: false,
            squares_are_products: true,
            branches: false,
            truncate: |by, exact, _| {
                let rounding = match exact {
                    true => Rounding::Exact,
                    false => Rounding::Probabilistic,
                };
                Some(vec![Arc::new(Truncate::new(by, rounding)) as DynOperation])
            },
        }),
    },
    Backend {
        sharing: Sharing::B,
        about: "for each bit shares whose XOR is the bit, one for each party",
        parties: 2..=MAX_PARTIES,
        honest_majority: false,
        kept: Keeping::as_it_is(Sharing::B),
        edges: &Of::<BooleanGmwTool>::NEW,
        bits: Some(Bits {
            circuits: &Of::<BooleanGmwTool>::NEW,
            ring: Sharing::A,
            pairs: false,
            branches: Ok(()),
            test: None,
            split: None,
            shares_anew: &[],
            compose: None,
        }),
        numbers: None,
    },
    Backend {
        sharing: Sharing::Y,
        about: "circuits that all parties garble together (BMR): a constant number of rounds",
        parties: 2..=MAX_PARTIES,
        honest_majority: false,
        kept: Keeping {
            sharing: Sharing::B,
            to: Some(|| Arc::new(FromKeys::new())),
            from: Some(|| Arc::new(ToKeys::new())),
        },
        edges: &Of::<BmrTool>::NEW,
        bits: Some(Bits {
            circuits: &Of::<BmrTool>::NEW,
            ring: Sharing::A,
            pairs: false,
            branches: Err("for in Y tables of branches are not stacked"),
            test: None,
            split: None,
            shares_anew: &[],
            compose: Some(|width: Width, signed| Arc::new(ComposeKeys::new(width, signed))),
        }),
        numbers: None,
    },
    Backend {
        sharing: Sharing::Y2,
        about: "circuits that party 0 garbles and party 1 evaluates",
        parties: 2..=2,
        honest_majority: false,
        kept: Keeping {
            sharing: Sharing::B,
            to: Some(|| Arc::new(FromLabels::new())),
            from: Some(|| Arc::new(ToLabels::<HalfGates>::new())),
        },
        edges: &Of::<YaoTool>::NEW,
        bits: Some(Bits {
            circuits: &Of::<YaoTool>::NEW,
            ring: Sharing::A,
            pairs: false,
            branches: Err("for in Y2 tables of branches are not stacked"),
            test: None,
            split: Some(|ring, negated| match ring == Sharing::ALPHA {
                true => Arc::new(SplitLabels::<AlphaTool>::new(negated)),
                false => Arc::new(SplitLabels::<ArithmeticGmwTool>::new(negated)),
            }),
            shares_anew: &[Sharing::A],
            compose: Some(|width: Width, signed| {
                Arc::new(ComposeLabels::<HalfGates>::new(width, signed))
            }),
        }),
        numbers: None,
    },
    Backend {
        sharing: Sharing::BETA,
        about: "a public bit and shares of a mask, between two parties (ABY2.0)",
        parties: 2..=2,
        honest_majority: false,
        kept: Keeping {
            sharing: Sharing::B,
            to: Some(|| Arc::new(Unmask::<BetaTool>::new())),
            from: Some(|| Arc::new(Mask::<BetaTool>::new())),
        },
        edges: &Of::<BetaTool>::NEW,
        bits: Some(Bits {
            circuits: &Of::<BetaTool>::NEW,
            ring: Sharing::ALPHA,
            pairs: true,
            branches: Err("for in beta each AND's masks are multiplied ahead"),
            test: None,
            split: None,
            shares_anew: &[],
            compose: None,
        }),
        numbers: None,
    },
];
