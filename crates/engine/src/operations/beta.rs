//! Protocol beta in programs: bits under masks that come before inputs do.
//!
//! Of a value there are, before inputs are there, our shares of its masks (the second component); the public
//! part (the first one) is zeros until then.

use std::sync::Arc;

use madrigal_circuit::Rows;
use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::{Kind, Stock};
use madrigal_kernels::{self as kernels, marks};
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::aby2::{self, Aby2};

use super::boolean_gmw::{opened_bits, pack, string_bits, unpack};
use super::{Boolean, Kept, Masked, Protocol, unpacked};
use crate::arena::Arena;
use crate::bill::Bill;
use crate::circuit::Circuit;
use crate::operation::{Mismatch, Prepared, Tool};
use crate::shares::Shares;
use crate::sort::{Element, Sharing, Sort};

/// Packed bits that are wiped.
pub(super) type Bits = Zeroizing<Vec<u8>>;

/// The component that both know.
pub(super) const PUBLIC: usize = 0;
/// The component with our share of the mask.
pub(super) const MASK: usize = 1;

/// [`Aby2`] on bits.
pub struct BetaTool {
    aby2: Aby2,
    /// Rows of masks of the last circuit, for the next one.
    masks: Arena,
    layer: Layer,
}

/// Strings of one layer of ANDs: public parts of its operands and results, and what was kept for it, where that
/// does not begin at a byte.
#[derive(Default)]
struct Layer {
    x: Bits,
    y: Bits,
    z: Bits,
    kept: [Bits; 3],
}

impl Tool for BetaTool {
    const STEP: &'static str = "beta";

    fn open(context: Context, _: Opening) -> Result<Self> {
        Ok(Self {
            aby2: Aby2::new(context)?,
            masks: Arena::default(),
            layer: Layer::default(),
        })
    }

    fn count_in(&mut self, context: &Context) {
        self.aby2.count_in(context);
    }
}

/// That there are two parties.
pub(super) fn two(parties: usize, sharing: Sharing) -> Result<(), Mismatch> {
    if parties == aby2::PARTIES {
        return Ok(());
    }
    let other = if sharing == Sharing::BETA { "B" } else { "A" };
    Err(Mismatch::new(format!(
        "{sharing} is for two parties, not {parties}; {other} is for any number"
    )))
}

/// Both send the other one so many bytes, if any.
pub(super) fn exchange(bytes: usize, bill: &mut Bill) {
    if bytes > 0 {
        let [first, second] = [0, 1].map(Party::new);
        let bytes = bytes as u64;
        bill.exchange(&[(first, second, bytes), (second, first, bytes)]);
    }
}

/// Each of `to` gets so many bytes from the other one, if any.
pub(super) fn reveal(bytes: usize, to: &[Party], bill: &mut Bill) {
    let messages = to.iter().map(|&receiver| {
        let sender = Party::new(1 - receiver.index());
        (sender, receiver, bytes as u64)
    });
    if bytes > 0 {
        bill.exchange(&messages.collect::<Vec<_>>());
    }
}

/// One of the two tells the other one so many bytes, if any.
pub(super) fn tell(owner: Party, bytes: usize, bill: &mut Bill) {
    reveal(bytes, &[Party::new(1 - owner.index())], bill);
}

/// Each keeps so many bytes of masks that it has drawn ahead.
pub(super) fn drawn(who: impl IntoIterator<Item = Party>, bytes: usize, bill: &mut Bill) {
    bill.ahead(|bill| {
        who.into_iter()
            .for_each(|party| bill.aes(party, aby2::draw_aes(bytes)));
    });
    Party::all(aby2::PARTIES).for_each(|party| bill.keep(party, bytes as u64));
}

pub(super) fn both() -> impl Iterator<Item = Party> {
    Party::all(aby2::PARTIES)
}

fn sorts_of(values: &[Arc<Shares>]) -> Vec<Sort> {
    values.iter().map(|value| *value.sort()).collect()
}

/// Values with these public parts and masks, packed.
pub(super) fn assembled(sorts: &[Sort], public: &[u8], masks: &[u8]) -> Vec<Shares> {
    let sorts = sorts.iter().map(|sort| sort.shared(Sharing::BETA));
    unpack(sorts, &[public, masks])
}

/// The same before the public parts are there.
pub(super) fn masked(sorts: &[Sort], masks: &[u8]) -> Vec<Shares> {
    assembled(sorts, &vec![0; masks.len()], masks)
}

impl BetaTool {
    /// Our shares of masks for values: all of them fresh, or those of an input.
    fn draw(&mut self, owner: Option<Party>, sorts: &[Sort]) -> Bits {
        let mut masks = Zeroizing::new(vec![0; bits::bytes_for(string_bits(sorts))]);
        match owner {
            Some(owner) => self.aby2.draw_input(owner, &mut masks),
            None => self.aby2.draw(&mut masks),
        }
        masks
    }

    /// The same as what is prepared.
    fn drawn(&mut self, owner: Option<Party>, sorts: &[Sort]) -> Prepared {
        let masks = self.draw(owner, sorts);
        Prepared {
            results: masked(sorts, &masks),
            kept: Box::new(masks),
        }
    }
}

impl Protocol for BetaTool {
    const SHARING: Sharing = Sharing::BETA;
    const PREPARES: bool = true;

    fn holds(element: Element, parties: usize) -> Result<(), Mismatch> {
        two(parties, Sharing::BETA)?;
        match element {
            Element::Bits(_) => Ok(()),
            Element::Ring(_) => Err(Mismatch::new(format!("beta has bits, and no {element}"))),
        }
    }

    async fn prepare_share(
        &mut self,
        owner: Party,
        sorts: &[Sort],
        _: &mut Stock,
    ) -> Result<Prepared> {
        Ok(self.drawn(Some(owner), sorts))
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        _: &mut Stock,
        prepared: Option<Kept>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let masks = match prepared {
            Some(kept) => *unpacked::<Bits>(kept)?,
            None => self.draw(Some(owner), &sorts),
        };
        let bits = (owner == self.aby2.me()).then(|| pack(values, 0));
        let (count, bits) = (string_bits(&sorts), bits.as_ref().map(|bits| &bits[..]));
        let public = self.aby2.share_bits(owner, bits, &masks, count).await?;
        Ok(assembled(&sorts, &public, &masks))
    }

    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill) {
        let bytes = bits::bytes_for(string_bits(sorts));
        drawn([owner], bytes, bill);
        tell(owner, bytes, bill);
    }

    async fn prepare_open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        _: &mut Stock,
    ) -> Result<Prepared> {
        let sorts = sorts_of(values);
        let (masks, count) = (pack(values, MASK), string_bits(&sorts));
        let opened = self.aby2.open_bit_masks(&masks, count, to).await?;
        let unknown = |sort: &Sort| Shares::unknown(sort.shared(Sharing::PUBLIC));
        Ok(Prepared {
            results: sorts.iter().map(unknown).collect(),
            kept: Box::new(opened),
        })
    }

    async fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        stock: &mut Stock,
        prepared: Option<Kept>,
    ) -> Result<Vec<Shares>> {
        let kept = match prepared {
            Some(kept) => kept,
            None => self.prepare_open(values, to, stock).await?.kept,
        };
        let masks = *unpacked::<Option<Bits>>(kept)?;
        let opened = masks.map(|mut bits| {
            kernels::xor_into(&mut bits, &pack(values, PUBLIC));
            marks::public(bits.as_mut_slice());
            bits
        });
        Ok(opened_bits(&sorts_of(values), opened))
    }

    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill) {
        let bytes = bits::bytes_for(string_bits(sorts));
        bill.ahead(|bill| reveal(bytes, to, bill));
        to.iter().for_each(|&party| bill.keep(party, bytes as u64));
    }

    fn leads(_: Party) -> [bool; 2] {
        [true, false]
    }
}

impl Masked for BetaTool {
    const PLAIN: Sharing = Sharing::B;

    fn prepare_mask(&mut self, sorts: &[Sort]) -> Prepared {
        self.drawn(None, sorts)
    }

    async fn mask(
        &mut self,
        values: &[Arc<Shares>],
        prepared: Option<Kept>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let masks = match prepared {
            Some(kept) => *unpacked::<Bits>(kept)?,
            None => self.draw(None, &sorts),
        };
        let (share, count) = (pack(values, 0), string_bits(&sorts));
        let public = self.aby2.mask_bits(&share, &masks, count).await?;
        Ok(assembled(&sorts, &public, &masks))
    }

    fn mask_bill(sorts: &[Sort], bill: &mut Bill) {
        let bytes = bits::bytes_for(string_bits(sorts));
        drawn(both(), bytes, bill);
        exchange(bytes, bill);
    }

    fn unmask(me: Party, value: &Shares) -> Shares {
        let mut share = Shares::zeros(value.sort().shared(Sharing::B));
        for plane in 0..value.sort().element.bits() {
            let to = share.plane_mut(plane, 0);
            to.copy_from_slice(value.plane(plane, MASK));
            aby2::unmasked_bits(me, value.plane(plane, PUBLIC), to);
        }
        share
    }
}

/// What a circuit keeps from setup: strings of all its ANDs, layer by layer.
struct Garnered {
    /// Our shares of the masks of the operands.
    x: Bits,
    y: Bits,
    /// Our shares of their products, with those of the masks of the results.
    products: Bits,
    /// The outputs, but for their public parts.
    outputs: Vec<Shares>,
}

/// One component of the inputs in the rows of an arena, which has one.
fn enter(circuit: &Circuit, inputs: &[Arc<Shares>], component: usize, arena: &mut Arena) {
    let mut wires = (0..)
        .zip(circuit.layered().inputs())
        .map(|(row, &wire): (u32, _)| (row, wire as usize))
        .peekable();
    let mut first = 0;
    for (value, &width) in inputs.iter().zip(circuit.inputs()) {
        let end = first + width as usize;
        while let Some((row, wire)) = wires.next_if(|&(_, wire)| wire < end) {
            let plane = value.plane(wire - first, component);
            arena.row_mut(row, 0).copy_from_slice(plane);
        }
        first = end;
    }
}

/// Rows of an arena as one component of the outputs.
fn leave(circuit: &Circuit, arena: &Arena, component: usize, outputs: &mut [Shares]) {
    let mut rows = circuit.layered().outputs().iter();
    for value in outputs {
        let Element::Bits(width) = value.sort().element else {
            unreachable!("outputs of circuits are bits");
        };
        for (plane, &row) in rows.by_ref().take(width).enumerate() {
            let to = value.plane_mut(plane, component);
            to.copy_from_slice(arena.row(row, 0));
        }
    }
}

/// Room for a string that is to be overwritten. One that is too small is replaced: growing it would leave what it
/// held in freed memory.
fn fit(string: &mut Bits, bytes: usize) {
    if string.capacity() < bytes {
        *string = Zeroizing::new(Vec::with_capacity(bytes));
    }
    string.resize(bytes, 0);
}

/// Some bits of a string, copied only where they do not begin at a byte.
fn part<'a>(string: &'a [u8], at: usize, count: usize, room: &'a mut Bits) -> &'a [u8] {
    let bytes = bits::bytes_for(count);
    if at.is_multiple_of(8) {
        return &string[at / 8..at / 8 + bytes];
    }
    fit(room, bytes);
    bits::take(string, at, room, count);
    room
}

impl Boolean for BetaTool {
    async fn prepare_evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        stock: &mut Stock,
    ) -> Result<Prepared> {
        let layered = circuit.layered();
        let count = layered.and_count() * lanes;
        let string = || Zeroizing::new(vec![0; bits::bytes_for(count)]);
        let (mut x, mut y, mut products, mut fresh) = (string(), string(), string(), string());
        self.aby2.draw(&mut fresh);
        let Layer {
            x: own_x,
            y: own_y,
            z,
            ..
        } = &mut self.layer;
        let arena = &mut self.masks;
        arena.reshape(layered.rows(), 1, lanes);
        enter(circuit, inputs, MASK, arena);
        let mut at = 0;
        for layer in layered.layers() {
            arena.local(layer.local, [false; 2]);
            let own = layer.ands.len() * lanes;
            if own == 0 {
                continue;
            }
            let bytes = bits::bytes_for(own);
            if at % 8 == 0 {
                let place = at / 8..at / 8 + bytes;
                arena.gather(layer.ands, 0, &mut x[place.clone()], &mut y[place]);
            } else {
                fit(own_x, bytes);
                fit(own_y, bytes);
                arena.gather(layer.ands, 0, own_x, own_y);
                bits::put(&mut x, at, own_x, own);
                bits::put(&mut y, at, own_y, own);
            }
            arena.scatter(layer.ands, 0, part(&fresh, at, own, z));
            at += own;
        }
        arena.local(layered.tail(), [false; 2]);
        let zeros = |&width: &u32| {
            let element = Element::Bits(width as usize);
            Shares::zeros(Sort::new(Sharing::BETA, element, lanes))
        };
        let mut outputs: Vec<Shares> = circuit.outputs().iter().map(zeros).collect();
        leave(circuit, arena, MASK, &mut outputs);
        let triples = stock.bit_triples_left();
        let made = self
            .aby2
            .bit_products(triples, &x, &y, count, &mut products);
        made.await?;
        kernels::xor_into(&mut products, &fresh);
        Ok(Prepared {
            results: outputs.clone(),
            kept: Box::new(Garnered {
                x,
                y,
                products,
                outputs,
            }),
        })
    }

    async fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        arena: &mut Arena,
        stock: &mut Stock,
        prepared: Option<Kept>,
    ) -> Result<Vec<Shares>> {
        let kept = match prepared {
            Some(kept) => kept,
            None => {
                let prepared = self.prepare_evaluate(circuit, lanes, inputs, stock);
                prepared.await?.kept
            }
        };
        let kept = *unpacked::<Garnered>(kept)?;
        let mut outputs = kept.outputs;
        let (layered, leads) = (circuit.layered(), Self::leads(self.aby2.me()));
        arena.reshape(layered.rows(), 1, lanes);
        enter(circuit, inputs, PUBLIC, arena);
        let mut at = 0;
        for layer in layered.layers() {
            arena.local(layer.local, leads);
            let count = layer.ands.len() * lanes;
            if count == 0 {
                continue;
            }
            let Layer { x, y, z, kept: own } = &mut self.layer;
            for string in [&mut *x, &mut *y, &mut *z] {
                fit(string, bits::bytes_for(count));
            }
            arena.gather(layer.ands, 0, x, y);
            let [own_x, own_y, own_z] = own;
            let masks = [
                part(&kept.x, at, count, own_x),
                part(&kept.y, at, count, own_y),
            ];
            let products = part(&kept.products, at, count, own_z);
            self.aby2.and([x, y], masks, products, count, z).await?;
            arena.scatter(layer.ands, 0, z);
            at += count;
        }
        arena.local(layered.tail(), leads);
        leave(circuit, arena, PUBLIC, &mut outputs);
        Ok(outputs)
    }

    fn evaluate_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill) {
        let layered = circuit.layered();
        let stride = Rows::stride_for(lanes);
        let ands = layered.and_count() * lanes;
        let bytes = bits::bytes_for(ands);
        let outputs: usize = circuit.outputs().iter().map(|&width| width as usize).sum();
        bill.ahead(|bill| {
            both().for_each(|party| bill.aes(party, aby2::draw_aes(bytes)));
            bill.needs().add(Kind::BitTriples, ands);
            exchange(2 * bytes, bill);
            // Rows of local operations and of operands, and strings, which are read or written thrice.
            let rows = 3 * layered.local_count() + 3 * layered.and_count();
            bill.touch((rows * stride + 12 * bytes) as u64);
        });
        both().for_each(|party| bill.keep(party, (3 * bytes + 2 * outputs * stride) as u64));
        for layer in layered.layers() {
            exchange(bits::bytes_for(layer.ands.len() * lanes), bill);
            bill.touch((layer.ands.len() * 12 * stride) as u64);
        }
        bill.touch((3 * layered.local_count() * stride) as u64);
    }

    fn bits_at_work(circuit: &Circuit) -> usize {
        circuit.layered().rows()
    }
}
