//! From Y2 to A.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_correlations::Width;
use madrigal_engine::{Bill, Held, Mismatch, Operation, Prepared, Shares, Sharing, Sort, Turn};
use madrigal_net::Result;
use madrigal_protocols::yao::{self, EVALUATOR, GARBLER, Planes, Projected};

use super::{Garbling, HalfGates, YaoTool, offset};
use crate::convert::{composed_sort, joined, sign_of};
use crate::protocol::Kept;
use crate::shared::{only, unpacked};

/// Garbled bits become the numbers in A whose lowest bits they are, as [`Compose`](crate::Compose) does it:
/// from Y2, with a message of the garbler's alone.
pub struct ComposeLabels<G = HalfGates> {
    width: Width,
    signed: bool,
    garbling: PhantomData<fn() -> G>,
}

impl<G: Garbling> ComposeLabels<G> {
    /// Of this ring; the highest bit counts negative if they are signed.
    pub const fn new(width: Width, signed: bool) -> Self {
        Self {
            width,
            signed,
            garbling: PhantomData,
        }
    }

    fn planes(&self, sort: &Sort) -> Planes {
        Planes {
            planes: sort.element.bits(),
            count: sort.len,
            signed: self.signed,
        }
    }

    /// In the ring of the numbers.
    async fn project<T: Held>(&self, turn: &mut Turn<'_>, value: &Arc<Shares>) -> Result<Kept> {
        let planes = self.planes(value.sort());
        let (tool, stock) = turn.tool::<YaoTool<G>>()?;
        let (offset, labels) = match tool.yao.garbles() {
            true => (offset(stock)?, value.only_labels()),
            false => Default::default(),
        };
        let projected = tool.yao.project::<T>(&offset, planes, labels).await?;
        Ok(Box::new(projected))
    }

    fn numbers<T: Held>(
        turn: &mut Turn<'_>,
        value: &Arc<Shares>,
        projected: Kept,
    ) -> Result<Shares> {
        let projected = *unpacked::<Projected<T>>(projected)?;
        let (tool, _) = turn.tool::<YaoTool<G>>()?;
        let labels = match tool.yao.garbles() {
            true => &[],
            false => value.only_labels(),
        };
        let numbers = tool.yao.numbers(projected, labels)?;
        Ok(Shares::ring_of(Sharing::A, numbers))
    }
}

impl<G: Garbling> Operation for ComposeLabels<G> {
    fn name(&self) -> String {
        let bits = self.width.bits();
        let how = if self.signed { "signed" } else { "unsigned" };
        format!("compose/1 from {} to u{bits} in A, {how}", G::NAME)
    }

    fn sorts(&self, inputs: &[Sort], _: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        composed_sort(Sharing::Y2, Sharing::A, value, self.width).map(|sort| vec![sort])
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        2 * inputs[0].element.bits() * self.width.bits()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let planes = self.planes(&inputs[0]);
        let bytes = crate::with_ring!(self.width, T => planes.table_bytes::<T>()) as u64;
        let [told, _] = yao::numbers_aes(planes, GARBLER);
        let [_, read] = yao::numbers_aes(planes, EVALUATOR);
        bill.ahead(|bill| {
            bill.aes(GARBLER, told);
            if bytes > 0 {
                bill.exchange(&[(GARBLER, EVALUATOR, bytes)]);
            }
        });
        bill.aes(EVALUATOR, read);
        bill.keep(GARBLER, (self.width.bits() / 8 * planes.count) as u64);
        bill.keep(EVALUATOR, bytes);
        bill.touch((planes.labels() * size_of::<madrigal_kernels::Block>()) as u64 + bytes);
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
            let value = &inputs[0];
            let kept = crate::with_ring!(self.width, T => self.project::<T>(turn, value).await?);
            let sort = composed_sort(Sharing::Y2, Sharing::A, value.sort(), self.width);
            let sort = sort.map_err(|problem| turn.refuse(&problem))?;
            Ok(Prepared {
                results: vec![Shares::zeros(sort)],
                kept,
            })
        })
    }

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let value = &inputs[0];
            let made = crate::with_ring!(self.width, T => {
                let projected = match turn.kept() {
                    Some(kept) => kept,
                    None => self.project::<T>(turn, value).await?,
                };
                Self::numbers::<T>(turn, value, projected)
            });
            Ok(vec![made?])
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let value = only(inputs)?;
        let sign = sign_of(self.width, self.signed, value.sort());
        Ok(vec![
            crate::with_ring!(self.width, T => joined::<T>(value, sign)),
        ])
    }
}
