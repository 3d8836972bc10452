//! Random bits shared mod 2^l, and by the same shares as XOR, from N (N - 1) / 2 correlated OTs each.
//!
//! Each party has a random bit r, and b is their XOR. Adding one party after the other, in the order
//! of a *chain*, s_0 is the first one's bit, and
//!
//! s_k = s_{k-1} ^ r_k = s_{k-1} + r_k - 2 r_k s_{k-1}, b = s_{N-1}.
//!
//! s_{k-1} is shared by the k parties before party k of the chain, which knows r_k. The product of r_k and
//! the share y of one of them is one OT: with choice r_k party k has the mask h_{r_k} of the other's h_0,
//! h_1; that one sends d = h_0 - h_1 + y and has the share -h_0; party k has h_{r_k} + r_k d. Since the
//! product counts twice, it is made mod 2^(l-1): d has l - 1 bits. (MOTION 5.4 squares a number mod
//! 2^(l+2) instead: a product of l + 2 OTs for each pair of parties.)
//!
//! The lowest bit of a party's share is its r, because everything else is added twice: these are the
//! shares of b as XOR, and where a party has its choices from.
//!
//! # Stages
//! In stage k = 1, ..., N - 1 party k of a chain receives from the k before it. What a party sends
//! depends on the corrections that it had in an earlier stage; its choices depend on nothing, so they are
//! all sent ahead. Of the items of each part an N-th each has a chain that begins at party 0, 1, ..., N - 1
//! and goes round: in every stage k every party receives from the k before it and sends to the k after it,
//! and all have the same work and the same rounds. For that the number of items is rounded up to a
//! multiple of N.
//!
//! For N = 2 a choice is in one OT alone, so where the extension gives random choices (silent) they are
//! r, and all that a bit takes is its share of the offers and one correction. For N > 2 all choices are
//! given.
//!
//! # Security
//! Against semi-honest parties, all but one. A receiver of OTs knows h_r and sees d = h_0 - h_1 + y, and
//! h_{1-r} is uniform to it: so is d, whatever y. Every mask is used once, in the OT of one item, stage and
//! pair of parties, so all that a coalition sees is uniform and independent, and could be made up by
//! itself to fit its shares. A sender sees the extension's message alone, which hides r.
//!
//! A coalition's shares say one thing of the honest ones: their sum, but for b. For any two honest parties
//! have an OT with each other in every chain: 2 h_0 is added to one of their shares and subtracted from
//! the other, and h_0 is uniform to the coalition. So but for their sum and their lowest bits the honest
//! shares are uniform; the lowest bits are so from the beginning; and with a single one of them b is
//! uniform.

use std::ops::Range;

use madrigal_core::packing::{BitReader, BitWriter};
use madrigal_core::{Party, Ring, Zeroizing, bits};
use madrigal_correlations::{AnyShares, SharedBits, lowest_bits};
use madrigal_kernels::Block;
use madrigal_net::Context;
use madrigal_ot::{OtError, softspoken::CHUNK};

use crate::ot::base::Group;
use crate::ot::elements::random_blocks;
use crate::ot::extension::Batch;
use crate::ot::layout::{CallLayout, Parts};
use crate::ot::links::{Answer, Ask, OtCall};
use crate::ot::recipe::{Making, Recipe};
use crate::ot::words::{Word, narrow, wide};

/// Says how shared bits over Z_2^l are made.
pub(crate) fn recipe<T: Ring>() -> Recipe {
    Recipe {
        group: Group::Rings,
        ots: 1,
        layout: Box::new(|parties, count| Box::new(ChainLayout::new::<T>(parties, count))),
        call: Box::new(|context, count| Box::new(ChainCall::<T>::new(context, count))),
    }
}

/// OTs of one part in one direction between two parties, at most: with k = 4 their extension message is
/// one frame of 64 KiB.
const PART: usize = CHUNK;

/// The bits of one call.
///
/// Items are numbered through all stages: those of stage k = 1, 2, ... begin at k - 1 times their number.
#[derive(Clone, Copy)]
struct ChainLayout {
    parties: usize,
    /// Bits of an element.
    width: usize,
    /// A multiple of the parties.
    padded: usize,
    count: usize,
}

impl ChainLayout {
    fn new<T: Ring>(parties: usize, count: usize) -> Self {
        Self {
            parties,
            width: T::BITS,
            padded: count.next_multiple_of(parties),
            count,
        }
    }

    /// The items' stage, and their place among all items.
    fn stage(self, items: &Range<usize>) -> (usize, Range<usize>) {
        let before = items.start / self.padded;
        let start = items.start % self.padded;
        (before + 1, start..start + items.len())
    }

    /// Gives those of some items for which `sender` sends OTs to `receiver`, if there are any: their places
    /// among all items.
    fn sent(self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<Range<usize>> {
        let (stage, place) = self.stage(items);
        let n = self.parties;
        let distance = (receiver.index() + n - sender.index()) % n;
        if distance > stage {
            return None;
        }
        // The chain in which the receiver comes after `stage` others.
        let chain = (receiver.index() + n - stage) % n;
        let len = place.len() / n;
        let start = place.start + chain * len;
        Some(start..start + len)
    }

    /// Items of a part.
    fn size(self) -> usize {
        PART * self.parties
    }

    fn parts_of_a_stage(self) -> usize {
        self.padded.div_ceil(self.size())
    }

    fn correction_bytes(self, items: usize) -> usize {
        bits::bytes_for(items * (self.width - 1))
    }
}

impl CallLayout for ChainLayout {
    fn parts(&self) -> Box<dyn Parts> {
        let Self {
            padded, parties, ..
        } = *self;
        let (each, size) = (self.parts_of_a_stage(), self.size());
        let part = move |number: usize| {
            let (stage, start) = (number / each, number % each * size);
            stage * padded + start..stage * padded + padded.min(start + size)
        };
        Box::new((0..(parties - 1) * each).map(part))
    }

    fn alike(&self) -> Vec<(Range<usize>, u64)> {
        let each = self.parts_of_a_stage();
        let Some(whole) = each.checked_sub(1) else {
            return Vec::new();
        };
        let of_stage = |stage: usize| {
            let start = stage * self.padded;
            let last = start + whole * self.size()..start + self.padded;
            [(start..start + self.size(), whole as u64), (last, 1)]
        };
        (0..self.parties - 1).flat_map(of_stage).collect()
    }

    fn stage_parts(&self) -> Option<usize> {
        Some(self.parts_of_a_stage())
    }

    /// The bits of all.
    fn drawn(&self) -> u64 {
        random_blocks(bits::bytes_for(self.padded), 1)
    }

    fn batch(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Batch {
        Batch {
            ots: self
                .sent(sender, receiver, items)
                .map_or(0, |sent| sent.len()),
            unit: 1,
            free: self.parties == 2,
        }
    }

    fn corrections(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<usize> {
        let sent = self.sent(sender, receiver, items)?;
        Some(self.correction_bytes(sent.len()))
    }
}

/// The bits of one call on their way.
struct ChainCall<T: Ring> {
    me: Party,
    layout: ChainLayout,
    /// Our shares; the lowest bits are r from the beginning.
    shares: Zeroizing<Vec<T>>,
    choices: Zeroizing<Vec<u8>>,
}

impl<T: Ring> ChainCall<T> {
    fn new(context: &Context, count: usize) -> Self {
        let layout = ChainLayout::new::<T>(context.parties(), count);
        let mut drawn = Zeroizing::new(vec![0; bits::bytes_for(layout.padded)]);
        context.private_prg().fill(&mut drawn);
        let r = |i: usize| T::from_u128((drawn[i / 8] >> (i % 8) & 1).into());
        Self {
            me: context.me(),
            layout,
            shares: Zeroizing::new((0..layout.padded).map(r).collect()),
            choices: Zeroizing::new(vec![0; bits::bytes_for(PART.min(layout.padded))]),
        }
    }

    /// Our shares of the items for which `sender` sends OTs to `receiver`.
    fn shares(&mut self, sender: Party, receiver: Party, items: &Range<usize>) -> &mut [T] {
        let sent = self.layout.sent(sender, receiver, items);
        &mut self.shares[sent.unwrap_or_default()]
    }
}

/// Makes packed bits the lowest ones of the values.
fn choose<T: Ring>(values: &mut [T], packed: &[u8]) {
    for (values, byte) in values.chunks_mut(8).zip(packed) {
        for (i, value) in values.iter_mut().enumerate() {
            let [old, new] = [value.bit(0), byte >> i & 1].map(|bit| T::from_u128(bit.into()));
            *value = value.sub(old).add(new);
        }
    }
}

impl<T: Ring> Making for ChainCall<T> {
    fn finish(self: Box<Self>) -> AnyShares {
        let Self {
            mut shares, layout, ..
        } = *self;
        shares.truncate(layout.count);
        AnyShares::new(SharedBits::new(shares))
    }
}

impl<T: Ring> OtCall for ChainCall<T> {
    fn layout(&self) -> Box<dyn CallLayout> {
        Box::new(self.layout)
    }

    /// Our choices are r, unless the extension chooses: then it is r.
    fn ask(&mut self, peer: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError> {
        let mut choices = std::mem::take(&mut self.choices);
        let shares = self.shares(peer, self.me, items);
        let packed = &mut choices[..bits::bytes_for(shares.len())];
        let random = ots.random();
        lowest_bits(shares, packed);
        ots.chosen_blocks(packed, |ots, masks| {
            for (share, &mask) in shares[ots].iter_mut().zip(masks) {
                *share = share.sub(element::<T>(mask).shl(1));
            }
        })?;
        if random {
            choose(shares, packed);
        }
        self.choices = choices;
        Ok(())
    }

    /// The peers' choices are their r: our corrections turn their masks into products with our shares.
    fn answer(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        corrections: &mut [u8],
    ) -> Result<(), OtError> {
        let shares = self.shares(self.me, peer, items);
        let mut writer = BitWriter::new(corrections);
        ots.blocks(|ots, k0, k1, _| {
            let shares = &mut shares[ots];
            if T::BITS > 64 {
                offer::<T, u128>(shares, k0, k1, &mut writer);
            } else {
                offer::<T, u64>(shares, k0, k1, &mut writer);
            }
        })?;
        writer.finish();
        Ok(())
    }

    /// The peers' corrections count where our r is 1.
    fn correct(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        corrections: &[u8],
    ) -> Result<(), &'static str> {
        let shares = self.shares(peer, self.me, items);
        if !bits::tail_is_clear(corrections, shares.len() * (T::BITS - 1)) {
            return Err("its padding is not zero");
        }
        if T::BITS > 64 {
            correct::<T, u128>(shares, corrections);
        } else {
            correct::<T, u64>(shares, corrections);
        }
        Ok(())
    }

    /// All of a bit is done in the last stage.
    fn made(&self, items: &Range<usize>) -> usize {
        let (stage, place) = self.layout.stage(items);
        if stage + 1 < self.layout.parties {
            return 0;
        }
        place.end.min(self.layout.count) - place.start
    }
}

/// Gives the element that a mask stands for.
#[inline(always)]
fn element<T: Ring>(mask: Block) -> T {
    T::from_u128(mask.into())
}

fn offer<T: Ring, W: Word>(shares: &mut [T], k0: &[Block], k1: &[Block], out: &mut BitWriter<'_>) {
    let width = T::BITS - 1;
    for ((share, &k0), &k1) in shares.iter_mut().zip(k0).zip(k1) {
        let (h0, h1) = (W::from_block(k0), W::from_block(k1));
        let d = h0.sub(h1).add(wide(*share));
        d.low(width).push(width, out);
        *share = share.add(narrow::<T, W>(h0).shl(1));
    }
}

fn correct<T: Ring, W: Word>(shares: &mut [T], corrections: &[u8]) {
    let mut reader = BitReader::new(corrections);
    for share in shares {
        let d: T = narrow(W::pull(T::BITS - 1, &mut reader));
        *share = share.sub(d.shl(1).and(share.spread(0)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// In every chain each party but the first receives once, in the stage of its place, from all
    /// before it; and all parties have the same work in every part.
    #[test]
    fn chains_go_through_all_parties() {
        let pairs = |parties| {
            let all = Party::all(parties);
            all.flat_map(move |from| from.others(parties).map(move |to| (from, to)))
        };
        for parties in 2..=7 {
            // Several parts are a matter of few parties.
            let long = if parties < 4 { parties * PART } else { 0 };
            for count in [1, parties, 100, long, long + 1] {
                let layout = ChainLayout::new::<u16>(parties, count);
                let mut chains = vec![vec![Vec::new(); layout.padded]; parties - 1];
                for items in layout.parts() {
                    let (stage, _) = layout.stage(&items);
                    let mut work = vec![[0; 2]; parties];
                    for (from, to) in pairs(parties) {
                        for item in layout.sent(from, to, &items).unwrap_or_default() {
                            work[from.index()][0] += 1;
                            work[to.index()][1] += 1;
                            chains[stage - 1][item].push((from, to));
                        }
                    }
                    let each = items.len() / parties * stage;
                    assert_eq!(work, vec![[each; 2]; parties], "{parties} {items:?}");
                }
                for item in 0..layout.padded {
                    let mut before = BTreeSet::new();
                    for stage in &chains {
                        let [(_, receiver), ..] = stage[item][..] else {
                            panic!("nobody receives {item} of {count}, {parties} parties");
                        };
                        let senders: BTreeSet<Party> = stage[item].iter().map(|ot| ot.0).collect();
                        assert!(stage[item].iter().all(|ot| ot.1 == receiver));
                        assert_eq!(senders.len(), stage[item].len());
                        if before.is_empty() {
                            before.clone_from(&senders);
                        }
                        assert_eq!(senders, before, "{item} of {count}, {parties} parties");
                        before.insert(receiver);
                    }
                    assert_eq!(before.len(), parties);
                }
                let alike = layout.alike().iter().map(|(_, number)| number).sum::<u64>();
                assert_eq!(alike, layout.parts().len() as u64);
            }
        }
    }

    /// For every bit, share and known mask: the shares add up to the product, twice, and as the unknown
    /// mask goes through all values, so does the correction.
    #[test]
    fn a_correction_is_hidden_by_the_mask_that_was_not_chosen() {
        let mask = |value: u8| Block::new(value.into(), 0);
        for (r, known) in [(0, 0), (0, 77), (1, 0), (1, 119)] {
            for y in 0..=u8::MAX {
                let mut seen = [0; 1 << 7];
                for unknown in 0..1 << 7 {
                    let (h0, h1) = match r {
                        0 => (known, unknown),
                        _ => (unknown, known),
                    };
                    let mut sender = [y];
                    let mut message = [0];
                    let mut writer = BitWriter::new(&mut message);
                    offer::<u8, u64>(&mut sender, &[mask(h0)], &[mask(h1)], &mut writer);
                    writer.finish();
                    let mut receiver = [r.sub(element::<u8>(mask(known)).shl(1))];
                    correct::<u8, u64>(&mut receiver, &message);
                    let sum = sender[0].add(receiver[0]);
                    assert_eq!(sum, y.add(r).sub(r.mul(y).shl(1)), "{r} {y} {h0} {h1}");
                    assert_eq!((sender[0] & 1, receiver[0] & 1), (y & 1, r));
                    seen[usize::from(message[0])] += 1;
                }
                assert_eq!(seen, [1; 1 << 7], "{r} {y}");
            }
        }
    }
}
