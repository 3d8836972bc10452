//! Boolean GMW in programs.

mod record;

use std::sync::Arc;

use madrigal_circuit::{And, Rows};
use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::{Kind, Stock};
use madrigal_engine::{Bill, Element, Mismatch, PreparedState, Shares, Sharing, Sort, Tool};
use madrigal_net::{Context, Result};
use madrigal_protocols::Opening;
use madrigal_protocols::gmw::{self, BitVectors, BooleanGmw, InputSharing};

use crate::arena::Arena;
use crate::circuit::Circuit;
use crate::netlist::{enter, leave};
use crate::protocol::{Boolean, Protocol};
use crate::shared::{bits_alone, sorts_of, unopened};
use crate::vectors::VectorAnds;

/// [`BooleanGmw`] with its inputs.
pub struct BooleanGmwTool {
    me: Party,
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
    const VECTORS: bool = true;

    async fn evaluate(
        &mut self,
        circuit: &Circuit,
        lanes: usize,
        inputs: &[Arc<Shares>],
        arena: &mut Arena,
        stock: &mut Stock,
        _: Option<PreparedState>,
    ) -> Result<Vec<Shares>> {
        let (layered, leads) = (circuit.layered(), Self::leads(self.me));
        arena.reshape(layered.rows(), 1, lanes);
        enter(layered.inputs(), inputs, 0, arena);
        for (number, layer) in layered.layers().enumerate() {
            arena.local(layer.local, leads);
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
        // Two rows are read and one is written by a local operation.
        bill.touch((3 * layered.local_count() * row) as u64);
    }

    fn bits_at_work(circuit: &Circuit) -> usize {
        circuit.layered().rows()
    }
}

impl BooleanGmwTool {
    /// A layer of ANDs of rows, some of them as products of bits and vectors.
    async fn ands(
        &mut self,
        ands: &[And],
        products: &[VectorAnds],
        arena: &mut Arena,
        stock: &mut Stock,
    ) -> Result<()> {
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
