//! From A and alpha to Y2.

use std::marker::PhantomData;
use std::sync::Arc;

use madrigal_core::{Zeroizing, bits};
use madrigal_engine::{
    Bill, Element, Held, Mismatch, Online, Operation, Prepared, PreparedState, Preparing, Shares,
    Sharing, Sort, Turn,
};
use madrigal_kernels::Block;
use madrigal_net::Result;
use madrigal_protocols::yao::{self, EVALUATOR, GARBLER, Labels};

use super::{Garbling, HalfGates, YaoTool, divide, divide_ahead};
use crate::aby2::AlphaTool;
use crate::over_shares::OverShares;
use crate::protocol::{Protocol, Rings};
use crate::shared::{only, unpacked, width};

/// Elements become the bits of two numbers in Y2 of which they are the sum, or of which the first less the second is
/// the element; a circuit that adds these, fused with what follows, ends the conversion. As
/// [`Addends`](crate::Addends) and [`ToLabels`](super::ToLabels) in one, of shares in A or, with P
/// [`AlphaTool`], in alpha.
///
/// The garbler knows the first number. In A the second one is random: the choices of the rows of OTs that are its
/// labels; what the evaluator's share lacks of it is sent to the garbler. In alpha it is the evaluator's share of
/// the mask, whose labels are there before the inputs are.
pub struct SplitLabels<P, G = HalfGates> {
    negated: bool,
    protocol: PhantomData<fn() -> (P, G)>,
}

/// Kept values: labels of 0 for the first number, and the labels of the second one.
type KeptSplit = (Labels, Labels);

impl<P: Rings, G: Garbling> SplitLabels<P, G> {
    /// Makes two numbers, the second one `negated` or not.
    pub const fn new(negated: bool) -> Self {
        Self {
            negated,
            protocol: PhantomData,
        }
    }

    /// Whether the second number is known before there are inputs.
    fn is_masked() -> bool {
        P::SHARING.has_masks()
    }

    /// Our share of the elements in A; of masked ones without their public part the evaluator's share alone.
    fn share<T: Held>(turn: &Turn<'_>, value: &Shares) -> Shares {
        match Self::is_masked() {
            true => AlphaTool::to_share(turn.me(), value),
            false => Shares::ring_of(Sharing::A, value.component::<T>(0).to_vec()),
        }
    }

    /// The labels of the second number, of masked elements.
    async fn second<T: Held>(&self, turn: &mut Turn<'_>, value: &Shares) -> Result<Labels> {
        let mut share = Self::share::<T>(turn, value);
        let numbers = share.component_mut::<T>(0);
        if self.negated {
            numbers.iter_mut().for_each(|x| *x = T::ZERO.sub(*x));
        }
        let bits = yao::bits_of(numbers);
        let (tool, stock) = turn.tool::<YaoTool<G>>()?;
        let count = T::BITS * value.len();
        let offset = tool.offset(stock)?;
        let rows = stock.correlated_ots().take((GARBLER, EVALUATOR), count)?;
        let bits = (!tool.yao.garbles()).then_some(&bits[..]);
        tool.yao.share_both(&offset, bits, count, rows).await
    }

    /// The labels of the second number before there are inputs: at the evaluator those that its bits have.
    async fn second_ahead<T: Held>(&self, turn: &mut Turn<'_>, value: &Shares) -> Result<Labels> {
        if Self::is_masked() {
            return self.second::<T>(turn, value).await;
        }
        let (_, stock) = turn.tool::<YaoTool<G>>()?;
        let count = T::BITS * value.len();
        let rows = stock.correlated_ots().take((GARBLER, EVALUATOR), count)?;
        Ok(rows.to_vec().into())
    }

    async fn split<T: Held>(
        &self,
        turn: &mut Turn<'_>,
        value: &Shares,
        prepared: Option<PreparedState>,
    ) -> Result<[Labels; 2]> {
        let (zero, second) = match prepared {
            Some(kept) => {
                let (zero, second) = *unpacked::<KeptSplit>(kept)?;
                (Some(zero), second)
            }
            None => (None, self.second_ahead::<T>(turn, value).await?),
        };
        let share = Self::share::<T>(turn, value);
        let share = share.component::<T>(0);
        let (tool, stock) = turn.tool::<YaoTool<G>>()?;
        let offset = tool.offset(stock)?;
        if Self::is_masked() {
            let first = tool.yao.split_own(&offset, share, zero).await?;
            return Ok([first, second]);
        }
        tool.yao
            .split(&offset, share, self.negated, second, zero)
            .await
    }

    fn sorts_of(value: &Sort) -> [Sort; 2] {
        let bits = Element::Bits(value.element.bits());
        [Sort::new(Sharing::Y2, bits, value.len); 2]
    }
}

impl<P: Rings, G: Garbling> Operation for SplitLabels<P, G> {
    fn name(&self) -> String {
        let how = if self.negated { ", negated" } else { "" };
        format!("addends/1 from {} to {}{how}", P::name(), G::NAME)
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        let value = only(inputs)?;
        crate::shared::in_sharing(P::SHARING, value)?;
        P::holds(value.element, parties)?;
        let sorts = Self::sorts_of(value);
        YaoTool::<G>::holds(sorts[0].element, parties)?;
        Ok(sorts.into())
    }

    fn bits_at_work(&self, inputs: &[Sort]) -> usize {
        4 * inputs[0].element.bits() * 8 * size_of::<Block>()
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let [first, _] = Self::sorts_of(&inputs[0]);
        let count = inputs[0].element.bits() * inputs[0].len;
        if count == 0 {
            return;
        }
        let message = match Self::is_masked() {
            true => bits::bytes_for(count),
            false => inputs[0].element.bits() / 8 * inputs[0].len,
        };
        let told = [(EVALUATOR, GARBLER, message as u64)];
        bill.ahead(|bill| {
            bill.needs().correlated_ots(GARBLER, EVALUATOR, count);
            if Self::is_masked() {
                bill.exchange(&told);
            }
        });
        if !Self::is_masked() {
            bill.exchange(&told);
        }
        YaoTool::<G>::share_own_bill(&[first], bill);
        for party in [GARBLER, EVALUATOR] {
            bill.keep(party, 16 * count as u64);
        }
        bill.touch(4 * 16 * count as u64);
    }

    fn prepares(&self, _: &[Sort]) -> bool {
        true
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        Box::pin(async move {
            let value = &inputs[0];
            let width = width(value.sort());
            let second = crate::with_ring!(width, T => self.second_ahead::<T>(turn, value).await?);
            let (tool, _) = turn.tool::<YaoTool<G>>()?;
            let zero = tool.yao.fresh(second.len());
            let [first_sort, second_sort] = Self::sorts_of(value.sort());
            let known = match tool.yao.garbles() {
                true => second.clone(),
                false => Labels::default(),
            };
            let mut results = divide_ahead(&[first_sort], zero.clone());
            results.extend(divide_ahead(&[second_sort], known));
            Ok(Prepared {
                results,
                kept: Box::<KeptSplit>::new((zero, second)),
            })
        })
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (value, prepared) = (&inputs[0], turn.kept());
            let width = width(value.sort());
            let labels =
                crate::with_ring!(width, T => self.split::<T>(turn, value, prepared).await?);
            let each = Self::sorts_of(value.sort()).into_iter().zip(labels);
            Ok(each
                .flat_map(|(sort, labels)| divide(&[sort], labels))
                .collect())
        })
    }

    /// The number itself, and zero.
    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let value = only(inputs)?;
        let width = width(value.sort());
        let sort = Sort::new(Sharing::PUBLIC, Element::Bits(width.bits()), value.len());
        let mut all = vec![Shares::zeros(sort); 2];
        let stride = all[0].shape().stride * 8;
        crate::with_ring!(width, T => {
            let x = Zeroizing::new(value.component::<T>(0).to_vec());
            madrigal_protocols::planes::split(&x, all[0].plane_bytes_mut(), stride);
        });
        Ok(all)
    }
}
