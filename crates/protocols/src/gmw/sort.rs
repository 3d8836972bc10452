//! Sorts of shuffled rows by comparisons that are opened ([`sorting`](crate::sorting)), between two parties.
//!
//! Keys are the lowest bits of the rows, unsigned numbers. The very lowest ones are the number of the row, which it gets before the rows are
//! shuffled, so that no two keys are alike and equal ones stay in their order. x < y is the last carry of the sum of the inverse
//! of x and y, by a ripple or the network with the fewest ANDs in the fewest rounds ([`madrigal_circuit::carry_network`]).
//!
//! | operation, n rows, keys of b bits with the row's number | rounds | sent by each |
//! |---|---|---|
//! | [`sort`](BooleanGmw::sort) | 2, and for each of the course's comparisons an adder's and 1 | a shuffle; for each comparison 2 bits for each AND of an adder of b bits, and 1 |
//! | [`place`](BooleanGmw::place), n shuffled rows | 1 | 32 bits for each row |
//!
//! A sort of 100,000 rows takes about 20 comparisons of each ([`Course`]): with keys of 64 bits 81 triples each as ripples, 190 as trees.
//!
//! # Security
//! As of the shuffle and of ANDs: what is opened are results of comparisons of rows in an order that neither party knows, or places of
//! such rows, a permutation that is uniform.

use madrigal_circuit::{CarryBit, CarryStep, Passing, carry_network};
use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::BitTriples;
use madrigal_kernels::{self as kernels, marks};
use madrigal_net::{Channel, Error, Result};

use super::table::planes;
use super::{BooleanGmw, LEADER, Shuffle, Table};
use crate::replicated::Depth;
use crate::sorting::{self, Comparing, Course, Step, Unsorted, index_bits, inverse};

impl BooleanGmw {
    /// Sorts rows by their lowest `key_bits` bits, in ascending order; of these the lowest [`index_bits`] must be zero, and hold
    /// anything afterwards. Rows that are alike in the others stay in their order. Gives nothing in the case of bad luck that [`sorting`]
    /// speaks of.
    ///
    /// # Errors
    /// [`Error`] of the network.
    ///
    /// # Panics
    /// If rows have fewer bits, or there are fewer triples than [`SortPlan`] says; as [`shuffle`](Self::shuffle).
    pub async fn sort(
        &mut self,
        by: Shuffle,
        mut table: Table,
        key_bits: usize,
        depth: Option<Depth>,
        triples: &mut BitTriples,
    ) -> Result<Option<Table>> {
        let rows = table.rows;
        let index = index_bits(rows);
        assert!(
            (index..=table.format.bits()).contains(&key_bits),
            "bits of keys"
        );
        if self.context.me() == LEADER {
            let bytes = bits::bytes_for(index);
            let each = table.bytes.chunks_exact_mut(table.format.bytes());
            for (number, row) in (0_u32..).zip(each) {
                let number = number.to_le_bytes();
                row.iter_mut()
                    .zip(&number[..bytes])
                    .for_each(|(to, byte)| *to ^= byte);
            }
        }
        let mut table = self.shuffle(by, table).await?;
        let mut shuffled = Shuffled {
            gmw: self,
            triples,
            depth,
            width: table.format.bytes(),
            bits: key_bits,
            rows: &table.bytes,
        };
        match sorting::order(&Course::new(rows), &mut shuffled).await {
            Ok(order) => table.reorder(&order),
            Err(Unsorted::Luck) => return Ok(None),
            Err(Unsorted::Failed(error)) => return Err(error),
        }
        Ok(Some(table))
    }
}

impl BooleanGmw {
    /// Puts each row at the place that a number of 32 bits of its says, and tells all places to both parties: the rows must have been
    /// [shuffled](Self::shuffle) together with them. One round, 4 bytes for each row sent by each.
    ///
    /// # Errors
    /// [`Error`] of the network, and places of which two are alike.
    ///
    /// # Panics
    /// If there is no such number, or there are more or fewer than two parties.
    pub async fn place(&mut self, table: &mut Table, at: RowPlace) -> Result<()> {
        let own = match at {
            RowPlace::Number(number) => table.number::<u32>(number),
            RowPlace::LowestBits => table.lowest_words(),
        };
        if own.is_empty() {
            return Ok(());
        }
        let mut message: Vec<u8> = own.iter().flat_map(|place| place.to_le_bytes()).collect();
        // The sum of both messages is told, and nothing else.
        marks::public(&mut message[..]);
        let expected = message.len();
        let [channel] = &mut self.channels[..] else {
            panic!("two parties place rows")
        };
        let Channel { tx, rx } = channel;
        let theirs = madrigal_net::exchange_one(tx, message, rx, expected).await?;
        let (theirs, _) = theirs.as_chunks::<4>();
        let both = own.iter().zip(theirs);
        let mut places: Vec<u32> = both
            .map(|(own, theirs)| match (at, u32::from_le_bytes(*theirs)) {
                (RowPlace::Number(_), theirs) => own.wrapping_add(theirs),
                (RowPlace::LowestBits, theirs) => own ^ theirs,
            })
            .collect();
        marks::public(&mut places[..]);
        let Some(order) = inverse(&places) else {
            return Err(channel.refuse("two rows with the same place, or one beyond the last"));
        };
        table.reorder(&order);
        Ok(())
    }
}

/// The part of a row that says where it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowPlace {
    /// The number of 32 bits that stands there among the row's numbers.
    Number(usize),
    /// The row's lowest 32 bits.
    LowestBits,
}

/// Declared ANDs and openings of a sort, but for its shuffle.
#[derive(Debug)]
pub struct SortPlan {
    steps: Vec<(Comparisons, usize)>,
}

/// Comparisons that are done side by side.
#[derive(Debug)]
struct Comparisons {
    count: usize,
    ands: Vec<usize>,
}

impl SortPlan {
    /// Makes the plan for a number of rows with keys of this many bits, the row's number among them.
    pub fn new(rows: usize, key_bits: usize, depth: Option<Depth>) -> Self {
        let of = |step| {
            let (count, times) = match step {
                Step::Pairs(count) => (count, 1),
                Step::Tree { rows, depth } => (rows, depth),
            };
            let adder = Adder::new(key_bits, depth.unwrap_or(Depth::of_batch(count)));
            let ands = adder.layers.iter().map(Vec::len).collect();
            (Comparisons { count, ands }, times)
        };
        let course = Course::new(rows);
        Self {
            steps: course.steps().map(of).collect(),
        }
    }

    /// Triples in all.
    pub fn triples(&self) -> usize {
        let of = |(step, times): &(Comparisons, usize)| {
            times * 8 * bits::bytes_for(step.count) * step.ands.iter().sum::<usize>()
        };
        self.steps.iter().map(of).sum()
    }

    /// Openings to both parties: for each group of them, which follow each other, how often it is gone through, and the bytes of each.
    pub fn openings(&self) -> impl Iterator<Item = (usize, Vec<u64>)> {
        self.steps.iter().map(|(step, times)| {
            let stride = bits::bytes_for(step.count) as u64;
            let ands = step.ands.iter().map(|&ands| 2 * ands as u64 * stride);
            (*times, ands.chain([stride]).collect())
        })
    }

    /// Bytes of rows that are read and written in comparisons, for estimates of time.
    pub fn touched(&self) -> u64 {
        let of = |(step, times): &(Comparisons, usize)| {
            // Rows of operands, triple, result, and of what is opened for each party.
            (times * 20 * step.ands.iter().sum::<usize>() * bits::bytes_for(step.count)) as u64
        };
        self.steps.iter().map(of).sum()
    }
}

/// ANDs for the last carry of a sum.
struct Adder {
    steps: Vec<CarryStep>,
    /// Numbers of the steps of each layer.
    layers: Vec<Vec<usize>>,
    /// The step that makes the carry.
    carry: usize,
}

impl Adder {
    /// Makes the adder of numbers of this many bits.
    fn new(bits: usize, depth: Depth) -> Self {
        let (steps, carry) = match depth {
            Depth::Ripple => {
                let step = |bit: usize| CarryStep {
                    layer: bit as u32,
                    makes: CarryBit::Majority(bit, bit.checked_sub(1)),
                };
                ((0..bits).map(step).collect(), bits - 1)
            }
            Depth::Tree => {
                let network = carry_network(&[bits]);
                (network.steps.clone(), network.carries[0])
            }
        };
        let mut layers: Vec<Vec<usize>> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let layer = step.layer as usize;
            layers.resize_with(layers.len().max(layer + 1), Vec::new);
            layers[layer].push(number);
        }
        Self {
            steps,
            layers,
            carry,
        }
    }
}

/// Rows in an order that nobody knows.
struct Shuffled<'a> {
    gmw: &'a mut BooleanGmw,
    triples: &'a mut BitTriples,
    depth: Option<Depth>,
    /// Bytes of a row.
    width: usize,
    /// Bits of a key.
    bits: usize,
    rows: &'a [u8],
}

impl Shuffled<'_> {
    /// Planes of the keys of rows.
    fn keys(&self, rows: impl ExactSizeIterator<Item = u32>) -> Zeroizing<Vec<u8>> {
        let (count, bytes) = (rows.len(), bits::bytes_for(self.bits));
        let mut keys = Zeroizing::zeros(count * bytes);
        for (key, row) in keys.chunks_exact_mut(bytes).zip(rows) {
            key.copy_from_slice(&self.rows[row as usize * self.width..][..bytes]);
        }
        planes(&keys, bytes, count, self.bits)
    }

    /// Planes of the keys of rows, inverted.
    fn inverted(&self, rows: impl ExactSizeIterator<Item = u32>) -> Zeroizing<Vec<u8>> {
        let mut planes = self.keys(rows);
        if self.gmw.context.me() == LEADER {
            kernels::not_into(&mut planes);
        }
        planes
    }

    /// Opens the last carries of sums of `count` numbers each, of which these are planes.
    async fn carries(
        &mut self,
        adder: &Adder,
        x: &[u8],
        y: &[u8],
        count: usize,
    ) -> Result<Vec<u8>> {
        let stride = bits::bytes_for(count);
        let mut t = Zeroizing::new(x.to_vec());
        kernels::xor_into(&mut t, y);
        let range = |bit: usize| bit * stride..(bit + 1) * stride;
        let mut made: Vec<Zeroizing<Vec<u8>>> = Vec::new();
        made.resize_with(adder.steps.len(), Zeroizing::default);
        for layer in &adder.layers {
            let bytes = layer.len() * stride;
            let [mut left, mut right, mut products] = [(); 3].map(|()| Zeroizing::zeros(bytes));
            let operands = left
                .chunks_exact_mut(stride)
                .zip(right.chunks_exact_mut(stride));
            for (&number, (left, right)) in layer.iter().zip(operands) {
                let passing = |passes| match passes {
                    Passing::Bit(bit) => &t[range(bit)],
                    Passing::Step(step) => &made[step][..],
                };
                match adder.steps[number].makes {
                    CarryBit::Own(bit) | CarryBit::Majority(bit, None) => {
                        left.copy_from_slice(&x[range(bit)]);
                        right.copy_from_slice(&y[range(bit)]);
                    }
                    CarryBit::Majority(bit, Some(below)) => {
                        left.copy_from_slice(&t[range(bit)]);
                        kernels::xor(right, &y[range(bit)], &made[below]);
                    }
                    CarryBit::Carry { passes, below, .. } => {
                        left.copy_from_slice(passing(passes));
                        right.copy_from_slice(&made[below]);
                    }
                    CarryBit::Passing(upper, lower) => {
                        left.copy_from_slice(passing(upper));
                        right.copy_from_slice(passing(lower));
                    }
                }
            }
            let (gmw, triples) = (&mut *self.gmw, &mut *self.triples);
            gmw.and(triples, &left, &right, 8 * bytes, &mut products)
                .await?;
            for (&number, product) in layer.iter().zip(products.chunks_exact(stride)) {
                let mut product = Zeroizing::new(product.to_vec());
                match adder.steps[number].makes {
                    CarryBit::Majority(bit, Some(_)) => {
                        kernels::xor_into(&mut product, &y[range(bit)])
                    }
                    CarryBit::Carry { own, .. } => kernels::xor_into(&mut product, &made[own]),
                    _ => {}
                }
                made[number] = product;
            }
        }
        let both = [0, 1].map(Party::new);
        let opened = self.gmw.open(&made[adder.carry], count, &both).await?;
        Ok(opened.expect("opened to both").to_vec())
    }

    fn adder(&self, count: usize) -> Adder {
        Adder::new(self.bits, self.depth.unwrap_or(Depth::of_batch(count)))
    }
}

impl Comparing for Shuffled<'_> {
    type Error = Error;

    async fn before(&mut self, left: &[u32], right: &[u32]) -> Result<Vec<u8>> {
        let adder = self.adder(left.len());
        let x = self.inverted(left.iter().copied());
        let y = self.keys(right.iter().copied());
        self.carries(&adder, &x, &y, left.len()).await
    }

    async fn places(&mut self, first: usize, count: usize, tree: &[u32]) -> Result<Vec<u32>> {
        let adder = self.adder(count);
        let x = self.inverted(first as u32..(first + count) as u32);
        let mut places = vec![0_u32; count];
        for step in (0..(tree.len() + 1).ilog2()).rev() {
            let half = 1 << step;
            let nodes = places.iter().map(|place| tree[(place + half - 1) as usize]);
            let y = self.keys(nodes);
            let before = self.carries(&adder, &x, &y, count).await?;
            for (i, place) in places.iter_mut().enumerate() {
                let after = 1 ^ (before[i / 8] >> (i % 8) & 1);
                *place += u32::from(after) << step;
            }
        }
        Ok(places)
    }
}
