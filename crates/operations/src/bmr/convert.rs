//! Between B and Y.

use std::sync::Arc;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::Stock;
use madrigal_engine::{
    Bill, Mismatch, Online, Operation, Prepared, PreparedState, Preparing, Shares, Sharing, Sort,
    Turn,
};
use madrigal_garbling::colours;
use madrigal_net::Result;
use madrigal_protocols::bmr::{Bmr, ShareSetup};
use madrigal_protocols::gmw;

use super::BmrTool;
use super::wires::{active_to_shares, groups, rows_of, setup_to_shares, shape_of};
use crate::over_shares::{FromShares, OverShares, ToShares};
use crate::protocol::Protocol;
use crate::shared::{in_sharing, sorts_of, unpacked};

/// Bits shared in Boolean GMW become garbled by all: from B to Y (MOTION 7.2).
pub type ToKeys = FromShares<BmrTool>;

/// Bits that all have garbled become shared in Boolean GMW, without a message: from Y to B (MOTION 7.3).
pub type FromKeys = ToShares<BmrTool>;

impl OverShares for BmrTool {
    const PLAIN: Sharing = Sharing::B;

    fn prepare_values(&mut self, sorts: &[Sort], stock: &mut Stock) -> Result<Prepared> {
        let fresh = self.fresh(sorts, stock)?;
        let groups = groups(sorts).into_iter().zip(&fresh);
        let results = groups.flat_map(|(group, setup)| setup_to_shares(&sorts[group], setup));
        Ok(Prepared {
            results: results.collect(),
            kept: Box::new(fresh),
        })
    }

    async fn to_values(
        &mut self,
        shares: &[Arc<Shares>],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        self.garbled(shares, stock, prepared).await
    }

    fn to_values_bill(sorts: &[Sort], bill: &mut Bill) {
        Self::fresh_bill(None, sorts, bill);
        let (parties, opening) = (bill.parties(), bill.opening());
        for group in groups(sorts) {
            let (rows, lanes) = shape_of(&sorts[group]);
            bill.each(|me| Bmr::from_boolean_cost(opening, me, parties, rows, lanes));
            Bmr::from_boolean_rounds(bill.clock(), opening, parties);
        }
    }

    fn to_share(me: Party, value: &Shares) -> Shares {
        let mut share = Shares::zeros(value.sort().shared(Sharing::B));
        let bytes = bits::bytes_for(value.len());
        let mut colour = Zeroizing::new(vec![0; bytes]);
        for plane in 0..value.sort().element.bits() {
            let row = &mut share.plane_mut(plane, 0)[..bytes];
            colours(value.label_row(plane, 0), row);
            if me == gmw::LEADER {
                colours(value.label_row(plane, 1), &mut colour);
                madrigal_kernels::xor_into(row, &colour);
            }
        }
        share
    }
}

/// Bits shared in Boolean GMW become garbled by all, share by share: the straightforward way from B to Y, which
/// [`ToKeys`] improves upon (MOTION 7.2), for comparisons. Each party's share is an input of its own, and garbled bits are
/// added up without a message: N times as many keys are sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShareToKeys;

/// Kept setup of the shares' wires, by group.
type FreshShares = Vec<ShareSetup>;

impl ShareToKeys {
    /// Takes values of any length.
    pub const fn new() -> Self {
        Self
    }

    fn fresh(turn: &mut Turn<'_>, sorts: &[Sort]) -> Result<FreshShares> {
        let (tool, stock) = turn.tool::<BmrTool>()?;
        let bmr = tool.bmr(stock)?;
        let of = |group: std::ops::Range<usize>| {
            let (rows, lanes) = shape_of(&sorts[group]);
            bmr.fresh_shares(rows, lanes)
        };
        Ok(groups(sorts).into_iter().map(of).collect())
    }
}

impl Operation for ShareToKeys {
    fn name(&self) -> String {
        "convert/1 from B to Y, share by share".to_owned()
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        for value in inputs {
            in_sharing(Sharing::B, value)?;
            BmrTool::holds(value.element, parties)?;
        }
        Ok(inputs
            .iter()
            .map(|value| value.shared(Sharing::Y))
            .collect())
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let parties = bill.parties();
        for group in groups(inputs) {
            let (rows, lanes) = shape_of(&inputs[group]);
            bill.ahead(|bill| bill.each(|me| Bmr::fresh_shares_cost(me, parties, rows, lanes)));
            for party in Party::all(parties) {
                bill.keep(party, (16 * (1 + parties) * rows * lanes) as u64);
            }
            bill.each(|_| Bmr::from_boolean_by_inputs_cost(parties, rows, lanes));
            Bmr::from_boolean_by_inputs_rounds(bill.clock(), parties);
        }
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        true
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let sorts = sorts_of(&inputs);
            let fresh = Self::fresh(turn, &sorts)?;
            let groups = groups(&sorts).into_iter().zip(&fresh);
            let results =
                groups.flat_map(|(group, setup)| setup_to_shares(&sorts[group], setup.sum()));
            Ok(Prepared {
                results: results.collect(),
                kept: Box::new(fresh),
            })
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let sorts = sorts_of(&inputs);
            let fresh = match turn.kept() {
                Some(kept) => *unpacked::<FreshShares>(kept)?,
                None => Self::fresh(turn, &sorts)?,
            };
            let mut made = Vec::new();
            for (group, setup) in groups(&sorts).into_iter().zip(fresh) {
                let share = rows_of(&inputs[group.clone()]).expect("shares are known");
                let (tool, stock) = turn.tool::<BmrTool>()?;
                let active = tool.bmr(stock)?.from_boolean_by_inputs(&setup, &share);
                let active = active.await?;
                made.extend(active_to_shares(&sorts[group], setup.sum(), &active));
            }
            Ok(made)
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}
