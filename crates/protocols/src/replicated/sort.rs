//! Sorts of shuffled rows by comparisons that are opened ([`sorting`](crate::sorting)), or by keys of few bits without any
//! (`counting.rs`).
//!
//! Keys are unsigned numbers of any number of bits, shared bit by bit. Each gets the number of its row as lowest bits before the rows
//! are shuffled, so that no two are alike and equal ones stay in their order. x < y is the last carry of the sum of the inverse of x
//! and y.
//!
//! | operation, n rows, keys of b bits | rounds | sent by each |
//! |---|---|---|
//! | [`sort`](ReplicatedRings::sort), b > [`COUNTED`] | 2, and for each of the course's comparisons an adder's and 1 | a shuffle of keys and columns; an adder of b + log2 n bits and a bit for each comparison |
//!
//! A million rows take about 20 comparisons each ([`Course`]), as ripples of 84 bits for keys of 64: 215 bytes.

use std::ops::Range;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_kernels as kernels;
use madrigal_net::{Error, Result};

use super::carries::{Addends, ComponentRows, Second};
use super::counting::COUNTED;
use super::keys::{Keys, LIMB, Sorted};
use super::rings::blocks_of;
use super::shuffle::{gather, gather_into};
use super::{
    BitShares, Column, Depth, Masking, PARTIES, ReplicatedBits, ReplicatedRings, RingShares,
};
use crate::sorting::{self, Comparing, Course, Unsorted, index_bits};

/// Rows of bits of two numbers that are compared, and words that they are made of: memory of one block. Wiped when dropped.
struct Pair {
    x: [Zeroizing<Vec<u8>>; 2],
    y: [Zeroizing<Vec<u8>>; 2],
    words: Zeroizing<Vec<u64>>,
    bits: usize,
}

impl Pair {
    fn new(bits: usize, count: usize) -> Self {
        let planes = || Zeroizing::zeros(bits * bits::bytes_for(count));
        Self {
            x: [planes(), planes()],
            y: [planes(), planes()],
            words: Zeroizing::zeros(count),
            bits,
        }
    }

    fn set_x<'a>(&mut self, keys: &'a Keys, words: impl Fn(&'a [u64], &mut [u64])) {
        for (part, planes) in self.x.iter_mut().enumerate() {
            keys.rows_into(part, &words, &mut self.words, planes);
        }
    }

    fn set_y<'a>(&mut self, keys: &'a Keys, words: impl Fn(&'a [u64], &mut [u64])) {
        for (part, planes) in self.y.iter_mut().enumerate() {
            keys.rows_into(part, &words, &mut self.words, planes);
        }
    }
}

/// Comparisons that go through an adder together: enough that a row of them is worth a message.
const COMPARED: usize = 1 << 16;

/// Comparisons that do so where rounds count: blocks beyond those that go side by side wait for each other.
const COMPARED_AT_ONCE: usize = 1 << 17;

/// Blocks of `count` comparisons.
pub(super) fn compared(count: usize, depth: Option<Depth>) -> impl Iterator<Item = Range<usize>> {
    let each = match depth {
        Some(Depth::Tree) => COMPARED_AT_ONCE,
        _ => COMPARED,
    };
    blocks_of(count, each)
}

impl ReplicatedRings {
    /// Sorts rows by their keys, in ascending order; rows with equal keys stay in their order. Keys of up to [`COUNTED`] bits are
    /// not compared. Gives nothing in the case of bad luck that [`sorting`] speaks of.
    ///
    /// # Errors
    /// [`Error`] of the network.
    ///
    /// # Panics
    /// If columns and keys differ in their number of rows, or there are 2^32 rows or more.
    pub async fn sort(&mut self, keys: &Keys, columns: Vec<Column>) -> Result<Option<Sorted>> {
        let rows = keys.rows();
        match keys.bits() {
            // All keys are equal.
            0 => {
                let keys = keys.clone();
                return Ok(Some(Sorted { keys, columns }));
            }
            1..=COUNTED => return self.sort_by_digits(keys, columns).await.map(Some),
            _ => {}
        }
        let shuffle = self.draw_shuffle(rows);
        let numbered = keys.numbered(self.me());
        let (bits, limbs) = (numbered.bits, numbered.limbs.len());
        let all = numbered
            .limbs
            .into_iter()
            .map(|limb| Column::from((Masking::Bits, limb)));
        let mut columns = self.shuffle(&shuffle, all.chain(columns).collect()).await?;
        drop(shuffle);
        let rest = columns.split_off(limbs);
        let limbs = columns.into_iter().map(|column| match column {
            Column::U64(_, limb) => limb,
            other => unreachable!("{other:?} is no limb"),
        });
        let mut numbered = Keys {
            limbs: limbs.collect(),
            bits,
        };
        let Some(order) = self.order(&numbered).await? else {
            return Ok(None);
        };
        let mut columns = rest;
        columns.iter_mut().for_each(|column| column.reorder(&order));
        for limb in &mut numbered.limbs {
            for part in &mut limb.components {
                *part = gather(part, &order);
            }
        }
        let mut keys = Keys::none(rows);
        let first = index_bits(rows);
        let mut done = first;
        while done < bits {
            let now = (bits - done).min(LIMB);
            keys.push(&numbered.planes(done..done + now));
            done += now;
        }
        Ok(Some(Sorted { keys, columns }))
    }

    /// Finds the order of rows whose keys are all different, and tells it to all parties: the rows must have been
    /// [shuffled](Self::shuffle). Gives the rows' numbers in order, or nothing in the case of bad luck.
    ///
    /// # Errors
    /// [`Error`] of the network.
    pub async fn order(&mut self, keys: &Keys) -> Result<Option<Vec<u32>>> {
        let course = Course::new(keys.rows());
        let mut rows = Shuffled { rings: self, keys };
        match sorting::order(&course, &mut rows).await {
            Ok(order) => Ok(Some(order)),
            Err(Unsorted::Luck) => Ok(None),
            Err(Unsorted::Failed(error)) => Err(error),
        }
    }
}

/// Rows in an order that nobody knows.
struct Shuffled<'a> {
    rings: &'a mut ReplicatedRings,
    keys: &'a Keys,
}

impl Comparing for Shuffled<'_> {
    type Error = Error;

    async fn before(&mut self, left: &[u32], right: &[u32]) -> Result<Vec<u8>> {
        let keys = self.keys;
        let depth = self.rings.depth_of(left.len());
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>| {
            let mut pair = Pair::new(keys.bits, block.len());
            pair.set_x(keys, |from, to| gather_into(from, &left[block.clone()], to));
            pair.set_y(keys, |from, to| {
                gather_into(from, &right[block.clone()], to)
            });
            strand.invert(&mut pair.x);
            strand.less(&mut pair, depth).await
        };
        let blocks = compared(left.len(), self.rings.depth);
        let done = self.rings.in_these(blocks, work).await?;
        let mut found = vec![0; bits::bytes_for(left.len())];
        for (block, bits) in done {
            found[block.start / 8..][..bits.len()].copy_from_slice(&bits);
        }
        Ok(found)
    }

    async fn places(&mut self, first: usize, count: usize, tree: &[u32]) -> Result<Vec<u32>> {
        let keys = self.keys;
        let steps = (tree.len() + 1).ilog2();
        let limbs = keys.limbs.iter().map(|limb| RingShares {
            components: limb.components.each_ref().map(|part| gather(part, tree)),
        });
        let nodes = Keys {
            limbs: limbs.collect(),
            bits: keys.bits,
        };
        let depth = self.rings.depth_of(count);
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>| {
            let count = block.len();
            let rows = first + block.start..first + block.end;
            let mut pair = Pair::new(keys.bits, count);
            pair.set_x(keys, |from, to| to.copy_from_slice(&from[rows.clone()]));
            strand.invert(&mut pair.x);
            let mut places = vec![0_u32; count];
            let mut at = places.clone();
            for step in (0..steps).rev() {
                let half = 1 << step;
                let nodes_at = at.iter_mut().zip(&places);
                nodes_at.for_each(|(at, place)| *at = place + half - 1);
                pair.set_y(&nodes, |from, to| gather_into(from, &at, to));
                let before = strand.less(&mut pair, depth).await?;
                for (i, place) in places.iter_mut().enumerate() {
                    let after = 1 ^ (before[i / 8] >> (i % 8) & 1);
                    *place += u32::from(after) << step;
                }
            }
            Ok(places)
        };
        let blocks = compared(count, self.rings.depth);
        let done = self.rings.in_these(blocks, work).await?;
        let mut places = vec![0; count];
        for (block, part) in done {
            places[block].copy_from_slice(&part);
        }
        Ok(places)
    }
}

impl ReplicatedBits {
    /// Inverts rows of shared bits.
    fn invert(&self, rows: &mut [Zeroizing<Vec<u8>>; 2]) {
        for (part, leads) in rows.iter_mut().zip(super::leads(self.context.me())) {
            if leads {
                kernels::not_into(part);
            }
        }
    }

    /// Opens whether x < y: the last carry of the sum of x, inverted, and y. What was y is something else then.
    async fn less(&mut self, pair: &mut Pair, depth: Depth) -> Result<Zeroizing<Vec<u8>>> {
        let count = pair.words.len();
        let [mut t, x] = [&mut pair.y, &mut pair.x].map(std::mem::take);
        for (t, x) in t.iter_mut().zip(&x) {
            kernels::xor_into(t, x);
        }
        let addends = Addends {
            t: t.map(ComponentRows::Own),
            a: Second::Rows(BitShares {
                components: x,
                rows: pair.bits,
                count,
            }),
            count,
        };
        let carry = self.carries(&addends, &[pair.bits], depth).await?;
        if let Second::Rows(x) = addends.a {
            pair.x = x.components;
        }
        pair.y = addends.t.map(|t| match t {
            ComponentRows::Own(t) => t,
            ComponentRows::Message(t) => Zeroizing::from(t.to_vec()),
        });
        let all: Vec<Party> = Party::all(PARTIES).collect();
        let opened = self.open_rows(&carry, &all).await?;
        Ok(opened.expect("opened to all"))
    }
}
