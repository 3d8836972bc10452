//! What the protocols differ in when they evaluate a block of lanes: inputs, layers of ANDs, outputs,
//! and what these cost. All else, local operations among it, is the [`Arena`]'s and the runner's.

mod gmw;
mod replicated;

use std::ops::Range;

use madrigal_circuit::{And, Rows};
use madrigal_core::{Party, PhaseCost, bits};
use madrigal_correlations::BitTriples;
use madrigal_net::{Context, Result};
use madrigal_protocols::Rounds;
use zeroize::Zeroizing;

use crate::arena::Arena;
use crate::plan::Plan;
use crate::protocol::Protocol;

use gmw::Gmw;
use replicated::Replicated;

/// A protocol at work for one worker.
pub(crate) enum Evaluator {
    B(Box<Gmw>),
    R(Box<Replicated>),
}

impl Evaluator {
    pub(crate) fn new(plan: &Plan, context: &Context) -> Result<Self> {
        Ok(match plan.spec().protocol {
            Protocol::B => Self::B(Box::new(Gmw::new(plan, context)?)),
            Protocol::R => Self::R(Box::new(Replicated::new(context)?)),
        })
    }

    pub(crate) fn count_in(&mut self, context: &Context) {
        match self {
            Self::B(gmw) => gmw.count_in(context),
            Self::R(replicated) => replicated.count_in(context),
        }
    }

    /// Shares the input values of a block, and loads those that the circuit reads.
    pub(crate) async fn inputs(
        &mut self,
        plan: &Plan,
        own: &Rows,
        lanes: Range<usize>,
        arena: &mut Arena,
    ) -> Result<()> {
        match self {
            Self::B(gmw) => gmw.inputs(plan, own, lanes, arena),
            Self::R(replicated) => replicated.inputs(plan, own, lanes, arena).await?,
        }
        Ok(())
    }

    /// One layer of ANDs.
    pub(crate) async fn ands(
        &mut self,
        ands: &[And],
        arena: &mut Arena,
        triples: &mut BitTriples,
    ) -> Result<()> {
        match self {
            Self::B(gmw) => gmw.ands(ands, arena, triples).await,
            Self::R(replicated) => replicated.ands(ands, arena).await,
        }
    }

    /// Opens rows to the parties in `to`: `lanes` bits for each row, packed.
    pub(crate) async fn open(
        &mut self,
        rows: &[u32],
        arena: &Arena,
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        match self {
            Self::B(gmw) => gmw.open(rows, arena, to).await,
            Self::R(replicated) => replicated.open(rows, arena, to).await,
        }
    }
}

/// Which components of `me`'s shares public constants are added to.
pub(crate) fn leads(protocol: Protocol, me: Party) -> [bool; 2] {
    match protocol {
        Protocol::B => [me == madrigal_protocols::gmw::LEADER, false],
        Protocol::R => madrigal_protocols::replicated::leads(me),
    }
}

/// What a block of this many lanes costs `me`; its rounds go into `clock`.
pub(crate) fn block_cost(plan: &Plan, me: Party, lanes: usize, clock: &mut Rounds) -> PhaseCost {
    match plan.spec().protocol {
        Protocol::B => gmw::block_cost(plan, me, lanes, clock),
        Protocol::R => replicated::block_cost(plan, me, lanes, clock),
    }
}

/// Packs a range of lanes of all rows: `lanes.len()` bits for each, in order.
fn pack_own(own: &Rows, lanes: &Range<usize>, string: &mut [u8]) {
    let mut row = Zeroizing::new(vec![0; bits::bytes_for(lanes.len())]);
    for wire in 0..own.rows() {
        bits::take(own.row(wire), lanes.start, &mut row, lanes.len());
        bits::put(string, wire * lanes.len(), &row, lanes.len());
    }
}
