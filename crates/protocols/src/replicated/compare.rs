//! Signs, comparisons, equality and bits of ring elements: x = a + b with a = x_0 + x_1, whose bits
//! P_0 puts in, and b = x_2, whose bits P_1 and P_2 have. In t = a ^ b the components of the two lie
//! side by side: (mask, a ^ mask, b).
//!
//! | operation, n elements of l bits | rounds | bits sent by each, and by P_0 besides |
//! |---|---|---|
//! | [`negative`](ReplicatedRings::negative), ripple | l | n (l - 1); n l |
//! | the same, tree | 2 + ceil(log2(l - 1)) | at most n (3 l - 5); n l |
//! | [`decompose`](ReplicatedRings::decompose) | the same | n (l - 1), or a tree for all carries; n l |
//! | [`is_zero`](ReplicatedRings::is_zero) | 1 + log2 l | n (l - 1); n l |
//!
//! with rows rounded up to bytes; [`Tally`](super::Tally) has the exact numbers.

use bytes::Bytes;
use madrigal_core::{Ring, bits};
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::Result;
use zeroize::Zeroize;

use super::carries::{Addends, Second};
use super::shares::Secret;
use super::{BitShares, Depth, ReplicatedBits, ReplicatedRings, RingShares};

/// How x_0 + x_1 and x_2 become addends.
#[derive(Clone, Copy)]
pub(super) struct Split<T> {
    /// Added to the first.
    pub(super) offset: T,
    /// Whether the second changes its sign.
    pub(super) negate: bool,
}

impl ReplicatedRings {
    /// The highest bit of each element: whether it is negative in two's complement.
    ///
    /// # Errors
    /// Those of the network; so with all operations here.
    pub async fn negative<T: Ring>(&mut self, x: &RingShares<T>) -> Result<BitShares> {
        let depth = self.depth_of(x.len());
        let work = async |strand: &mut ReplicatedBits, block: std::ops::Range<usize>| {
            let addends = strand.split(x, block, Split::plain()).await?;
            let mut sign = addends.t.take_row(T::BITS - 1);
            let carry = strand.carries(&addends, &[T::BITS - 1], depth).await?;
            sign.xor_assign(&carry);
            Ok(sign)
        };
        let done = self.in_blocks(x.len(), T::BITS, work).await?;
        Ok(collect(done, 1, x.len()))
    }

    /// Whether x < y, for elements whose difference does not overflow: |x - y| < 2^{l-1}, as is so for
    /// signed numbers of l - 1 bits and unsigned ones of l - 1. Cost of
    /// [`negative`](Self::negative). For any numbers see [`less_than`](Self::less_than).
    ///
    /// # Panics
    /// If the batches differ in length; so with all operations on two batches.
    pub async fn less_than_near<T: Ring>(
        &mut self,
        x: &RingShares<T>,
        y: &RingShares<T>,
    ) -> Result<BitShares> {
        let mut difference = x.clone();
        difference.sub_assign(y);
        self.negative(&difference).await
    }

    /// Whether x < y as signed numbers, whatever they are: the signs of x, y and x - y side by side,
    /// and one AND more: x < y is x's sign where the two signs differ, else the difference's.
    pub async fn less_than<T: Ring>(
        &mut self,
        x: &RingShares<T>,
        y: &RingShares<T>,
    ) -> Result<BitShares> {
        let [sign, _] = self.compare(x, y).await?;
        Ok(sign)
    }

    /// Whether x < y as unsigned numbers, whatever they are. Cost of [`less_than`](Self::less_than).
    pub async fn less_than_unsigned<T: Ring>(
        &mut self,
        x: &RingShares<T>,
        y: &RingShares<T>,
    ) -> Result<BitShares> {
        let [_, unsigned] = self.compare(x, y).await?;
        Ok(unsigned)
    }

    async fn compare<T: Ring>(
        &mut self,
        x: &RingShares<T>,
        y: &RingShares<T>,
    ) -> Result<[BitShares; 2]> {
        let mut difference = x.clone();
        difference.sub_assign(y);
        if x.is_empty() {
            return Ok([BitShares::zeros(1, 0), BitShares::zeros(1, 0)]);
        }
        let signs = self
            .negative(&RingShares::concat(&[x, y, &difference]))
            .await?;
        let count = x.len();
        let third = |i: usize| signs.part(i * count..(i + 1) * count);
        let [x, y, difference] = [third(0), third(1), third(2)];
        let mut differ = x.clone();
        differ.xor_assign(&y);
        // d ^ (x ^ y)(x ^ d); for unsigned numbers y's sign in the place of x's.
        let mut turn = x;
        turn.xor_assign(&difference);
        let chosen = self.strand.and(differ.row(0), turn.row(0), count).await?;
        let chosen = chosen.each_ref().map(|part| &part[..]);
        let mut signed = difference;
        for (part, chosen) in signed.components.iter_mut().zip(chosen) {
            kernels::xor_into(part, chosen);
        }
        let mut unsigned = signed.clone();
        unsigned.xor_assign(&differ);
        Ok([signed, unsigned])
    }

    /// Whether each element is zero.
    pub async fn is_zero<T: Ring>(&mut self, x: &RingShares<T>) -> Result<BitShares> {
        let work = async |strand: &mut ReplicatedBits, block: std::ops::Range<usize>| {
            // a + b = 0 where the bits of a and of -b are the same.
            let split = Split {
                offset: T::ZERO,
                negate: true,
            };
            let mut equal = strand.split(x, block, split).await?.t;
            equal.invert(strand.context.me());
            while equal.rows > 1 {
                let half = equal.rows / 2;
                let bytes = half * equal.stride();
                let parts = equal.components();
                let low = parts.map(|part| &part[..bytes]);
                let high = parts.map(|part| &part[bytes..]);
                let z = strand.and(low, high, 8 * bytes).await?;
                equal = BitShares {
                    components: z.map(|part| Secret::from(part.to_vec())),
                    rows: half,
                    count: equal.count,
                };
            }
            Ok(equal)
        };
        let done = self.in_blocks(x.len(), T::BITS, work).await?;
        Ok(collect(done, 1, x.len()))
    }

    /// Whether x = y. Cost of [`is_zero`](Self::is_zero).
    pub async fn equal<T: Ring>(
        &mut self,
        x: &RingShares<T>,
        y: &RingShares<T>,
    ) -> Result<BitShares> {
        let mut difference = x.clone();
        difference.sub_assign(y);
        self.is_zero(&difference).await
    }

    /// All bits of each element, a row for each from the lowest on.
    pub async fn decompose<T: Ring>(&mut self, x: &RingShares<T>) -> Result<BitShares> {
        let depth = self.depth_of(x.len());
        let targets: Vec<usize> = (1..T::BITS).collect();
        let targets = &targets;
        let work = async |strand: &mut ReplicatedBits, block: std::ops::Range<usize>| {
            let addends = strand.split(x, block, Split::plain()).await?;
            let carries = strand.carries(&addends, targets, depth).await?;
            Ok(sum(addends.t, &carries))
        };
        let done = self.in_blocks(x.len(), T::BITS, work).await?;
        Ok(collect(done, T::BITS, x.len()))
    }

    pub(super) fn depth_of(&self, count: usize) -> Depth {
        self.depth.unwrap_or(Depth::of_batch(count))
    }
}

impl<T: Ring> Split<T> {
    /// x itself.
    pub(super) const fn plain() -> Self {
        Self {
            offset: T::ZERO,
            negate: false,
        }
    }
}

/// The bits of a sum: t and, from bit 1 on, the carries.
pub(super) fn sum(mut t: BitShares, carries: &BitShares) -> BitShares {
    let stride = t.stride();
    for (t, carries) in t.components.iter_mut().zip(&carries.components) {
        kernels::xor_into(&mut t[stride..], carries);
    }
    t
}

/// Puts the results of blocks together.
pub(super) fn collect(
    done: Vec<(std::ops::Range<usize>, BitShares)>,
    rows: usize,
    count: usize,
) -> BitShares {
    let mut whole = BitShares::zeros(rows, count);
    for (block, part) in done {
        whole.place(block.start, &part);
    }
    whole
}

/// The bits of elements, a row for each bit.
pub(super) fn rows_of<T: Ring>(elements: &[T]) -> Secret<u8> {
    let stride = bits::bytes_for(elements.len());
    let mut rows = Secret::zeros(T::BITS * stride);
    let bytes = rings::as_bytes(elements);
    kernels::transpose_bits(bytes, elements.len(), T::BITS, T::BYTES, &mut rows, stride);
    rows
}

impl BitShares {
    /// A copy of a range of the only row.
    fn part(&self, range: std::ops::Range<usize>) -> Self {
        let mut part = Self::zeros(1, range.len());
        for (to, from) in part.components.iter_mut().zip(&self.components) {
            bits::take(from, range.start, to, range.len());
        }
        part
    }
}

impl ReplicatedBits {
    /// The bits of x_0 + x_1 and of x_2 for a block of elements: P_0 puts in the first, in one message
    /// to P_1 under a mask that P_2 has too; the others have the second. One round.
    pub(super) async fn split<T: Ring>(
        &mut self,
        x: &RingShares<T>,
        block: std::ops::Range<usize>,
        split: Split<T>,
    ) -> Result<Addends> {
        let [first, second] = x.components().map(|part| &part[block.clone()]);
        let count = block.len();
        let bytes = T::BITS * bits::bytes_for(count);
        let known = |part: &[T]| {
            if !split.negate {
                return rows_of(part);
            }
            let mut part = part.to_vec();
            part.iter_mut().for_each(|x| *x = T::ZERO.sub(*x));
            let rows = rows_of(&part);
            part.zeroize();
            rows
        };
        let (components, same) = match self.context.me().index() {
            0 => {
                let mut sum = Secret::from(first.to_vec());
                rings::add_into(&mut sum, second);
                sum.iter_mut().for_each(|x| *x = x.add(split.offset));
                let mut rows = rows_of(&sum);
                let mut mask = Secret::zeros(bytes);
                self.context.count_aes(bytes.div_ceil(16) as u64);
                self.zeros.first.fill(&mut mask);
                kernels::xor_into(&mut rows, &mask);
                let message = Bytes::copy_from_slice(&rows);
                self.neighbours.next.send(message).await?;
                ([mask, rows], [true, true])
            }
            1 => {
                let rows = known(second);
                let theirs = self.neighbours.previous.recv(bytes).await?;
                ([Secret::from(theirs.to_vec()), rows], [true, false])
            }
            _ => {
                let mut mask = Secret::zeros(bytes);
                self.context.count_aes(bytes.div_ceil(16) as u64);
                self.zeros.second.fill(&mut mask);
                ([known(first), mask], [false, true])
            }
        };
        Ok(Addends {
            t: BitShares {
                components,
                rows: T::BITS,
                count,
            },
            a: Second::Of(same),
        })
    }
}
