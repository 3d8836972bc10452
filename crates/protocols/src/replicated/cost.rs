//! Cost of a program of ring operations for one party.

use std::ops::Range;

use madrigal_core::{Party, PhaseCost, Ring, bits};

use madrigal_correlations::Width;

use super::carries::and_rows;
use super::counting::{self, COUNTED};
use super::flow::PIECE;
use super::rings::blocks;
use super::sort::compared;
use super::{Depth, PARTIES, Product, ReplicatedBits, next, previous};
use crate::Rounds;
use crate::permutations::permutation_blocks;
use crate::sorting::{Course, Step, index_bits};

/// Declared cost: call the same operations as on [`ReplicatedRings`](super::ReplicatedRings), in the
/// same order, and ask for the [`total`](Self::total).
#[derive(Clone, Debug)]
pub struct Tally {
    me: Party,
    cost: PhaseCost,
    clock: Rounds,
    depth: Option<Depth>,
}

impl Tally {
    /// Nothing yet, for party `me`.
    pub fn new(me: Party) -> Self {
        Self {
            me,
            cost: PhaseCost::default(),
            clock: Rounds::new(PARTIES),
            depth: None,
        }
    }

    /// Starts a bill after what `clock` has counted.
    pub fn after(me: Party, clock: Rounds) -> Self {
        Self {
            clock,
            ..Self::new(me)
        }
    }

    /// The count of rounds, of all parties.
    pub fn clock(&self) -> &Rounds {
        &self.clock
    }

    /// Cost of party `me` in all.
    pub fn total(&self) -> PhaseCost {
        PhaseCost {
            rounds: self.clock.of(self.me),
            ..self.cost
        }
    }

    /// Sets the depth as [`ReplicatedRings::set_depth`](super::ReplicatedRings::set_depth) does.
    pub fn set_depth(&mut self, depth: Option<Depth>) {
        self.depth = depth;
    }

    /// Messages from and to, in pieces; all in one round.
    fn exchange(&mut self, messages: &[(Party, Party, usize)]) {
        let messages = messages.iter().filter(|(.., bytes)| *bytes > 0);
        let mut pairs = Vec::new();
        for &(from, to, bytes) in messages {
            pairs.push((from, to));
            if from == self.me {
                self.cost.bytes_sent += bytes as u64;
                self.cost.messages += bytes.div_ceil(PIECE) as u64;
            }
            if to == self.me {
                self.cost.bytes_received += bytes as u64;
            }
        }
        self.clock.exchange(&pairs);
    }

    fn aes(&mut self, parties: &[Party], bytes: usize) {
        let times = parties.iter().filter(|&&party| party == self.me).count();
        self.cost.aes_blocks += times as u64 * bytes.div_ceil(16) as u64;
    }

    /// Work that runs beside what follows: takes its cost now and gives its rounds back.
    fn beside(&mut self, work: impl FnOnce(&mut Self)) -> Rounds {
        let clock = self.clock.clone();
        work(self);
        std::mem::replace(&mut self.clock, clock)
    }

    /// Inputs of the parties, `counts[p]` elements of party p's.
    pub fn share<T: Ring>(&mut self, counts: [usize; PARTIES]) {
        let mut messages = Vec::new();
        for owner in Party::all(PARTIES) {
            let bytes = counts[owner.index()] * T::BYTES;
            self.aes(&[owner, previous(owner)], bytes);
            messages.push((owner, next(owner), bytes));
        }
        self.exchange(&messages);
    }

    /// An opening of elements.
    pub fn open<T: Ring>(&mut self, count: usize, to: &[Party]) {
        let each = |&to: &Party| (previous(to), to, count * T::BYTES);
        self.exchange(&to.iter().map(each).collect::<Vec<_>>());
    }

    /// An opening of rows of bits.
    pub fn open_bits(&mut self, rows: usize, count: usize, to: &[Party]) {
        let bits = 8 * rows * bits::bytes_for(count);
        self.cost += ReplicatedBits::open_cost(self.me, bits, to);
        ReplicatedBits::open_rounds(&mut self.clock, to);
    }

    /// Products, or squares, of this many elements; or this many outputs of dot products.
    pub fn mul<T: Ring>(&mut self, count: usize) {
        let bytes = count * T::BYTES;
        self.cost.aes_blocks += 2 * bytes.div_ceil(16) as u64;
        let each = Party::all(PARTIES).map(|party| (party, previous(party), bytes));
        self.exchange(&each.collect::<Vec<_>>());
    }

    /// Products of matrices, or convolutions.
    pub fn products<T: Ring>(&mut self, product: &Product) {
        self.mul::<T>(product.lengths()[2]);
    }

    /// Signs, or comparisons of elements whose difference does not overflow.
    pub fn negative<T: Ring>(&mut self, count: usize) {
        self.in_blocks(count, T::BITS, |tally, block, depth| {
            tally.split(T::BITS, block);
            tally.carries(&[T::BITS - 1], block, depth);
        });
    }

    /// Comparisons of any elements, signed or unsigned.
    pub fn less_than<T: Ring>(&mut self, count: usize) {
        self.negative::<T>(3 * count);
        self.and(1, count);
    }

    /// Tests for zero, or of equality.
    pub fn is_zero<T: Ring>(&mut self, count: usize) {
        self.in_blocks(count, T::BITS, |tally, block, _| {
            tally.split(T::BITS, block);
            let mut rows = T::BITS / 2;
            while rows > 0 {
                tally.and(rows, block);
                rows /= 2;
            }
        });
    }

    /// All bits of elements.
    pub fn decompose<T: Ring>(&mut self, count: usize) {
        let targets: Vec<usize> = (1..T::BITS).collect();
        self.in_blocks(count, T::BITS, |tally, block, depth| {
            tally.split(T::BITS, block);
            tally.carries(&targets, block, depth);
        });
    }

    /// Elements from their bits.
    pub fn compose<T: Ring>(&mut self, count: usize) {
        let targets: Vec<usize> = (1..T::BITS).collect();
        self.in_blocks(count, T::BITS, |tally, block, depth| {
            tally.aes(&[Party::new(1), Party::new(2)], block * T::BYTES);
            tally.carries(&targets, block, depth);
            tally.open_bits(T::BITS, block, &[Party::new(0)]);
            tally.share::<T>([block, 0, 0]);
        });
    }

    /// Rows of bits as elements.
    pub fn inject<T: Ring>(&mut self, rows: usize, count: usize) {
        if rows > 0 {
            self.in_blocks(count, rows * T::BITS, |tally, block, _| {
                tally.share::<T>([rows * block, 0, 0]);
                tally.sum_of_two::<T>(1, rows * block);
            });
        }
    }

    /// Bits times elements, or selections by bits.
    pub fn bit_times<T: Ring>(&mut self, count: usize) {
        self.in_blocks(count, 2 * T::BITS, |tally, block, _| {
            tally.share::<T>([2 * block, 0, 0]);
            tally.sum_of_two::<T>(1, block);
        });
    }

    /// Exact truncations of any numbers by `by` bits.
    pub fn truncate<T: Ring>(&mut self, count: usize, by: usize) {
        self.divide::<T>(count, by, &[by, T::BITS]);
    }

    /// Exact truncations of near numbers by `by` bits.
    pub fn truncate_near<T: Ring>(&mut self, count: usize, by: usize) {
        self.divide::<T>(count, by, &[by]);
    }

    fn divide<T: Ring>(&mut self, count: usize, by: usize, targets: &[usize]) {
        if by == 0 {
            return;
        }
        self.in_blocks(count, T::BITS, |tally, block, depth| {
            tally.split(targets[targets.len() - 1], block);
            tally.carries(targets, block, depth);
            tally.share::<T>([3 * block, 0, 0]);
            tally.sum_of_two::<T>(1, block);
        });
    }

    /// Probabilistic truncations.
    pub fn truncate_probabilistic<T: Ring>(&mut self, count: usize) {
        self.aes(&[0, 1].map(Party::new), count * T::BYTES);
        self.sum_of_two::<T>(0, count);
    }

    /// Fresh shares of what P_left and the party after it have a part of.
    fn sum_of_two<T: Ring>(&mut self, left: usize, count: usize) {
        let left = Party::new(left);
        let (right, third) = (next(left), previous(left));
        let bytes = count * T::BYTES;
        self.aes(&[left, right, third, third], bytes);
        self.exchange(&[(left, right, bytes), (right, left, bytes)]);
    }

    /// Uniform elements.
    pub fn random<T: Ring>(&mut self, count: usize) {
        self.cost.aes_blocks += 2 * (count * T::BYTES).div_ceil(16) as u64;
    }

    /// Rows of uniform bits.
    pub fn random_bit_rows(&mut self, rows: usize, count: usize) {
        self.random::<u8>(rows * bits::bytes_for(count));
    }

    /// Uniform bits as elements.
    pub fn random_bits<T: Ring>(&mut self, count: usize) {
        self.random_bit_rows(1, count);
        self.inject::<T>(1, count);
    }

    /// Permutations of a shuffle of this many rows.
    pub fn draw_shuffle(&mut self, rows: usize) {
        // Each pair draws one.
        self.cost.aes_blocks += 2 * permutation_blocks(rows);
    }

    /// A shuffle of columns with elements of these widths.
    pub fn shuffle(&mut self, columns: impl IntoIterator<Item = Width>, rows: usize) {
        let [first, second, third] = [0, 1, 2].map(Party::new);
        let mut all = self.clock.clone();
        for width in columns {
            let bytes = rows * width.bits() / 8;
            all.join(&self.beside(|tally| {
                tally.aes(&[first, second, second, third], bytes);
                tally.aes(&[third, first, third, first], bytes);
                tally.exchange(&[(first, third, bytes), (second, first, bytes)]);
                tally.exchange(&[(first, second, bytes), (third, second, bytes)]);
            }));
        }
        self.clock = all;
    }

    /// The order of rows by keys of `bits` bits that are all different.
    pub fn order(&mut self, rows: usize, bits: usize) {
        let all: Vec<Party> = Party::all(PARTIES).collect();
        for step in Course::new(rows).steps() {
            let (count, times) = match step {
                Step::Pairs(count) => (count, 1),
                Step::Tree { rows, depth } => (rows, depth),
            };
            let blocks = compared(count, self.depth);
            self.in_these(count, blocks, |tally, block, depth| {
                for _ in 0..times {
                    tally.carries(&[bits], block, depth);
                    tally.open_bits(1, block, &all);
                }
            });
        }
    }

    /// The places of rows in the order of keys of `bits` bits, few.
    pub fn places(&mut self, rows: usize, bits: usize) {
        let values = counting::values(bits);
        let blocks = counting::blocks(rows, values, self.depth);
        self.in_these(rows, blocks, |tally, block, _| {
            for ands in counting::and_layers(bits) {
                tally.and(ands, block);
            }
            tally.share::<u32>([values * block, 0, 0]);
            tally.sum_of_two::<u32>(1, values * block);
        });
        self.mul::<u32>(rows);
    }

    /// Rows put at secret places, with columns of elements of these widths.
    pub fn place(&mut self, columns: impl IntoIterator<Item = Width>, rows: usize) {
        self.draw_shuffle(rows);
        self.shuffle(std::iter::once(Width::W32).chain(columns), rows);
        let all: Vec<Party> = Party::all(PARTIES).collect();
        self.open::<u32>(rows, &all);
    }

    /// A sort of rows by keys of `bits` bits, digit by digit, with columns of elements of these widths.
    pub fn sort_by_digits(&mut self, rows: usize, bits: usize, columns: &[Width]) {
        for digit in counting::digits(bits) {
            self.places(rows, digit.len());
            let keys = std::iter::once(counting::key_width(bits));
            self.place(keys.chain(columns.iter().copied()), rows);
        }
    }

    /// A sort of rows by keys of `bits` bits, with columns of elements of these widths.
    pub fn sort(&mut self, rows: usize, bits: usize, columns: &[Width]) {
        if bits == 0 {
            return;
        }
        if bits <= COUNTED {
            return self.sort_by_digits(rows, bits, columns);
        }
        let bits = bits + index_bits(rows);
        let limbs = std::iter::repeat_n(Width::W64, bits.div_ceil(64));
        self.draw_shuffle(rows);
        self.shuffle(limbs.chain(columns.iter().copied()), rows);
        self.order(rows, bits);
    }

    fn in_blocks(&mut self, count: usize, width: usize, work: impl Fn(&mut Self, usize, Depth)) {
        self.in_these(count, blocks(count, width), work);
    }

    fn in_these(
        &mut self,
        count: usize,
        blocks: impl Iterator<Item = Range<usize>>,
        work: impl Fn(&mut Self, usize, Depth),
    ) {
        let depth = self.depth.unwrap_or(Depth::of_batch(count));
        let mut all = self.clock.clone();
        for block in blocks {
            all.join(&self.beside(|tally| work(tally, block.len(), depth)));
        }
        self.clock = all;
    }

    fn split(&mut self, width: usize, count: usize) {
        let bytes = width * bits::bytes_for(count);
        let [first, second, third] = [0, 1, 2].map(Party::new);
        self.aes(&[first, third], bytes);
        let messages = u64::from(self.me == first);
        self.cost.messages += messages;
        self.cost.bytes_sent += messages * bytes as u64;
        self.cost.bytes_received += u64::from(self.me == second) * bytes as u64;
        self.clock.exchange(&[(first, second)]);
    }

    fn carries(&mut self, targets: &[usize], count: usize, depth: Depth) {
        for rows in and_rows(targets, depth) {
            self.and(rows, 8 * bits::bytes_for(count));
        }
    }

    fn and(&mut self, rows: usize, count: usize) {
        if count > 0 {
            self.cost += ReplicatedBits::and_cost(8 * rows * bits::bytes_for(count));
            ReplicatedBits::and_rounds(&mut self.clock);
        }
    }
}
