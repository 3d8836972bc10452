//! Which operation of the engine does a step, by the sharings that it is about.

use std::sync::Arc;

use madrigal_core::Party;
use madrigal_engine::{Operation, Sharing, Sort, Width};
use madrigal_operations::{
    AlphaTool, ArithmeticGmwTool, BetaTool, BmrTool, Boolean, BooleanGmwTool, Circuit, ComposeKeys,
    ComposeLabels, Constant, FromKeys, FromLabels, HalfGates, Layout, Mask, Netlist, Protocol,
    ReplicatedTool, Share, ToKeys, ToLabels, Unmask, YaoTool,
};

use crate::lower::{self, Places};

pub(crate) fn engine_sharing(sharing: lower::Sharing) -> Sharing {
    match sharing {
        lower::Sharing::Arithmetic => Sharing::A,
        lower::Sharing::Boolean => Sharing::B,
        lower::Sharing::Replicated => Sharing::R,
        lower::Sharing::Garbled => Sharing::Y,
        lower::Sharing::GarbledByOne => Sharing::Y2,
        lower::Sharing::Alpha => Sharing::ALPHA,
        lower::Sharing::Beta => Sharing::BETA,
    }
}

pub(super) fn boolean(out: Sort, circuit: Arc<Circuit>) -> Arc<dyn Operation> {
    fn of<P: Boolean>(circuit: Arc<Circuit>, len: usize) -> Arc<dyn Operation> {
        Arc::new(Netlist::<P>::new(circuit, len))
    }
    match out.sharing {
        sharing if sharing == Sharing::R => of::<ReplicatedTool>(circuit, out.len),
        sharing if sharing == Sharing::Y => of::<BmrTool>(circuit, out.len),
        sharing if sharing == Sharing::Y2 => of::<YaoTool>(circuit, out.len),
        sharing if sharing == Sharing::BETA => of::<BetaTool>(circuit, out.len),
        _ => of::<BooleanGmwTool>(circuit, out.len),
    }
}

/// What makes garbled bits of shares in Boolean GMW, where these are wanted.
pub(super) fn garbled_from_bits(to: Sharing) -> Option<Arc<dyn Operation>> {
    match to {
        to if to == Sharing::Y => Some(Arc::new(ToKeys)),
        to if to == Sharing::Y2 => Some(Arc::new(ToLabels::<HalfGates>::new())),
        _ => None,
    }
}

/// What makes labels or masks of the shares that are kept between stages, where these are wanted.
pub(super) fn from_shares(to: Sharing) -> Option<Arc<dyn Operation>> {
    match to {
        to if to == Sharing::ALPHA => Some(Arc::new(Mask::<AlphaTool>::new())),
        to if to == Sharing::BETA => Some(Arc::new(Mask::<BetaTool>::new())),
        to => garbled_from_bits(to),
    }
}

/// The other way.
pub(super) fn to_shares(from: Sharing) -> Option<Arc<dyn Operation>> {
    match from {
        from if from == Sharing::ALPHA => Some(Arc::new(Unmask::<AlphaTool>::new())),
        from if from == Sharing::BETA => Some(Arc::new(Unmask::<BetaTool>::new())),
        from if from == Sharing::Y => Some(Arc::new(FromKeys)),
        from if from == Sharing::Y2 => Some(Arc::new(FromLabels)),
        _ => None,
    }
}

/// Garbled bits become numbers in A by themselves, where bits in B need more messages or more of them online.
pub(super) fn composed_from_labels(
    from: Sharing,
    width: Width,
    signed: bool,
) -> Option<Arc<dyn Operation>> {
    match from {
        from if from == Sharing::Y => Some(Arc::new(ComposeKeys::new(width, signed))),
        from if from == Sharing::Y2 => {
            let compose = ComposeLabels::<HalfGates>::new(width, signed);
            Some(Arc::new(compose))
        }
        _ => None,
    }
}

/// A clear value becomes shared.
pub(super) fn share(from: Sharing, to: Sharing) -> Arc<dyn Operation> {
    let owner = Party::all(madrigal_core::MAX_PARTIES).find(|&party| from.is_known_to(party));
    let owner = owner.expect("somebody knows a clear value");
    fn of<P: Protocol>(public: bool, owner: Party) -> Arc<dyn Operation> {
        match public {
            true => Arc::new(Constant::<P>::new()),
            false => Arc::new(Share::<P>::new(owner)),
        }
    }
    let public = from == Sharing::PUBLIC;
    match to {
        to if to == Sharing::A => of::<ArithmeticGmwTool>(public, owner),
        to if to == Sharing::B => of::<BooleanGmwTool>(public, owner),
        to if to == Sharing::Y => of::<BmrTool>(public, owner),
        to if to == Sharing::Y2 => of::<YaoTool>(public, owner),
        to if to == Sharing::ALPHA => of::<AlphaTool>(public, owner),
        to if to == Sharing::BETA => of::<BetaTool>(public, owner),
        _ => of::<ReplicatedTool>(public, owner),
    }
}

pub(super) fn layout(places: &Places) -> Layout {
    match places {
        Places::View(view) => Layout::Grid {
            start: view.offset,
            axes: view
                .shape
                .axes()
                .iter()
                .copied()
                .zip(view.strides.iter().copied())
                .collect(),
        },
        Places::Rows { .. } => {
            let index =
                |at: usize| u32::try_from(at).expect("a shape has fewer than 2^32 elements");
            Layout::Picked(places.indices().into_iter().map(index).collect())
        }
    }
}
