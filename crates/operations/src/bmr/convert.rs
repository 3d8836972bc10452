//! Between B and Y.

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Zeroizing, bits};
use madrigal_engine::{Bill, Mismatch, Operation, Prepared, Shares, Sharing, Sort, Turn};
use madrigal_garbling::colours;
use madrigal_net::Result;
use madrigal_protocols::bmr::Bmr;
use madrigal_protocols::gmw;

use super::BmrTool;
use super::wires::{groups, setup_to_shares, shape_of, sorts_of};
use crate::shared::in_sharing;

/// Bits shared in Boolean GMW become garbled by all: from B to Y (MOTION 7.2).
#[derive(Debug, Default)]
pub struct ToKeys;

impl Operation for ToKeys {
    fn name(&self) -> String {
        "convert/1 from B to Y".to_owned()
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        for value in inputs {
            in_sharing(Sharing::B, value)?;
        }
        Ok(inputs
            .iter()
            .map(|value| value.shared(Sharing::Y))
            .collect())
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        BmrTool::fresh_bill(None, inputs, bill);
        let (parties, opening) = (bill.parties(), bill.opening());
        for group in groups(inputs) {
            let (rows, lanes) = shape_of(&inputs[group]);
            bill.each(|me| Bmr::from_boolean_cost(opening, me, parties, rows, lanes));
            Bmr::from_boolean_rounds(bill.clock(), opening, parties);
        }
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
            let (tool, stock) = turn.tool::<BmrTool>()?;
            let sorts = sorts_of(&inputs);
            let fresh = tool.fresh(&sorts, stock)?;
            let groups = groups(&sorts).into_iter().zip(&fresh);
            let results = groups.flat_map(|(group, setup)| setup_to_shares(&sorts[group], setup));
            Ok(Prepared {
                results: results.collect(),
                kept: Box::new(fresh),
            })
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let prepared = turn.kept();
            let (tool, stock) = turn.tool::<BmrTool>()?;
            tool.garbled(&inputs, stock, prepared).await
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}

/// Bits that all have garbled become shared in Boolean GMW, without a message: from Y to B (MOTION 7.3).
#[derive(Debug, Default)]
pub struct FromKeys;

impl Operation for FromKeys {
    fn name(&self) -> String {
        "convert/1 from Y to B".to_owned()
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        for value in inputs {
            in_sharing(Sharing::Y, value)?;
        }
        Ok(inputs
            .iter()
            .map(|value| value.shared(Sharing::B))
            .collect())
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        bill.touch(inputs.iter().map(|sort| 2 * sort.bytes() as u64).sum());
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        let leads = turn.me() == gmw::LEADER;
        let of = |value: &Arc<Shares>| {
            let mut share = Shares::zeros(value.sort().shared(Sharing::B));
            let bytes = bits::bytes_for(value.len());
            let mut colour = Zeroizing::new(vec![0; bytes]);
            for plane in 0..value.sort().element.bits() {
                let row = &mut share.plane_mut(plane, 0)[..bytes];
                colours(value.label_row(plane, 0), row);
                if leads {
                    colours(value.label_row(plane, 1), &mut colour);
                    madrigal_kernels::xor_into(row, &colour);
                }
            }
            share
        };
        let made = inputs.iter().map(of).collect();
        Box::pin(std::future::ready(Ok(made)))
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}
