//! Between B and Y.

use std::sync::Arc;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::Stock;
use madrigal_engine::{Bill, Prepared, PreparedState, Shares, Sharing, Sort};
use madrigal_garbling::colours;
use madrigal_net::Result;
use madrigal_protocols::bmr::Bmr;
use madrigal_protocols::gmw;

use super::BmrTool;
use super::wires::{groups, setup_to_shares, shape_of};
use crate::over_shares::{FromShares, OverShares, ToShares};

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
