//! Elements of OTs: B rows t_i = q_i + r_i Delta, summed up with the powers of x (and y) as factors, are one row T = Q + R Delta,
//! where the bits of R are the choices. It takes no message.

use madrigal_kernels::field::{times_x, times_y};
use madrigal_kernels::{Block, Element};

/// The sum of 64 or 128 rows, each times what its bit stands for.
pub(super) fn pack<V: Element>(rows: &[Block]) -> Block {
    let horner = |rows: &[Block]| {
        let rows = rows.iter().rev();
        rows.fold(Block::ZERO, |sum, &row| times_x(sum) ^ row)
    };
    let (low, high) = rows.split_at(64);
    debug_assert_eq!(rows.len(), V::BITS);
    horner(low) ^ times_y(horner(high))
}
