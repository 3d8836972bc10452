//! Values that nobody knows, from the pairs' generators.
//!
//! | operation, n elements | rounds | elements sent |
//! |---|---|---|
//! | [`random`](ReplicatedRings::random), [`random_bit_rows`](ReplicatedRings::random_bit_rows) | 0 | 0 |
//! | [`random_bits`](ReplicatedRings::random_bits) | 2 | n by each |

use madrigal_core::Ring;
use madrigal_kernels::rings;
use madrigal_net::Result;

use super::{BitShares, ReplicatedRings, RingShares};

impl ReplicatedRings {
    /// Shares of uniform elements: v_i is the stream of k_i, which P_{i-1} and P_i have. No message.
    pub fn random<T: Ring>(&mut self, count: usize) -> RingShares<T> {
        let mut shares = RingShares::zeros(count);
        let [first, second] = &mut shares.components;
        self.fill(rings::as_bytes_mut(first), rings::as_bytes_mut(second));
        shares
    }

    /// Shares of rows of uniform bits. No message.
    pub fn random_bit_rows(&mut self, rows: usize, count: usize) -> BitShares {
        let mut shares = BitShares::zeros(rows, count);
        let [first, second] = &mut shares.components;
        self.fill(first, second);
        shares
    }

    /// Shares of uniform bits as ring elements: bits without a message,
    /// [`inject`](ReplicatedRings::inject)ed.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn random_bits<T: Ring>(&mut self, count: usize) -> Result<RingShares<T>> {
        let bits = self.random_bit_rows(1, count);
        self.inject(&bits).await
    }

    fn fill(&mut self, first: &mut [u8], second: &mut [u8]) {
        let strand = &mut self.strand;
        strand.zeros.first.fill(first);
        strand.zeros.second.fill(second);
    }
}
