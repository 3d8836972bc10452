//! Garbled circuits of two parties in programs, and between them and Boolean GMW.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use madrigal_core::{Party, bits};
use madrigal_correlations::Stock;
use madrigal_garbling::{Scheme, colours};
use madrigal_kernels::Block;
use madrigal_net::{Context, Error, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::yao::{self, EVALUATOR, GARBLER, Yao};
use zeroize::Zeroizing;

use super::boolean_gmw::{opened_bits, pack, string_bits};
use super::{Boolean, Kept, Protocol, in_sharing};
use crate::arena::Arena;
use crate::bill::Bill;
use crate::circuit::Circuit;
use crate::operation::{Mismatch, Operation, Tool, Turn};
use crate::shares::Shares;
use crate::sort::{Element, Sharing, Sort};

/// How ANDs are garbled.
pub trait Garbling: Send + Sync + 'static {
    /// By this scheme.
    const SCHEME: Scheme;
    /// The name of the step in which it is done.
    const STEP: &'static str;
    /// What parties that garble in other ways are told.
    const NAME: &'static str;
}

/// 32 bytes for an AND, and the least computing.
#[derive(Debug, Clone, Copy)]
pub struct HalfGates;

/// 24.6 bytes for an AND, and twice the computing.
#[derive(Debug, Clone, Copy)]
pub struct ThreeHalves;

impl Garbling for HalfGates {
    const SCHEME: Scheme = Scheme::HalfGates;
    const STEP: &'static str = "yao";
    const NAME: &'static str = "Y2 by half-gates";
}

impl Garbling for ThreeHalves {
    const SCHEME: Scheme = Scheme::ThreeHalves;
    const STEP: &'static str = "yao by three halves";
    const NAME: &'static str = "Y2 by three halves";
}

/// [`Yao`] with one way of garbling.
pub struct YaoTool<G = HalfGates> {
    yao: Yao,
    garbling: PhantomData<fn() -> G>,
}

impl<G: Garbling> Tool for YaoTool<G> {
    const STEP: &'static str = G::STEP;

    fn open(context: Context, _: Opening) -> Result<Self> {
        Ok(Self {
            yao: Yao::new(context, G::SCHEME)?,
            garbling: PhantomData,
        })
    }

    fn count_in(&mut self, context: &Context) {
        self.yao.count_in(context);
    }
}

/// The job's offset.
pub(super) fn offset(stock: &Stock) -> Result<Zeroizing<Block>> {
    let offset = stock.offset().ok_or_else(|| Error::Ended {
        reason: "a bug in madrigal: garbling without an offset".to_owned(),
    })?;
    Ok(Zeroizing::new(*offset))
}

/// Labels, value by value.
fn divide(sorts: &[Sort], labels: &[Block]) -> Vec<Shares> {
    let mut rest = labels;
    let of = |sort: &Sort| {
        let own;
        (own, rest) = rest.split_at(string_bits(&[*sort]));
        Shares::labels(sort.shared(Sharing::Y2), 1, own.to_vec().into())
    };
    sorts.iter().map(of).collect()
}

fn sorts_of(values: &[Arc<Shares>]) -> Vec<Sort> {
    values.iter().map(|value| *value.sort()).collect()
}

impl<G: Garbling> YaoTool<G> {
    /// Labels for bits that are the XOR of strings of the two; one may have none.
    async fn share_both(
        &mut self,
        sorts: &[Sort],
        bits: Option<&[u8]>,
        stock: &mut Stock,
    ) -> Result<Vec<Shares>> {
        let (offset, count) = (offset(stock)?, string_bits(sorts));
        let rows = stock.correlated_ots().take((GARBLER, EVALUATOR), count)?;
        let labels = self.yao.share_both(&offset, bits, count, rows).await?;
        Ok(divide(sorts, &labels))
    }

    fn share_both_bill(sorts: &[Sort], bill: &mut Bill) {
        let count = string_bits(sorts);
        if count == 0 {
            return;
        }
        bill.needs().correlated_ots(GARBLER, EVALUATOR, count);
        bill.exchange(&[(EVALUATOR, GARBLER, bits::bytes_for(count) as u64)]);
    }
}

impl<G: Garbling> Protocol for YaoTool<G> {
    const SHARING: Sharing = Sharing::Y2;

    fn name() -> &'static str {
        G::NAME
    }

    fn holds(element: Element, parties: usize) -> Result<(), Mismatch> {
        if parties != yao::PARTIES {
            let problem = format!("Y2 is for two parties, not {parties}; Y is for any number");
            return Err(Mismatch::new(problem));
        }
        match element {
            Element::Bits(_) => Ok(()),
            Element::Ring(_) => Err(Mismatch::new(format!("Y2 has bits, and no {element}"))),
        }
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        stock: &mut Stock,
        _: Option<Kept>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let known = values.iter().all(|value| value.is_known());
        let bits = known.then(|| pack(values, 0));
        let garbles = self.yao.garbles();
        if owner == GARBLER {
            // The evaluator may know the bits too; it has no use for them.
            let bits = bits.as_ref().filter(|_| garbles).map(|bits| &bits[..]);
            // The evaluator needs no offset.
            let offset = if garbles {
                offset(stock)?
            } else {
                Zeroizing::default()
            };
            let labels = self.yao.share_own(&offset, bits, string_bits(&sorts));
            return Ok(divide(&sorts, &labels));
        }
        let bits = bits.as_ref().filter(|_| !garbles).map(|bits| &bits[..]);
        self.share_both(&sorts, bits, stock).await
    }

    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill) {
        if owner == GARBLER {
            let blocks = yao::share_own_aes(string_bits(sorts));
            for party in [GARBLER, EVALUATOR] {
                bill.aes(party, blocks);
            }
        } else {
            Self::share_both_bill(sorts, bill);
        }
    }

    async fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        _: &mut Stock,
        _: Option<Kept>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let mut labels = Zeroizing::new(Vec::with_capacity(string_bits(&sorts)));
        for value in values {
            for plane in 0..value.sort().element.bits() {
                labels.extend_from_slice(value.label_row(plane, 0));
            }
        }
        let opened = self.yao.open(&labels, to).await?;
        Ok(opened_bits(&sorts, opened))
    }

    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill) {
        let bytes = bits::bytes_for(string_bits(sorts)) as u64;
        let ways = [(GARBLER, EVALUATOR), (EVALUATOR, GARBLER)];
        let told = ways
            .into_iter()
            .filter(|(_, receiver)| to.contains(receiver));
        let messages: Vec<_> = told.map(|(from, to)| (from, to, bytes)).collect();
        if bytes > 0 {
            bill.exchange(&messages);
        }
    }

    fn leads(_: Party) -> [bool; 2] {
        [false; 2]
    }

    /// The label of the bit is zero.
    fn constant(me: Party, _: usize, value: &Shares, offset: Option<&Block>) -> Shares {
        let sort = value.sort().shared(Sharing::Y2);
        let (planes, len) = (sort.element.bits(), sort.len);
        let labels = Zeroizing::new(vec![Block::ZERO; planes * len]);
        let mut shares = Shares::labels(sort, 1, labels);
        if let (GARBLER, Some(offset)) = (me, offset) {
            for plane in 0..planes {
                let bits = value.plane(plane, 0);
                let labels = shares.label_row_mut(plane, 0).iter_mut().enumerate();
                labels.for_each(|(lane, label)| {
                    *label = Block::mask(bits[lane / 8] >> (lane % 8) & 1 == 1) & *offset;
                });
            }
        }
        shares
    }
}

impl<G: Garbling> Boolean for YaoTool<G> {
    async fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        _: &mut Arena,
        stock: &mut Stock,
        _: Option<Kept>,
    ) -> Result<Vec<Shares>> {
        let offset = if self.yao.garbles() {
            offset(stock)?
        } else {
            Zeroizing::default()
        };
        let places = |widths: &[u32]| -> Vec<(usize, usize)> {
            let planes = widths.iter().enumerate();
            let of = |(value, &width): (usize, &u32)| (0..width as usize).map(move |p| (value, p));
            planes.flat_map(of).collect()
        };
        let (wires, made) = (places(circuit.inputs()), places(circuit.outputs()));
        let zeros = |&width: &u32| {
            let sort = Sort::new(Sharing::Y2, Element::Bits(width as usize), lanes);
            let labels = vec![Block::ZERO; width as usize * lanes];
            Shares::labels(sort, 1, Zeroizing::new(labels))
        };
        let mut outputs: Vec<Shares> = circuit.outputs().iter().map(zeros).collect();
        let read = |wire: usize, lanes: Range<usize>| {
            let (value, plane) = wires[wire];
            &inputs[value].label_row(plane, 0)[lanes]
        };
        let write = |output: usize, lanes: Range<usize>, labels: &[Block]| {
            let (value, plane) = made[output];
            outputs[value].label_row_mut(plane, 0)[lanes].copy_from_slice(labels);
        };
        let program = circuit.garbled();
        self.yao
            .evaluate(&program, &offset, lanes, read, write)
            .await?;
        Ok(outputs)
    }

    fn evaluate_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill) {
        for (times, lens) in yao::tables(&circuit.garbled(), G::SCHEME, lanes) {
            bill.repeat(times, |bill| {
                for &bytes in &lens {
                    bill.exchange(&[(GARBLER, EVALUATOR, bytes as u64)]);
                }
            });
        }
        let layered = circuit.layered();
        for party in [GARBLER, EVALUATOR] {
            bill.aes(party, yao::evaluate_aes(layered, G::SCHEME, lanes, party));
        }
        // Two rows of labels are read and one is written by a local operation.
        bill.touch((3 * layered.local_count() * lanes * size_of::<Block>()) as u64);
    }

    /// Labels that come in and go out: those within stay in the cache whatever the number of lanes.
    fn bits_at_work(circuit: &Circuit) -> usize {
        let outside = circuit.inputs().iter().chain(circuit.outputs());
        outside.map(|&width| width as usize).sum::<usize>() * 8 * size_of::<Block>()
    }
}

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
        "convert/1 from B to Y2".to_owned()
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

    fn online<'a>(
        &'a self,
        turn: &'a mut Turn<'_>,
        inputs: Vec<Arc<Shares>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Shares>>> {
        Box::pin(async move {
            let (tool, stock) = turn.tool::<YaoTool<G>>()?;
            let bits = pack(&inputs, 0);
            tool.share_both(&sorts_of(&inputs), Some(&bits), stock)
                .await
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
