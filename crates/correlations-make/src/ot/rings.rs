//! Ring triples and square pairs: shares of products of ring elements that two parties hold, between all pairs of
//! parties, from oblivious transfer.
//!
//! Triples are products mod 2^l in both directions of each pair of parties (MOTION 5.2.1):
//! c = sum_i a_i b_i + sum_{i != j} a_i b_j. Square pairs are one product of each pair (MOTION 5.3):
//! c = sum_i a_i^2 + 2 sum_{i < j} a_i a_j. The factor 2 cuts a bit off, so these products are
//! made mod 2^(l-1) only.
//!
//! A product mod 2^w takes w OTs and w (w + 1) / 2 bits of corrections ([`crate::ot::gilboa`]): one message
//! from the receiver, then one from the sender.
//!
//! Where the extension gives random choices (silent), they *are* the receiver's factor between two
//! parties, as they are for Boolean triples ([`crate::ot::bits`]): only the sender speaks, a round
//! trip earlier. Further parties need OTs with the same factor, so that their choices are given.

use std::ops::Range;

use madrigal_core::packing::{BitReader, BitWriter};
use madrigal_core::{Party, Ring, Zeroizing, bits};
use madrigal_correlations::{AnyShares, RingTriples, SquarePairs};
use madrigal_kernels::{Block, Stretch};
use madrigal_net::Context;
use madrigal_ot::{OtError, softspoken::CHUNK};

use crate::ot::base::Group;
use crate::ot::elements::{random, random_blocks};
use crate::ot::extension::Batch;
use crate::ot::gilboa::{self, correction_bits};
use crate::ot::layout::{CallLayout, Parts, parts};
use crate::ot::links::{Answer, Ask, OtCall};
use crate::ot::recipe::{Making, Recipe};
use crate::ot::words::{Word, narrow, pack, unpack, wide};

/// Says how triples over Z_2^l are made.
pub(crate) fn triples<T: Ring>() -> Recipe {
    recipe::<T>(T::BITS, Pattern::Both)
}

/// Says how square pairs over Z_2^l are made.
pub(crate) fn squares<T: Ring>() -> Recipe {
    recipe::<T>(T::BITS - 1, Pattern::Once)
}

fn recipe<T: Ring>(width: usize, pattern: Pattern) -> Recipe {
    let layout = move |parties, count| ProductLayout {
        parties,
        width,
        pattern,
        count,
    };
    Recipe {
        group: Group::Rings,
        ots: T::BITS,
        layout: Box::new(move |parties, count| Box::new(layout(parties, count))),
        call: Box::new(move |context, count| {
            Box::new(RingCall::<T>::new(
                context,
                layout(context.parties(), count),
            ))
        }),
    }
}

/// Products x_i y_j of parties i and j that a call makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pattern {
    /// x_i y_j and x_j y_i.
    Both,
    /// One of the two, for x = y. Of each part, the party with the lower number sends the OTs of
    /// the first half, the other one those of the second, so that both have the same work.
    Once,
}

/// The products of one call.
#[derive(Clone, Copy)]
struct ProductLayout {
    parties: usize,
    width: usize,
    pattern: Pattern,
    count: usize,
}

impl ProductLayout {
    /// Gives those of some items for which `sender` sends OTs to `receiver`.
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

impl CallLayout for ProductLayout {
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

/// One party's part in the products of `x` and `y` mod 2^width that the pattern names, item by item: its shares are
/// summed up in `z`, over all pairs of parties. Bits of `z` above the width become arbitrary.
///
/// Where the extension chooses, the lowest `width` bits of the `x` that we receive OTs for are what it chose.
struct RingCall<T: Ring> {
    me: Party,
    layout: ProductLayout,
    x: Zeroizing<Vec<T>>,
    /// `None` where it is `x`.
    y: Option<Zeroizing<Vec<T>>>,
    z: Zeroizing<Vec<T>>,
}

impl<T: Ring> RingCall<T> {
    fn new(context: &Context, layout: ProductLayout) -> Self {
        let mut prg = context.private_prg();
        let count = layout.count;
        let x = random::<T>(&mut prg, count);
        Self {
            me: context.me(),
            layout,
            x,
            y: (layout.pattern == Pattern::Both).then(|| random::<T>(&mut prg, count)),
            z: Zeroizing::new(vec![T::ZERO; count]),
        }
    }
}

impl<T: Ring> Making for RingCall<T> {
    fn finish(self: Box<Self>) -> AnyShares {
        let Self { x, y, mut z, .. } = *self;
        match y {
            Some(y) => {
                for ((z, &x), &y) in z.iter_mut().zip(x.iter()).zip(y.iter()) {
                    *z = z.add(x.mul(y));
                }
                AnyShares::new(RingTriples::new(x, y, z))
            }
            None => {
                for (z, &x) in z.iter_mut().zip(x.iter()) {
                    *z = z.add(*z).add(x.mul(x));
                }
                AnyShares::new(SquarePairs::new(x, z))
            }
        }
    }
}

impl<T: Ring> OtCall for RingCall<T> {
    fn layout(&self) -> Box<dyn CallLayout> {
        Box::new(self.layout)
    }

    /// Our choices are the bits of x.
    fn ask(&mut self, peer: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError> {
        let width = self.layout.width;
        let items = self.layout.sent(peer, self.me, items);
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
        let width = self.layout.width;
        let items = self.layout.sent(self.me, peer, items);
        let y = self.y.as_ref().unwrap_or(&self.x);
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
        let layout = self.layout;
        let items = layout.sent(peer, self.me, items);
        if !bits::tail_is_clear(corrections, layout.correction_bits(&items)) {
            return Err("its padding is not zero");
        }
        let (x, z) = (&self.x[items.clone()], &mut self.z[items]);
        if T::BITS > 64 {
            correct_all::<T, u128>(layout.width, x, corrections, z);
        } else {
            correct_all::<T, u64>(layout.width, x, corrections, z);
        }
        Ok(())
    }
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
