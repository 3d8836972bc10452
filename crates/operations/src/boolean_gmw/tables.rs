//! Rows of columns in B and A of two parties, shuffled and sorted.

use std::sync::Arc;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::{Kind, Stock, Width};
use madrigal_engine::{
    Bill, Element, Mismatch, Online, Operation, Prepared, Preparing, Shares, Sharing, Sort, Turn,
};
use madrigal_kernels as kernels;
use madrigal_net::Result;
use madrigal_protocols::gmw::{
    self, BooleanGmw, RowFormat, RowPlace, Shuffle, ShuffleOts, SortPlan, Table,
};
use madrigal_protocols::replicated::Depth;
use madrigal_protocols::sorting::index_bits;

use super::BooleanGmwTool;
use crate::order::{self, KeyOrder};
use crate::shared::{in_sharing, other_of_two, unpacked};

/// Checks that values are columns of one table, of two parties.
fn columns_of(inputs: &[Sort], parties: usize) -> std::result::Result<(), Mismatch> {
    if parties != 2 {
        let problem = format!("rows in B are shuffled between two parties, not {parties}");
        return Err(Mismatch::new(problem));
    }
    for value in inputs {
        let sharing = match value.element {
            Element::Bits(_) => Sharing::B,
            Element::Ring(_) => Sharing::A,
        };
        in_sharing(sharing, value)?;
    }
    order::same_rows(inputs)
}

/// Layout of rows: this number of bits, then those of the values, and numbers.
fn format(before: usize, inputs: &[Sort]) -> RowFormat {
    let (mut bits, mut numbers) = (before, Vec::<Width>::new());
    for value in inputs {
        match value.element {
            Element::Bits(more) => bits += more,
            Element::Ring(width) => numbers.push(width),
        }
    }
    RowFormat::new(bits, numbers)
}

/// A value, and which of its bits are inverted, from the lowest on.
type Inverted<'a> = (&'a Shares, Option<KeyOrder>);

/// Inverts those planes of a value that its order says.
fn invert(planes: &mut [u8], stride: usize, (value, order): Inverted<'_>) {
    let bits = value.sort().element.bits();
    let inverted = order.into_iter().flat_map(|order| order.inverted(bits));
    for (plane, inverted) in planes.chunks_mut(stride.max(1)).zip(inverted) {
        if inverted {
            kernels::not_into(plane);
        }
    }
}

/// Puts values into a table: bits one after the other behind those that are `before`, and numbers.
fn to_table(me: Party, format: RowFormat, before: usize, values: &[Inverted<'_>]) -> Table {
    let rows = values.first().map_or(0, |(value, _)| value.len());
    let stride = bits::bytes_for(rows);
    let mut planes = Zeroizing::zeros(format.bits() * stride);
    let mut table = Table::zeros(format, rows);
    let (mut next, mut number) = (before, 0);
    for &(value, order) in values {
        match value.sort().element {
            Element::Bits(bits) => {
                let own = &mut planes[next * stride..(next + bits) * stride];
                for (place, plane) in own.chunks_mut(stride.max(1)).enumerate() {
                    plane.copy_from_slice(&value.plane(place, 0)[..stride]);
                }
                if me == gmw::LEADER {
                    invert(own, stride, (value, order));
                }
                next += bits;
            }
            Element::Ring(width) => {
                crate::with_ring!(width, T => table.set_number(number, value.component::<T>(0)));
                number += 1;
            }
        }
    }
    table.set_planes(&planes);
    table
}

/// Gives the values of such a table.
fn from_table(me: Party, table: &Table, before: usize, values: &[Inverted<'_>]) -> Vec<Shares> {
    let stride = bits::bytes_for(table.rows());
    let mut planes = table.planes();
    let (mut next, mut number) = (before, 0);
    let of = |&(value, order): &Inverted<'_>| match value.sort().element {
        Element::Bits(bits) => {
            let own = &mut planes[next * stride..(next + bits) * stride];
            if me == gmw::LEADER {
                invert(own, stride, (value, order));
            }
            let mut made = Shares::zeros(*value.sort());
            for (place, plane) in own.chunks(stride.max(1)).enumerate() {
                made.plane_mut(place, 0)[..stride].copy_from_slice(plane);
            }
            next += bits;
            made
        }
        Element::Ring(width) => {
            number += 1;
            crate::with_ring!(width, T => {
                let elements = table.number::<T>(number - 1);
                Shares::ring(Sharing::A, vec![elements])
            })
        }
    };
    values.iter().map(of).collect()
}

/// Whether there is anything to do ahead for this number of rows.
const fn prepares(rows: usize) -> bool {
    rows > 1
}

/// Bill of a shuffle ahead.
fn draw_bill(format: &RowFormat, rows: usize, bill: &mut Bill) {
    let switches = BooleanGmw::shuffle_ots(rows);
    bill.ahead(|bill| {
        for owner in Party::all(bill.parties()) {
            let kind = Kind::ChosenNumbers(Width::W128, owner);
            bill.needs().add(kind, switches);
        }
        bill.each(|_| BooleanGmw::draw_shuffle_cost(format, rows));
        BooleanGmw::draw_shuffle_rounds(rows, bill.clock());
        // Two rows are read and two are written in both directions, beside strings and corrections.
        bill.touch((14 * switches * format.bytes()) as u64);
    });
    for party in Party::all(bill.parties()) {
        bill.keep(party, Shuffle::bytes(format, rows) as u64);
    }
}

/// Bill of the shuffle itself.
fn shuffle_bill(format: &RowFormat, rows: usize, bill: &mut Bill) {
    for message in BooleanGmw::shuffle_messages(format, rows) {
        bill.exchange(&[message]);
    }
    bill.touch((8 * rows * format.bytes()) as u64);
}

impl BooleanGmwTool {
    async fn draw_shuffle(
        &mut self,
        format: &RowFormat,
        rows: usize,
        stock: &mut Stock,
    ) -> Result<Shuffle> {
        let count = BooleanGmw::shuffle_ots(rows);
        let mut ots = ShuffleOts {
            sent: stock.chosen_numbers(self.me, count)?,
            received: stock.chosen_numbers(other_of_two(self.me), count)?,
        };
        self.gmw.draw_shuffle(format, rows, &mut ots).await
    }
}

/// Draws a shuffle for an operation with these results, before inputs are there.
fn prepare<'a>(turn: &'a mut Turn<'_>, results: Vec<Sort>, format: RowFormat) -> Preparing<'a> {
    Box::pin(async move {
        let (tool, stock) = turn.tool::<BooleanGmwTool>()?;
        let shuffle = tool.draw_shuffle(&format, results[0].len, stock).await?;
        Ok(Prepared {
            results: results.into_iter().map(Shares::unknown).collect(),
            kept: Box::new(shuffle),
        })
    })
}

/// Takes the shuffle that was drawn ahead, or draws it now.
async fn drawn(turn: &mut Turn<'_>, format: &RowFormat, rows: usize) -> Result<Shuffle> {
    match turn.kept() {
        Some(kept) => Ok(*unpacked::<Shuffle>(kept)?),
        None => {
            let (tool, stock) = turn.tool::<BooleanGmwTool>()?;
            tool.draw_shuffle(format, rows, stock).await
        }
    }
}

/// Rows of columns in B and A, of two parties, in an order that neither knows, each as likely as any other.
///
/// In the clear they stay as they are.
#[derive(Debug, Clone, Copy)]
pub struct ShuffleTable;

impl Operation for ShuffleTable {
    fn name(&self) -> String {
        "shuffle of two/1".to_owned()
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> std::result::Result<Vec<Sort>, Mismatch> {
        if inputs.is_empty() {
            return Err(Mismatch::new("no columns to shuffle"));
        }
        columns_of(inputs, parties)?;
        Ok(inputs.to_vec())
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let (rows, format) = (inputs[0].len, format(0, inputs));
        draw_bill(&format, rows, bill);
        shuffle_bill(&format, rows, bill);
    }

    fn prepares(&self, inputs: &[Sort]) -> bool {
        prepares(inputs[0].len)
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
        let format = format(0, &sorts);
        prepare(turn, sorts, format)
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let me = turn.me();
            let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
            let (rows, format) = (sorts[0].len, format(0, &sorts));
            let values: Vec<Inverted<'_>> = inputs.iter().map(|value| (&**value, None)).collect();
            let shuffle = drawn(turn, &format, rows).await?;
            let table = to_table(me, format, 0, &values);
            let (tool, _) = turn.tool::<BooleanGmwTool>()?;
            let table = tool.gmw.shuffle(shuffle, table).await?;
            Ok(from_table(me, &table, 0, &values))
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> std::result::Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}

/// Rows of columns in B and A, of two parties, each at the place that the first value says, a number of 32 bits in A or 32 bits in B: no
/// two may have the same. Rows are shuffled with their places before these are opened, so that they tell nothing. The first value is no result.
#[derive(Debug, Clone, Copy)]
pub struct PlaceTable;

impl Operation for PlaceTable {
    fn name(&self) -> String {
        "place of two/2".to_owned()
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> std::result::Result<Vec<Sort>, Mismatch> {
        order::places_first(inputs)?;
        columns_of(inputs, parties)?;
        Ok(inputs[1..].to_vec())
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let (rows, format) = (inputs[0].len, format(0, inputs));
        draw_bill(&format, rows, bill);
        if rows > 0 {
            shuffle_bill(&format, rows, bill);
            let [first, second] = [0, 1].map(Party::new);
            let bytes = 4 * rows as u64;
            bill.exchange(&[(first, second, bytes), (second, first, bytes)]);
        }
    }

    fn prepares(&self, inputs: &[Sort]) -> bool {
        prepares(inputs[0].len)
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        let mut sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
        let format = format(0, &sorts);
        prepare(turn, sorts.split_off(1), format)
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let me = turn.me();
            let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
            let (rows, format) = (sorts[0].len, format(0, &sorts));
            let values: Vec<Inverted<'_>> = inputs.iter().map(|value| (&**value, None)).collect();
            let shuffle = drawn(turn, &format, rows).await?;
            let table = to_table(me, format, 0, &values);
            let (tool, _) = turn.tool::<BooleanGmwTool>()?;
            let mut table = tool.gmw.shuffle(shuffle, table).await?;
            // Places are the first number, or the first bits.
            let at = match sorts[0].element {
                Element::Ring(_) => RowPlace::Number(0),
                Element::Bits(_) => RowPlace::LowestBits,
            };
            tool.gmw.place(&mut table, at).await?;
            Ok(from_table(me, &table, 0, &values).split_off(1))
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> std::result::Result<Vec<Shares>, Mismatch> {
        order::placed(inputs)
    }
}

/// Rows of columns in B and A, of two parties, in the order of their keys; those with equal keys stay in theirs. The first values are
/// the keys, bits, the most significant one first; others are columns that move along.
#[derive(Debug, Clone)]
pub struct SortTable {
    keys: Vec<KeyOrder>,
    depth: Option<Depth>,
}

impl SortTable {
    /// Sorts by as many keys, each in its order, with adders of this depth, or of one by the number of comparisons.
    pub fn new(keys: impl Into<Vec<KeyOrder>>, depth: Option<Depth>) -> Self {
        Self {
            keys: keys.into(),
            depth,
        }
    }

    /// Number of the bits that rows are sorted by: the number of the row and the keys.
    fn key_bits(&self, inputs: &[Sort]) -> usize {
        let keys = inputs[..self.keys.len()].iter();
        index_bits(inputs[0].len) + keys.map(|key| key.element.bits()).sum::<usize>()
    }

    /// Values in the order of a table's columns: the last key is lowest.
    fn in_table<T>(&self, mut values: Vec<T>) -> Vec<T> {
        values[..self.keys.len()].reverse();
        values
    }
}

impl Operation for SortTable {
    fn name(&self) -> String {
        let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        let depth = match self.depth {
            None => "",
            Some(Depth::Ripple) => ", ripple",
            Some(Depth::Tree) => ", tree",
        };
        format!("sort of two/1 by {}{depth}", keys.join(" "))
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> std::result::Result<Vec<Sort>, Mismatch> {
        order::sorts(&self.keys, inputs)?;
        columns_of(inputs, parties)?;
        Ok(inputs.to_vec())
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let rows = inputs[0].len;
        let format = format(index_bits(rows), inputs);
        draw_bill(&format, rows, bill);
        if rows == 0 {
            return;
        }
        shuffle_bill(&format, rows, bill);
        let plan = SortPlan::new(rows, self.key_bits(inputs), self.depth);
        bill.needs().bit_triples(plan.triples());
        let both: Vec<Party> = Party::all(bill.parties()).collect();
        for (times, openings) in plan.openings() {
            bill.repeat(times as u64, |bill| {
                openings.iter().for_each(|&bytes| bill.open(bytes, &both));
            });
        }
        bill.touch(plan.touched());
    }

    fn prepares(&self, inputs: &[Sort]) -> bool {
        prepares(inputs[0].len)
    }

    fn prepare<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Preparing<'a> {
        let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
        let format = format(index_bits(sorts[0].len), &sorts);
        prepare(turn, sorts, format)
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let me = turn.me();
            let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
            let (rows, index) = (sorts[0].len, index_bits(sorts[0].len));
            let format = format(index, &sorts);
            let orders = self.keys.iter().copied().map(Some);
            let values = inputs.iter().map(|value| &**value);
            let values: Vec<Inverted<'_>> =
                values.zip(orders.chain(std::iter::repeat(None))).collect();
            let values = self.in_table(values);
            let shuffle = drawn(turn, &format, rows).await?;
            let table = to_table(me, format, index, &values);
            let (tool, stock) = turn.tool::<BooleanGmwTool>()?;
            let (bits, triples) = (self.key_bits(&sorts), stock.bit_triples_left());
            let sorted = tool.gmw.sort(shuffle, table, bits, self.depth, triples);
            let Some(sorted) = sorted.await? else {
                return Err(turn.refuse(&order::bad_luck()));
            };
            Ok(self.in_table(from_table(me, &sorted, index, &values)))
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> std::result::Result<Vec<Shares>, Mismatch> {
        let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
        order::sorts(&self.keys, &sorts)?;
        order::plain(&self.keys, inputs)
    }
}
