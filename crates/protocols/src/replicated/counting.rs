//! Sorts by keys of few bits, without comparisons: each row's place is counted.
//!
//! A row with the key v goes behind all rows with lesser keys, and behind those with the key v that stand before it, so that rows with equal
//! keys stay in their order. With e_v = 1 for rows with that key and 0 for others, p_v for the sum of e_v over all rows before, and s_v for
//! the number of rows with the key v or a greater one, row i of n goes to
//!
//! > i - p + sum of e_v (n - i + p + p_v - s_v), where p is the sum of all p_v and v goes from 1 on.
//!
//! The bits e_v are made elements; p_v and s_v are local, and the sum is one dot product for each row. Then the rows are put
//! there (`place.rs`).
//!
//! | operation, n rows, keys of b bits | rounds | sent by each |
//! |---|---|---|
//! | [`places`](ReplicatedRings::places) | b + 2 | 2^b - 1 - b bits and 2^b numbers of 32 bits for each row |
//! | [`sort`](ReplicatedRings::sort), up to [`COUNTED`] bits | 3 more | a shuffle of keys, columns and places; a number of 32 bits for each row |
//! | [`sort_by_digits`](ReplicatedRings::sort_by_digits), up to [`BY_DIGITS`] | that for each digit, at most 9 | that for each digit |

use std::ops::Range;

use madrigal_core::{Ring, Zeroizing};
use madrigal_correlations::Width;
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::Result;

use super::rings::{WAYS, block_length, blocks_of};
use super::{
    BitShares, Column, Depth, Keys, Masking, ReplicatedBits, ReplicatedRings, RingShares, Sorted,
    ZeroKeys, leads,
};

/// Bits of the longest keys whose rows' places are counted. Work doubles with each bit: with 4 a million rows take little more than half of the
/// time of comparisons and as many bytes, with 5 nearly the time and half as many bytes again.
pub const COUNTED: usize = 4;

/// Bits of the longest keys that are sorted digit by digit: with 16 and a column of 64 bits, that sends three times the bytes of comparisons in
/// many rounds, twice those of comparisons in few.
pub const BY_DIGITS: usize = 16;

/// Rows whose factors are in memory at once.
const NEAR: usize = 1 << 10;

/// Rows of bits that say for each value of a key but 0 whether a row has it.
pub(super) const fn values(bits: usize) -> usize {
    (1 << bits) - 1
}

/// Digits of keys, the lowest first: as few as there can be, and about as long.
pub(super) fn digits(bits: usize) -> impl Iterator<Item = Range<usize>> {
    let count = bits.div_ceil(COUNTED);
    (0..count).map(move |digit| digit * bits / count..(digit + 1) * bits / count)
}

/// Width of the words that such keys become.
pub(super) const fn key_width(bits: usize) -> Width {
    if bits <= 8 { Width::W8 } else { Width::W16 }
}

/// Rows that are counted together where rounds count: blocks beyond those that go side by side wait for each other.
const COUNTED_AT_ONCE: usize = 1 << 16;

/// Blocks of rows of which it is found whether they have each of a number of values.
pub(super) fn blocks(
    rows: usize,
    values: usize,
    depth: Option<Depth>,
) -> impl Iterator<Item = Range<usize>> {
    let near = block_length(values * u32::BITS as usize);
    let each = match depth {
        Some(Depth::Tree) => {
            let fair = rows.div_ceil(WAYS).next_multiple_of(64);
            near.max(fair.min(COUNTED_AT_ONCE))
        }
        _ => near,
    };
    blocks_of(rows, each)
}

/// Numbers of ANDs for each row that follow each other, to make these of the bits of a key.
pub(super) fn and_layers(bits: usize) -> impl Iterator<Item = usize> {
    (1..bits).map(values)
}

impl ReplicatedRings {
    /// The place of each row in the order of keys of up to [`COUNTED`] bits; those with equal keys stay in their order.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If keys have no bit or more, or there are 2^32 rows or more.
    pub async fn places(&mut self, keys: &Keys) -> Result<RingShares<u32>> {
        let (rows, bits) = (keys.rows(), keys.bits());
        assert!((1..=COUNTED).contains(&bits), "keys of {bits} bits");
        let count = u32::try_from(rows).unwrap_or_else(|_| panic!("{rows} rows are too many"));
        let (planes, values) = (&keys.planes(0..bits), values(bits));
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>| {
            let found = strand.one_hot(&planes.block(block, bits)).await?;
            strand.inject::<u32>(&found).await
        };
        let found = self.in_these(blocks(rows, values, self.depth), work);
        let found = found.await?;
        let mut counting = Counting::new(found, values, count, leads(self.me()));
        let mut places = RingShares::zeros(rows);
        let local = |piece: Range<usize>, z: &mut [u32], zeros: &mut ZeroKeys| {
            zeros.fill(z);
            counting.add_places(piece, z);
        };
        self.strand.reshare_elements(&mut places, local).await?;
        Ok(places)
    }

    /// [`sort`](Self::sort) by keys of up to [`BY_DIGITS`] bits without comparisons, digit after digit from the lowest on: each time rows are put in
    /// the order of a digit, those with equal digits stay in theirs.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If keys have no bit or more, or there are 2^32 rows or more, or columns with others.
    pub async fn sort_by_digits(&mut self, keys: &Keys, columns: Vec<Column>) -> Result<Sorted> {
        let bits = keys.bits();
        assert!((1..=BY_DIGITS).contains(&bits), "keys of {bits} bits");
        let mut moved = keys.clone();
        let mut columns = columns;
        for digit in digits(bits) {
            let mut own = Keys::none(keys.rows());
            own.push(&moved.planes(digit));
            let places = Column::from((Masking::Sums, self.places(&own).await?));
            drop(own);
            let all = std::iter::once(moved.to_column()).chain(columns).collect();
            columns = self.place(places, all).await?;
            moved = Keys::of_column(columns.remove(0), bits);
        }
        Ok(Sorted {
            keys: moved,
            columns,
        })
    }
}

impl Keys {
    /// Short keys as words.
    fn to_column(&self) -> Column {
        madrigal_correlations::with_ring!(key_width(self.bits), T => {
            let components = self.limbs[0].components().map(|words| {
                let words: Vec<T> = words.iter().map(|&word| T::from_u128(word.into())).collect();
                Zeroizing::from(words)
            });
            Column::from((Masking::Bits, RingShares { components }))
        })
    }

    /// And back.
    fn of_column(column: Column, bits: usize) -> Self {
        let mask = (1 << bits) - 1;
        madrigal_correlations::with_ring!(key_width(bits), T => {
            let words: RingShares<T> = column.try_into().expect("words of keys");
            let components = words.components.each_ref().map(|words| {
                let words = words.iter().map(|&word| word.to_u128() as u64 & mask);
                Zeroizing::from(words.collect::<Vec<u64>>())
            });
            Self {
                limbs: vec![RingShares { components }],
                bits,
            }
        })
    }
}

impl ReplicatedBits {
    /// Rows that say for each value of a key but 0 whether it is the key's: from the lowest bit on, each bit parts the keys that are alike
    /// in those below.
    async fn one_hot(&mut self, bits: &BitShares) -> Result<BitShares> {
        let mut found = BitShares::zeros(values(bits.rows), bits.count);
        let stride = bits.stride();
        for bit in 0..bits.rows {
            let known = values(bit);
            let own = bits.row(bit);
            let mut upper = own.map(|own| Zeroizing::from(own.to_vec()));
            if known > 0 {
                let bytes = known * stride;
                let below = found.components().map(|part| &part[..bytes]);
                let same = own.map(|own| Zeroizing::from(own.repeat(known)));
                let same = same.each_ref().map(|part| &part[..]);
                let both = self.and(below, same, 8 * bytes).await?;
                for ((part, upper), both) in found.components.iter_mut().zip(&mut upper).zip(&both)
                {
                    kernels::xor_into(&mut part[..bytes], both);
                    part[bytes + stride..][..bytes].copy_from_slice(both);
                    // With the bit and none of the values below: the bit alone.
                    for both in both.chunks(stride.max(1)) {
                        kernels::xor_into(upper, both);
                    }
                }
            }
            for (to, upper) in found.row_mut(known).into_iter().zip(&upper) {
                to.copy_from_slice(upper);
            }
        }
        Ok(found)
    }
}

/// One party's sums of the rows that have which key, as far as rows are counted.
struct Counting {
    /// Whether rows have each value but 0, as elements, block by block: all rows for one value, then for the next one.
    found: Vec<(Range<usize>, RingShares<u32>)>,
    /// Block of the row that is next.
    block: usize,
    rows: u32,
    leads: [bool; 2],
    /// p, then for each value p_v - s_v.
    sums: [Zeroizing<Vec<u32>>; 2],
    factors: [Zeroizing<Vec<u32>>; 2],
}

impl Counting {
    fn new(
        mut found: Vec<(Range<usize>, RingShares<u32>)>,
        values: usize,
        rows: u32,
        leads: [bool; 2],
    ) -> Self {
        found.sort_by_key(|(block, _)| block.start);
        let mut sums = [0, 0].map(|_: u32| Zeroizing::<Vec<u32>>::zeros(1 + values));
        for (block, found) in &found {
            for (sums, part) in sums.iter_mut().zip(found.components()) {
                for (sum, row) in sums[1..].iter_mut().zip(part.chunks(block.len())) {
                    *sum = row.iter().fold(*sum, |sum, one| sum.wrapping_sub(*one));
                }
            }
        }
        // Rows with a greater key are counted, too.
        for sums in &mut sums {
            for value in (2..=values).rev() {
                sums[value - 1] = sums[value - 1].wrapping_add(sums[value]);
            }
        }
        Self {
            found,
            block: 0,
            rows,
            leads,
            sums,
            factors: [Zeroizing::zeros(NEAR), Zeroizing::zeros(NEAR)],
        }
    }

    /// Adds this party's part of the places of the rows that follow those before.
    fn add_places(&mut self, rows: Range<usize>, mut z: &mut [u32]) {
        let mut next = rows.start;
        while next < rows.end {
            let block = self.found[self.block].0.end;
            let end = rows.end.min(block).min(next + NEAR);
            let (now, after) = z.split_at_mut(end - next);
            self.add_near(next..end, now);
            self.block += usize::from(end == block);
            (next, z) = (end, after);
        }
    }

    /// Adds this party's part of the places of few rows of one block.
    fn add_near(&mut self, rows: Range<usize>, z: &mut [u32]) {
        let (block, found) = &self.found[self.block];
        let found = found.components();
        let values = self.sums[0].len() - 1;
        let of = |value: usize| {
            let start = value * block.len() + rows.start - block.start;
            start..start + rows.len()
        };
        let mut first = [0, 0].map(|_: u32| Zeroizing::<Vec<u32>>::zeros(z.len()));
        for (part, first) in first.iter_mut().enumerate() {
            for value in 0..values {
                rings::add_into(first, &found[part][of(value)]);
            }
            let all = if self.leads[part] { self.rows } else { 0 };
            let sum = &mut self.sums[part][0];
            for (row, first) in rows.clone().zip(first.iter_mut()) {
                let minus = if self.leads[part] { row as u32 } else { 0 };
                let own = std::mem::replace(first, all.wrapping_sub(minus).wrapping_add(*sum));
                *sum = sum.wrapping_add(own);
            }
        }
        // Each party adds i - p of one component.
        let all = if self.leads[0] { self.rows } else { 0 };
        for (z, first) in z.iter_mut().zip(first[0].iter()) {
            *z = z.wrapping_add(all.wrapping_sub(*first));
        }
        let minus = &[0; NEAR][..z.len()];
        for value in 0..values {
            let found = found.map(|part| &part[of(value)]);
            for (part, factors) in self.factors.iter_mut().enumerate() {
                let sum = &mut self.sums[part][1 + value];
                let of = found[part].iter().zip(first[part].iter());
                for (factor, (found, first)) in factors.iter_mut().zip(of) {
                    *factor = first.wrapping_add(*sum);
                    *sum = sum.wrapping_add(*found);
                }
            }
            let factors = self.factors.each_ref().map(|part| &part[..z.len()]);
            rings::replicated_products(found, factors, minus, z);
        }
    }
}
