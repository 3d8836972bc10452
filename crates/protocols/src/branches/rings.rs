//! Masks over Z_{2^l} that follow a secret choice: what branches of products of ring elements share their
//! triples by.
//!
//! A random hot code is there before any input is, as with bits, and the real one is opened under it.
//! For each code the parties then share, *by sums modulo 2^l*,
//!
//! - t, which is 1 if the code is hot, else 0: so that t times a number that all know is local,
//! - *kept* masks m: random elements if it is hot, else zeros.
//!
//! They are made from the code's bits and hot bits, which are those of [`Branches`](super::Branches), in each lane; v masks
//! and c codes, of which the last one's values follow from the others, because the t add up to 1:
//!
//! | parties | t | masks | rounds beside those of the hot bits |
//! |---|---|---|---|
//! | 2 | a shared bit for each but the last code, one bit opened | a vector triple of 128 bits for each code, a seed; one bit opened unless there are two codes | 1 |
//! | N > 2 | with the masks | by a chain (`chain.rs` here): N vector triples of 128 (N - 1) bits for each but the last code; v + 1 elements go from each party to each | 1 + N |
//!
//! **Two parties: the selectors as they are.** The 128 kept bits of a code ([`super::Slot`]) are seeds: equal ones
//! at both parties where the code is not hot, else two that are independent. Party 0 takes its seed's expansion,
//! party 1 the negative of its own's: they add up to zero, or to the difference of two strings of which
//! neither party knows the other's. So whatever v is, seeds are all that is sent.
//!
//! **More parties.** A sum of zero of three parties' expansions would need each seed twice, once with either sign:
//! around a triangle of parties signs cannot alternate, and a party that knew which of its seeds has which
//! sign would know who else has it. So the trick by which three parties share seeds for bits (`three.rs`)
//! does not carry over to odd characteristics, nor to 2^l, and masks are sent.
//!
//! *Security.* Opened values are masked by shared bits that are used once. Each of two parties sees seeds that are
//! uniform, whichever code is hot, and does not know the other's seed of the hot code, of which the
//! expansion is then indistinguishable from random elements; a seed is expanded once. The chain's security is explained there.

mod chain;
mod channels;

use madrigal_core::{Party, Ring, bits};
use madrigal_correlations::{Kind, Needs, Stock, Width};
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::Result;

use super::channels::{Bits, SEED};
use super::{Slot, Wanted, openings};
pub use channels::{Elements, RingBranches};

use crate::arithmetic::LEADER;

/// Demand of a conditional, in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RingWanted {
    /// Bits of the code, at least one.
    pub bits: usize,
    /// Masks that are random where a code is hot, at least one.
    pub masks: usize,
}

impl RingWanted {
    /// Codes.
    pub const fn codes(self) -> usize {
        1 << self.bits
    }

    /// Demand of bits: of two parties a seed for each code.
    const fn choice(self, parties: usize) -> Wanted {
        Wanted {
            bits: self.bits,
            kept: if parties == 2 { SEED } else { 0 },
            dropped: 0,
        }
    }

    /// Codes but the last, in all lanes.
    const fn items(self, lanes: usize) -> usize {
        (self.codes() - 1) * lanes
    }

    /// Correlations that [`RingBranches::prepare`] takes for `lanes` lanes.
    pub fn needs<T: Ring>(self, parties: usize, lanes: usize, needs: &mut Needs) {
        self.choice(parties).needs(parties, lanes, needs);
        match parties {
            2 => needs.add(Kind::SharedBits(Width::of::<T>()), self.items(lanes)),
            _ => chain::needs(parties, self.items(lanes), needs),
        }
    }

    /// AES blocks that `me` computes in [`RingBranches::prepare`], but for correlations.
    pub fn aes_blocks<T: Ring>(self, me: Party, parties: usize, lanes: usize) -> u64 {
        let choice = self.choice(parties).aes_blocks(me, parties, lanes);
        let own = match parties {
            2 => self.codes() * lanes * (self.masks * T::BYTES).div_ceil(16),
            _ => {
                let drawn = (self.masks * lanes * T::BYTES).div_ceil(16);
                drawn + chain::aes_blocks::<T>(parties, self.items(lanes), self.masks + 1)
            }
        };
        choice + own as u64
    }

    /// Openings of [`RingBranches::prepare`], in order: the bytes of each, and the parties to whom.
    pub fn openings<T: Ring>(self, parties: usize, lanes: usize) -> Vec<(u64, Vec<Party>)> {
        let mut made = openings(&[self.choice(parties)], parties, lanes).in_order(parties);
        let all = Party::all(parties);
        let items = self.items(lanes);
        match parties {
            2 => made.push((bits::bytes_for(items) as u64, all.collect())),
            _ => made.extend(chain::openings::<T>(parties, items, self.masks + 1)),
        }
        made
    }

    /// Bytes that a party keeps of it.
    pub fn bytes<T: Ring>(self, lanes: usize) -> u64 {
        let elements = self.codes() * (1 + self.masks) * T::BYTES;
        (elements * lanes + self.bits * lanes / 8) as u64
    }
}

/// Values that were made for a conditional, for a random code.
pub struct RingSelector<T: Ring> {
    lanes: usize,
    code: Vec<Bits>,
    slots: Vec<RingSlot<T>>,
}

/// Elements that belong to one code.
pub struct RingSlot<T: Ring> {
    /// Shares of 1 where it is hot, else of 0: one for each lane.
    pub hot: Elements<T>,
    /// Shares of random elements where it is hot, else of 0: rows of one for each lane.
    pub kept: Elements<T>,
}

impl RingBranches {
    /// Makes a random code with its masks, for `lanes` lanes.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If `stock` has not what it [needs](RingWanted::needs): a plan was wrong.
    pub async fn prepare<T: Ring>(
        &mut self,
        wanted: RingWanted,
        lanes: usize,
        stock: &mut Stock,
    ) -> Result<RingSelector<T>> {
        let choice = wanted.choice(self.parties());
        let made = self.branches.prepare(&[choice], lanes, stock).await?;
        let selector = made
            .into_iter()
            .next()
            .expect("one for each that is wanted");
        let (code, slots) = selector.into_parts();
        let slots = match self.parties() {
            2 => self.by_seeds(wanted, &slots, lanes, stock).await?,
            _ => self.by_chain(wanted, &slots, lanes, stock).await?,
        };
        Ok(RingSelector { lanes, code, slots })
    }

    /// Makes the masks of two parties: hot bits become numbers by shared bits, kept bits are seeds.
    async fn by_seeds<T: Ring>(
        &mut self,
        wanted: RingWanted,
        slots: &[Slot],
        lanes: usize,
        stock: &mut Stock,
    ) -> Result<Vec<RingSlot<T>>> {
        let items = wanted.items(lanes);
        let mut bits = Bits::new(vec![0; bits::bytes_for(items)]);
        for (code, slot) in slots[..slots.len() - 1].iter().enumerate() {
            bits::put(&mut bits, code * lanes, &slot.hot, lanes);
        }
        let mut numbers = Elements::new(vec![T::ZERO; items]);
        let mut shared = stock.shared_bits::<T>(items)?;
        self.numbers
            .inject(&mut shared, &bits, &mut numbers)
            .await?;
        let mut hot = numbers.chunks_exact(lanes.max(1));
        let mut last = self.ones(lanes);
        let mut made = Vec::with_capacity(slots.len());
        for slot in slots {
            let hot = match hot.next() {
                Some(hot) => {
                    rings::sub_into(&mut last, hot);
                    Elements::new(hot.to_vec())
                }
                None => std::mem::take(&mut last),
            };
            let number = self.branches.number_seeds(lanes);
            let kept = self.expanded(slot, wanted.masks, lanes, number);
            made.push(RingSlot { hot, kept });
        }
        Ok(made)
    }

    /// Our share of a 1 in each lane.
    fn ones<T: Ring>(&self, lanes: usize) -> Elements<T> {
        let one = T::from_u128((self.me() == LEADER).into());
        Elements::new(vec![one; lanes])
    }

    /// The masks that a seed in each lane gives, with our sign. The seeds are numbered from `number` on.
    fn expanded<T: Ring>(
        &self,
        slot: &Slot,
        masks: usize,
        lanes: usize,
        number: u64,
    ) -> Elements<T> {
        let each = masks * T::BYTES;
        let seeds = seeds(&slot.kept, lanes);
        let expanded = self.branches.stretch(&seeds, each, number);
        let mut kept = Elements::new(vec![T::ZERO; masks * lanes]);
        for (lane, elements) in expanded.chunks_exact(each.max(1)).enumerate() {
            for (mask, element) in elements.chunks_exact(T::BYTES).enumerate() {
                kept[mask * lanes + lane] = T::read(element);
            }
        }
        if self.me() != LEADER {
            kept.iter_mut().for_each(|mask| *mask = T::ZERO.sub(*mask));
        }
        kept
    }

    /// Makes the masks of more parties: what a chain of products with their shares of the hot bits makes of random elements
    /// and a 1.
    async fn by_chain<T: Ring>(
        &mut self,
        wanted: RingWanted,
        slots: &[Slot],
        lanes: usize,
        stock: &mut Stock,
    ) -> Result<Vec<RingSlot<T>>> {
        let RingWanted { masks, .. } = wanted;
        let mut drawn = Elements::new(vec![T::ZERO; masks * lanes]);
        self.branches.random.fill(rings::as_bytes_mut(&mut drawn));
        let ones = self.ones::<T>(lanes);
        let mut strings = Elements::new(Vec::with_capacity((masks + 1) * lanes));
        for lane in 0..lanes {
            strings.extend_from_slice(&drawn[lane * masks..(lane + 1) * masks]);
            strings.push(ones[lane]);
        }
        let mut hot = Bits::new(Vec::with_capacity(wanted.items(lanes)));
        for slot in &slots[..slots.len() - 1] {
            hot.extend((0..lanes).map(|lane| slot.hot[lane / 8] >> (lane % 8) & 1));
        }
        let made = chain::times(self, &hot, &strings, lanes, stock).await?;
        let mut parts = made.chunks_exact(strings.len().max(1));
        let mut made = Vec::with_capacity(slots.len());
        for _ in slots {
            let part = match parts.next() {
                Some(part) => {
                    rings::sub_into(&mut strings, part);
                    part
                }
                None => &strings[..],
            };
            let mut slot = RingSlot {
                hot: Elements::new(vec![T::ZERO; lanes]),
                kept: Elements::new(vec![T::ZERO; masks * lanes]),
            };
            for (lane, string) in part.chunks_exact(masks + 1).enumerate() {
                for (mask, &element) in string[..masks].iter().enumerate() {
                    slot.kept[mask * lanes + lane] = element;
                }
                slot.hot[lane] = string[masks];
            }
            made.push(slot);
        }
        Ok(made)
    }
}

/// The seed of each lane, from rows of its bits.
fn seeds(rows: &[u8], lanes: usize) -> Bits {
    let row = bits::bytes_for(lanes);
    let mut padded = Bits::new(vec![0; SEED * row]);
    if lanes > 0 {
        for (bit, padded) in padded.chunks_exact_mut(row).enumerate() {
            bits::take(rows, bit * lanes, padded, lanes);
        }
    }
    let mut seeds = Bits::new(vec![0; lanes * SEED / 8]);
    kernels::transpose_bits(&padded, SEED, lanes, row, &mut seeds, SEED / 8);
    seeds
}

impl<T: Ring> RingSelector<T> {
    /// Shares of the bits of the random code, from the lowest on: a row each. The real code's bits are opened
    /// under them.
    pub fn code(&self) -> &[Bits] {
        &self.code
    }

    /// The sum of all codes' kept masks: shares of random elements, those of the hot code.
    pub fn kept(&self) -> Elements<T> {
        let mut sum = self.slots[0].kept.clone();
        for slot in &self.slots[1..] {
            rings::add_into(&mut sum, &slot.kept);
        }
        sum
    }

    /// Gives the elements that belong to each code, given the difference between the real code and the random one: the bits of
    /// it that were opened, a row each.
    pub fn activate(mut self, difference: &[&[u8]]) -> Vec<RingSlot<T>> {
        for (bit, row) in difference.iter().enumerate() {
            // All know it.
            let moved: Vec<usize> = (0..self.lanes)
                .filter(|lane| row[lane / 8] >> (lane % 8) & 1 == 1)
                .collect();
            for low in (0..self.slots.len()).filter(|code| code >> bit & 1 == 0) {
                let (left, right) = self.slots.split_at_mut(low + (1 << bit));
                let (low, high) = (&mut left[low], &mut right[0]);
                for (low, high) in [
                    (&mut low.hot, &mut high.hot),
                    (&mut low.kept, &mut high.kept),
                ] {
                    let rows = low.chunks_exact_mut(self.lanes);
                    for (low, high) in rows.zip(high.chunks_exact_mut(self.lanes)) {
                        for &lane in &moved {
                            std::mem::swap(&mut low[lane], &mut high[lane]);
                        }
                    }
                }
            }
        }
        self.slots
    }
}
