//! Numbers that two parties have in two parts.
//!
//! P_0's contribution for P_1 and P_2 to work on has two parts: P_2's comes from k_0, which it has with
//! P_0, and P_1 gets the rest.
//!
//! Fresh shares of the sum of two numbers, of which two parties have one each: the pair is P_i, the *left*
//! one, with l, and P_{i+1} with r; both have component i + 1. The other two components are drawn:
//! component i by P_i and P_{i-1} from k_i, component i + 2 by P_{i+1} and P_{i-1} from k_{i+2}. P_i sends l less the one, P_{i+1} sends r less the other, and the sum of the two
//! messages is component i + 1. Each message is masked by a stream that its receiver does not have; the
//! third party sends and receives nothing.
//!
//! | operation, n elements | rounds | elements sent |
//! |---|---|---|
//! | `put_in` | 1 | n, by P_0 to P_1 |
//! | `sum_of_two` | 1 | n, by either of the two, to the other |

use madrigal_core::{Party, Ring};
use madrigal_kernels::rings;
use madrigal_net::{Channel, Result};

use super::flow::{Flow, PIECE};
use super::{Neighbours, ReplicatedBits, previous};
use madrigal_core::Zeroizing;

impl ReplicatedBits {
    /// Our part of `count` numbers that P_0 has as `own`, if we are P_1 or P_2.
    pub(super) async fn put_in<T: Ring>(
        &mut self,
        mut own: Zeroizing<Vec<T>>,
        count: usize,
    ) -> Result<Zeroizing<Vec<T>>> {
        let me = self.context.me().index();
        let mut part = Zeroizing::zeros(if me == 0 { 0 } else { count });
        if me == 2 {
            self.zeros.second.fill(rings::as_bytes_mut(&mut part));
        }
        let (sends, receives) = match me {
            0 => (count, 0),
            1 => (0, count),
            _ => (0, 0),
        };
        assert_eq!(own.len(), sends, "what P_0 puts in");
        // Elements are masked as many at a time as are sent together.
        let mut mask = Zeroizing::zeros(sends.min(PIECE / T::BYTES));
        let generator = &mut self.zeros.first;
        let flow = Flow {
            context: &self.context,
            to: &mut self.neighbours.next.tx,
            from: &mut self.neighbours.previous.rx,
            pool: &mut self.pool,
        };
        flow.run::<T>(
            sends,
            |piece, send| {
                let mask = &mut mask[..piece.len()];
                generator.fill(rings::as_bytes_mut(mask));
                let own = &mut own[piece];
                rings::sub_into(own, mask);
                send(own);
            },
            receives,
            |piece, theirs| rings::as_bytes_mut(&mut part[piece]).copy_from_slice(theirs),
        )
        .await?;
        Ok(part)
    }

    /// Writes shares of the sums of what `left` and the party after it have as `own` to components of one
    /// length. Shares of the third party are ignored.
    pub(super) async fn sum_of_two<T: Ring>(
        &mut self,
        left: Party,
        mut own: Zeroizing<Vec<T>>,
        [first, second]: [&mut [T]; 2],
    ) -> Result<()> {
        let (me, count) = (self.context.me(), first.len());
        let Neighbours {
            previous: before,
            next: after,
        } = &mut self.neighbours;
        let (sum, mask, generator, Channel { tx, rx }) = if me == left {
            (second, first, &mut self.zeros.first, after)
        } else if me == previous(left) {
            self.zeros.first.fill(rings::as_bytes_mut(first));
            self.zeros.second.fill(rings::as_bytes_mut(second));
            return Ok(());
        } else {
            (first, second, &mut self.zeros.second, before)
        };
        assert_eq!(own.len(), count, "a summand for each element");
        generator.fill(rings::as_bytes_mut(mask));
        let flow = Flow {
            context: &self.context,
            to: tx,
            from: rx,
            pool: &mut self.pool,
        };
        flow.run::<T>(
            count,
            |piece, send| {
                let own = &mut own[piece.clone()];
                rings::sub_into(own, &mask[piece]);
                send(own);
            },
            count,
            |piece, theirs| rings::as_bytes_mut(&mut sum[piece]).copy_from_slice(theirs),
        )
        .await?;
        rings::add_into(sum, &own);
        Ok(())
    }
}
