//! From shared bits to ring elements.
//!
//! A bit is b = u ^ w with u = b_0 ^ b_1, which P_0 knows, and w = b_2, which P_1 and P_2 know and so
//! have as ring shares (0, 0, w): b = u + w - 2 u w. When P_0 has put in u, P_1 and P_2 have u in two
//! parts and w in the clear, so each has a part of b.
//!
//! | operation, n elements | rounds | elements sent |
//! |---|---|---|
//! | [`inject`](ReplicatedRings::inject) | 2 | n by each |
//! | [`bit_times`](ReplicatedRings::bit_times) | 2 | 2 n by P_0, n by each other |
//! | [`compose`](ReplicatedRings::compose), k bits | 2 more than the adder | n k bits by P_2; n by P_0; the adder's |

use std::ops::Range;

use madrigal_core::{Party, Ring};
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::Result;

use super::carries::{Addends, ComponentRows, Second};
use super::compare::rows_of;
use super::shares::third;
use super::{BitShares, PARTIES, ReplicatedBits, ReplicatedRings, RingShares, RingView};
use madrigal_core::Zeroizing;

/// Counts of inputs where only P_0 has any.
pub(super) const fn of_first(count: usize) -> [usize; PARTIES] {
    [count, 0, 0]
}

impl ReplicatedRings {
    /// Each bit as a ring element, 0 or 1, row by row.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network; so with all operations here.
    pub async fn inject<T: Ring>(&mut self, bits: &BitShares) -> Result<RingShares<T>> {
        let (rows, count) = (bits.rows, bits.count);
        if rows == 0 {
            return Ok(RingShares::zeros(0));
        }
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>| {
            strand.inject::<T>(&bits.block(block, rows)).await
        };
        let done = self.in_blocks(count, rows * T::BITS, work).await?;
        Ok(gather(done, rows, count))
    }

    /// b x for each bit b of a row and element x = X + x_2 with X = x_0 + x_1, which P_0 knows. P_0 puts in u
    /// and u X, so that P_1 and P_2 have parts of both beside w, x_2 and a part of X: of b X, which is u X or
    /// X - u X by w, and of b x_2, which is u x_2 or x_2 - u x_2.
    ///
    /// # Panics
    /// If there is not one row with a bit for each element.
    pub async fn bit_times<'a, T: Ring>(
        &mut self,
        bits: &BitShares,
        x: impl Into<RingView<'a, T>>,
    ) -> Result<RingShares<T>> {
        let x = x.into();
        assert_eq!(
            (bits.rows, bits.count),
            (1, x.len()),
            "a bit for each element"
        );
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>, z: [&mut [T]; 2]| {
            let bits = bits.block(block.clone(), 1);
            let x = x.components().map(|part| &part[block.clone()]);
            strand.bit_times(&bits, x, z).await
        };
        self.made_in_blocks(x.len(), 2 * T::BITS, work).await
    }

    /// x where the bit is 1, else y. Cost of [`bit_times`](Self::bit_times).
    ///
    /// # Panics
    /// If there is not one row with a bit for each element of both.
    pub async fn select<'a, T: Ring>(
        &mut self,
        bits: &BitShares,
        x: impl Into<RingView<'a, T>>,
        y: impl Into<RingView<'a, T>>,
    ) -> Result<RingShares<T>> {
        let (x, y) = (x.into(), y.into());
        let mut difference = x.to_shares();
        difference.sub_assign(y);
        let mut z = self.bit_times(bits, &difference).await?;
        z.add_assign(y);
        Ok(z)
    }

    /// The elements whose bits, from the lowest row on, these are; where there are fewer than l rows,
    /// the others are zero. A component r of the result is random and known to P_1 and P_2, a binary
    /// adder makes x - r, and P_0 gets that and puts it in.
    ///
    /// # Panics
    /// If there are more rows than T has bits.
    pub async fn compose<T: Ring>(&mut self, bits: &BitShares) -> Result<RingShares<T>> {
        assert!(
            bits.rows <= T::BITS,
            "{} bits do not fit elements of {}",
            bits.rows,
            T::BITS
        );
        let depth = self.depth_of(bits.count);
        let targets: Vec<usize> = (1..T::BITS).collect();
        let targets = &targets;
        let me = self.me();
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>, z: [&mut [T]; 2]| {
            let mut mine = RingShares::<T>::zeros(block.len());
            let mut addend = BitShares::zeros(T::BITS, block.len());
            if let Some(part) = third(me) {
                let r = &mut mine.components[part];
                // k_2 is the generator of P_1 and P_2.
                let generator = if part == 0 {
                    &mut strand.zeros.first
                } else {
                    &mut strand.zeros.second
                };
                generator.fill(rings::as_bytes_mut(r));
                let mut minus = Zeroizing::from(r.to_vec());
                minus.iter_mut().for_each(|x| *x = T::ZERO.sub(*x));
                addend.components[part] = rows_of(&minus, T::BITS);
            }
            let x = bits.block(block.clone(), T::BITS);
            let mut t = x.clone();
            t.xor_assign(&addend);
            let addends = Addends {
                t: t.components.map(ComponentRows::Own),
                a: Second::Rows(x),
                count: block.len(),
            };
            let carries = strand.carries(&addends, targets, depth).await?;
            let sum = addends.sum(&carries);
            let opened = strand.open_rows(&sum, &[Party::new(0)]).await?;
            let mut own = Zeroizing::zeros(opened.as_ref().map_or(0, |_| block.len()));
            if let Some(rows) = opened {
                let stride = sum.stride();
                let bytes = rings::as_bytes_mut(&mut own);
                kernels::transpose_bits(&rows, T::BITS, block.len(), stride, bytes, T::BYTES);
            }
            let [first, ..] = strand.share(&own, of_first(block.len())).await?;
            mine.add_assign(&first);
            for (z, part) in z.into_iter().zip(mine.components()) {
                z.copy_from_slice(part);
            }
            Ok(())
        };
        self.made_in_blocks(bits.count, T::BITS, work).await
    }
}

/// Puts the results of blocks together, `rows` elements for each of `count`.
pub(super) fn gather<T: Ring>(
    done: Vec<(Range<usize>, RingShares<T>)>,
    rows: usize,
    count: usize,
) -> RingShares<T> {
    let mut whole = RingShares::zeros(rows * count);
    for (block, part) in done {
        for (to, from) in whole.components.iter_mut().zip(&part.components) {
            let from = from.chunks_exact(block.len());
            for (to, from) in to.chunks_exact_mut(count).zip(from) {
                to[block.clone()].copy_from_slice(from);
            }
        }
    }
    whole
}

impl ReplicatedBits {
    /// [`ReplicatedRings::inject`], for a block.
    pub(super) async fn inject<T: Ring>(&mut self, bits: &BitShares) -> Result<RingShares<T>> {
        let me = self.context.me();
        let count = bits.rows * bits.count;
        let u = self.put_in(known_to_first::<T>(me, bits), count).await?;
        let mut own = known_to_others::<T>(me, bits);
        if let Some(part) = third(me) {
            // u (1 - 2 w), of which P_1 and P_2 have u in two parts; and w.
            for (w, u) in own.iter_mut().zip(&*u) {
                let product = u.sub(u.and(T::ZERO.sub(*w)).shl(1));
                *w = if part == 1 { product.add(*w) } else { product };
            }
        }
        let mut sums = RingShares::zeros(count);
        let [first, second] = sums.components.each_mut().map(|part| part.as_mut_slice());
        self.sum_of_two(Party::new(1), own, [first, second]).await?;
        Ok(sums)
    }

    /// [`ReplicatedRings::bit_times`], for a block.
    async fn bit_times<T: Ring>(
        &mut self,
        bits: &BitShares,
        x: [&[T]; 2],
        z: [&mut [T]; 2],
    ) -> Result<()> {
        let (me, count) = (self.context.me(), bits.count);
        let mut own = Zeroizing::zeros(if me.index() == 0 { 2 * count } else { 0 });
        if me.index() == 0 {
            let (u, products) = own.split_at_mut(count);
            first_bits(bits, u);
            for ((product, u), (x_0, x_1)) in products.iter_mut().zip(u).zip(x[0].iter().zip(x[1]))
            {
                *product = x_0.add(*x_1).and(T::ZERO.sub(*u));
            }
        }
        let put_in = self.put_in(own, 2 * count).await?;
        let mut own = known_to_others::<T>(me, bits);
        if let Some(part) = third(me) {
            let (u, products) = put_in.split_at(count);
            let parts = products.iter().zip(x[1 - part]);
            let once = T::ZERO.sub(if part == 1 { T::ONE } else { T::ZERO });
            for (((own, u), (product, of_first)), x_2) in
                own.iter_mut().zip(u).zip(parts).zip(x[part])
            {
                let w = T::ZERO.sub(*own);
                // (1 - 2 w) (u X + u x_2) + w (X + x_2), of which x_2 is P_1's to add.
                let product = product.add(u.mul(*x_2));
                let rest = of_first.add(x_2.and(once)).sub(product.shl(1));
                *own = product.add(rest.and(w));
            }
        }
        self.sum_of_two(Party::new(1), own, z).await
    }
}

/// u = b_0 ^ b_1 of each bit, at P_0; nothing elsewhere.
fn known_to_first<T: Ring>(me: Party, bits: &BitShares) -> Zeroizing<Vec<T>> {
    let first = me.index() == 0;
    let mut u = Zeroizing::zeros(if first { bits.rows * bits.count } else { 0 });
    if first {
        first_bits(bits, &mut u);
    }
    u
}

/// Writes the first operand of each bit to an element.
fn first_bits<T: Ring>(bits: &BitShares, u: &mut [T]) {
    let mut both = bits.components[0].clone();
    kernels::xor_into(&mut both, &bits.components[1]);
    unpack(&both, bits, u);
}

/// w = b_2 of each bit, at P_1 and P_2; nothing at P_0.
fn known_to_others<T: Ring>(me: Party, bits: &BitShares) -> Zeroizing<Vec<T>> {
    let part = third(me);
    let mut w = Zeroizing::zeros(part.map_or(0, |_| bits.rows * bits.count));
    if let Some(part) = part {
        unpack(&bits.components[part], bits, &mut w);
    }
    w
}

/// The bits of `rows`, which have the shape of `shape`, as elements.
pub(super) fn unpack<T: Ring>(rows: &[u8], shape: &BitShares, elements: &mut [T]) {
    let rows = rows.chunks(shape.stride().max(1));
    for (row, elements) in rows.zip(elements.chunks_mut(shape.count.max(1))) {
        rings::unpack_bits(row, elements);
    }
}

impl BitShares {
    /// The rows of a block of elements that begins at a multiple of 8, with rows of zeros up to
    /// `rows`.
    pub(super) fn block(&self, block: Range<usize>, rows: usize) -> Self {
        let mut part = Self::zeros(rows, block.len());
        let (from_stride, stride) = (self.stride().max(1), part.stride().max(1));
        for (to, from) in part.components.iter_mut().zip(&self.components) {
            for (to, from) in to.chunks_mut(stride).zip(from.chunks(from_stride)) {
                to.copy_from_slice(&from[block.start / 8..][..stride]);
            }
        }
        part
    }
}
