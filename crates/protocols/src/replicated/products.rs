//! Products: one element per output sent by each party, to its previous one, in one round, whatever
//! is summed up locally.
//!
//! P_i's part of x y is z_i = x_i y_i + x_i y_{i+1} + x_{i+1} y_i + a_i = x_i (y_i + y_{i+1}) +
//! x_{i+1} y_i + a_i, with a_i of a fresh sharing of zero: its first component of the product. The
//! second one, z_{i+1}, comes from the next party (Araki et al. 2016, section 2, in replicated form).

use std::ops::Range;

use madrigal_core::Ring;
use madrigal_kernels::rings;
use madrigal_net::Result;

use super::flow::Flow;
use super::{ReplicatedBits, ReplicatedRings, RingShares, RingView, ZeroKeys};
use madrigal_core::Zeroizing;

/// Bytes of each operand that are worked on at once: all of them fit the first-level cache.
const CHUNK: usize = 4096;

impl ReplicatedRings {
    /// Shares of x y, element by element. One round, an element each.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If the batches differ in length.
    pub async fn mul<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        y: impl Into<RingView<'a, T>>,
    ) -> Result<RingShares<T>> {
        let (x, y) = (x.into(), y.into());
        self.strand.mul(x, y).await
    }

    /// Multiplies into shares that exist, of which nothing is kept: for long streams of batches, which
    /// then take no new memory.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If the batches differ in length.
    pub async fn mul_into<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        y: impl Into<RingView<'a, T>>,
        z: &mut RingShares<T>,
    ) -> Result<()> {
        let (x, y) = (x.into(), y.into());
        self.strand.mul_into(x, y, z).await
    }

    /// Shares of x^2, element by element. One round, an element each.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn square<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
    ) -> Result<RingShares<T>> {
        let x = x.into();
        self.strand.mul(x, x).await
    }

    /// Shares of dot products: output j sums up the products of the `length` elements from `j *
    /// length` on. One round, an element per output.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If the batches differ in length or are no multiple of `length`, or if that is zero.
    pub async fn dot<'a, T: Ring>(
        &mut self,
        x: impl Into<RingView<'a, T>>,
        y: impl Into<RingView<'a, T>>,
        length: usize,
    ) -> Result<RingShares<T>> {
        let (x, y) = (x.into(), y.into());
        assert_eq!(x.len(), y.len(), "vectors of one length");
        assert!(
            length > 0 && x.len().is_multiple_of(length),
            "{} elements are no vectors of {length}",
            x.len()
        );
        let mut z = RingShares::zeros(x.len() / length);
        let (x, y) = (x.components(), y.components());
        let local = |outputs: Range<usize>, z: &mut [T], zeros: &mut ZeroKeys| {
            zeros.fill(z);
            let range = outputs.start * length..outputs.end * length;
            let [x, y] = [x, y].map(|v| v.map(|part| &part[range.clone()]));
            rings::replicated_dots(x, y, length, z);
        };
        self.strand.reshare_elements(&mut z, local).await?;
        Ok(z)
    }
}

impl ReplicatedBits {
    pub(super) async fn mul<T: Ring>(
        &mut self,
        x: RingView<'_, T>,
        y: RingView<'_, T>,
    ) -> Result<RingShares<T>> {
        let mut z = RingShares::zeros(x.len());
        self.mul_into(x, y, &mut z).await?;
        Ok(z)
    }

    async fn mul_into<T: Ring>(
        &mut self,
        x: RingView<'_, T>,
        y: RingView<'_, T>,
        z: &mut RingShares<T>,
    ) -> Result<()> {
        assert_eq!(x.len(), y.len(), "batches of one length");
        assert_eq!(x.len(), z.len(), "batches of one length");
        let (x, y) = (x.components(), y.components());
        let local = |outputs: Range<usize>, z: &mut [T], zeros: &mut ZeroKeys| {
            let mut at = outputs.start;
            zeros.each(z, |minus, z| {
                let range = at..at + z.len();
                at = range.end;
                let [x, y] = [x, y].map(|v| v.map(|part| &part[range.clone()]));
                rings::replicated_products(x, y, minus, z);
            });
        };
        self.reshare_elements(z, local).await
    }

    /// Makes shares of sums of products: `local` writes this party's part, zeros included, of a range
    /// of outputs; then the parties exchange them.
    pub(super) async fn reshare_elements<T: Ring>(
        &mut self,
        z: &mut RingShares<T>,
        mut local: impl FnMut(Range<usize>, &mut [T], &mut ZeroKeys),
    ) -> Result<()> {
        let count = z.len();
        let [first, second] = &mut z.components;
        let zeros = &mut self.zeros;
        let flow = Flow {
            context: &self.context,
            to: &mut self.neighbours.previous.tx,
            from: &mut self.neighbours.next.rx,
            pool: &mut self.pool,
        };
        flow.run::<T>(
            count,
            |piece, send| {
                let part = &mut first[piece.clone()];
                local(piece, part, zeros);
                send(part);
            },
            count,
            |piece, theirs| rings::as_bytes_mut(&mut second[piece]).copy_from_slice(theirs),
        )
        .await
    }
}

impl ZeroKeys {
    /// Overwrites `z`, in chunks, with the first generator's stream, and gives each chunk with the
    /// second one's, which is still to be subtracted.
    fn each<T: Ring>(&mut self, z: &mut [T], mut work: impl FnMut(&[T], &mut [T])) {
        let each = CHUNK / T::BYTES;
        let mut minus = Zeroizing::zeros(each.min(z.len()));
        for z in z.chunks_mut(each) {
            let minus = &mut minus[..z.len()];
            self.first.fill(rings::as_bytes_mut(z));
            self.second.fill(rings::as_bytes_mut(minus));
            work(minus, z);
        }
    }

    /// Overwrites `z` with this party's share of zeros, for addition. Two AES blocks for each 16 bytes.
    pub(super) fn fill<T: Ring>(&mut self, z: &mut [T]) {
        self.each(z, |minus, z| rings::sub_into(z, minus));
    }

    /// Adds this party's share of zeros to `z`.
    pub(super) fn add_to<T: Ring>(&mut self, z: &mut [T]) {
        let each = CHUNK / T::BYTES;
        let mut zeros = Zeroizing::zeros(each.min(z.len()));
        for z in z.chunks_mut(each) {
            let zeros = &mut zeros[..z.len()];
            self.first.fill(rings::as_bytes_mut(zeros));
            rings::add_into(z, zeros);
            self.second.fill(rings::as_bytes_mut(zeros));
            rings::sub_into(z, zeros);
        }
    }
}
