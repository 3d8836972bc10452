//! From shares of numbers to garbled bits: of `x = x_0 + x_1`, where the garbler has x_0, come the bits of two
//! numbers with that sum, one of which the garbler knows and the other one the evaluator.

use bytes::Bytes;
use madrigal_core::{Ring, Zeroizing, bits};
use madrigal_kernels::{Block, marks, rings};
use madrigal_net::Result;

use super::{Labels, Yao, packed_colours};
use crate::planes;

impl Yao {
    /// Labels of the bits, plane by plane from the lowest on, of `y` and `r` with `x = y + r`, or `x = y - r` if
    /// `negated`; `share` is ours of x. `r` are the choices of the `rows` of correlated OTs, one for each bit: its
    /// labels are the rows. The evaluator sends `x_1 - r` (or `x_1 + r`), to which the garbler adds x_0: y. Where it
    /// has drawn labels of 0 for y before (`zero`), it sends the evaluator's. One round, or two.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If there are fewer rows or labels.
    pub async fn split<T: Ring>(
        &mut self,
        offset: &Block,
        share: &[T],
        negated: bool,
        rows: Labels,
        zero: Option<Labels>,
    ) -> Result<[Labels; 2]> {
        if share.is_empty() {
            return Ok([rows.clone(), rows]);
        }
        let mut number = Zeroizing::new(share.to_vec());
        if self.garbles() {
            let told = self.channel.recv(share.len() * T::BYTES).await?;
            rings::add_strings::<T>(rings::as_bytes_mut(&mut number), &told);
        } else {
            let r = number_of::<T>(&packed_colours(&rows), share.len());
            match negated {
                true => rings::add_into(&mut number, &r),
                false => rings::sub_into(&mut number, &r),
            }
            // Under a mask that nobody else knows.
            marks::public(number.as_mut_slice());
            let message = Bytes::copy_from_slice(rings::as_bytes(&number));
            self.channel.send(message).await?;
        }
        let own = self.split_own(offset, &number, zero).await?;
        Ok([own, rows])
    }

    /// Labels of the bits of numbers that the garbler knows, plane by plane. Where it has drawn labels of 0 before, it
    /// sends the evaluator's.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn split_own<T: Ring>(
        &mut self,
        offset: &Block,
        numbers: &[T],
        zero: Option<Labels>,
    ) -> Result<Labels> {
        let count = T::BITS * numbers.len();
        let bits = self.garbles().then(|| bits_of(numbers));
        let bits = bits.as_ref().map(|bits| &bits[..]);
        match zero {
            Some(zero) => self.tell_own(offset, zero, bits, count).await,
            None => Ok(self.share_own(offset, bits, count)),
        }
    }
}

/// All bits, plane by plane without gaps.
pub fn bits_of<T: Ring>(numbers: &[T]) -> Zeroizing<Vec<u8>> {
    let (count, stride) = (numbers.len(), bits::bytes_for(numbers.len()));
    let mut rows = Zeroizing::new(vec![0; T::BITS * stride]);
    planes::split(numbers, &mut rows, stride);
    let mut packed = Zeroizing::new(vec![0; bits::bytes_for(T::BITS * count)]);
    for (plane, row) in rows.chunks_exact(stride.max(1)).enumerate() {
        bits::put(&mut packed, plane * count, row, count);
    }
    packed
}

/// The inverse of [`bits_of`].
fn number_of<T: Ring>(packed: &[u8], count: usize) -> Zeroizing<Vec<T>> {
    let stride = bits::bytes_for(count);
    let mut rows = Zeroizing::new(vec![0; T::BITS * stride]);
    for (plane, row) in rows.chunks_exact_mut(stride.max(1)).enumerate() {
        bits::take(packed, plane * count, row, count);
    }
    let mut numbers = Zeroizing::new(vec![T::ZERO; count]);
    planes::join(&rows, stride, &mut numbers);
    numbers
}
