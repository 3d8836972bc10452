//! Fresh shares of the sum of two numbers, of which two parties have one each.
//!
//! The pair is P_i, the *left* one, with l, and P_{i+1} with r; both have component i + 1. The other two
//! components are drawn: component i by P_i and P_{i-1} from k_i, component i + 2 by P_{i+1} and P_{i-1}
//! from k_{i+2}. P_i sends l less the one, P_{i+1} sends r less the other, and the sum of the two
//! messages is component i + 1. Each message is masked by a stream that its receiver does not have; the
//! third party sends and receives nothing.
//!
//! | operation, n elements | rounds | elements sent |
//! |---|---|---|
//! | `sum_of_two` | 1 | n, by either of the two, to the other |

use madrigal_core::{Party, Ring};
use madrigal_kernels::rings;
use madrigal_net::{Channel, Result};

use super::flow::Flow;
use super::{Neighbours, ReplicatedBits, RingShares, previous};
use madrigal_core::Zeroizing;

impl ReplicatedBits {
    /// Shares of `count` sums of what `left` and the party after it have as `own`. What the third party
    /// has is ignored.
    pub(super) async fn sum_of_two<T: Ring>(
        &mut self,
        left: Party,
        mut own: Zeroizing<Vec<T>>,
        count: usize,
    ) -> Result<RingShares<T>> {
        let me = self.context.me();
        let mut sums = RingShares::zeros(count);
        let [first, second] = &mut sums.components;
        let Neighbours {
            previous: before,
            next: after,
        } = &mut self.neighbours;
        let (sum, mask, generator, Channel { tx, rx }) = if me == left {
            (second, first, &mut self.zeros.first, after)
        } else if me == previous(left) {
            self.zeros.first.fill(rings::as_bytes_mut(first));
            self.zeros.second.fill(rings::as_bytes_mut(second));
            return Ok(sums);
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
        Ok(sums)
    }
}
