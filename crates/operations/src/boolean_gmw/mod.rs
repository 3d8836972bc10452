//! Boolean GMW in programs.

mod record;
mod tables;

use std::sync::Arc;

use madrigal_circuit::{And, Rows};
use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::{Kind, Stock};
use madrigal_engine::{
    Bill, Early, Element, Mismatch, Prepared, PreparedState, Shares, Sharing, Sort, Tool,
};
use madrigal_kernels::Block;
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::gmw::{self, BitOts, BitVectors, BooleanGmw, InputSharing};

use crate::arena::Arena;
use crate::circuit::Circuit;
use crate::joint::Joint;
use crate::netlist::{enter, leave};
use crate::ots::{self, CommonOts};
use crate::protocol::{Boolean, Protocol};
use crate::shared::{bits_alone, bits_of, offset, sorts_of, unopened, unpacked};
use crate::variants::Ands;
use crate::vectors::VectorAnds;

pub use tables::{PlaceTable, ShuffleTable, SortTable};

/// [`BooleanGmw`] with its inputs.
pub struct BooleanGmwTool {
    me: Party,
    parties: usize,
    gmw: BooleanGmw,
    /// By the owner's number.
    inputs: Vec<InputSharing>,
    x: Zeroizing<Vec<u8>>,
    y: Zeroizing<Vec<u8>>,
    z: Zeroizing<Vec<u8>>,
}

impl Tool for BooleanGmwTool {
    const STEP: &'static str = "boolean gmw";

    fn open(context: Context, opening: Opening) -> Result<Self> {
        Ok(Self {
            me: context.me(),
            parties: context.parties(),
            inputs: InputSharing::of_everyone(&context)?,
            gmw: BooleanGmw::new(context, opening)?,
            x: Zeroizing::default(),
            y: Zeroizing::default(),
            z: Zeroizing::default(),
        })
    }

    fn count_in(&mut self, context: &Context) {
        self.gmw.count_in(context);
    }
}

impl Protocol for BooleanGmwTool {
    const SHARING: Sharing = Sharing::B;

    fn holds(element: Element, _: usize) -> Result<(), Mismatch> {
        bits_alone(Sharing::B, element)
    }

    async fn share(
        &mut self,
        owner: Party,
        values: &[Arc<Shares>],
        _: &mut Stock,
        _: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let of = |value: &Arc<Shares>| {
            let mut shares = if owner == self.me {
                Shares::clone(value).as_shared(Sharing::B)
            } else {
                Shares::zeros(value.sort().shared(Sharing::B))
            };
            self.inputs[owner.index()].share(shares.plane_bytes_mut());
            shares
        };
        Ok(values.iter().map(of).collect())
    }

    fn share_bill(owner: Party, sorts: &[Sort], bill: &mut Bill) {
        let parties = bill.parties();
        for sort in sorts {
            let bytes = sort.bytes() as u64;
            for party in Party::all(parties) {
                bill.aes(party, gmw::share_aes_blocks(party, owner, parties, bytes));
            }
        }
    }

    async fn open(
        &mut self,
        values: &[Arc<Shares>],
        to: &[Party],
        _: &mut Stock,
        _: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let sorts = sorts_of(values);
        let share = pack(values, 0);
        let opened = self.gmw.open(&share, string_bits(&sorts), to).await?;
        Ok(opened_bits(&sorts, opened))
    }

    fn open_bill(sorts: &[Sort], to: &[Party], bill: &mut Bill) {
        bill.open(bits::bytes_for(string_bits(sorts)) as u64, to);
    }

    fn leads(me: Party) -> [bool; 2] {
        [me == gmw::LEADER, false]
    }
}

impl Boolean for BooleanGmwTool {
    fn manner(circuit: &Circuit) -> &'static str {
        match (circuit.variants().ands, circuit.vectors()) {
            (Ands::Ots, _) => ", by OTs made before",
            (Ands::Triples, Some(_)) => ", by vector triples",
            (Ands::Triples, None) => "",
        }
    }

    /// Random OTs are made of correlated ones before there are inputs.
    fn prepares_circuit(circuit: &Circuit) -> bool {
        takes_ots(circuit)
    }

    async fn prepare_evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        _: &[Arc<Shares>],
        stock: &mut Stock,
        _: &Early<'_>,
    ) -> Result<Prepared> {
        let outputs = bits_of(circuit.outputs(), Sharing::B, lanes).into_iter();
        Ok(Prepared {
            results: outputs.map(Shares::unknown).collect(),
            kept: Box::new(self.bit_ots(circuit, lanes, stock)?),
        })
    }

    async fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        arena: &mut Arena,
        stock: &mut Stock,
        prepared: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let (layered, leads) = (circuit.layered(), Self::leads(self.me));
        arena.reshape(layered.rows(), 1, lanes);
        enter(layered.inputs(), inputs, 0, arena);
        let mut ots = match (takes_ots(circuit), prepared) {
            (false, _) => None,
            (true, Some(kept)) => Some(*unpacked::<BitOts>(kept)?),
            (true, None) => Some(self.bit_ots(circuit, lanes, stock)?),
        };
        for (number, layer) in layered.layers().enumerate() {
            arena.local(layer.local, leads);
            if let Some(ots) = &mut ots {
                self.ands_by_ots(layer.ands, ots, arena).await?;
                continue;
            }
            stock.next_step().await?;
            let (single, products) = split(circuit, number, layer.ands);
            self.ands(single, products, arena, stock).await?;
        }
        arena.local(layered.tail(), leads);
        let mut outputs = circuit.blank(Sharing::B, lanes);
        leave(layered.outputs(), arena, 0, &mut outputs);
        Ok(outputs)
    }

    fn evaluate_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill) {
        let layered = circuit.layered();
        let row = Rows::stride_for(lanes);
        let parties = bill.parties();
        let all: Vec<Party> = Party::all(parties).collect();
        // Two rows are read and one is written by a local operation.
        bill.touch((3 * layered.local_count() * row) as u64);
        if takes_ots(circuit) {
            return by_ots_bill(circuit, lanes, bill);
        }
        for (number, layer) in layered.layers().enumerate() {
            bill.next_step();
            let (single, products) = split(circuit, number, layer.ands);
            let count = single.len() * lanes;
            bill.needs().add(Kind::BitTriples, count);
            let mut bytes = 2 * bits::bytes_for(count);
            for vectors in products {
                let items = vectors.products.len();
                bill.needs().vector_triples(vectors.length, items * lanes);
                bytes += bits::bytes_for((items + vectors.count()) * lanes);
                // Triples are transposed.
                bill.touch((4 * items * vectors.length * row) as u64);
            }
            bill.open(bytes as u64, &all);
            // Rows of operands, triple, result, and of what is opened for each party.
            bill.touch((layer.ands.len() * (16 + 4 * (parties - 1)) * row) as u64);
        }
    }

    fn bits_at_work(circuit: &Circuit) -> usize {
        circuit.layered().rows()
    }
}

impl BooleanGmwTool {
    /// Random OTs for all ANDs of a circuit.
    fn bit_ots(&mut self, circuit: &Circuit, lanes: usize, stock: &mut Stock) -> Result<BitOts> {
        let count = circuit.layered().and_count() * lanes;
        let offset = offset(stock)?;
        let rows = stock.correlated_ots().take_each(|_| count)?;
        let ots = CommonOts::new(self.me, self.parties, &rows);
        Ok(self.gmw.bit_ots(&offset, &ots.choices, count, &ots.rows))
    }

    /// A layer of ANDs of rows that take OTs.
    async fn ands_by_ots(
        &mut self,
        ands: &[And],
        ots: &mut BitOts,
        arena: &mut Arena,
    ) -> Result<()> {
        let count = self.gather(ands, arena);
        let operands = [&self.x[..], &self.y];
        let done = self.gmw.and_by_ots(ots, operands, count, &mut self.z);
        done.await?;
        arena.scatter(ands, 0, &self.z);
        Ok(())
    }

    /// Packs the operands of ANDs, and makes room for their results. Gives the number of bits.
    fn gather(&mut self, ands: &[And], arena: &Arena) -> usize {
        let count = ands.len() * arena.lanes();
        let bytes = bits::bytes_for(count);
        for string in [&mut self.x, &mut self.y, &mut self.z] {
            if string.capacity() < bytes {
                // A string that grows would leave its bytes in freed memory.
                *string = Zeroizing::new(Vec::with_capacity(bytes));
            }
            string.resize(bytes, 0);
        }
        arena.gather(ands, 0, &mut self.x, &mut self.y);
        count
    }

    /// A layer of ANDs of rows, some of them as products of bits and vectors.
    async fn ands(
        &mut self,
        ands: &[And],
        products: &[VectorAnds],
        arena: &mut Arena,
        stock: &mut Stock,
    ) -> Result<()> {
        let count = self.gather(ands, arena);
        let mut vectors = Vec::with_capacity(products.len());
        for products in products {
            vectors.push(operands(products, arena, stock)?);
        }
        let triples = (stock.bit_triples_left(), count);
        let operands = [&self.x[..], &self.y];
        let done = self
            .gmw
            .and_vectors(triples, operands, &mut self.z, &mut vectors);
        done.await?;
        arena.scatter(ands, 0, &self.z);
        for (products, vectors) in products.iter().zip(&vectors) {
            for (place, column) in vectors.columns().enumerate() {
                arena.unpack(products.column(place).map(|and| and.dst), 0, column);
            }
        }
        Ok(())
    }
}

/// Each party draws its share by itself: the bits are the XOR of all shares, and unknown to whoever lacks one of them.
impl Joint for BooleanGmwTool {
    fn joint_bits(&mut self, sort: Sort) -> Result<Shares> {
        let mut string = Zeroizing::new(vec![0; bits::bytes_for(string_bits(&[sort]))]);
        self.gmw.fill_privately(&mut string);
        let made = unpack([sort], &[&string]).pop();
        Ok(made.unwrap_or_else(|| Shares::zeros(sort)))
    }

    fn joint_bits_bill(sort: Sort, bill: &mut Bill) {
        let bytes = bits::bytes_for(string_bits(&[sort]));
        for party in Party::all(bill.parties()) {
            bill.aes(party, bytes.div_ceil(16) as u64);
        }
    }
}

/// Whether there are ANDs, and these take OTs.
fn takes_ots(circuit: &Circuit) -> bool {
    circuit.variants().ands == Ands::Ots && circuit.layered().and_count() > 0
}

/// Cost of a circuit whose ANDs take OTs.
fn by_ots_bill(circuit: &Circuit, lanes: usize, bill: &mut Bill) {
    let (layered, row) = (circuit.layered(), Rows::stride_for(lanes));
    let (parties, all) = (bill.parties(), layered.and_count() * lanes);
    bill.ahead(|bill| {
        ots::needs(bill, all);
        bill.each(|_| BooleanGmw::bit_ots_cost(parties, all));
        bill.touch((2 * (parties - 1) * all * size_of::<Block>()) as u64);
    });
    for party in Party::all(parties) {
        bill.keep(party, BitOts::bytes(parties, all) as u64);
    }
    for layer in layered.layers() {
        let bytes = BooleanGmw::and_by_ots_bytes(layer.ands.len() * lanes);
        if bytes > 0 {
            let from = |from: Party| from.others(parties).map(move |to| (from, to, bytes));
            let messages: Vec<_> = Party::all(parties).flat_map(from).collect();
            bill.exchange(&messages);
        }
        // Rows of operands and of the result, and with each peer five strings of OTs and messages.
        bill.touch((layer.ands.len() * (12 + 16 * (parties - 1)) * row) as u64);
    }
}

/// The ANDs of a layer that take Boolean triples, and the products that take vector triples.
fn split<'a>(circuit: &'a Circuit, layer: usize, ands: &'a [And]) -> (&'a [And], &'a [VectorAnds]) {
    match circuit.vectors() {
        Some(layers) => (&layers[layer].single, &layers[layer].products),
        None => (ands, &[]),
    }
}

/// Packs the operands of products, with their triples.
fn operands(products: &VectorAnds, arena: &Arena, stock: &mut Stock) -> Result<BitVectors> {
    let (items, lanes) = (products.products.len(), arena.lanes());
    let pack = |rows: &mut dyn Iterator<Item = u32>, count: usize| {
        let mut string = Zeroizing::new(vec![0; bits::bytes_for(count * lanes)]);
        arena.pack(rows, 0, &mut string);
        string
    };
    let triples = stock.vector_triples(products.length, items * lanes)?;
    let mut chosen = products.products.iter().map(|ands| ands[0].a);
    let mut vectors = BitVectors::new(triples, pack(&mut chosen, items), items * lanes);
    for place in 0..products.columns() {
        let count = products.column_len(place);
        let column = pack(&mut products.column(place).map(|and| and.b), count);
        vectors.push(column, count * lanes);
    }
    Ok(vectors)
}

/// Bits of values in a message: planes one after the other, without padding.
pub(super) fn string_bits(sorts: &[Sort]) -> usize {
    sorts
        .iter()
        .map(|sort| sort.element.bits() * sort.len)
        .sum()
}

/// One component of all planes as such a string.
pub(super) fn pack(values: &[Arc<Shares>], component: usize) -> Zeroizing<Vec<u8>> {
    let count = string_bits(&sorts_of(values));
    let mut string = Zeroizing::new(vec![0; bits::bytes_for(count)]);
    let mut at = 0;
    for value in values {
        for plane in 0..value.sort().element.bits() {
            bits::put(&mut string, at, value.plane(plane, component), value.len());
            at += value.len();
        }
    }
    string
}

/// Values from such strings, one for each component.
pub(super) fn unpack(sorts: impl IntoIterator<Item = Sort>, strings: &[&[u8]]) -> Vec<Shares> {
    let mut at = 0;
    let of = |sort: Sort| {
        let mut value = Shares::zeros(sort);
        for plane in 0..sort.element.bits() {
            for (component, string) in strings.iter().enumerate() {
                bits::take(string, at, value.plane_mut(plane, component), sort.len);
            }
            at += sort.len;
        }
        value
    };
    sorts.into_iter().map(of).collect()
}

/// Opened values, where this party gets them.
pub(super) fn opened_bits(sorts: &[Sort], string: Option<Zeroizing<Vec<u8>>>) -> Vec<Shares> {
    let public = |sort: &Sort| sort.shared(Sharing::PUBLIC);
    match string {
        Some(string) => unpack(sorts.iter().map(public), &[&string]),
        None => unopened(sorts),
    }
}
