//! Two layers of ANDs in one round online.
//!
//! An operand of the second layer is x = l ^ a b ^ .., where a b are ANDs of the first layer and l is there before it.
//! With the public parts of l, a and b each party has a share of x but for what is in P:
//!
//! x = P ^ Delta_a delta_b ^ Delta_b delta_a ^ .. ^ r, where P = Delta_l ^ Delta_a Delta_b ^ .. and
//! r = delta_l ^ delta_a delta_b ^ ...
//!
//! So x is P and a sum of bits that are shared in setup, r, delta_a, delta_b and so on, times public ones. The AND of
//! an operand that takes i results and of one that takes j is made of the products of 1 + 2 i with 1 + 2 j such bits,
//! of which there are shares from setup, by a triple each. Among these are the ANDs of three and four bits of ABY2.0
//! (3.1.4), with as many triples, 4 and 11 for both layers together; but here what is XORed in between costs nothing.

use madrigal_circuit::Takes;
use madrigal_core::{Zeroizing, bits};
use madrigal_kernels as kernels;

use super::{Aby2, Bits};

/// Two layers of ANDs, the second of which takes results of the first. Bits of a layer are those of its ANDs in
/// order, `lanes` lanes for each; in strings of a whole circuit they begin where it is said.
#[derive(Debug, Clone, Copy)]
pub struct TwoLayers<'a> {
    /// Results of the first layer that the second one takes.
    pub takes: &'a Takes,
    /// Lanes of each AND.
    pub lanes: usize,
    /// Number of ANDs of each layer.
    pub ands: [usize; 2],
    /// Bits of the strings of masks and of products at which each begins.
    pub at: [usize; 2],
}

/// Masks that are kept from setup of all ANDs of a circuit: our shares of the masks of their operands, as
/// [`TwoLayers::complete`] leaves them, and of the products of these with the masks of the results.
#[derive(Clone, Copy)]
pub struct Masks<'a> {
    /// Masks of the first and of the second operand.
    pub operands: [&'a [u8]; 2],
    /// Their products, XORed with the results' masks.
    pub products: &'a [u8],
}

impl TwoLayers<'_> {
    /// Setup, once the products of the first layer's masks are there: to the masks of the second layer's operands
    /// comes the product under the result that each takes. Makes r of delta_l.
    pub fn complete(&self, products: &[u8], masks: [&mut [u8]; 2]) {
        for (masks, takes) in masks.into_iter().zip(self.takes.operands()) {
            let from = takes.iter().map(|take| take.from);
            let taken = self.pick(products, self.at[0], from);
            let ands = takes.iter().map(|take| take.and);
            self.add(masks, self.at[1], ands, &taken);
        }
    }

    /// Bytes of the products that the second layer needs beside each AND's own, see [`factors`](Self::factors).
    pub fn beside_bytes(&self) -> usize {
        let of = |takes: usize| bits::bytes_for(takes * self.lanes);
        let single: usize = self
            .takes
            .operands()
            .iter()
            .map(|takes| of(takes.len()))
            .sum();
        2 * single + 4 * of(self.takes.both().len())
    }

    /// The factors of these products, of completed masks: each kind of them is a string of whole bytes.
    pub fn factors(&self, masks: [&[u8]; 2], x: &mut [u8], y: &mut [u8]) {
        let mut at = 0;
        let mut next = |one: Bits, other: Bits| {
            x[at..at + one.len()].copy_from_slice(&one);
            y[at..at + one.len()].copy_from_slice(&other);
            at += one.len();
        };
        for (operand, takes) in self.takes.operands().iter().enumerate() {
            for factor in [1, 0] {
                let from = takes.iter().map(|take| take.from);
                let ands = takes.iter().map(|take| take.and);
                next(
                    self.pick(masks[factor], self.at[0], from),
                    self.pick(masks[1 - operand], self.at[1], ands),
                );
            }
        }
        for [of_x, of_y] in [[1, 1], [1, 0], [0, 1], [0, 0]] {
            let both = || self.takes.both().iter().copied();
            next(
                self.pick(masks[of_x], self.at[0], both().map(|(_, [from, _])| from)),
                self.pick(masks[of_y], self.at[0], both().map(|(_, [_, from])| from)),
            );
        }
    }

    /// Online, our shares of the public parts of the second layer's results: `first` are the public parts of the
    /// first layer's operands, `second` those of the second one's but for the results they take, `beside` the
    /// products of [`factors`](Self::factors).
    pub fn shares(
        &self,
        aby2: &Aby2,
        first: [&[u8]; 2],
        second: [&mut [u8]; 2],
        masks: Masks<'_>,
        beside: &[u8],
        z: &mut [u8],
    ) {
        let count = self.ands[1] * self.lanes;
        let part = |string: &[u8]| {
            let mut part = empty(count);
            bits::take(string, self.at[1], &mut part, count);
            part
        };
        let mut own = masks.operands.map(part);
        let mut products = part(masks.products);
        let mut rest = beside;
        let mut next = |count: usize| {
            let (next, after) = rest.split_at(bits::bytes_for(count));
            rest = after;
            next
        };
        let [second_x, second_y] = second;
        let seconds = [&mut *second_x, &mut *second_y];
        for ((takes, own), public) in self.takes.operands().iter().zip(&mut own).zip(seconds) {
            let from = || takes.iter().map(|take| take.from);
            let ands = || takes.iter().map(|take| take.and);
            let count = takes.len() * self.lanes;
            let [a, b] = first.map(|public| self.pick(public, 0, from()));
            let [mask_a, mask_b] = masks
                .operands
                .map(|masks| self.pick(masks, self.at[0], from()));
            let mut term = empty(count);
            kernels::and(&mut term, &a, &b);
            self.add(public, 0, ands(), &term);
            two_products(&mut term, [&a, &b], [&mask_b, &mask_a]);
            self.add(own, 0, ands(), &term);
            two_products(&mut term, [&a, &b], [next(count), next(count)]);
            self.add(&mut products, 0, ands(), &term);
        }
        let both = || self.takes.both().iter().copied();
        let of_both = self.takes.both().len() * self.lanes;
        let x = first.map(|public| self.pick(public, 0, both().map(|(_, [from, _])| from)));
        let y = first.map(|public| self.pick(public, 0, both().map(|(_, [_, from])| from)));
        let [mut with_a, mut with_b, mut term] = [(); 3].map(|()| empty(of_both));
        for term in [&mut with_a, &mut with_b] {
            two_products(term, [&y[0], &y[1]], [next(of_both), next(of_both)]);
        }
        two_products(&mut term, [&x[0], &x[1]], [&with_a, &with_b]);
        self.add(&mut products, 0, both().map(|(and, _)| and), &term);
        let [x, y] = &own;
        let leads = aby2.leads();
        kernels::beaver_bits(z, x, y, &products, second_x, second_y, leads);
    }

    /// The bits of some ANDs of a layer that begins at a bit of a string, one after the other.
    fn pick(&self, string: &[u8], at: usize, ands: impl Iterator<Item = u32> + Clone) -> Bits {
        let lanes = self.lanes;
        let mut picked = empty(ands.clone().count() * lanes);
        let mut row = empty(lanes);
        for (place, and) in ands.enumerate() {
            bits::take(string, at + and as usize * lanes, &mut row, lanes);
            bits::put(&mut picked, place * lanes, &row, lanes);
        }
        picked
    }

    /// Bits that are so picked are XORed into where they come from.
    fn add(&self, string: &mut [u8], at: usize, ands: impl Iterator<Item = u32>, picked: &[u8]) {
        let lanes = self.lanes;
        let [mut row, mut sum] = [(); 2].map(|()| empty(lanes));
        for (place, and) in ands.enumerate() {
            let at = at + and as usize * lanes;
            bits::take(picked, place * lanes, &mut row, lanes);
            bits::take(string, at, &mut sum, lanes);
            kernels::xor_into(&mut sum, &row);
            bits::put(string, at, &sum, lanes);
        }
    }
}

/// A string of zeros.
fn empty(count: usize) -> Bits {
    Zeroizing::new(vec![0; bits::bytes_for(count)])
}

/// `a u ^ b v`.
fn two_products(z: &mut [u8], [a, b]: [&[u8]; 2], [u, v]: [&[u8]; 2]) {
    kernels::and(z, a, u);
    let mut other = Zeroizing::new(vec![0; z.len()]);
    kernels::and(&mut other, b, v);
    kernels::xor_into(z, &other);
}
