//! Shared bits times shared vectors of ring elements, for any number of parties: a party after the other
//! multiplies by its own share of the bit.
//!
//! Let t be the XOR of bits t_0, t_1, ... of which party i knows t_i, and V a vector of which each party has a
//! share, all modulo 2^l. From A = 0 on, turn i makes A + t_i (V - 2 A) of A: where t_i is 1 that is V - A,
//! so A stays 0 or V, and it is t V at the end. In its turn party i gets t_i times another party j's share of
//! D = V - 2 A by one correlated OT: j has two seeds, of which i knows the one that t_i names. j sends
//!
//! ```text
//! E_j = G(k_0) - G(k_1) + D_j
//! ```
//!
//! and takes - G(k_0) for its share; i takes G(k_{t_i}) + t_i E_j, which is that, or the same plus D_j. i needs but
//! the sum of all E_j, so that a turn is the opening of a vector to one party.
//!
//! The seed that i knows comes from a vector triple (a, b, c = a b) of all parties, for each bit and turn one: they
//! open a + t_i, b + W where W are the sums (XOR) of the others' seeds, one after the other, and open to i the product
//! t_i W, to which each adds its first seed k_0. The vectors are sent with the turn's.
//!
//! | rounds | vector triples | sent by a party to each other one |
//! |---|---|---|
//! | 1 + N | N of 128 (N - 1) bits | N (1 + 128 (N - 1)) bits; in i's turn, to i: the vector, 128 (N - 1) bits |
//!
//! *Security*, against all parties but one. a + t_i and b + W are under bits of triples that are used once. i learns
//! of j's seeds one, and the other one's expansion hides D_j in E_j; it learns nothing of t_i W beside, since
//! k_0 hides that. The others get nothing in i's turn but their own fresh expansions, which make their new shares
//! and, with them, i's uniform. Seeds are drawn for one bit and turn, and each is expanded once by either.

use std::ops::Range;

use madrigal_core::{Party, Ring, bits};
use madrigal_correlations::{Needs, Stock};
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::Result;

use super::channels::{Elements, RingBranches};
use crate::branches::channels::{Bits, SEED};

/// Bytes of a seed.
const BYTES: usize = SEED / 8;

/// Bits of the vectors that bring all seeds of a turn.
const fn length(parties: usize) -> usize {
    SEED * (parties - 1)
}

/// Correlations for `items` bits.
pub(super) fn needs(parties: usize, items: usize, needs: &mut Needs) {
    needs.vector_triples(length(parties), parties * items);
}

/// AES blocks for `items` bits, each times `each` elements.
pub(super) fn aes_blocks<T: Ring>(parties: usize, items: usize, each: usize) -> usize {
    let expansion = (each * T::BYTES).div_ceil(16);
    // Two seeds are drawn and expanded in each turn of another one, and one of each other one in our own.
    (parties - 1) * items * (2 + 3 * expansion)
}

/// Openings, in order.
pub(super) fn openings<T: Ring>(
    parties: usize,
    items: usize,
    each: usize,
) -> Vec<(u64, Vec<Party>)> {
    let masked = parties * items * (1 + length(parties));
    let all = Party::all(parties).collect();
    let turn = items * (each * T::BYTES + length(parties) / 8);
    let turns = Party::all(parties).map(|to| (turn as u64, vec![to]));
    std::iter::once((bits::bytes_for(masked) as u64, all))
        .chain(turns)
        .collect()
}

/// Gives the place of the seeds of `of` among those of the turn of `turn`.
fn place(of: Party, turn: Party) -> usize {
    of.index() - usize::from(of > turn)
}

fn xor(x: &mut [u8], y: &[u8]) {
    kernels::xor_into(x, y);
}

/// One turn's seeds on their way.
struct Turn {
    of: Party,
    /// Shares of a vector triple for each bit: a as 0 or 1.
    a: Bits,
    b: Bits,
    c: Bits,
    /// Our two seeds for each bit, where it is another party's turn.
    own: Option<[Bits; 2]>,
}

impl Turn {
    fn new(
        branches: &mut RingBranches,
        of: Party,
        items: usize,
        stock: &mut Stock,
    ) -> Result<Self> {
        let mut triples = stock.vector_triples(length(branches.parties()), items)?;
        let shares = triples.take(items);
        let [a, b, c] = [shares.a, shares.b, shares.c].map(|part| Bits::new(part.to_vec()));
        let own = (of != branches.me()).then(|| {
            [(); 2].map(|()| {
                let mut seeds = Bits::new(vec![0; items * BYTES]);
                branches.branches.random.fill(&mut seeds);
                seeds
            })
        });
        Ok(Self { of, a, b, c, own })
    }

    /// Gives the place of our own seeds in each bit's vector, if it is not our turn.
    fn own_place(&self, me: Party) -> Range<usize> {
        let first = place(me, self.of) * BYTES;
        first..first + BYTES
    }

    /// Our shares of W: of each bit's vector the sum of our seeds.
    fn sums(&self, me: Party, parties: usize) -> Bits {
        let each = length(parties) / 8;
        let mut sums = Bits::new(vec![0; self.b.len()]);
        if let Some([one, other]) = &self.own {
            let seeds = one.chunks_exact(BYTES).zip(other.chunks_exact(BYTES));
            for (vector, (one, other)) in sums.chunks_exact_mut(each).zip(seeds) {
                let own = &mut vector[self.own_place(me)];
                own.copy_from_slice(one);
                xor(own, other);
            }
        }
        sums
    }

    /// Our shares of the seeds that `of` gets, from what was opened: t W, and our k_0.
    fn given(&self, me: Party, parties: usize, difference: &[u8], masked: &[u8]) -> Bits {
        let each = length(parties) / 8;
        let mut given = self.c.clone();
        let sums = self.sums(me, parties);
        for (item, vector) in given.chunks_exact_mut(each).enumerate() {
            let place = item * each..(item + 1) * each;
            // a (b + W), and W where a is not t.
            let a = self.a[item].wrapping_neg();
            let product = vector.iter_mut().zip(&masked[place.clone()]);
            product.for_each(|(share, masked)| *share ^= masked & a);
            if difference[item / 8] >> (item % 8) & 1 == 1 {
                xor(vector, &sums[place]);
            }
            if let Some([first, _]) = &self.own {
                let own = &mut vector[self.own_place(me)];
                xor(own, &first[item * BYTES..(item + 1) * BYTES]);
            }
        }
        given
    }
}

/// Shares of the product of each bit (0 or 1 is our share, bits of all lanes after each other) with its lane's
/// string, of which we have a share; `strings` has one for each lane.
pub(super) async fn times<T: Ring>(
    branches: &mut RingBranches,
    bits: &[u8],
    strings: &[T],
    lanes: usize,
    stock: &mut Stock,
) -> Result<Elements<T>> {
    let (me, parties, items) = (branches.me(), branches.parties(), bits.len());
    let length = length(parties);
    let turns: Vec<Turn> = Party::all(parties)
        .map(|of| Turn::new(branches, of, items, stock))
        .collect::<Result<_>>()?;
    // The choice of the seeds that they get is under the triples' bits.
    let count = parties * items * (1 + length);
    let mut masked = Bits::new(vec![0; bits::bytes_for(count)]);
    let mut at = 0;
    for turn in &turns {
        let mut hidden = turn.a.clone();
        if turn.of == me {
            xor(&mut hidden, bits);
        }
        bits::put(&mut masked, at, &super::super::packed(&hidden), items);
        at += items;
    }
    for turn in &turns {
        let mut hidden = turn.sums(me, parties);
        xor(&mut hidden, &turn.b);
        bits::put(&mut masked, at, &hidden, items * length);
        at += items * length;
    }
    let opened = branches.branches.open(&masked, count).await?;
    let each = strings.len().checked_div(lanes).unwrap_or(0);
    let whole = strings.len() * items.checked_div(lanes).unwrap_or(0);
    let mut share = Elements::new(vec![T::ZERO; whole]);
    // A pair of seeds has one number: who gets one of them lacks the other alone.
    let first = branches
        .branches
        .number_seeds(parties * (parties - 1) * items);
    let number_of = |of: Party, turn: Party| {
        let pair = turn.index() * (parties - 1) + place(of, turn);
        first + (pair * items) as u64
    };
    for (number, turn) in turns.into_iter().enumerate() {
        let mut difference = vec![0; bits::bytes_for(items)];
        bits::take(&opened, number * items, &mut difference, items);
        let mut masked = vec![0; items * length / 8];
        let at = parties * items + number * items * length;
        bits::take(&opened, at, &mut masked, items * length);
        let mut seeds = turn.given(me, parties, &difference, &masked);
        // V - 2 A.
        let mut change = Elements::new(strings.repeat(whole / strings.len().max(1)));
        rings::sub_into(&mut change, &share);
        rings::sub_into(&mut change, &share);
        if let Some(own) = &turn.own {
            let pairs = number_of(me, turn.of);
            let expanded = |seeds: &[u8]| branches.branches.stretch(seeds, each * T::BYTES, pairs);
            let [zero, one] = [&own[0], &own[1]].map(|seeds| elements::<T>(&expanded(seeds)));
            rings::add_into(&mut change, &zero);
            rings::sub_into(&mut change, &one);
            rings::sub_into(&mut share, &zero);
            let to = [turn.of];
            let sent = branches.numbers.open_strings(&mut change, &mut seeds, &to);
            sent.await?;
            continue;
        }
        let mut sum = Elements::new(vec![T::ZERO; whole]);
        let to = [me];
        let got = branches.numbers.open_strings(&mut sum, &mut seeds, &to);
        got.await?;
        rings::add_into(&mut sum, &change);
        let strings = share.chunks_exact_mut(each.max(1));
        for ((share, sum), &bit) in strings.zip(sum.chunks_exact(each.max(1))).zip(bits) {
            let bit = T::from_u128(bit.into());
            let both = share.iter_mut().zip(sum);
            both.for_each(|(share, sum)| *share = share.add(sum.mul(bit)));
        }
        // One seed of each other party, bit by bit.
        for (peer, of) in me.others(parties).enumerate() {
            let mut of_peer = Bits::new(Vec::with_capacity(items * BYTES));
            for seeds in seeds.chunks_exact(length / 8) {
                of_peer.extend_from_slice(&seeds[peer * BYTES..(peer + 1) * BYTES]);
            }
            let pairs = number_of(of, me);
            let expanded = (branches.branches).stretch(&of_peer, each * T::BYTES, pairs);
            rings::add_into(&mut share, &elements::<T>(&expanded));
        }
    }
    Ok(share)
}

fn elements<T: Ring>(bytes: &[u8]) -> Elements<T> {
    Elements::new(bytes.chunks_exact(T::BYTES).map(T::read).collect())
}
