//! Garbled circuits of two parties in programs, and between them and Boolean GMW.

mod convert;
mod numbers;
mod record;
mod split;

pub use convert::{FromLabels, ToLabels};
pub use numbers::ComposeLabels;
pub use split::SplitLabels;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::Stock;
use madrigal_engine::{
    Bill, Early, Element, Mismatch, Prepared, PreparedState, Shares, Sharing, Sort, Tool,
};
use madrigal_garbling::Scheme;
use madrigal_kernels::Block;
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::yao::{self, EVALUATOR, GARBLER, Garbled, Yao};

use crate::arena::Arena;
use crate::boolean_gmw::{opened_bits, pack, string_bits};
use crate::circuit::Circuit;
use crate::protocol::{Boolean, Protocol};
use crate::shared::{bits_alone, bits_of, offset, sorts_of, unopened, unpacked};

/// How ANDs are garbled.
pub trait Garbling: Send + Sync + 'static {
    /// By this scheme.
    const SCHEME: Scheme;
    /// The name of the step in which it is done.
    const STEP: &'static str;
    /// Name that parties which garble in other ways are told.
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

/// Labels, value by value.
fn divide(sorts: &[Sort], labels: yao::Labels) -> Vec<Shares> {
    if let [sort] = sorts {
        return vec![Shares::labels(sort.shared(Sharing::Y2), 1, labels)];
    }
    let mut rest = &labels[..];
    let of = |sort: &Sort| {
        let own;
        (own, rest) = rest.split_at(string_bits(&[*sort]));
        Shares::labels(sort.shared(Sharing::Y2), 1, own.to_vec().into())
    };
    sorts.iter().map(of).collect()
}

/// All labels of values, one after the other.
fn labels_of(values: &[Arc<Shares>]) -> yao::Labels {
    let count = string_bits(&sorts_of(values));
    let mut labels = Zeroizing::new(Vec::with_capacity(count));
    for value in values {
        for plane in 0..value.sort().element.bits() {
            labels.extend_from_slice(value.label_row(plane, 0));
        }
    }
    labels
}

/// Labels as known before there are inputs: at the evaluator nothing, as values without rows of labels.
fn divide_ahead(sorts: &[Sort], zero: yao::Labels) -> Vec<Shares> {
    if !zero.is_empty() {
        return divide(sorts, zero);
    }
    sorts.iter().map(no_labels).collect()
}

fn no_labels(sort: &Sort) -> Shares {
    Shares::labels(sort.shared(Sharing::Y2), 0, Zeroizing::default())
}

impl<G: Garbling> YaoTool<G> {
    /// The job's offset; the evaluator needs none.
    fn offset(&self, stock: &Stock) -> Result<Zeroizing<Block>> {
        match self.yao.garbles() {
            true => offset(stock),
            false => Ok(Zeroizing::default()),
        }
    }

    /// Labels of 0 for bits, drawn before these are there.
    fn fresh(&self, sorts: &[Sort]) -> Prepared {
        let zero = self.yao.fresh(string_bits(sorts));
        Prepared {
            results: divide_ahead(sorts, zero.clone()),
            kept: Box::new(zero),
        }
    }

    fn fresh_bill(sorts: &[Sort], bill: &mut Bill) {
        if bill.is_prepared() {
            let count = string_bits(sorts);
            bill.ahead(|bill| bill.aes(GARBLER, yao::fresh_aes(count, GARBLER)));
            bill.keep(GARBLER, 16 * count as u64);
        }
    }

    /// Labels for bits that the garbler knows.
    async fn share_own(
        &mut self,
        sorts: &[Sort],
        bits: Option<&[u8]>,
        stock: &Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let (offset, count) = (self.offset(stock)?, string_bits(sorts));
        let labels = match prepared {
            Some(kept) => {
                let zero = *unpacked::<yao::Labels>(kept)?;
                self.yao.tell_own(&offset, zero, bits, count).await?
            }
            None => self.yao.share_own(&offset, bits, count),
        };
        Ok(divide(sorts, labels))
    }

    fn share_own_bill(sorts: &[Sort], bill: &mut Bill) {
        let count = string_bits(sorts);
        if bill.is_prepared() {
            Self::fresh_bill(sorts, bill);
            Self::labels_bill(count, bill);
            return;
        }
        for party in [GARBLER, EVALUATOR] {
            bill.aes(party, yao::share_own_aes(count));
        }
    }

    /// The garbler sends the evaluator a block for each bit.
    fn labels_bill(count: usize, bill: &mut Bill) {
        if count > 0 {
            bill.exchange(&[(GARBLER, EVALUATOR, 16 * count as u64)]);
        }
    }

    /// Labels for bits that are the XOR of strings of the two; one may have none.
    async fn share_both(
        &mut self,
        sorts: &[Sort],
        bits: Option<&[u8]>,
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let (offset, count) = (offset(stock)?, string_bits(sorts));
        let rows = stock.correlated_ots().take((GARBLER, EVALUATOR), count)?;
        let labels = match prepared {
            Some(kept) => {
                let zero = *unpacked::<yao::Labels>(kept)?;
                let told = self.yao.tell_both(&offset, zero, bits, count, rows);
                told.await?
            }
            None => self.yao.share_both(&offset, bits, count, rows).await?,
        };
        Ok(divide(sorts, labels))
    }

    fn share_both_bill(sorts: &[Sort], bill: &mut Bill) {
        let count = string_bits(sorts);
        if count == 0 {
            return;
        }
        bill.needs().correlated_ots(GARBLER, EVALUATOR, count);
        bill.exchange(&[(EVALUATOR, GARBLER, bits::bytes_for(count) as u64)]);
        if bill.is_prepared() {
            Self::fresh_bill(sorts, bill);
            Self::labels_bill(count, bill);
        }
    }
}

/// The circuit's inputs or outputs, plane by plane: which value, and which of its planes.
fn places(widths: &[u32]) -> Vec<(usize, usize)> {
    let planes = widths.iter().enumerate();
    let of = |(value, &width): (usize, &u32)| (0..width as usize).map(move |p| (value, p));
    planes.flat_map(of).collect()
}

/// Labels for what a circuit makes.
fn blank_outputs(circuit: &Circuit, lanes: usize) -> Vec<Shares> {
    let zeros = |sort: Sort| {
        let labels = vec![Block::ZERO; sort.element.bits() * lanes];
        Shares::labels(sort, 1, Zeroizing::new(labels))
    };
    let sorts = bits_of(circuit.outputs(), Sharing::Y2, lanes).into_iter();
    sorts.map(zeros).collect()
}

/// Kept values of a circuit: its tables, and at the garbler the labels of what it makes.
type KeptCircuit = (Garbled, Vec<Shares>);

impl<G: Garbling> Protocol for YaoTool<G> {
    const SHARING: Sharing = Sharing::Y2;
    const PREPARES: bool = true;

    fn name() -> &'static str {
        G::NAME
    }

    fn holds(element: Element, parties: usize) -> Result<(), Mismatch> {
        if parties != yao::PARTIES {
            let problem = format!("Y2 is for two parties, not {parties}; Y is for any number");
            return Err(Mismatch::new(problem));
        }
        bits_alone(Sharing::Y2, element)
    }

    async fn prepare_share(&mut self, _: Party, sorts: &[Sort], _: &mut Stock) -> Result<Prepared> {
        Ok(self.fresh(sorts))
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let known = values.iter().all(|value| value.is_known());
        // The other one may know the bits too; it has no use for them.
        let own = known && self.yao.garbles() == (owner == GARBLER);
        let bits = own.then(|| pack(values, 0));
        let bits = bits.as_ref().map(|bits| &bits[..]);
        match owner {
            GARBLER => self.share_own(&sorts, bits, stock, prepared).await,
            _ => self.share_both(&sorts, bits, stock, prepared).await,
        }
    }

    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill) {
        match owner {
            GARBLER => Self::share_own_bill(sorts, bill),
            _ => Self::share_both_bill(sorts, bill),
        }
    }

    async fn prepare_open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        _: &mut Stock,
    ) -> Result<Prepared> {
        let sorts = sorts_of(values);
        let zero = match self.yao.garbles() {
            true => labels_of(values),
            false => Zeroizing::default(),
        };
        let told = self.yao.tell_colours(&zero, string_bits(&sorts), to);
        Ok(Prepared {
            kept: Box::<Zeroizing<Vec<u8>>>::new(told.await?),
            results: unopened(&sorts),
        })
    }

    async fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        _: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let (sorts, labels) = (sorts_of(values), labels_of(values));
        let opened = match prepared {
            Some(kept) => {
                let told = unpacked::<Zeroizing<Vec<u8>>>(kept)?;
                self.yao.open_told(&labels, &told, to).await?
            }
            None => self.yao.open(&labels, to).await?,
        };
        Ok(opened_bits(&sorts, opened))
    }

    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill) {
        let bytes = bits::bytes_for(string_bits(sorts)) as u64;
        let ways = [(GARBLER, EVALUATOR), (EVALUATOR, GARBLER)];
        let told = ways
            .into_iter()
            .filter(|(_, receiver)| to.contains(receiver));
        let messages: Vec<_> = told.map(|(from, to)| (from, to, bytes)).collect();
        if bytes == 0 {
            return;
        }
        if !bill.is_prepared() {
            bill.exchange(&messages);
            return;
        }
        // The garbler's messages are known before there are inputs.
        for message in messages {
            match message.0 {
                GARBLER => {
                    bill.ahead(|bill| bill.exchange(&[message]));
                    bill.keep(EVALUATOR, bytes);
                }
                _ => bill.exchange(&[message]),
            }
        }
    }

    fn leads(_: Party) -> [bool; 2] {
        [false; 2]
    }

    fn prepared_constant(
        me: Party,
        parties: usize,
        value: &Shares,
        offset: Option<&Block>,
    ) -> Shares {
        match me {
            GARBLER => Self::constant(me, parties, value, offset),
            _ => no_labels(value.sort()),
        }
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
    async fn prepare_evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        stock: &mut Stock,
        _: &Early<'_>,
    ) -> Result<Prepared> {
        let offset = self.offset(stock)?;
        let (wires, made) = (places(circuit.inputs()), places(circuit.outputs()));
        let garbles = self.yao.garbles();
        let mut outputs = match garbles {
            true => blank_outputs(circuit, lanes),
            false => Vec::new(),
        };
        let read = |wire: usize, lanes: Range<usize>| {
            let (value, plane) = wires[wire];
            &inputs[value].label_row(plane, 0)[lanes]
        };
        let write = |output: usize, lanes: Range<usize>, labels: &[Block]| {
            let (value, plane) = made[output];
            outputs[value].label_row_mut(plane, 0)[lanes].copy_from_slice(labels);
        };
        let program = circuit.garbled();
        let garbled = self.yao.garble(&program, &offset, lanes, read, write);
        let garbled = garbled.await?;
        let sorts = bits_of(circuit.outputs(), Sharing::Y2, lanes);
        let results = match garbles {
            true => outputs.clone(),
            false => sorts.iter().map(no_labels).collect(),
        };
        Ok(Prepared {
            results,
            kept: Box::<KeptCircuit>::new((garbled, outputs)),
        })
    }

    async fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        _: &mut Arena,
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let prepared = prepared.map(unpacked::<KeptCircuit>).transpose()?;
        let garbled = match prepared {
            // The garbler's part of the results is there already.
            Some(kept) if self.yao.garbles() => return Ok(kept.1),
            Some(kept) => Some(kept.0),
            None => None,
        };
        let (wires, made) = (places(circuit.inputs()), places(circuit.outputs()));
        let mut outputs = blank_outputs(circuit, lanes);
        let read = |wire: usize, lanes: Range<usize>| {
            let (value, plane) = wires[wire];
            &inputs[value].label_row(plane, 0)[lanes]
        };
        let write = |output: usize, lanes: Range<usize>, labels: &[Block]| {
            let (value, plane) = made[output];
            outputs[value].label_row_mut(plane, 0)[lanes].copy_from_slice(labels);
        };
        let program = circuit.garbled();
        match garbled {
            Some(garbled) => self.yao.evaluate_garbled(&program, garbled, read, write)?,
            None => {
                let offset = self.offset(stock)?;
                let done = self.yao.evaluate(&program, &offset, lanes, read, write);
                done.await?;
            }
        }
        Ok(outputs)
    }

    fn evaluate_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill) {
        let layered = circuit.layered();
        bill.ahead(|bill| {
            for (times, lens) in yao::tables(&circuit.garbled(), G::SCHEME, lanes) {
                bill.repeat(times, |bill| {
                    for &bytes in &lens {
                        bill.exchange(&[(GARBLER, EVALUATOR, bytes as u64)]);
                    }
                });
            }
            let blocks = yao::evaluate_aes(layered, G::SCHEME, lanes, GARBLER);
            bill.aes(GARBLER, blocks);
        });
        let blocks = yao::evaluate_aes(layered, G::SCHEME, lanes, EVALUATOR);
        bill.aes(EVALUATOR, blocks);
        let tables = yao::table_bytes(layered, G::SCHEME, lanes);
        bill.keep(EVALUATOR, tables);
        let made: usize = circuit.outputs().iter().map(|&width| width as usize).sum();
        bill.keep(GARBLER, (2 * 16 * made * lanes) as u64);
        // Two rows of labels are read and one is written by a local operation.
        bill.touch((3 * layered.local_count() * lanes * size_of::<Block>()) as u64);
    }

    /// Labels that come in and go out: those within stay in the cache whatever the number of lanes.
    fn bits_at_work(circuit: &Circuit) -> usize {
        let outside = circuit.inputs().iter().chain(circuit.outputs());
        outside.map(|&width| width as usize).sum::<usize>() * 8 * size_of::<Block>()
    }
}
