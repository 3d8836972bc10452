//! Triples of products by oblivious transfer.
//!
//! One extension row serves a whole row of products: for an entry of A at the receiver and the row of
//! B that it meets at the sender, Gilboa's products ([`gilboa`](crate::ot::gilboa)) have the same choice bits, so
//! each of the l OTs carries a string of n corrections at once, under masks that are stretched from
//! the OT's two ([`madrigal_kernels::Stretch`]). If A has more rows than B has columns, the roles are exchanged
//! (C^T = B^T A^T), so that strings are as long as can be. A convolution is made as the products of matrices that it
//! is, with images unfolded on both sides.
//!
//! With p = min(m, n), q = max(m, n), each party sends to each peer, for the whole triple, p k l OTs
//! of 16 bytes and p k q l (l + 1) / 2 bits of corrections (half a word more for each entry if q is
//! odd): per product of elements 16 l / q + l (l + 1) / 16 bytes, 268 for l = 64 and q = 128, where
//! element-wise triples take 1284.
//!
//! In a [split](Tripled) triple who has X is the receiver of all OTs, and who has Y their sender.
//!
//! Rows of C are made one after the other in parts of about 256 KiB of corrections, so the
//! memory in use beyond the three matrices does not grow with them.

use std::ops::Range;

use madrigal_core::{Party, Ring, Zeroizing};
use madrigal_correlations::{ProductTriple, Tripled};
use madrigal_kernels::rings::{self, Masks};
use madrigal_net::{Context, Result};
use madrigal_ot::OtError;

use super::factors::{self, Unfolded};
use super::layout::MatrixLayout;
use super::strings::{correct_first, correct_half, has_clear_end, offer_first, offer_half};
use crate::ot::layout::CallLayout;
use crate::ot::links::{Answer, Ask, GroupOts, OtCall};
use crate::ot::words::pack;

/// Makes triples, of products that are not empty.
pub(crate) async fn triples<T: Ring>(
    ots: &mut GroupOts,
    context: &Context,
    one: Tripled,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<Vec<ProductTriple<T>>> {
    let layout = MatrixLayout::new::<T>(context.me(), one, count);
    let MatrixLayout { p, q, .. } = layout;
    let mut factors = factors::random::<T>(context, one, count).await;
    let unfolded = Unfolded::shorter_first(one.product);
    let mut z = Zeroizing::new(vec![T::ZERO; layout.count * p * q]);
    {
        let [x, y] = unfolded.factors(count, &factors.a, &factors.b);
        let mut call = MatrixCall {
            layout,
            x: &x,
            y: &y,
            z: &mut z,
            strings: std::array::from_fn(|_| Zeroizing::new(vec![0; q * T::BYTES])),
        };
        ots.run(&mut call, made).await?;
    }
    unfolded.add(&z, &mut factors.c);
    Ok(factors.triples())
}

/// One call.
struct MatrixCall<'a, T: Ring> {
    layout: MatrixLayout,
    x: &'a [T],
    y: &'a [T],
    z: &'a mut [T],
    /// Up to four stretched masks. Secret.
    strings: [Zeroizing<Vec<u8>>; 4],
}

impl<T: Ring> OtCall for MatrixCall<'_, T> {
    fn layout(&self) -> Box<dyn CallLayout> {
        Box::new(self.layout)
    }

    /// Our choices are the bits of X.
    fn ask(&mut self, _: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError> {
        let bits = self.layout.bits;
        let x = &self.x[items.clone()];
        ots.blocks(
            |ots, out| pack(&x[ots.start / bits..ots.end / bits], bits, out),
            |ots, masks, stretch| {
                for (index, masks) in masks.chunks_exact(bits).enumerate() {
                    let (_, z) = self.layout.place(items.start + ots.start / bits + index);
                    let stretch =
                        |bit, out: &mut [u8]| stretch.stretch(index * bits + bit, masks[bit], out);
                    fold(self.layout, stretch, &mut self.strings[0], &mut self.z[z]);
                }
            },
        )
    }

    fn answer(
        &mut self,
        _: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        corrections: &mut [u8],
    ) -> Result<(), OtError> {
        let layout = self.layout;
        let mut out = corrections.chunks_exact_mut(layout.entry_bytes());
        ots.blocks(|ots, k0, k1, stretch| {
            for (index, out) in (0..ots.len() / layout.bits).zip(&mut out) {
                let entry = items.start + ots.start / layout.bits + index;
                let stretch = |which: usize, bit, out: &mut [u8]| {
                    let place = index * layout.bits + bit;
                    stretch.stretch(place, [k0, k1][which][place], out);
                };
                self.offer(entry, stretch, out);
            }
        })
    }

    fn correct(
        &mut self,
        _: Party,
        items: &Range<usize>,
        corrections: &[u8],
    ) -> Result<(), &'static str> {
        let layout = self.layout;
        let MatrixLayout { q, bits, .. } = layout;
        let each = corrections.chunks_exact(layout.entry_bytes());
        for (entry, corrections) in items.clone().zip(each) {
            let (_, z) = layout.place(entry);
            let (x, z) = (self.x[entry], &mut self.z[z]);
            for (bit, unit) in corrections.chunks(q * T::BYTES).enumerate() {
                if bit == 0 {
                    correct_first(x, unit, z);
                } else if bit < bits / 2 {
                    rings::correct_strings(x, bit, unit, z);
                } else if has_clear_end::<T>(q, unit) {
                    correct_half(x, unit, z);
                } else {
                    return Err("its padding is not zero");
                }
            }
        }
        Ok(())
    }

    /// Products of elements.
    fn made(&self, items: &Range<usize>) -> usize {
        items.len() * self.layout.q
    }
}

/// The receiver's shares of the products of one entry, but for corrections: its masks, stretched.
fn fold<T: Ring>(
    layout: MatrixLayout,
    mut stretch: impl FnMut(usize, &mut [u8]),
    string: &mut [u8],
    z: &mut [T],
) {
    let (bits, words) = (layout.bits, layout.words_of_half());
    for bit in 0..bits {
        let string = &mut string[..layout.mask_words(bit) * T::BYTES];
        stretch(bit, string);
        if bit < bits / 2 {
            rings::add_shifted(z, string, 0, bit);
        } else {
            rings::add_shifted(&mut z[..words], string, 0, bit);
            rings::add_shifted(&mut z[words..], string, bits / 2, bit);
        }
    }
}

impl<T: Ring> MatrixCall<'_, T> {
    /// Writes the corrections for one entry, in the units of [`gilboa`](crate::ot::gilboa), each for all q
    /// products; in the last one, product j shares a word with product j + ceil(q / 2). `stretch` makes
    /// one of the two masks of a bit.
    fn offer(
        &mut self,
        entry: usize,
        mut stretch: impl FnMut(usize, usize, &mut [u8]),
        out: &mut [u8],
    ) {
        let layout = self.layout;
        let MatrixLayout { q, bits, .. } = layout;
        let (y, z) = layout.place(entry);
        let (y, z) = (&self.y[y], &mut self.z[z]);
        let full = q * T::BYTES;
        let half = layout.words_of_half() * T::BYTES;
        let [h0, h1, g0, g1] = self.strings.each_mut().map(|string| &mut string[..]);
        let (g0, g1) = (&mut g0[..half], &mut g1[..half]);
        let mut units = out.chunks_mut(full);
        let mut unit = || units.next().unwrap_or_default();

        stretch(0, 0, h0);
        stretch(1, 0, h1);
        offer_first(y, z, [h0, h1], unit());
        for bit in 1..bits / 2 {
            stretch(0, bit, h0);
            stretch(1, bit, h1);
            stretch(0, bits - bit, g0);
            stretch(1, bits - bit, g1);
            let unit = unit();
            let masks = |range: Range<usize>, far_down| Masks {
                near: [&h0[range.clone()], &h1[range]],
                far: [g0, g1],
                far_down,
            };
            let words = layout.words_of_half();
            let (y, z) = (y.split_at(words), z.split_at_mut(words));
            let (first, second) = unit.split_at_mut(half);
            rings::offer_strings(y.0, z.0, masks(0..half, 0), bit, first);
            rings::offer_strings(y.1, z.1, masks(half..full, bits / 2), bit, second);
        }
        stretch(0, bits / 2, g0);
        stretch(1, bits / 2, g1);
        offer_half(y, z, [g0, g1], unit());
    }
}
