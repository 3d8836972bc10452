//! Rows of replicated columns, shuffled and sorted.

use std::sync::Arc;

use madrigal_core::{Zeroizing, bits};
use madrigal_correlations::Width;
use madrigal_engine::{Bill, Element, Mismatch, Online, Operation, Shares, Sharing, Sort, Turn};
use madrigal_kernels as kernels;
use madrigal_protocols::planes;
use madrigal_protocols::replicated::{
    BY_DIGITS, BitShares, COUNTED, Column, Depth, Keys, Masking, RingShares, leads,
};
use madrigal_protocols::sorting::Course;

use super::predicates::from_bits;
use super::rings::to_bits;
use super::{PARTIES, ReplicatedTool, from_ring, tally, to_ring};
use crate::order::{self, KeyOrder};
use crate::shared::in_sharing;

/// Bits of the longest words that columns of bits are moved in.
const WORD: usize = u128::BITS as usize;

/// Widths of the words in which `bits` bits are moved.
fn words(bits: usize) -> impl Iterator<Item = Width> {
    let whole = std::iter::repeat_n(Width::W128, bits / WORD);
    let rest = Width::ALL
        .into_iter()
        .find(|width| width.bits() >= bits % WORD);
    whole.chain(rest.filter(|_| !bits.is_multiple_of(WORD)))
}

/// Widths of the columns that a value becomes.
fn widths(sort: &Sort) -> Vec<Width> {
    match sort.element {
        Element::Bits(bits) => words(bits).collect(),
        Element::Ring(width) => vec![width],
    }
}

/// A value as columns of words.
fn to_columns(value: &Shares, columns: &mut Vec<Column>) {
    let bits = match value.sort().element {
        Element::Ring(width) => {
            return crate::with_ring!(width, T => {
                let shares = to_ring::<T>(value).to_shares();
                columns.push(Column::from((Masking::Sums, shares)));
            });
        }
        Element::Bits(bits) => bits,
    };
    let (rows, stride) = (value.len(), bits::bytes_for(value.len()));
    let all = to_bits(value);
    let mut first = 0;
    for width in words(bits) {
        let last = bits.min(first + width.bits());
        crate::with_ring!(width, T => {
            let parts = all.components().map(|planes| {
                let mut words = Zeroizing::<Vec<T>>::zeros(rows);
                planes::join(&planes[first * stride..last * stride], stride, &mut words);
                words
            });
            let shares = RingShares::from_parts(parts).expect("as many of both components");
            columns.push(Column::from((Masking::Bits, shares)));
        });
        first = last;
    }
}

/// And back: a value of this sort, of the next columns.
fn from_columns(sort: &Sort, columns: &mut impl Iterator<Item = Column>) -> Shares {
    let mut column = || columns.next().expect("a column for each word of a value");
    let bits = match sort.element {
        Element::Ring(width) => {
            return crate::with_ring!(width, T => from_ring::<T>(column().try_into().expect("elements of the value")));
        }
        Element::Bits(bits) => bits,
    };
    let stride = bits::bytes_for(sort.len);
    let mut value = Shares::zeros(*sort);
    let mut first = 0;
    for width in words(bits) {
        let last = bits.min(first + width.bits());
        crate::with_ring!(width, T => {
            let shares: RingShares<T> = column().try_into().expect("words of the value");
            for (component, words) in shares.components().into_iter().enumerate() {
                let mut rows = Zeroizing::zeros((last - first) * stride);
                planes::split(words, &mut rows, stride);
                for (plane, row) in (first..last).zip(rows.chunks(stride.max(1))) {
                    value.plane_mut(plane, component)[..stride].copy_from_slice(row);
                }
            }
        });
        first = last;
    }
    value
}

/// Checks that values are columns of one table in R.
fn columns_of(inputs: &[Sort], parties: usize) -> Result<(), Mismatch> {
    if parties != PARTIES {
        let problem = format!("rows are shuffled among three parties, not {parties}");
        return Err(Mismatch::new(problem));
    }
    inputs
        .iter()
        .try_for_each(|value| in_sharing(Sharing::R, value))?;
    order::same_rows(inputs)
}

/// Rows in an order that nobody knows, each as likely as any other.
///
/// In the clear they stay as they are.
#[derive(Debug, Clone, Copy)]
pub struct ShuffleRows;

impl Operation for ShuffleRows {
    fn name(&self) -> String {
        "shuffle/1".to_owned()
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
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
        let rows = inputs[0].len;
        tally(bill, |tally| {
            tally.draw_shuffle(rows);
            tally.shuffle(inputs.iter().flat_map(widths), rows);
        });
        bill.touch(inputs.iter().map(|value| 8 * value.bytes() as u64).sum());
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (tool, _) = turn.tool::<ReplicatedTool>()?;
            let rings = tool.rings()?;
            let mut columns = Vec::new();
            inputs
                .iter()
                .for_each(|value| to_columns(value, &mut columns));
            let shuffle = rings.draw_shuffle(inputs[0].len());
            let mut shuffled = rings.shuffle(&shuffle, columns).await?.into_iter();
            let value = |value: &Arc<Shares>| from_columns(value.sort(), &mut shuffled);
            Ok(inputs.iter().map(value).collect())
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        Ok(inputs.iter().map(|&value| value.clone()).collect())
    }
}

/// Rows at the places that the first value says, numbers of 32 bits or 32 bits each: no two may have the same. Rows are shuffled with
/// their places before these are opened, so that they tell nothing. The first value is no result.
#[derive(Debug, Clone, Copy)]
pub struct PlaceRows;

impl Operation for PlaceRows {
    fn name(&self) -> String {
        "place/1".to_owned()
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        order::places_first(inputs)?;
        columns_of(inputs, parties)?;
        Ok(inputs[1..].to_vec())
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let columns = || inputs[1..].iter().flat_map(widths);
        tally(bill, |tally| tally.place(columns(), inputs[0].len));
        bill.touch(inputs.iter().map(|value| 8 * value.bytes() as u64).sum());
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (tool, _) = turn.tool::<ReplicatedTool>()?;
            let mut columns = Vec::new();
            inputs
                .iter()
                .for_each(|value| to_columns(value, &mut columns));
            let places = columns.remove(0);
            let placed = tool.rings()?.place(places, columns).await?;
            let mut placed = placed.into_iter();
            let value = |value: &Arc<Shares>| from_columns(value.sort(), &mut placed);
            Ok(inputs[1..].iter().map(value).collect())
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        order::placed(inputs)
    }
}

/// Bytes that take as long as a comparison's gathering of two keys in no order; as each bit of its adder, half as many again in few rounds;
/// and as each value that a row may have where places are counted. A comparison of 64 bits and the number of one of a million rows took 60 ns of a core.
const GATHERED_BYTES: u64 = 2000;
const BIT_BYTES: u64 = 30;
const VALUE_BYTES: u64 = 3000;

/// Rows in the order of their keys; those with equal keys stay in theirs. The first values are the keys, bits, the most significant
/// one first; others are columns that move along. Keys of up to [`COUNTED`] bits in all are not compared: the places of their rows are
/// counted, in few rounds.
#[derive(Debug, Clone)]
pub struct SortRows {
    keys: Vec<KeyOrder>,
    depth: Option<Depth>,
    digits: bool,
}

impl SortRows {
    /// Sorts by as many keys, each in its order, with adders of this depth, or of one by the number of comparisons.
    pub fn new(keys: impl Into<Vec<KeyOrder>>, depth: Option<Depth>) -> Self {
        Self {
            keys: keys.into(),
            depth,
            digits: false,
        }
    }

    /// Counts the places of rows digit by digit, without comparisons, where keys have up to [`BY_DIGITS`] bits in all and rows are many: in the
    /// fewest rounds, at the price of bytes.
    #[must_use]
    pub fn by_digits(self) -> Self {
        Self {
            digits: true,
            ..self
        }
    }

    /// Whether rows are not compared.
    fn counts(&self, rows: usize, bits: usize) -> bool {
        // Few rows are all compared with each other at once.
        let longest = match self.digits && Course::new(rows).steps().count() > 1 {
            true => BY_DIGITS,
            false => COUNTED,
        };
        (1..=longest).contains(&bits)
    }

    fn key_bits(&self, inputs: &[Sort]) -> usize {
        let keys = inputs[..self.keys.len()].iter();
        keys.map(|key| key.element.bits()).sum()
    }
}

/// Inverts those rows of bits that `which` says.
fn invert(rows: &mut BitShares, turn: &Turn<'_>, which: impl Iterator<Item = bool>) {
    let leads = leads(turn.me());
    for (row, _) in which.enumerate().filter(|(_, inverted)| *inverted) {
        for (part, leads) in rows.row_mut(row).into_iter().zip(leads) {
            if leads {
                kernels::not_into(part);
            }
        }
    }
}

impl Operation for SortRows {
    fn name(&self) -> String {
        let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        let depth = match self.depth {
            None => "",
            Some(Depth::Ripple) => ", ripple",
            Some(Depth::Tree) => ", tree",
        };
        let digits = if self.digits { ", digits" } else { "" };
        format!("sort/3 by {}{depth}{digits}", keys.join(" "))
    }

    fn sorts(&self, inputs: &[Sort], parties: usize) -> Result<Vec<Sort>, Mismatch> {
        order::sorts(&self.keys, inputs)?;
        columns_of(inputs, parties)?;
        Ok(inputs.to_vec())
    }

    fn is_lane_wise(&self) -> bool {
        false
    }

    fn bill(&self, inputs: &[Sort], bill: &mut Bill) {
        let rows = inputs[0].len;
        let bits = self.key_bits(inputs);
        let moved: Vec<Width> = inputs[self.keys.len()..].iter().flat_map(widths).collect();
        tally(bill, |tally| {
            tally.set_depth(self.depth);
            match self.counts(rows, bits) {
                true => tally.sort_by_digits(rows, bits, &moved),
                false => tally.sort(rows, bits, &moved),
            }
        });
        bill.touch(match self.counts(rows, bits) {
            true => {
                let digits = bits.div_ceil(COUNTED);
                ((digits * rows) << bits.div_ceil(digits)) as u64 * VALUE_BYTES
            }
            false => {
                let compared = Course::new(rows).comparisons() as u64;
                let of_bit = match self.depth {
                    Some(Depth::Tree) => 3 * BIT_BYTES / 2,
                    _ => BIT_BYTES,
                };
                let bits = bits as u64 + u64::from(rows.max(2).ilog2());
                compared * (GATHERED_BYTES + bits * of_bit)
            }
        });
        bill.touch(inputs.iter().map(|value| 8 * value.bytes() as u64).sum());
    }

    fn online<'a>(&'a self, turn: &'a mut Turn<'_>, inputs: Vec<Arc<Shares>>) -> Online<'a> {
        Box::pin(async move {
            let (values, rest) = inputs.split_at(self.keys.len());
            let mut keys = Keys::none(inputs[0].len());
            for (key, value) in self.keys.iter().zip(values).rev() {
                let mut planes = to_bits(value);
                let inverted = key.inverted(planes.rows());
                invert(&mut planes, turn, inverted);
                keys.push(&planes);
            }
            let mut columns = Vec::new();
            rest.iter()
                .for_each(|value| to_columns(value, &mut columns));
            let (tool, _) = turn.tool::<ReplicatedTool>()?;
            let rings = tool.rings()?;
            rings.set_depth(self.depth);
            let sorted = match self.counts(keys.rows(), keys.bits()) {
                true => rings.sort_by_digits(&keys, columns).await.map(Some),
                false => rings.sort(&keys, columns).await,
            };
            rings.set_depth(None);
            drop(keys);
            let Some(sorted) = sorted? else {
                return Err(turn.refuse(&order::bad_luck()));
            };
            let mut last = sorted.keys.bits();
            let mut results = Vec::with_capacity(inputs.len());
            for (key, value) in self.keys.iter().zip(values) {
                let bits = value.sort().element.bits();
                let mut planes = sorted.keys.planes(last - bits..last);
                invert(&mut planes, turn, key.inverted(bits));
                results.push(from_bits(&planes));
                last -= bits;
            }
            let mut columns = sorted.columns.into_iter();
            results.extend(
                rest.iter()
                    .map(|value| from_columns(value.sort(), &mut columns)),
            );
            Ok(results)
        })
    }

    fn plain(&self, inputs: &[&Shares]) -> Result<Vec<Shares>, Mismatch> {
        let sorts: Vec<Sort> = inputs.iter().map(|value| *value.sort()).collect();
        order::sorts(&self.keys, &sorts)?;
        order::plain(&self.keys, inputs)
    }
}
