//! Shares of products of ring elements that two parties hold, between all pairs of parties, from
//! oblivious transfer: what ring triples and square pairs are made of.
//!
//! A product mod 2^w takes w OTs and w (w + 1) / 2 bits of corrections ([`crate::gilboa`]): one message
//! from the receiver, then one from the sender.
//!
//! Where the extension gives random choices (silent), they *are* the receiver's factor between two
//! parties, as they are for Boolean triples ([`crate::ot_triples`]): only the sender speaks, a round
//! trip earlier. Further parties need OTs with the same factor, so that their choices are given.

use std::ops::Range;

use madrigal_core::{Party, Ring, bits};
use madrigal_kernels::{Block, Stretch};
use madrigal_ot::{OtError, softspoken::CHUNK};

use crate::elements::random_blocks;
use crate::extension::Batch;
use crate::gilboa::{self, Word, correction_bits};
use crate::layout::{Layout, Parts, parts};
use crate::links::{Answer, Ask, Call};
use madrigal_core::packing::{BitReader, BitWriter};

/// Which products x_i y_j of parties i and j a call makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pattern {
    /// x_i y_j and x_j y_i.
    Both,
    /// One of the two, for x = y. Of each part, the party with the lower number sends the OTs of
    /// the first half, the other one those of the second, so that both have the same work.
    Once,
}

/// The products of one call.
#[derive(Clone, Copy)]
pub(crate) struct ProductLayout {
    pub(crate) parties: usize,
    pub(crate) width: usize,
    pub(crate) pattern: Pattern,
    pub(crate) count: usize,
}

impl ProductLayout {
    /// Of some items, those for which `sender` sends OTs to `receiver`.
    fn sent(self, sender: Party, receiver: Party, items: &Range<usize>) -> Range<usize> {
        let middle = items.start + items.len().div_ceil(2);
        match self.pattern {
            Pattern::Both => items.clone(),
            Pattern::Once if sender < receiver => items.start..middle,
            Pattern::Once => middle..items.end,
        }
    }

    fn correction_bits(self, items: &Range<usize>) -> usize {
        items.len() * correction_bits(self.width)
    }
}

impl Layout for ProductLayout {
    fn parts(&self) -> Box<dyn Parts> {
        let one_way = CHUNK / self.width;
        let size = match self.pattern {
            Pattern::Both => one_way,
            Pattern::Once => 2 * one_way,
        };
        parts(self.count, size)
    }

    /// The factors, as elements of the smallest ring that they fit.
    fn drawn(&self) -> u64 {
        let bytes = self.width.next_power_of_two().max(8) / 8;
        match self.pattern {
            Pattern::Both => 2 * random_blocks(self.count, bytes),
            Pattern::Once => random_blocks(self.count, bytes),
        }
    }

    fn batch(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Batch {
        Batch {
            ots: self.sent(sender, receiver, items).len() * self.width,
            unit: self.width,
            free: self.parties == 2,
        }
    }

    fn corrections(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<usize> {
        let sent = self.sent(sender, receiver, items);
        (!sent.is_empty()).then(|| bits::bytes_for(self.correction_bits(&sent)))
    }
}

/// Adds to `z` this party's shares of the products of `x` and `y` mod 2^width that the pattern names,
/// item by item and summed over all pairs of parties. Bits of `z` above the width become arbitrary.
///
/// `x` and `y` come with random elements. Where the extension chooses, the lowest `width` bits of the `x` that
/// we receive OTs for are what it chose.
pub(crate) struct Products<'a, T> {
    pub(crate) me: Party,
    pub(crate) parties: usize,
    pub(crate) width: usize,
    pub(crate) pattern: Pattern,
    pub(crate) x: &'a mut [T],
    /// `None` where it is `x`.
    pub(crate) y: Option<&'a [T]>,
    pub(crate) z: &'a mut [T],
}

impl<T> Products<'_, T> {
    fn shape(&self) -> ProductLayout {
        ProductLayout {
            parties: self.parties,
            width: self.width,
            pattern: self.pattern,
            count: self.x.len(),
        }
    }
}

impl<T: Ring> Call for Products<'_, T> {
    fn layout(&self) -> Box<dyn Layout> {
        Box::new(self.shape())
    }

    /// Our choices are the bits of x.
    fn ask(&mut self, peer: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError> {
        let width = self.width;
        let items = self.shape().sent(peer, self.me, items);
        let (x, z) = (&mut self.x[items.clone()], &mut self.z[items]);
        let place = |ots: Range<usize>| ots.start / width..ots.end / width;
        let fold = |ots, masks: &[Block], _: &mut Stretch| {
            let z = &mut z[place(ots)];
            if T::BITS > 64 {
                fold_all::<T, u128>(width, masks, z);
            } else {
                fold_all::<T, u64>(width, masks, z);
            }
        };
        if ots.random() {
            ots.random_blocks(
                |ots, chosen| unpack(chosen, width, &mut x[place(ots)]),
                fold,
            )
        } else {
            ots.blocks(|ots, out| pack(&x[place(ots)], width, out), fold)
        }
    }

    /// The peers' choices are their x: our corrections turn their masks into products with our y.
    fn answer(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        corrections: &mut [u8],
    ) -> Result<(), OtError> {
        let width = self.width;
        let items = self.shape().sent(self.me, peer, items);
        let y = self.y.unwrap_or(self.x);
        let (y, z) = (&y[items.clone()], &mut self.z[items]);
        let mut writer = BitWriter::new(corrections);
        ots.blocks(|ots, k0, k1, _| {
            let place = ots.start / width..ots.end / width;
            let (y, z) = (&y[place.clone()], &mut z[place]);
            if T::BITS > 64 {
                offer_all::<T, u128>(width, y, k0, k1, &mut writer, z);
            } else {
                offer_all::<T, u64>(width, y, k0, k1, &mut writer, z);
            }
        })?;
        writer.finish();
        Ok(())
    }

    /// The peers' corrections count where our x has a one.
    fn correct(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        corrections: &[u8],
    ) -> Result<(), &'static str> {
        let layout = self.shape();
        let items = layout.sent(peer, self.me, items);
        if !bits::tail_is_clear(corrections, layout.correction_bits(&items)) {
            return Err("its padding is not zero");
        }
        let (x, z) = (&self.x[items.clone()], &mut self.z[items]);
        if T::BITS > 64 {
            correct_all::<T, u128>(self.width, x, corrections, z);
        } else {
            correct_all::<T, u64>(self.width, x, corrections, z);
        }
        Ok(())
    }
}

/// The lowest `width` bits of each value, packed; `out` has exactly the bytes for it.
pub(crate) fn pack<T: Ring>(values: &[T], width: usize, out: &mut [u8]) {
    let mut writer = BitWriter::new(out);
    for value in values {
        let value = value.to_u128().low(width);
        if T::BITS > 64 {
            value.push(width, &mut writer);
        } else {
            (value as u64).push(width, &mut writer);
        }
    }
    writer.finish();
}

/// Replaces the lowest `width` bits of each value by those that are packed in `bytes`.
fn unpack<T: Ring>(bytes: &[u8], width: usize, values: &mut [T]) {
    let mut reader = BitReader::new(bytes);
    for value in values {
        let old = value.to_u128();
        let low = if T::BITS > 64 {
            u128::pull(width, &mut reader)
        } else {
            u64::pull(width, &mut reader).into()
        };
        *value = T::from_u128(old ^ old.low(width) | low);
    }
}

pub(crate) fn wide<T: Ring, W: Word>(value: T) -> W {
    W::from_u128(value.to_u128())
}

pub(crate) fn narrow<T: Ring, W: Word>(value: W) -> T {
    T::from_u128(value.to_u128())
}

fn fold_all<T: Ring, W: Word>(width: usize, masks: &[Block], z: &mut [T]) {
    for (z, masks) in z.iter_mut().zip(masks.chunks_exact(width)) {
        *z = z.add(narrow(gilboa::fold::<W>(masks)));
    }
}

fn offer_all<T: Ring, W: Word>(
    width: usize,
    y: &[T],
    k0: &[Block],
    k1: &[Block],
    out: &mut BitWriter<'_>,
    z: &mut [T],
) {
    let masks = k0.chunks_exact(width).zip(k1.chunks_exact(width));
    for ((z, &y), (k0, k1)) in z.iter_mut().zip(y).zip(masks) {
        *z = z.sub(narrow(gilboa::offer::<W>(wide(y), k0, k1, out)));
    }
}

fn correct_all<T: Ring, W: Word>(width: usize, x: &[T], corrections: &[u8], z: &mut [T]) {
    let mut reader = BitReader::new(corrections);
    for (z, &x) in z.iter_mut().zip(x) {
        *z = z.add(narrow(gilboa::correct::<W>(wide(x), width, &mut reader)));
    }
}
