//! Signs, comparisons, equality and bits of ring elements: x = a + b with a = x_0 + x_1, whose bits
//! P_0 puts in, and b = x_2, whose bits P_1 and P_2 have. In t = a ^ b the components of the two lie
//! side by side: (mask, a ^ mask, b).
//!
//! | operation, n elements of l bits | rounds | bits sent by each, and by P_0 besides |
//! |---|---|---|
//! | [`negative`](ReplicatedRings::negative), ripple | l | n (l - 1); n l |
//! | the same, tree | 1 + log2 l | at most 2.5 n l; n l |
//! | [`decompose`](ReplicatedRings::decompose) | l, or 2 + log2 l | n (l - 1), or a tree for all carries; n l |
//! | [`is_zero`](ReplicatedRings::is_zero) | 1 + log2 l | n (l - 1); n l |
//!
//! with rows rounded up to bytes; [`Tally`](super::Tally) has the exact numbers.

use std::ops::Range;

use bytes::Bytes;
use madrigal_core::{Ring, bits};
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::Result;

use super::carries::{Addends, ComponentRows, Second};
use super::{BitShares, Depth, ReplicatedBits, ReplicatedRings, RingShares, RingView};
use madrigal_core::Zeroizing;

/// A number that is split into x_0 + x_1 and x_2.
#[derive(Clone, Copy)]
pub(super) struct Split<'a, T: Ring> {
    pub(super) x: RingView<'a, T>,
    /// Subtracted from x.
    pub(super) minus: Option<RingView<'a, T>>,
    /// Added to the first.
    pub(super) offset: T,
    /// Whether the second changes its sign.
    pub(super) negate: bool,
}

impl ReplicatedRings {
    /// The highest bit of each element: whether it is negative in two's complement.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network; so with all operations here.
    pub async fn negative<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
    ) -> Result<BitShares> {
        let x = x.into();
        self.sign_of(Split::of(x)).await
    }

    async fn sign_of<T: Ring>(&mut self, split: Split<'_, T>) -> Result<BitShares> {
        let count = split.x.len();
        let depth = self.depth_of(count);
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>| {
            let addends = strand.split(split, T::BITS, &block).await?;
            let mut sign = strand.carries(&addends, &[T::BITS - 1], depth).await?;
            for (sign, t) in sign.components.iter_mut().zip(addends.t(T::BITS - 1)) {
                kernels::xor_into(sign, t);
            }
            Ok(sign)
        };
        let done = self.in_blocks(count, T::BITS, work).await?;
        Ok(collect(done, 1, count))
    }

    /// Whether x < y, for elements whose difference does not overflow: |x - y| < 2^{l-1}, as is so for
    /// signed numbers of l - 1 bits and unsigned ones of l - 1. Cost of
    /// [`negative`](Self::negative). For any numbers see [`less_than`](Self::less_than).
    ///
    /// # Panics
    /// If the batches differ in length; so with all operations on two batches.
    pub async fn less_than_near<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        y: impl Into<RingView<'a, T>>,
    ) -> Result<BitShares> {
        let (x, y) = (x.into(), y.into());
        self.sign_of(Split::difference(x, y)).await
    }

    /// Whether x < y as signed numbers, whatever they are: the signs of x, y and x - y side by side,
    /// and one AND more: x < y is x's sign where the two signs differ, else the difference's.
    pub async fn less_than<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        y: impl Into<RingView<'a, T>>,
    ) -> Result<BitShares> {
        let (x, y) = (x.into(), y.into());
        let [sign, _] = self.compare(x, y).await?;
        Ok(sign)
    }

    /// Whether x < y as unsigned numbers, whatever they are. Cost of [`less_than`](Self::less_than).
    pub async fn less_than_unsigned<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        y: impl Into<RingView<'a, T>>,
    ) -> Result<BitShares> {
        let (x, y) = (x.into(), y.into());
        let [_, unsigned] = self.compare(x, y).await?;
        Ok(unsigned)
    }

    async fn compare<T: Ring>(
        &mut self,
        x: RingView<'_, T>,
        y: RingView<'_, T>,
    ) -> Result<[BitShares; 2]> {
        let mut difference = x.to_shares();
        difference.sub_assign(y);
        if x.is_empty() {
            return Ok([BitShares::zeros(1, 0), BitShares::zeros(1, 0)]);
        }
        let signs = self
            .negative(&RingShares::concat(&[x, y, (&difference).into()]))
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
    pub async fn is_zero<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
    ) -> Result<BitShares> {
        let x = x.into();
        self.zero_of(Split::of(x)).await
    }

    async fn zero_of<T: Ring>(&mut self, split: Split<'_, T>) -> Result<BitShares> {
        let count = split.x.len();
        // a + b = 0 where the bits of a and of -b are the same.
        let split = Split {
            negate: true,
            ..split
        };
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>| {
            let addends = strand.split(split, T::BITS, &block).await?;
            let zeros = BitShares::zeros(T::BITS - 1, addends.count);
            let mut equal = addends.sum(&zeros);
            equal.invert(strand.context.me());
            while equal.rows > 1 {
                let half = equal.rows / 2;
                let bytes = half * equal.stride();
                let parts = equal.components();
                let low = parts.map(|part| &part[..bytes]);
                let high = parts.map(|part| &part[bytes..]);
                let z = strand.and(low, high, 8 * bytes).await?;
                equal = BitShares {
                    components: z.map(|part| Zeroizing::from(part.to_vec())),
                    rows: half,
                    count: equal.count,
                };
            }
            Ok(equal)
        };
        let done = self.in_blocks(count, T::BITS, work).await?;
        Ok(collect(done, 1, count))
    }

    /// Whether x = y. Cost of [`is_zero`](Self::is_zero).
    pub async fn equal<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        y: impl Into<RingView<'a, T>>,
    ) -> Result<BitShares> {
        let (x, y) = (x.into(), y.into());
        self.zero_of(Split::difference(x, y)).await
    }

    /// All bits of each element, a row for each from the lowest on.
    pub async fn decompose<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
    ) -> Result<BitShares> {
        let x = x.into();
        let depth = self.depth_of(x.len());
        let targets: Vec<usize> = (1..T::BITS).collect();
        let targets = &targets;
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>| {
            let addends = strand.split(Split::of(x), T::BITS, &block).await?;
            let carries = strand.carries(&addends, targets, depth).await?;
            Ok(addends.sum(&carries))
        };
        let done = self.in_blocks(x.len(), T::BITS, work).await?;
        Ok(collect(done, T::BITS, x.len()))
    }

    pub(super) fn depth_of(&self, count: usize) -> Depth {
        self.depth.unwrap_or(Depth::of_batch(count))
    }
}

impl<'a, T: Ring> Split<'a, T> {
    /// x itself.
    pub(super) const fn of(x: RingView<'a, T>) -> Self {
        Self {
            x,
            minus: None,
            offset: T::ZERO,
            negate: false,
        }
    }

    /// x - y.
    fn difference(x: RingView<'a, T>, y: RingView<'a, T>) -> Self {
        assert_eq!(x.len(), y.len(), "batches of one length");
        Self {
            minus: Some(y),
            ..Self::of(x)
        }
    }

    /// One of our components of a block.
    fn component(&self, part: usize, block: &Range<usize>) -> Zeroizing<Vec<T>> {
        let mut elements = Zeroizing::from(self.x.components()[part][block.clone()].to_vec());
        if let Some(minus) = self.minus {
            rings::sub_into(&mut elements, &minus.components()[part][block.clone()]);
        }
        elements
    }

    /// x_0 + x_1 and the offset, which P_0 knows.
    pub(super) fn first(&self, block: &Range<usize>) -> Zeroizing<Vec<T>> {
        let mut sum = self.component(0, block);
        rings::add_into(&mut sum, &self.x.components()[1][block.clone()]);
        if let Some(minus) = self.minus {
            rings::sub_into(&mut sum, &minus.components()[1][block.clone()]);
        }
        if self.offset != T::ZERO {
            sum.iter_mut().for_each(|x| *x = x.add(self.offset));
        }
        sum
    }

    /// x_2, or -x_2, which P_1 and P_2 know as this component.
    pub(super) fn third(&self, part: usize, block: &Range<usize>) -> Zeroizing<Vec<T>> {
        let mut elements = self.component(part, block);
        if self.negate {
            elements.iter_mut().for_each(|x| *x = T::ZERO.sub(*x));
        }
        elements
    }
}

/// Puts the results of blocks together.
pub(super) fn collect(
    done: Vec<(Range<usize>, BitShares)>,
    rows: usize,
    count: usize,
) -> BitShares {
    let mut whole = BitShares::zeros(rows, count);
    for (block, part) in done {
        whole.place(block.start, &part);
    }
    whole
}

/// The `width` lowest bits of elements, a row for each bit.
pub(super) fn rows_of<T: Ring>(elements: &[T], width: usize) -> Zeroizing<Vec<u8>> {
    let mut rows = Zeroizing::zeros(width * bits::bytes_for(elements.len()));
    rows_into(elements, width, &mut rows);
    rows
}

fn rows_into<T: Ring>(elements: &[T], width: usize, rows: &mut [u8]) {
    let stride = bits::bytes_for(elements.len());
    let bytes = rings::as_bytes(elements);
    kernels::transpose_bits(bytes, elements.len(), width, T::BYTES, rows, stride);
}

impl BitShares {
    /// A copy of a range of the only row.
    fn part(&self, range: Range<usize>) -> Self {
        let mut part = Self::zeros(1, range.len());
        for (to, from) in part.components.iter_mut().zip(&self.components) {
            bits::take(from, range.start, to, range.len());
        }
        part
    }
}

impl ReplicatedBits {
    /// The `width` lowest bits of x_0 + x_1 and of x_2 for a block of elements: P_0 puts in the first,
    /// in one message to P_1 under a mask that P_2 has too; the others have the second. One round.
    pub(super) async fn split<T: Ring>(
        &mut self,
        split: Split<'_, T>,
        width: usize,
        block: &Range<usize>,
    ) -> Result<Addends> {
        let count = block.len();
        let bytes = width * bits::bytes_for(count);
        let me = self.context.me();
        let mut mask = Zeroizing::zeros(if me.index() == 1 { 0 } else { bytes });
        let (t, same) = match me.index() {
            0 => {
                self.zeros.first.fill(&mut mask);
                let mut rows = vec![0; bytes];
                rows_into(&split.first(block), width, &mut rows);
                kernels::xor_into(&mut rows, &mask);
                let rows = Bytes::from(rows);
                self.neighbours.next.send(rows.clone()).await?;
                (
                    [ComponentRows::Own(mask), ComponentRows::Message(rows)],
                    [true, true],
                )
            }
            1 => {
                let rows = rows_of(&split.third(1, block), width);
                let theirs = self.neighbours.previous.recv(bytes).await?;
                (
                    [ComponentRows::Message(theirs), ComponentRows::Own(rows)],
                    [true, false],
                )
            }
            _ => {
                self.zeros.second.fill(&mut mask);
                let rows = rows_of(&split.third(0, block), width);
                (
                    [ComponentRows::Own(rows), ComponentRows::Own(mask)],
                    [false, true],
                )
            }
        };
        Ok(Addends {
            t,
            a: Second::Of(same),
            count,
        })
    }
}
