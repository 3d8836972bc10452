//! Between B and Y2, and from A to Y2.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::bits;
use madrigal_engine::{Bill, Mismatch, Operation, Prepared, Shares, Sharing, Sort, Turn};
use madrigal_garbling::colours;
use madrigal_net::Result;

use super::{Garbling, HalfGates, YaoTool, sorts_of};
use crate::boolean_gmw::pack;
use crate::protocol::Protocol;
use crate::shared::in_sharing;

/// Bits shared in Boolean GMW become garbled: from B to Y2.
pub struct ToLabels<G = HalfGates>(PhantomData<fn() -> G>);

impl<G> ToLabels<G> {
    /// For two parties.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<G> Default for ToLabels<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G: Garbling> Operation for ToLabels<G> {
    fn name(&self) -> String {
        format!("convert/1 from B to {}", G::NAME)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        for value in inputs {
            in_sharing(Sharing::B, value)?;
            YaoTool::<G>::holds(value.element, parties)?;
        }
        Ok(inputs
            .iter()
            .map(|value| value.shared(Sharing::Y2))
            .collect())
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        YaoTool::<G>::share_both_bill(inputs, bill);
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        true
    }

    fn prepare<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Prepared>> {
        Box::pin(async move {
            let (tool, _) = turn.tool::<YaoTool<G>>()?;
            Ok(tool.fresh(&sorts_of(&inputs)))
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let prepared = turn.kept();
            let (tool, stock) = turn.tool::<YaoTool<G>>()?;
            let (sorts, bits) = (sorts_of(&inputs), pack(&inputs, 0));
            tool.share_both(&sorts, Some(&bits), stock, prepared).await
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}

/// Garbled bits become shared in Boolean GMW, without a message: from Y2 to B.
#[derive(Debug, Default)]
pub struct FromLabels;

impl Operation for FromLabels {
    fn name(&self) -> String {
        "convert/1 from Y2 to B".to_owned()
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        for value in inputs {
            in_sharing(Sharing::Y2, value)?;
        }
        Ok(inputs
            .iter()
            .map(|value| value.shared(Sharing::B))
            .collect())
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        bill.touch(inputs.iter().map(|sort| sort.bytes() as u64).sum());
    }

    fn online<'a>(
        &'a self,
        _: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        let of = |value: &Arc<Shares>| {
            let mut bits = Shares::zeros(value.sort().shared(Sharing::B));
            let bytes = bits::bytes_for(value.len());
            for plane in 0..value.sort().element.bits() {
                colours(
                    value.label_row(plane, 0),
                    &mut bits.plane_mut(plane, 0)[..bytes],
                );
            }
            bits
        };
        let made = inputs.iter().map(of).collect();
        Box::pin(std::future::ready(Ok(made)))
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}
