//! Division by powers of two, rounded, of signed numbers in two's complement.
//!
//! Both cut x = a + b mod 2^l with a known to P_0 and b to P_1 and P_2.
//!
//! | operation, n elements | rounds | elements sent |
//! |---|---|---|
//! | [`truncate_probably`](ReplicatedRings::truncate_probably) | 1 | n, by P_0 |
//! | [`truncate`](ReplicatedRings::truncate) | 3 or 4 more than the adder | n by each more, 3 n by P_0; n l bits by P_0; the adder's |

use madrigal_core::Ring;
use madrigal_kernels::rings;
use madrigal_net::Result;

use super::compare::{Split, collect};
use super::convert::Known;
use super::shares::{Secret, third};
use super::{ReplicatedBits, ReplicatedRings, RingShares};

impl ReplicatedRings {
    /// x / 2^`by`, rounded at random: floor(x / 2^by), or one more with probability (x mod 2^by) /
    /// 2^by, so that the mean is exact. With probability |x| / 2^l, x as a signed number, the result
    /// is wrong by 2^{l-by}: too small for positive x, too large for negative ones. So keep numbers
    /// some 40 bits below the ring's width, or use [`truncate`](Self::truncate).
    ///
    /// The probabilities are over a number n that all parties draw for each element when they call
    /// this, from a generator that they share: with a = x + n mod 2^l at P_0 and b = -n at the others
    /// (x_2 moved by what is public, and x_0 + x_1 the other way), the result is floor(a / 2^by) -
    /// floor(n / 2^by) (SecureML, section 4.1, with the shifts of both parts counted exactly). If x +
    /// n does not leave the ring, that is floor(x / 2^by) and the carry of the lowest bits.
    ///
    /// # Errors
    /// Those of the network; so with all operations here.
    ///
    /// # Panics
    /// Unless `by` is below l.
    pub async fn truncate_probably<T: Ring>(
        &mut self,
        x: &RingShares<T>,
        by: usize,
    ) -> Result<RingShares<T>> {
        assert!(by < T::BITS, "a shift by {by} of {} bits", T::BITS);
        let (me, count) = (self.me(), x.len());
        // n + x_2, public and uniform; n itself only P_1 and P_2 know.
        let mut coins = vec![T::ZERO; count];
        let draw = || self.coins.fill(rings::as_bytes_mut(&mut coins));
        self.strand.context.metered_now(draw);
        let [first, second] = x.components();
        let mut own = Secret::zeros(if me.index() == 0 { count } else { 0 });
        if me.index() == 0 {
            own.copy_from_slice(first);
            rings::add_into(&mut own, second);
            rings::add_into(&mut own, &coins);
            own.iter_mut().for_each(|a| *a = a.shr(by));
        }
        let mut z = self.of_first(&Known { values: own, count }).await?;
        if let Some(part) = third(me) {
            let known = x.components()[part];
            let z = &mut z.components[part];
            for ((z, coin), known) in z.iter_mut().zip(&coins).zip(known) {
                *z = z.sub(coin.sub(*known).shr(by));
            }
        }
        Ok(z)
    }

    /// x / 2^`by`, rounded down, for signed x: exact for all x.
    ///
    /// With x + 2^{l-1} = a + b - 2^l c_l, unsigned, it is floor(a / 2^by) + floor(b / 2^by) + c_by -
    /// 2^{l-by} c_l less the offset's quotient, where c_i is the carry of a + b into bit i.
    ///
    /// # Panics
    /// Unless `by` is below l.
    pub async fn truncate<T: Ring>(
        &mut self,
        x: &RingShares<T>,
        by: usize,
    ) -> Result<RingShares<T>> {
        assert!(by < T::BITS, "a shift by {by} of {} bits", T::BITS);
        if by == 0 {
            return Ok(x.clone());
        }
        let (me, count) = (self.me(), x.len());
        let depth = self.depth_of(count);
        let offset = T::ONE.shl(T::BITS - 1);
        let work = async |strand: &mut ReplicatedBits, block: std::ops::Range<usize>| {
            let split = Split {
                offset,
                ..Split::of(x)
            };
            let addends = strand.split(split, block).await?;
            strand.carries(&addends, &[by, T::BITS], depth).await
        };
        let done = self.in_blocks(count, T::BITS, work).await?;
        let carries = self.inject::<T>(&collect(done, 2, count)).await?;

        let [first, second] = x.components();
        let mut own = Secret::zeros(if me.index() == 0 { count } else { 0 });
        if me.index() == 0 {
            own.copy_from_slice(first);
            rings::add_into(&mut own, second);
            own.iter_mut().for_each(|a| *a = a.add(offset).shr(by));
        }
        let mut z = self.of_first(&Known { values: own, count }).await?;
        if let Some(part) = third(me) {
            let known = x.components()[part];
            for (z, known) in z.components[part].iter_mut().zip(known) {
                *z = z.add(known.shr(by));
            }
        }
        z.add_assign(&carries.slice(0..count));
        let mut top = carries.slice(count..2 * count);
        top.scale(T::ZERO.sub(T::ONE.shl(T::BITS - by)));
        z.add_assign(&top);
        z.add_constant(me, T::ZERO.sub(offset.shr(by)));
        Ok(z)
    }
}
