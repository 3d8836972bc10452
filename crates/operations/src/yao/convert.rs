//! Between B and Y2.

use std::sync::Arc;

use madrigal_core::{Party, bits};
use madrigal_correlations::Stock;
use madrigal_engine::{Bill, Prepared, PreparedState, Shares, Sharing, Sort};
use madrigal_garbling::colours;
use madrigal_net::Result;

use super::{Garbling, HalfGates, YaoTool};
use crate::boolean_gmw::pack;
use crate::over_shares::{FromShares, OverShares, ToShares};

use crate::shared::sorts_of;

/// Bits shared in Boolean GMW become garbled: from B to Y2.
pub type ToLabels<G = HalfGates> = FromShares<YaoTool<G>>;

/// Garbled bits become shared in Boolean GMW, without a message: from Y2 to B, however they were garbled.
pub type FromLabels = ToShares<YaoTool<HalfGates>>;

impl<G: Garbling> OverShares for YaoTool<G> {
    const PLAIN: Sharing = Sharing::B;

    fn prepare_values(&mut self, sorts: &[Sort], _: &mut Stock) -> Result<Prepared> {
        Ok(self.fresh(sorts))
    }

    async fn to_values(
        &mut self,
        shares: &[Arc<Shares>],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let (sorts, bits) = (sorts_of(shares), pack(shares, 0));
        self.share_both(&sorts, Some(&bits), stock, prepared).await
    }

    fn to_values_bill(sorts: &[Sort], bill: &mut Bill) {
        Self::share_both_bill(sorts, bill);
    }

    fn to_share(_: Party, value: &Shares) -> Shares {
        let mut share = Shares::zeros(value.sort().shared(Sharing::B));
        let bytes = bits::bytes_for(value.len());
        for plane in 0..value.sort().element.bits() {
            let row = &mut share.plane_mut(plane, 0)[..bytes];
            colours(value.label_row(plane, 0), row);
        }
        share
    }

    fn touched(sort: &Sort) -> u64 {
        sort.bytes() as u64
    }
}
