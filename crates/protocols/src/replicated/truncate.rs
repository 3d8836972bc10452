//! Division by powers of two, rounded, of signed numbers in two's complement.
//!
//! | operation, n elements of l bits, cut by s | result | rounds | elements sent, in all |
//! |---|---|---|---|
//! | [`truncate`](ReplicatedRings::truncate) | exact, for all numbers | at most 3 more than an adder of l bits | 5 n, and that adder |
//! | [`truncate_near`](ReplicatedRings::truncate_near) | exact, for numbers of l - 1 bits | at most 3 more than an adder of s bits | 5 n, and that adder |
//! | [`truncate_probabilistic`](ReplicatedRings::truncate_probabilistic) | rounded at random, sometimes wrong, and it tells two parties more | 1 | 2 n |
//!
//! An adder of k bits takes, as an element, k / l for P_0's bits and in all 3 k / l as a ripple in k
//! rounds, or at most 2.5 times that as a tree in ceil(log2 (k + 1)). [`Tally`](super::Tally) has the
//! exact numbers. So for l = 64 and s = 16, bytes for each element that all three send, and rounds:
//!
//! | | ripple | tree |
//! |---|---|---|
//! | `truncate` | 72, 67 | 99, 10 |
//! | `truncate_near` | 48, 19 | 54, 7 |
//! | `truncate_probabilistic` | 16, 1 | 16, 1 |
//!
//! All of them cut x = a + b mod 2^l with a known to one party and b to others.
//!
//! # Exact
//! With x' = x + 2^{l-1}, or + 2^{l-2} for near numbers, which is not negative, a = x_0 + x_1 and the
//! offset, which P_0 knows, and b = x_2, which P_1 and P_2 know: x' = a + b - 2^l c_l, and
//! floor(x' / 2^s) = floor(a / 2^s) + floor(b / 2^s) + c_s - 2^{l-s} c_l, where c_i is the carry of a + b
//! into bit i. A binary adder makes both carries. If x' has no highest bit, its carry into l needs no
//! adder: it is there if a or b has a highest bit, since where just one has, the carry from below must
//! have cancelled it.
//!
//! A shared bit is c = u + w - 2 u w with u known to P_0 and w to P_1 and P_2 (for the *or* of two highest
//! bits: u + w - u w). So the result is one number that P_0 knows, one that P_1 and P_2 know, and
//! multiples of two products u w. P_0 puts in its number and both u; the products then are local at P_1
//! and P_2, who make fresh shares of the sum of what they have. That is five elements, where injecting two
//! bits by products would take nine.

use std::ops::Range;

use madrigal_core::{Party, Ring};
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::Result;

use super::compare::Split;
use super::convert::unpack;
use super::shares::third;
use super::{BitShares, ReplicatedBits, ReplicatedRings, RingShares, RingView};
use madrigal_core::Zeroizing;

/// Numbers that are cut exactly.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    All,
    /// Numbers from -2^{l-2} to 2^{l-2} - 1.
    Near,
}

impl ReplicatedRings {
    /// x / 2^`by`, rounded down, for signed x: exact for all x, and nobody learns anything.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network; so with all operations here.
    ///
    /// # Panics
    /// Unless `by` is below l.
    pub async fn truncate<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        by: usize,
    ) -> Result<RingShares<T>> {
        let x = x.into();
        assert!(by < T::BITS, "a shift by {by} of {} bits", T::BITS);
        self.divide(x, by, Numbers::All).await
    }

    /// Truncates numbers from -2^{l-2} to 2^{l-2} - 1, at the cost of an adder of `by` bits where the
    /// other one takes l. For other numbers the result is wrong by a multiple of 2^{l-by}, which depends on
    /// their components too: opened, it tells more than the number (`docs/FUNCTIONALITIES.md`).
    ///
    /// # Panics
    /// Unless `by` is below l - 1.
    pub async fn truncate_near<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        by: usize,
    ) -> Result<RingShares<T>> {
        let x = x.into();
        assert!(by + 1 < T::BITS, "a shift by {by} of {} bits", T::BITS);
        self.divide(x, by, Numbers::Near).await
    }

    async fn divide<T: Ring>(
        &mut self,
        x: RingView<'_, T>,
        by: usize,
        numbers: Numbers,
    ) -> Result<RingShares<T>> {
        if by == 0 {
            return Ok(x.to_shares());
        }
        let depth = self.depth_of(x.len());
        let (targets, offset) = match numbers {
            Numbers::All => (&[by, T::BITS][..], T::ONE.shl(T::BITS - 1)),
            Numbers::Near => (&[by][..], T::ONE.shl(T::BITS - 2)),
        };
        let split = Split {
            offset,
            ..Split::of(x)
        };
        let width = targets.last().copied().unwrap_or(by);
        let work = async |strand: &mut ReplicatedBits, block: Range<usize>, z: [&mut [T]; 2]| {
            let addends = strand.split(split, width, &block).await?;
            let carries = strand.carries(&addends, targets, depth).await?;
            let cut = (by, numbers);
            strand.quotient(split, cut, &block, carries, z).await
        };
        self.made_in_blocks(x.len(), T::BITS, work).await
    }

    /// x / 2^`by`, rounded at random, for one element sent by each of P_0 and P_1 in one round. **It
    /// errs, and it tells P_0 and P_1 more than the result**: use [`truncate`](Self::truncate) or
    /// [`truncate_near`](Self::truncate_near) where a server learns what comes of it.
    ///
    /// *Result.* With n uniform mod 2^l, a = x + n mod 2^l: it is floor(a / 2^by) - floor(n / 2^by) mod
    /// 2^l (SecureML, section 4.1, with the shifts of both parts counted exactly). So it is floor(x /
    /// 2^by), or one more with probability (x mod 2^by) / 2^by, and its mean is exact; and with probability
    /// |x| / 2^l, for x as a signed number, it is wrong by 2^{l-by}: too small for positive x, too large
    /// for negative ones. So keep numbers some 40 bits below the ring's width.
    ///
    /// *Leakage.* P_1 knows n and P_0 knows a, each by itself uniform whatever x is, and P_2 neither. As long
    /// as nothing that depends on the result is opened to them, they learn nothing. But a result z with n,
    /// or with a, tells more than z: that x lies in an interval of 2^by numbers that begins at z 2^by - (n
    /// mod 2^by), elsewhere each time. A party that knows floor(x / 2^by) already learns whether x mod 2^by
    /// is at least 2^by - (n mod 2^by), a comparison of the bits that were to be cut off; and m
    /// truncations of one x, all of them opened, narrow it down to some 2^{by+1} / m numbers.
    ///
    /// *Coins.* n = C - x_2 for a number C that P_0 and P_1 draw from the generator that they alone share.
    /// Those who put in numbers from outside, and P_2, know nothing of C, so n is uniform whatever numbers and
    /// shares of them they choose. P_0 and P_1 can work out C as soon as the session has begun: for their
    /// own inputs the probabilities hold if these do not depend on it.
    ///
    /// # Panics
    /// Unless `by` is below l.
    pub async fn truncate_probabilistic<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        by: usize,
    ) -> Result<RingShares<T>> {
        let x = x.into();
        assert!(by < T::BITS, "a shift by {by} of {} bits", T::BITS);
        let (me, count) = (self.me(), x.len());
        let strand = &mut self.strand;
        let [first, second] = x.components();
        let mut own = Zeroizing::zeros(if me.index() < 2 { count } else { 0 });
        match me.index() {
            0 => {
                // C + x_0 + x_1 = x + n.
                strand.zeros.second.fill(rings::as_bytes_mut(&mut own));
                rings::add_into(&mut own, first);
                rings::add_into(&mut own, second);
                own.iter_mut().for_each(|a| *a = a.shr(by));
            }
            1 => {
                strand.zeros.first.fill(rings::as_bytes_mut(&mut own));
                rings::sub_into(&mut own, second);
                own.iter_mut().for_each(|n| *n = T::ZERO.sub(n.shr(by)));
            }
            _ => {}
        }
        let mut sums = RingShares::zeros(count);
        let [first, second] = sums.components.each_mut().map(|part| part.as_mut_slice());
        strand
            .sum_of_two(Party::new(0), own, [first, second])
            .await?;
        Ok(sums)
    }
}

impl ReplicatedBits {
    /// The quotients of a block, from the carries into bit `by` and, for all numbers, into bit l.
    async fn quotient<T: Ring>(
        &mut self,
        split: Split<'_, T>,
        (by, numbers): (usize, Numbers),
        block: &Range<usize>,
        carries: BitShares,
        z: [&mut [T]; 2],
    ) -> Result<()> {
        let (me, count) = (self.context.me(), block.len());
        let top = T::BITS - by;
        let highest = |x: &T| x.shr(T::BITS - 1);
        // P_0's contribution: its number, and u of the lower carry and of the upper one.
        let mut own = Zeroizing::zeros(if me.index() == 0 { 3 * count } else { 0 });
        if me.index() == 0 {
            let a = split.first(block);
            let (number, both) = own.split_at_mut(count);
            let mut u = carries.components[0].clone();
            kernels::xor_into(&mut u, &carries.components[1]);
            unpack(&u, &carries, both);
            let (lower, upper) = both.split_at_mut(count);
            for (i, a) in a.iter().enumerate() {
                if numbers == Numbers::Near {
                    upper[i] = highest(a);
                }
                let quotient = a.shr(by).sub(split.offset.shr(by));
                number[i] = quotient.add(lower[i]).sub(upper[i].shl(top));
            }
        }
        let put_in = self.put_in(own, 3 * count).await?;

        let mut own = Zeroizing::zeros(if me.index() == 0 { 0 } else { count });
        if let Some(part) = third(me) {
            let b = split.third(part, block);
            let mut w = Zeroizing::zeros(2 * count);
            unpack(&carries.components[part], &carries, &mut w);
            let (lower, upper) = w.split_at_mut(count);
            // The product u w of carries counts twice, that of highest bits once.
            let twice = if numbers == Numbers::Near {
                upper
                    .iter_mut()
                    .zip(b.iter())
                    .for_each(|(w, b)| *w = highest(b));
                0
            } else {
                1
            };
            // P_2's part of P_0's contribution is the mask.
            let mut put_in = put_in.chunks_exact(count);
            let mut next = || put_in.next().unwrap_or_default();
            let (number, u_lower, u_upper) = (next(), next(), next());
            for i in 0..count {
                let times = |u: T, w: T| u.and(T::ZERO.sub(w));
                let products = times(u_upper[i], upper[i])
                    .shl(twice)
                    .shl(top)
                    .sub(times(u_lower[i], lower[i]).shl(1));
                own[i] = number[i].add(products);
                if me.index() == 1 {
                    let quotient = b[i].shr(by);
                    own[i] = own[i].add(quotient.add(lower[i]).sub(upper[i].shl(top)));
                }
            }
        }
        self.sum_of_two(Party::new(1), own, z).await
    }
}
