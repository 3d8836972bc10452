//! Chosen numbers: a random bit r, shared as XOR and mod 2^l, a random number u that one party knows, and shares of
//! r u, from N (N - 1) / 2 OTs each.
//!
//! The parties stand in a line that begins with the owner of u. Each party k > 0 has a random bit r_k, and r is their
//! XOR. Of the bits of the first k parties after the owner, R_k is the XOR:
//!
//! R_k = R_{k-1} + r_k (1 - 2 R_{k-1}), R_k u = R_{k-1} u + r_k (u - 2 R_{k-1} u).
//!
//! The factor of r_k is shared by the parties before party k. A product of r_k with the share y of one of them is an
//! OT: with choice r_k party k has the mask h_{r_k} of the other's h_0, h_1; that one sends d = h_0 - h_1 + y and has the
//! share -h_0; party k has h_{r_k} + r_k d. Both products take the same OT, with two masks. This is the additive C-OT of
//! MOTION 5.1.3.
//!
//! The owner is first: nothing depends on u before its OT with the second party, so that u = h_1 - h_0 of this OT, and no
//! correction is sent. Between two parties that is all: a random OT for each item, one message, as Listing 2 of
//! the paper has it.
//!
//! # Security
//! Against semi-honest parties, all but one, as for [shared bits](crate::ot::chains). A receiver of OTs knows h_r and
//! sees d, and h_{1-r} is uniform to it: so is d, whatever y, and so is u where it is h_1 - h_0 and r = 0 (h_1) or 1
//! (h_0). A sender sees the extension's message alone, which hides r. Any two honest parties have an OT with each other,
//! whose masks are added to one's shares and subtracted from the other's: but for the sums the honest shares are uniform to
//! a coalition.

use std::ops::Range;

use madrigal_core::{Party, Ring, Zeroizing, bits};
use madrigal_correlations::{AnyShares, ChosenNumbers};
use madrigal_kernels::{Block, Stretch};
use madrigal_net::Context;
use madrigal_ot::{OtError, softspoken::CHUNK};

use crate::ot::base::Group;
use crate::ot::elements::random_blocks;
use crate::ot::extension::Batch;
use crate::ot::layout::{CallLayout, Parts};
use crate::ot::links::{Answer, Ask, OtCall};
use crate::ot::recipe::{Making, Recipe};

/// Says how chosen numbers over Z_2^l are made.
pub(crate) fn recipe<T: Ring>(owner: Party) -> Recipe {
    let layout = move |parties, count| LineLayout {
        parties,
        owner,
        bytes: T::BYTES,
        count,
    };
    Recipe {
        group: Group::Rings,
        ots: 1,
        layout: Box::new(move |parties, count| Box::new(layout(parties, count))),
        call: Box::new(move |context, count| {
            Box::new(LineCall::<T>::new(
                context,
                layout(context.parties(), count),
            ))
        }),
    }
}

/// OTs of one part between two parties: a multiple of 8, so that parts begin at bytes of the choices.
const PART: usize = CHUNK;

/// The items of one call, numbered through all stages: those of stage k = 1, 2, ... begin at k - 1 times their number.
#[derive(Clone, Copy)]
struct LineLayout {
    parties: usize,
    owner: Party,
    /// Bytes of an element.
    bytes: usize,
    count: usize,
}

impl LineLayout {
    /// The place of a party in the line.
    fn place(self, party: Party) -> usize {
        (party.index() + self.parties - self.owner.index()) % self.parties
    }

    /// The stage of some items, which is the place of the party that receives OTs in it.
    fn stage(self, items: &Range<usize>) -> usize {
        items.start / self.count + 1
    }

    /// Numbers of items within the call.
    fn items(self, items: &Range<usize>) -> Range<usize> {
        let start = items.start % self.count;
        start..start + items.len()
    }

    fn is_sent(self, sender: Party, receiver: Party, items: &Range<usize>) -> bool {
        let stage = self.stage(items);
        self.place(receiver) == stage && self.place(sender) < stage
    }

    /// Elements of a correction: the owner has no share of r.
    fn corrected(self, sender: Party) -> usize {
        if self.place(sender) == 0 { 1 } else { 2 }
    }

    fn parts_of_a_stage(self) -> usize {
        self.count.div_ceil(PART)
    }

    /// Blocks to which a mask is stretched, in stages with two products; the OT's own block serves if it is long enough.
    fn stretched(self, stage: usize) -> usize {
        if stage > 1 && self.bytes > 8 { 2 } else { 0 }
    }
}

impl CallLayout for LineLayout {
    fn parts(&self) -> Box<dyn Parts> {
        let (each, count) = (self.parts_of_a_stage(), self.count);
        let part = move |number: usize| {
            let (stage, start) = (number / each, number % each * PART);
            stage * count + start..stage * count + count.min(start + PART)
        };
        Box::new((0..(self.parties - 1) * each).map(part))
    }

    fn alike(&self) -> Vec<(Range<usize>, u64)> {
        let Some(whole) = self.parts_of_a_stage().checked_sub(1) else {
            return Vec::new();
        };
        let of_stage = |stage: usize| {
            let start = stage * self.count;
            let last = start + whole * PART..start + self.count;
            [
                (start..start + PART.min(self.count), whole as u64),
                (last, 1),
            ]
        };
        (0..self.parties - 1).flat_map(of_stage).collect()
    }

    fn stage_parts(&self) -> Option<usize> {
        Some(self.parts_of_a_stage())
    }

    /// The bits of a party that is not the owner; the owner draws as many, of which it has no use.
    fn drawn(&self) -> u64 {
        random_blocks(bits::bytes_for(self.count), 1)
    }

    fn batch(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Batch {
        Batch {
            ots: match self.is_sent(sender, receiver, items) {
                true => items.len(),
                false => 0,
            },
            unit: 1,
            free: self.parties == 2,
        }
    }

    fn corrections(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<usize> {
        let corrected = self.is_sent(sender, receiver, items) && self.stage(items) > 1;
        corrected.then(|| items.len() * self.corrected(sender) * self.bytes)
    }

    fn stretch_blocks(&self, items: &Range<usize>) -> u64 {
        (items.len() * self.stretched(self.stage(items))) as u64
    }
}

/// The items of one call on their way.
struct LineCall<T: Ring> {
    me: Party,
    layout: LineLayout,
    /// Our bits of r.
    choices: Zeroizing<Vec<u8>>,
    /// u, if we are the owner.
    numbers: Zeroizing<Vec<T>>,
    /// Our shares of r and of r u, item by item.
    products: Zeroizing<Vec<T>>,
}

impl<T: Ring> LineCall<T> {
    fn new(context: &Context, layout: LineLayout) -> Self {
        let mut choices = Zeroizing::new(vec![0; bits::bytes_for(layout.count)]);
        context.private_prg().fill(&mut choices);
        if context.me() == layout.owner {
            choices.fill(0);
        }
        Self {
            me: context.me(),
            layout,
            choices,
            numbers: Zeroizing::zeros(layout.count),
            products: Zeroizing::zeros(2 * layout.count),
        }
    }

    /// Our bit of an item.
    fn bit(&self, item: usize) -> T {
        T::from_u128((self.choices[item / 8] >> (item % 8) & 1).into())
    }
}

impl LineLayout {
    /// The elements that the mask of an OT stands for, for r and for r u; the first is zero if the owner sends the OT,
    /// since it has no share of r.
    #[inline(always)]
    fn elements<T: Ring>(
        self,
        (sender, stage): (Party, usize),
        (stretch, index, mask): (&mut Stretch, usize, Block),
    ) -> [T; 2] {
        let mut string = Zeroizing::new([0; 32]);
        match self.stretched(stage) {
            0 => string[..16].copy_from_slice(&mask.to_bytes()),
            blocks => stretch.stretch(index, mask, &mut string[..16 * blocks]),
        }
        let element = |place: usize| T::read(&string[place * T::BYTES..][..T::BYTES]);
        match self.corrected(sender) {
            1 => [T::ZERO, element(0)],
            _ => [element(1), element(0)],
        }
    }
}

impl<T: Ring> Making for LineCall<T> {
    fn finish(mut self: Box<Self>) -> AnyShares {
        let flags: Zeroizing<Vec<u8>> = Zeroizing::new(
            (0..self.layout.count)
                .map(|item| self.choices[item / 8] >> (item % 8) & 1)
                .collect(),
        );
        for (item, &flag) in flags.iter().enumerate() {
            let share = &mut self.products[2 * item];
            *share = share.add(T::from_u128(flag.into()));
        }
        let Self {
            numbers, products, ..
        } = *self;
        AnyShares::new(ChosenNumbers::new(flags, numbers, products))
    }
}

impl<T: Ring> OtCall for LineCall<T> {
    fn layout(&self) -> Box<dyn CallLayout> {
        Box::new(self.layout)
    }

    /// Our choices are our bits of r, unless the extension chooses: then they are those.
    fn ask(&mut self, peer: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError> {
        let (layout, stage) = (self.layout, self.layout.stage(items));
        let start = layout.items(items).start;
        let (choices, products) = (&mut self.choices, &mut self.products);
        let fold = |ots: Range<usize>, masks: &[Block], stretch: &mut Stretch| {
            let first = start + ots.start;
            for (index, &mask) in masks.iter().enumerate() {
                let masks = layout.elements::<T>((peer, stage), (stretch, index, mask));
                let shares = &mut products[2 * (first + index)..][..2];
                for (share, mask) in shares.iter_mut().zip(masks) {
                    *share = share.add(mask);
                }
            }
        };
        if ots.random() {
            let chosen = |ots: Range<usize>, chosen: &[u8]| {
                bits::put(choices, start + ots.start, chosen, ots.len());
            };
            ots.random_blocks(chosen, fold)
        } else {
            let chosen = |ots: Range<usize>, out: &mut [u8]| {
                bits::take(&choices[..], start + ots.start, out, ots.len());
            };
            ots.blocks(chosen, fold)
        }
    }

    /// The peers' choices are their bits: the owner's numbers follow from its masks with the first of them, and
    /// corrections turn masks into products with our shares for all others.
    fn answer(
        &mut self,
        _: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        corrections: &mut [u8],
    ) -> Result<(), OtError> {
        let (layout, stage) = (self.layout, self.layout.stage(items));
        let me = self.me;
        let start = layout.items(items).start;
        let corrected = layout.corrected(me);
        let each = corrected * T::BYTES;
        ots.blocks(|ots, k0, k1, stretch| {
            for (index, (&k0, &k1)) in k0.iter().zip(k1).enumerate() {
                let h0 = layout.elements::<T>((me, stage), (stretch, index, k0));
                let h1 = layout.elements::<T>((me, stage), (stretch, index, k1));
                let item = start + ots.start + index;
                if stage == 1 {
                    self.numbers[item] = h1[1].sub(h0[1]);
                } else {
                    let out = &mut corrections[(ots.start + index) * each..][..each];
                    let y = self.factors(item);
                    let d: [T; 2] = std::array::from_fn(|i| h0[i].sub(h1[i]).add(y[i]));
                    for (d, out) in d[2 - corrected..]
                        .iter()
                        .zip(out.chunks_exact_mut(T::BYTES))
                    {
                        d.write(out);
                    }
                }
                let shares = &mut self.products[2 * item..][..2];
                for (share, h0) in shares.iter_mut().zip(h0) {
                    *share = share.sub(h0);
                }
            }
        })
    }

    /// The peers' corrections count where our bit is 1.
    fn correct(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        corrections: &[u8],
    ) -> Result<(), &'static str> {
        let each = self.layout.corrected(peer) * T::BYTES;
        let items = self.layout.items(items);
        for (item, d) in items.zip(corrections.chunks_exact(each)) {
            let chosen = self.bit(item);
            let shares = self.products[2 * item..][..2].iter_mut().rev();
            for (share, d) in shares.zip(d.chunks_exact(T::BYTES).rev()) {
                *share = share.add(T::read(d).and(chosen.spread(0)));
            }
        }
        Ok(())
    }

    /// All of an item is done in the last stage.
    fn made(&self, items: &Range<usize>) -> usize {
        match self.layout.stage(items) + 1 == self.layout.parties {
            true => items.len(),
            false => 0,
        }
    }
}

impl<T: Ring> LineCall<T> {
    /// Factors of a later party's bit: our share of 1 - 2 r, but for the 1, and of u - 2 r u.
    fn factors(&self, item: usize) -> [T; 2] {
        let shares = &self.products[2 * item..][..2];
        // Our own bit is no part of our share of r before the end.
        let r = shares[0].add(self.bit(item));
        let minus_two = |x: T| T::ZERO.sub(x.shl(1));
        [minus_two(r), self.numbers[item].add(minus_two(shares[1]))]
    }
}
