//! Secret choice: which of several branches is active, and masks that follow it.
//!
//! A conditional has codes 0 to 2^w - 1, one of which is *hot* in each lane: that of the active branch.
//! Before any input is there the parties draw a random hot code and masks that depend on it
//! ([`Branches::prepare`]); when the real code is shared, they open its difference to the random one,
//! which tells nothing, and everybody rearranges what was made ([`Selector::activate`]). Then, for each
//! code, the parties share
//!
//! - a bit that is 1 if it is hot,
//! - *kept* masks: random bits if it is hot, else zeros (MOTIF's vector-scalar products of the hot bit
//!   with a random vector),
//! - *dropped* masks: zeros if it is hot, else random bits (MaskGen of Masked Triples).
//!
//! Masks of different codes are independent. How they are made, for each lane:
//!
//! | | rounds | vector triples | correlations beside that, and messages |
//! |---|---|---|---|
//! | one bit of code | 0 | 1 | none: the triple's bit is the hot code (Masked Triples, Fig. 5) |
//! | w bits | log2(w) rounded up | 2^w | 2^w - w - 1 bit triples, of which w/2 are pairs of bits and their product as they are, and the others are opened; one bit opened for each code |
//!
//! With two parties and more than 128 masks, vectors have 128 bits and are seeds: for a code that is hot
//! both parties' seeds differ and expand to a random string between them, else they are equal and expand
//! to a string of zeros (Masked Triples, Fig. 7). With three parties and more than 4096 masks of a kind there are
//! seeds too (`three.rs` here: 4 more vector triples of 128 or 256 bits for each code and kind, and three more
//! rounds). Else vectors are as long as the masks (Fig. 5 with 6: that of two masks only one needs to be sent
//! is what the triples do already).
//!
//! **Why that is secure.** All that is opened is masked by shared random bits that are used once: the code by
//! the random code, the hot bits by the bits of the vector triples. A seed is a share of s r with a random
//! vector r: to each party it is uniform whatever s is, and where it is not the other's, the other's is
//! uniform given it. A generator's expansion of it is then indistinguishable from random bits; each seed is
//! expanded once.
//!
//! [`rings`] does the same for elements of Z_2^l.

mod channels;
pub mod rings;
mod three;

use madrigal_core::{Party, bits};
use madrigal_correlations::{Needs, Scratch, Stock};
use madrigal_kernels as kernels;
use madrigal_net::Result;

pub use channels::{Bits, Branches};
use channels::{SEED, packed};

use crate::gmw::LEADER;

/// Demand of a conditional, in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// Bits of the code, at least one.
    pub bits: usize,
    /// Masks that are random where a code is hot.
    pub kept: usize,
    /// Masks that are random where it is not.
    pub dropped: usize,
}

/// Values that were made for a conditional, for a random code.
pub struct Selector {
    lanes: usize,
    /// Shares of the bits of the random code, a string of a bit for each lane.
    code: Vec<Bits>,
    slots: Vec<Slot>,
}

/// Strings that belong to one code: rows, of a bit for each lane, without padding between them.
#[derive(Default)]
pub struct Slot {
    /// Shares of 1 where it is hot: one row.
    pub hot: Bits,
    /// Shares of random bits where it is hot, else of 0.
    pub kept: Bits,
    /// Shares of random bits where it is not hot, else of 0.
    pub dropped: Bits,
}

impl Wanted {
    /// Codes.
    pub const fn codes(self) -> usize {
        1 << self.bits
    }

    const fn masks(self) -> usize {
        self.kept + self.dropped
    }

    const fn seeded(self, parties: usize) -> bool {
        parties == 2 && self.masks() > SEED
    }

    /// Whether three parties have the kept and the dropped masks from seeds.
    const fn dealt(self, parties: usize) -> [bool; 2] {
        [
            parties == 3 && self.kept > three::WORTHWHILE,
            parties == 3 && self.dropped > three::WORTHWHILE,
        ]
    }

    /// Number of those seeds, which each code has.
    fn items(self, parties: usize, lanes: usize) -> usize {
        let kinds = self.dealt(parties).into_iter().filter(|&dealt| dealt);
        kinds.count() * self.codes() * lanes
    }

    /// Demand that is left to vectors.
    const fn own(self, parties: usize) -> Self {
        let [kept, dropped] = self.dealt(parties);
        Self {
            bits: self.bits,
            kept: if kept { 0 } else { self.kept },
            dropped: if dropped { 0 } else { self.dropped },
        }
    }

    /// Bytes of each part of a direct vector.
    const fn parts(self) -> [usize; 2] {
        [bits::bytes_for(self.kept), bits::bytes_for(self.dropped)]
    }

    /// Bits of a vector triple.
    const fn length(self, parties: usize) -> usize {
        let [kept, _] = self.parts();
        match self.seeded(parties) {
            true => SEED,
            false => 8 * kept + self.dropped,
        }
    }

    /// Vector triples in each lane.
    const fn vectors(self) -> usize {
        match (self.masks(), self.bits) {
            (0, _) => 0,
            (_, 1) => 1,
            _ => self.codes(),
        }
    }

    /// Whether the random code is drawn bit by bit: else it is the vector triple's bit.
    const fn draws(self) -> bool {
        self.bits > 1 || self.masks() == 0
    }

    /// Bits of the parts that a random code is put together from: two bits whose product is a bit triple's,
    /// and one more where their number is odd.
    fn parts_of_code(self) -> Vec<usize> {
        let pairs = std::iter::repeat_n(2, self.bits / 2);
        pairs.chain(std::iter::repeat_n(1, self.bits % 2)).collect()
    }

    /// ANDs in each round in which two parts become one, as long as there are two.
    fn decoding(self) -> Vec<usize> {
        let mut parts = self.parts_of_code();
        let mut rounds = Vec::new();
        while parts.len() > 1 {
            let ands = parts
                .chunks_exact(2)
                .map(|pair| pair_ands(pair[0], pair[1]));
            rounds.push(ands.sum());
            parts = parts.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        rounds
    }

    /// Correlations that [`Branches::prepare`] takes for `lanes` lanes.
    pub fn needs(self, parties: usize, lanes: usize, needs: &mut Needs) {
        let pairs = self
            .parts_of_code()
            .iter()
            .filter(|&&bits| bits == 2)
            .count();
        let ands: usize = self.decoding().iter().sum();
        needs.bit_triples((pairs + ands) * lanes);
        let own = self.own(parties);
        if own.vectors() > 0 {
            needs.vector_triples(own.length(parties), own.vectors() * lanes);
        }
        let items = self.items(parties, lanes);
        if items > 0 {
            three::needs(items, needs);
        }
    }

    /// AES blocks that `me` computes in [`Branches::prepare`], but for correlations.
    pub fn aes_blocks(self, me: Party, parties: usize, lanes: usize) -> u64 {
        let mut blocks = 0;
        let rows = [self.kept, self.dropped];
        for (dealt, rows) in self.dealt(parties).into_iter().zip(rows) {
            if dealt {
                let each = bits::bytes_for(rows).div_ceil(16);
                blocks += 2 * self.codes() * lanes * each;
            }
        }
        let items = self.items(parties, lanes);
        if items > 0 {
            blocks += three::drawn_blocks(me, items);
        }
        (blocks + self.own(parties).own_blocks(parties, lanes)) as u64
    }

    fn own_blocks(self, parties: usize, lanes: usize) -> usize {
        let mut blocks = 0;
        if self.draws() {
            blocks += self.bits % 2 * bits::bytes_for(lanes).div_ceil(16);
        }
        if self.seeded(parties) {
            let [kept, dropped] = self.parts();
            let each = if self.bits == 1 {
                (kept + dropped).div_ceil(16)
            } else {
                kept.div_ceil(16) + dropped.div_ceil(16)
            };
            blocks += self.codes() * lanes * each;
        }
        blocks
    }

    /// Bytes that a party keeps of it.
    pub fn bytes(self, lanes: usize) -> u64 {
        let rows = self.codes() * (1 + self.masks()) + self.bits;
        (rows * lanes / 8) as u64
    }
}

/// ANDs that make one part of a code of two.
const fn pair_ands(low: usize, high: usize) -> usize {
    ((1 << low) - 1) * ((1 << high) - 1)
}

/// Openings of [`Branches::prepare`] for such conditionals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Openings {
    /// ANDs of this many bits each, in the first rounds.
    pub ands: Vec<usize>,
    /// Bits that are opened next, to all.
    pub hot: usize,
    /// Bits that are opened then, of three parties, to all, and as many to the second and to the third party.
    pub dealt: usize,
}

impl Openings {
    /// Gives each opening: its bytes, and the parties to whom.
    pub fn in_order(&self, parties: usize) -> Vec<(u64, Vec<Party>)> {
        let all: Vec<Party> = Party::all(parties).collect();
        let bytes = |count: usize| bits::bytes_for(count) as u64;
        let ands = self.ands.iter().map(|&count| 2 * bytes(count));
        let mut made: Vec<_> = ands.map(|bytes| (bytes, all.clone())).collect();
        if self.hot > 0 {
            made.push((bytes(self.hot), all.clone()));
        }
        if self.dealt > 0 {
            made.push((bytes(self.dealt), all.clone()));
            made.extend(all[1..].iter().map(|&to| (bytes(self.dealt), vec![to])));
        }
        made
    }
}

/// Gives all openings, in order.
pub fn openings(wanted: &[Wanted], parties: usize, lanes: usize) -> Openings {
    let decoding: Vec<Vec<usize>> = wanted.iter().map(|wanted| wanted.decoding()).collect();
    let most = decoding.iter().map(Vec::len).max().unwrap_or(0);
    let ands = (0..most).map(|round| {
        let ands = decoding.iter().filter_map(|rounds| rounds.get(round));
        ands.sum::<usize>() * lanes
    });
    let items: usize = wanted
        .iter()
        .map(|wanted| wanted.items(parties, lanes))
        .sum();
    let hot = wanted
        .iter()
        .filter(|wanted| wanted.bits > 1 && wanted.own(parties).vectors() > 0);
    let hot: usize = hot.map(|wanted| wanted.codes() * lanes).sum();
    Openings {
        ands: ands.collect(),
        hot: hot + items * three::FIRST,
        dealt: items * three::SECOND,
    }
}

impl Branches {
    /// Makes random codes and masks for conditionals, for `lanes` lanes each.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If `stock` has not what they [need](Wanted::needs): a plan was wrong.
    pub async fn prepare(
        &mut self,
        wanted: &[Wanted],
        lanes: usize,
        stock: &mut Stock,
    ) -> Result<Vec<Selector>> {
        let parties = self.context.parties();
        let asked = wanted;
        let wanted: Vec<Wanted> = asked.iter().map(|wanted| wanted.own(parties)).collect();
        let wanted = &wanted[..];
        let mut vectors = Vec::new();
        for wanted in wanted {
            let count = wanted.vectors() * lanes;
            let length = wanted.length(parties);
            vectors.push(match count {
                0 => None,
                _ => Some(stock.vector_triples(length, count)?),
            });
        }
        // Random codes.
        let bytes = bits::bytes_for(lanes);
        let mut codes: Vec<Vec<Bits>> = vec![Vec::new(); wanted.len()];
        let mut hot: Vec<Vec<Vec<Bits>>> = vec![Vec::new(); wanted.len()];
        let mut scratch = Scratch::default();
        for ((wanted, codes), hot) in wanted.iter().zip(&mut codes).zip(&mut hot) {
            for bits in wanted.parts_of_code() {
                if bits == 2 {
                    let taken = stock.bit_triples_left().take(lanes, &mut scratch)?;
                    let pair = [taken.a, taken.b, taken.c].map(|string| {
                        let mut row = Bits::new(string[..bytes].to_vec());
                        bits::clear_tail(&mut row, lanes);
                        row
                    });
                    hot.push(self.hot_of_pair(&pair, lanes));
                    let [a, b, _] = pair;
                    codes.extend([a, b]);
                } else if wanted.draws() {
                    let mut bit = Bits::new(vec![0; bytes]);
                    self.random.fill(&mut bit);
                    bits::clear_tail(&mut bit, lanes);
                    hot.push(vec![self.inverted(&bit, lanes), bit.clone()]);
                    codes.push(bit);
                }
            }
        }
        let mut shares: Vec<Vec<[Bits; 3]>> = Vec::new();
        for (vectors, wanted) in vectors.iter_mut().zip(wanted) {
            shares.push(match vectors {
                None => Vec::new(),
                Some(vectors) => {
                    let each = bits::bytes_for(wanted.length(parties)) * lanes;
                    let taken = vectors.take(wanted.vectors() * lanes);
                    let of = |slot: usize| {
                        let part = |string: &[u8]| {
                            Bits::new(string[slot * each..(slot + 1) * each].to_vec())
                        };
                        let a = &taken.a[slot * lanes..(slot + 1) * lanes];
                        [packed(a), part(taken.b), part(taken.c)]
                    };
                    (0..wanted.vectors()).map(of).collect()
                }
            });
        }
        for (((codes, hot), shares), wanted) in
            codes.iter_mut().zip(&mut hot).zip(&shares).zip(wanted)
        {
            if !wanted.draws() {
                let bit = shares[0][0].clone();
                hot.push(vec![self.inverted(&bit, lanes), bit.clone()]);
                codes.push(bit);
            }
        }
        let made = openings(asked, parties, lanes);
        let hot = self.decode(&made.ands, hot, lanes, stock).await?;
        let items = self.bits_of_items(asked, &hot, lanes);
        let dealing = match items.is_empty() {
            true => None,
            false => Some(three::Dealing::new(self, items, stock)?),
        };
        // Where the bits of vector triples are others than the hot bits, that is made good.
        let mut masked = Bits::new(vec![0; bits::bytes_for(made.hot)]);
        let mut at = 0;
        let corrected = |wanted: &Wanted| wanted.bits > 1 && wanted.vectors() > 0;
        for ((hot, shares), wanted) in hot.iter().zip(&shares).zip(wanted) {
            for (hot, [bit, ..]) in hot.iter().zip(shares).filter(|_| corrected(wanted)) {
                let mut difference = hot.clone();
                kernels::xor_into(&mut difference, bit);
                bits::put(&mut masked, at, &difference, lanes);
                at += lanes;
            }
        }
        if let Some(dealing) = &dealing {
            dealing.mask(&mut masked, at);
        }
        let opened = self.open(&masked, made.hot).await?;
        let seeds = match dealing {
            Some(dealing) => dealing.finish(self, &opened, at).await?,
            None => Default::default(),
        };
        let mut at = 0;
        let mut selectors = Vec::new();
        for (((wanted, code), hot), shares) in wanted.iter().zip(codes).zip(hot).zip(shares) {
            let mut slots: Vec<Slot> = hot
                .into_iter()
                .map(|hot| Slot {
                    hot,
                    ..Slot::default()
                })
                .collect();
            if wanted.bits == 1 && wanted.vectors() > 0 {
                let [_, r, product] = &shares[0];
                let mut rest = product.clone();
                kernels::xor_into(&mut rest, r);
                let one = self.expand_both(*wanted, product, lanes);
                let zero = self.expand_both(*wanted, &rest, lanes);
                let ([zero_kept, zero_dropped], [one_kept, one_dropped]) = (zero, one);
                // The values that are random where the code is 1 are those that are dropped where it is 0.
                (slots[0].kept, slots[0].dropped) = (zero_kept, one_dropped);
                (slots[1].kept, slots[1].dropped) = (one_kept, zero_dropped);
            } else {
                for (slot, [_, r, product]) in slots.iter_mut().zip(shares) {
                    let mut difference = Bits::new(vec![0; bytes]);
                    bits::take(&opened, at, &mut difference, lanes);
                    at += lanes;
                    let mut kept = product;
                    let each = kept.len() / lanes.max(1);
                    let pairs = kept.chunks_exact_mut(each).zip(r.chunks_exact(each));
                    for (lane, (kept, r)) in pairs.enumerate() {
                        // Known to all.
                        if difference[lane / 8] >> (lane % 8) & 1 == 1 {
                            kernels::xor_into(kept, r);
                        }
                    }
                    let mut dropped = kept.clone();
                    kernels::xor_into(&mut dropped, &r);
                    slot.kept = self.expand(*wanted, &kept, 0, lanes);
                    slot.dropped = self.expand(*wanted, &dropped, 1, lanes);
                }
            }
            selectors.push(Selector { lanes, code, slots });
        }
        let mut item = 0;
        for (wanted, selector) in asked.iter().zip(&mut selectors) {
            let [kept, dropped] = wanted.dealt(parties);
            for slot in &mut selector.slots {
                for (dealt, rows, mask) in [
                    (kept, wanted.kept, &mut slot.kept),
                    (dropped, wanted.dropped, &mut slot.dropped),
                ] {
                    if dealt {
                        let each = bits::bytes_for(rows);
                        let place = item * SEED / 8..(item + lanes) * SEED / 8;
                        // Nobody but the first party knows which of its two seeds another one has.
                        let number = self.number_seeds(lanes);
                        let [mut one, other] =
                            [0, 1].map(|of| self.stretch(&seeds[of][place.clone()], each, number));
                        kernels::xor_into(&mut one, &other);
                        *mask = rows_of(&one, each, 0, rows, lanes);
                        item += lanes;
                    }
                }
            }
        }
        Ok(selectors)
    }

    /// Shares of whether masks from seeds are random, for each code, kind and lane.
    fn bits_of_items(&self, asked: &[Wanted], hot: &[Vec<Bits>], lanes: usize) -> Vec<u8> {
        let mut bits = Vec::new();
        for (wanted, hot) in asked.iter().zip(hot) {
            let [kept, dropped] = wanted.dealt(self.context.parties());
            for hot in hot {
                let each = |row: &Bits| -> Vec<u8> {
                    let lanes = 0..lanes;
                    lanes.map(|lane| row[lane / 8] >> (lane % 8) & 1).collect()
                };
                if kept {
                    bits.extend(each(hot));
                }
                if dropped {
                    bits.extend(each(&self.inverted(hot, lanes)));
                }
            }
        }
        bits
    }

    fn inverted(&self, bits: &Bits, lanes: usize) -> Bits {
        let mut bits = bits.clone();
        if self.context.me() == LEADER {
            kernels::not_into(&mut bits);
            bits::clear_tail(&mut bits, lanes);
        }
        bits
    }

    /// The hot bits of two bits, given with their product.
    fn hot_of_pair(&self, [a, b, both]: &[Bits; 3], lanes: usize) -> Vec<Bits> {
        let sum = |x: &Bits, y: &Bits| {
            let mut sum = x.clone();
            kernels::xor_into(&mut sum, y);
            sum
        };
        let (first, second) = (sum(a, both), sum(b, both));
        let none = self.inverted(&sum(&first, b), lanes);
        vec![none, first, second, both.clone()]
    }

    /// The hot bit of each code, from those of the parts of codes.
    async fn decode(
        &mut self,
        ands: &[usize],
        mut parts: Vec<Vec<Vec<Bits>>>,
        lanes: usize,
        stock: &mut Stock,
    ) -> Result<Vec<Vec<Bits>>> {
        for &count in ands {
            let strings = || Bits::new(vec![0; bits::bytes_for(count)]);
            let (mut x, mut y, mut z) = (strings(), strings(), strings());
            let mut at = 0;
            let pairs = parts.iter().flat_map(|parts| parts.chunks_exact(2));
            for (low, high) in pairs.map(|pair| (&pair[0], &pair[1])) {
                for high in &high[..high.len() - 1] {
                    for low in &low[..low.len() - 1] {
                        bits::put(&mut x, at, low, lanes);
                        bits::put(&mut y, at, high, lanes);
                        at += lanes;
                    }
                }
            }
            debug_assert_eq!(at, count);
            let triples = stock.bit_triples_left();
            self.gmw.and(triples, &x, &y, count, &mut z).await?;
            let mut at = 0;
            let mut product = || {
                let mut product = Bits::new(vec![0; bits::bytes_for(lanes)]);
                bits::take(&z, at, &mut product, lanes);
                at += lanes;
                product
            };
            for parts in &mut parts {
                let before = std::mem::take(parts);
                let mut before = before.into_iter();
                while let Some(low) = before.next() {
                    parts.push(match before.next() {
                        Some(high) => outer(&low, &high, &mut product),
                        None => low,
                    });
                }
            }
        }
        let only = |mut parts: Vec<Vec<Bits>>| parts.pop().unwrap_or_default();
        Ok(parts.into_iter().map(only).collect())
    }

    /// The masks of one kind, from the seed or the vector of each lane.
    fn expand(&mut self, wanted: Wanted, vectors: &[u8], kind: usize, lanes: usize) -> Bits {
        let parts = wanted.parts();
        let rows = [wanted.kept, wanted.dropped][kind];
        if wanted.seeded(self.context.parties()) {
            let number = self.number_seeds(lanes);
            let expanded = self.stretch(vectors, parts[kind], number);
            return rows_of(&expanded, parts[kind], 0, rows, lanes);
        }
        rows_of(vectors, parts[0] + parts[1], kind * parts[0], rows, lanes)
    }

    /// Both, from the same seed or vector.
    fn expand_both(&mut self, wanted: Wanted, vectors: &[u8], lanes: usize) -> [Bits; 2] {
        let [kept, dropped] = wanted.parts();
        let each = kept + dropped;
        let expanded = if wanted.seeded(self.context.parties()) {
            let number = self.number_seeds(lanes);
            &self.stretch(vectors, each, number)
        } else {
            vectors
        };
        [
            rows_of(expanded, each, 0, wanted.kept, lanes),
            rows_of(expanded, each, kept, wanted.dropped, lanes),
        ]
    }
}

impl Selector {
    /// Shares of the bits of the random code, from the lowest on: a row each. The real code's bits are opened
    /// under them.
    pub fn code(&self) -> &[Bits] {
        &self.code
    }

    /// The random code's bits, and what belongs to each code.
    fn into_parts(self) -> (Vec<Bits>, Vec<Slot>) {
        (self.code, self.slots)
    }

    /// The sum of all codes' kept masks: shares of random bits, that of the hot code.
    pub fn kept(&self) -> Bits {
        let mut sum = self.slots[0].kept.clone();
        for slot in &self.slots[1..] {
            kernels::xor_into(&mut sum, &slot.kept);
        }
        sum
    }

    /// Gives the strings that belong to each code, given the difference between the real code and the random one: the bits
    /// of it that were opened, a row each.
    pub fn activate(mut self, difference: &[&[u8]]) -> Vec<Slot> {
        for (bit, &row) in difference.iter().enumerate() {
            let longest = self.slots.iter().map(|slot| {
                let lengths = [slot.hot.len(), slot.kept.len(), slot.dropped.len()];
                lengths.into_iter().max().unwrap_or(0)
            });
            let longest = 8 * longest.max().unwrap_or(0);
            let mask = repeat(row, self.lanes, longest.div_ceil(self.lanes.max(1)));
            for low in (0..self.slots.len()).filter(|code| code >> bit & 1 == 0) {
                let (left, right) = self.slots.split_at_mut(low + (1 << bit));
                let (low, high) = (&mut left[low], &mut right[0]);
                swap(&mut low.hot, &mut high.hot, &mask);
                swap(&mut low.kept, &mut high.kept, &mask);
                swap(&mut low.dropped, &mut high.dropped, &mask);
            }
        }
        std::mem::take(&mut self.slots)
    }
}

/// The hot bits of codes of two parts. Products of all but the last of each are given; the others follow, because
/// the hot bits of a part add up to 1.
fn outer(low: &[Bits], high: &[Bits], product: &mut impl FnMut() -> Bits) -> Vec<Bits> {
    let (most_low, most_high) = (low.len() - 1, high.len() - 1);
    let mut all: Vec<Bits> = Vec::with_capacity(low.len() * high.len());
    // The low part's bits that are left for the last of the high part.
    let mut left = low.to_vec();
    for high in &high[..most_high] {
        let mut last = high.clone();
        for left in &mut left[..most_low] {
            let product = product();
            kernels::xor_into(&mut last, &product);
            kernels::xor_into(left, &product);
            all.push(product);
        }
        kernels::xor_into(&mut left[most_low], &last);
        all.push(last);
    }
    all.extend(left);
    all
}

/// Exchanges the bits of two strings where the mask is 1.
fn swap(a: &mut [u8], b: &mut [u8], mask: &[u8]) {
    for ((a, b), mask) in a.iter_mut().zip(b).zip(mask) {
        let difference = (*a ^ *b) & mask;
        *a ^= difference;
        *b ^= difference;
    }
}

/// Repeats a row of `lanes` bits `times` times.
pub fn repeat(row: &[u8], lanes: usize, times: usize) -> Bits {
    let all = lanes * times;
    let mut string = Bits::new(vec![0; bits::bytes_for(all)]);
    if all == 0 {
        return string;
    }
    bits::put(&mut string, 0, row, lanes);
    let mut filled = lanes;
    while filled < all {
        let more = filled.min(all - filled);
        let copy = Bits::new(string[..bits::bytes_for(more)].to_vec());
        bits::put(&mut string, filled, &copy, more);
        filled += more;
    }
    string
}

/// Rows of a bit for each lane, without padding, from the bytes of each lane, which lie `each` apart: those
/// from byte `first` on.
fn rows_of(lanewise: &[u8], each: usize, first: usize, rows: usize, lanes: usize) -> Bits {
    let mut string = Bits::new(vec![0; bits::bytes_for(rows * lanes)]);
    if rows == 0 || lanes == 0 {
        return string;
    }
    let from = &lanewise[first..];
    if lanes == 1 {
        string.copy_from_slice(&from[..bits::bytes_for(rows)]);
        bits::clear_tail(&mut string, rows);
        return string;
    }
    let row_bytes = bits::bytes_for(lanes);
    if lanes.is_multiple_of(8) {
        kernels::transpose_bits(from, lanes, rows, each, &mut string, row_bytes);
        return string;
    }
    let mut padded = Bits::new(vec![0; rows * row_bytes]);
    kernels::transpose_bits(from, lanes, rows, each, &mut padded, row_bytes);
    for (row, bits) in padded.chunks_exact(row_bytes).enumerate() {
        bits::put(&mut string, row * lanes, bits, lanes);
    }
    string
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use madrigal_testkit::{World, seed};

    use super::*;
    use crate::Opening;

    /// Every seed was expanded from block 0: where masked values are known, a guess was held against all of them. One
    /// seed for all shows that no two encrypt a block alike, and that parties who share a seed expand it alike.
    #[test]
    fn a_guess_of_a_key_tests_one_seed_of_a_conditional() {
        let made = World::new(3, seed()).run(|context| async move {
            let mut all = Vec::new();
            for step in ["here", "there"] {
                let mut branches = Branches::new(context.step(step), Opening::Direct)?;
                for lanes in [1, 7, 64] {
                    let first = branches.number_seeds(lanes);
                    all.extend(
                        branches
                            .stretch(&[9; SEED / 8].repeat(lanes), 40, first)
                            .to_vec(),
                    );
                }
            }
            Ok(all)
        });
        assert!(made.iter().all(|(all, _)| *all == made[0].0));
        let mut seen = HashSet::new();
        for string in made[0].0.chunks_exact(40) {
            // Two whole blocks, and half of one.
            for block in string.chunks(16) {
                assert!(seen.insert(block.to_vec()));
            }
        }
    }
}
