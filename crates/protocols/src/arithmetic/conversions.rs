//! Between bits in B and elements in A.
//!
//! A *shared bit* r is shared in both (`madrigal_correlations::SharedBits`): opening t = b ^ r in B, which
//! tells nothing of b, makes b = t + r - 2 t r a linear map of r (MOTION 7.1).

use madrigal_core::{Party, PhaseCost, Ring, bits};
use madrigal_correlations::{RingTriples, SharedBits};
use madrigal_kernels::{self as kernels, rings};
use madrigal_net::Result;

use super::products::OpensDifferences;
use super::{ArithmeticGmw, opening_cost};
use crate::inputs::InputSharing;
use crate::{Opening, planes};
use madrigal_core::Zeroizing;

/// Elements that are put together at once: they stay in the first-level cache for all planes.
const CHUNK: usize = 1024;

impl ArithmeticGmw {
    /// Each of the packed bits that are shared in B as an element, 0 or 1, with as many shared bits. What
    /// `b` has past bit `z.len()` is ignored.
    ///
    /// # Panics
    /// If there are too few bits or correlations: a plan was wrong. So do all operations here.
    pub async fn inject<T: Ring>(
        &mut self,
        shared: &mut SharedBits<T>,
        b: &[u8],
        z: &mut [T],
    ) -> Result<()> {
        let count = z.len();
        self.compose(
            shared,
            &b[..bits::bytes_for(count)],
            bits::bytes_for(count),
            z,
        )
        .await
    }

    /// The elements whose bits, from the lowest plane on, these are, see [`planes`]; where there are fewer
    /// planes than T has bits, the others are zero. One shared bit for each bit: from `shared`, those of
    /// the first plane first.
    pub async fn compose<T: Ring>(
        &mut self,
        shared: &mut SharedBits<T>,
        planes: &[u8],
        stride: usize,
        z: &mut [T],
    ) -> Result<()> {
        let count = z.len();
        let width = planes.len().checked_div(stride).unwrap_or(0);
        assert!(
            planes.len() == width * stride && width <= T::BITS,
            "{} bytes are no planes of {stride} bytes for numbers of up to {} bits",
            planes.len(),
            T::BITS
        );
        let r = shared.take(width * count).b;
        let opened = self.open_flipped(r, planes, stride, count).await?;
        self.unflipped(r, &opened, z);
        Ok(())
    }

    /// Opens bits of planes under shared bits, of which these are our shares: gives as many planes of whole bytes.
    ///
    /// # Panics
    /// If there are fewer shared bits than bits.
    pub async fn open_flipped<T: Ring>(
        &mut self,
        r: &[T],
        planes: &[u8],
        stride: usize,
        count: usize,
    ) -> Result<Vec<u8>> {
        let width = planes.len().checked_div(stride).unwrap_or(0);
        // One string without padding: single numbers travel as bits too.
        let mut masked = Zeroizing::zeros(bits::bytes_for(width * count));
        rings::pack_bits(r, &mut masked);
        let mut rows = Zeroizing::zeros(masked.len());
        if count > 0 {
            for (i, row) in planes.chunks_exact(stride).enumerate() {
                bits::put(&mut rows, i * count, row, count);
            }
        }
        kernels::xor_into(&mut masked, &rows);
        self.open_masked(&kernels::xor_into, &mut masked).await?;
        let bytes = bits::bytes_for(count);
        let mut opened = vec![0; width * bytes];
        if count > 0 {
            for (i, row) in opened.chunks_exact_mut(bytes).enumerate() {
                bits::take(&masked, i * count, row, count);
            }
        }
        Ok(opened)
    }

    /// Our shares of the numbers whose bits are public ones plus (XOR) shared ones; the former in planes of whole
    /// bytes.
    ///
    /// # Panics
    /// If there are fewer shared bits than bits.
    pub fn unflipped<T: Ring>(&self, r: &[T], flips: &[u8], z: &mut [T]) {
        let count = z.len();
        let one = T::from_u128(self.leads().into());
        let bytes = bits::bytes_for(count);
        let width = flips.len().checked_div(bytes).unwrap_or(0);
        for (part, z) in z.chunks_mut(CHUNK).enumerate() {
            let first = part * CHUNK;
            z.fill(T::ZERO);
            for i in 0..width {
                let t = &flips[i * bytes + first / 8..];
                rings::add_flipped(z, &r[i * count + first..], t, one, i);
            }
        }
    }

    /// b x for each bit b shared in B and element x, with as many shared bits and triples, all in one
    /// opening: t = b ^ r, d = r - a, e = x - b', for a triple a b' = c. Then r x by d and e as in
    /// [`mul`](Self::mul), and b x is r x where t = 0, x - r x where t = 1. The bits of `b` past bit
    /// `x.len()` are ignored.
    pub async fn bit_times<T: Ring>(
        &mut self,
        shared: &mut SharedBits<T>,
        triples: &mut RingTriples<T>,
        b: &[u8],
        x: &[T],
        z: &mut [T],
    ) -> Result<()> {
        let count = x.len();
        assert_eq!(count, z.len(), "a product for each element");
        let (r, triple) = (shared.take(count).b, triples.take(count));
        let (elements, bytes) = (2 * count * T::BYTES, bits::bytes_for(count));
        // t is behind the elements of the same message.
        let mut masked = Zeroizing::<Vec<T>>::zeros(2 * count + bytes.div_ceil(T::BYTES));
        let (d, e) = masked[..2 * count].split_at_mut(count);
        d.copy_from_slice(r);
        e.copy_from_slice(x);
        rings::sub_into(d, triple.a);
        rings::sub_into(e, triple.b);
        let message = &mut rings::as_bytes_mut(&mut masked)[..elements + bytes];
        let t = &mut message[elements..];
        rings::pack_bits(r, t);
        kernels::xor_into(t, &b[..bytes]);
        bits::clear_tail(t, count);
        let rule = move |sum: &mut [u8], theirs: &[u8]| {
            let ((sum, t), (theirs, their_t)) =
                (sum.split_at_mut(elements), theirs.split_at(elements));
            rings::add_strings::<T>(sum, theirs);
            kernels::xor_into(t, their_t);
        };
        self.open_masked(&rule, message).await?;

        let (d, e) = masked[..2 * count].split_at(count);
        let shares = [triple.a, triple.b, triple.c];
        rings::beaver_products(z, shares, [d, e], self.leads());
        let t = &rings::as_bytes(&masked)[elements..elements + bytes];
        rings::flip_from(z, x, t);
        Ok(())
    }

    /// Cost for party `me` of one [`inject`](Self::inject) of `count` bits, but for rounds.
    pub fn inject_cost(opening: Opening, me: Party, parties: usize, count: usize) -> PhaseCost {
        Self::compose_cost(opening, me, parties, 1, count)
    }

    /// Cost for party `me` of one [`compose`](Self::compose) of `count` numbers of `width` bits, but for
    /// rounds.
    pub fn compose_cost(
        opening: Opening,
        me: Party,
        parties: usize,
        width: usize,
        count: usize,
    ) -> PhaseCost {
        opening_cost(opening, me, parties, bits::bytes_for(width * count))
    }

    /// Cost for party `me` of one [`bit_times`](Self::bit_times) of `count` elements, but for rounds.
    pub fn bit_times_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        count: usize,
    ) -> PhaseCost {
        let bytes = 2 * count * T::BYTES + bits::bytes_for(count);
        opening_cost(opening, me, parties, bytes)
    }
}

/// Puts the share that the owner of `inputs` has in A into B, as T's bits of planes ([`planes`]), without
/// a message: the first step from A to B, once for each party. `x` is our share, of which only its
/// length matters where we are not the owner. Costs [`share_aes_blocks`](super::share_aes_blocks) of
/// the elements' bytes.
///
/// # Panics
/// If `addend` is not T::BITS rows of `stride` bytes.
pub fn share_addend<T: Ring>(inputs: &mut InputSharing, x: &[T], addend: &mut [u8], stride: usize) {
    assert_eq!(
        addend.len(),
        T::BITS * stride,
        "a plane for each bit of the elements"
    );
    // Masked as elements, of which a few take less of the generator than planes of a few bits do.
    let mut share = Zeroizing::from(x.to_vec());
    inputs.share(rings::as_bytes_mut(&mut share));
    planes::split(&share, addend, stride);
}
