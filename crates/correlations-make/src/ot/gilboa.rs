//! Products of two parties' ring elements from random OTs (Gilboa; MOTION 5.2.1): arithmetic
//! alone, no network.
//!
//! For x at the receiver and y at the sender, mod 2^w: with choice x\[k\], bit k of x, the receiver has
//! the mask h_{x\[k\]} of the sender's h_0, h_1. The sender sends d_k = h_0 - h_1 + y, so that the
//! receiver has h_0 + x\[k\] y = h_{x\[k\]} + x\[k\] d_k. Then
//!
//! z_S = -sum_k 2^k h_0, z_R = sum_k 2^k (h_{x\[k\]} + x\[k\] d_k), z_S + z_R = x y mod 2^w.
//!
//! The factor 2^k cuts the highest k bits of d_k off, so they are not sent: d_k has w - k bits, and
//! d_k and d_{w-k} together fill w bits. The units of one product are
//!
//! d_0; then d_k + 2^(w-k) d_{w-k} for k = 1, 2, ... while k < w - k; for even w the w/2 bits of
//! d_{w/2};
//!
//! that is w (w + 1) / 2 bits for w OTs, and no bit between units or products.

use madrigal_core::packing::{BitReader, BitWriter};
use madrigal_kernels::Block;

use crate::ot::words::Word;

/// Bits of the corrections of one product mod 2^`width`.
pub(crate) const fn correction_bits(width: usize) -> usize {
    width * (width + 1) / 2
}

/// Sender: writes the corrections of one product of `width` OTs with masks `k0`, `k1`, and gives
/// sum_k 2^k h_0, the negative of its share.
#[inline(always)]
pub(crate) fn offer<W: Word>(y: W, k0: &[Block], k1: &[Block], out: &mut BitWriter<'_>) -> W {
    let width = k0.len();
    let k1 = &k1[..width];
    let one = |k: usize| {
        let h0 = W::from_block(k0[k]);
        (h0.shl(k), h0.sub(W::from_block(k1[k])).add(y))
    };
    let (mut sum, d) = one(0);
    d.low(width).push(width, out);
    for k in 1..width.div_ceil(2) {
        let far = width - k;
        let ((near_h, near_d), (far_h, far_d)) = (one(k), one(far));
        sum = sum.add(near_h).add(far_h);
        near_d
            .low(far)
            .or(far_d.shl(far).low(width))
            .push(width, out);
    }
    if width.is_multiple_of(2) {
        let half = width / 2;
        let (h, d) = one(half);
        sum = sum.add(h);
        d.low(half).push(half, out);
    }
    sum
}

/// Receiver: sum_k 2^k h_{x\[k\]}, the part of its share that needs no correction.
#[inline(always)]
pub(crate) fn fold<W: Word>(masks: &[Block]) -> W {
    let terms = masks.iter().enumerate();
    terms.fold(W::ZERO, |sum, (k, &mask)| {
        sum.add(W::from_block(mask).shl(k))
    })
}

/// Receiver: sum_k 2^k x\[k\] d_k from the corrections of one product mod 2^`width`, the rest of its
/// share.
#[inline(always)]
pub(crate) fn correct<W: Word>(x: W, width: usize, from: &mut BitReader<'_>) -> W {
    let mut sum = W::pull(width, from).and(x.spread(0));
    for k in 1..width.div_ceil(2) {
        let far = width - k;
        let unit = W::pull(width, from);
        // The part that d_{w-k} adds to the first term is a multiple of 2^w.
        let near = unit.shl(k).and(x.spread(k));
        let far = unit.shr(far).shl(far).and(x.spread(far));
        sum = sum.add(near).add(far);
    }
    if width.is_multiple_of(2) {
        let half = width / 2;
        sum = sum.add(W::pull(half, from).shl(half).and(x.spread(half)));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use madrigal_kernels::Prg;

    fn products<W: Word>(width: usize, prg: &mut Prg) {
        let count = 5;
        let mut message = vec![0; (count * correction_bits(width)).div_ceil(8)];
        let mut writer = BitWriter::new(&mut message);
        let mut rows = Vec::new();
        for _ in 0..count {
            let [x, y] = [(); 2].map(|()| W::from_block(prg.next_block()));
            let masks: Vec<[Block; 2]> = (0..width)
                .map(|_| [prg.next_block(), prg.next_block()])
                .collect();
            let [k0, k1] = [0, 1].map(|i| masks.iter().map(|m| m[i]).collect::<Vec<_>>());
            let chosen: Vec<Block> = (0..width).map(|k| masks[k][x.bit(k) as usize]).collect();
            let minus_share = offer(y, &k0, &k1, &mut writer);
            rows.push((x, y, minus_share, fold::<W>(&chosen)));
        }
        writer.finish();
        let mut reader = BitReader::new(&message);
        for (x, y, minus_share, folded) in rows {
            let share = folded.add(correct(x, width, &mut reader));
            let product = share.sub(minus_share).low(width);
            assert_eq!(product, x.mul(y).low(width), "mod 2^{width}");
        }
    }

    #[test]
    fn shares_add_up_to_the_product_for_every_width() {
        let mut prg = Prg::new(Block::new(1, 2));
        (1..=64).for_each(|width| products::<u64>(width, &mut prg));
        (1..=128).for_each(|width| products::<u128>(width, &mut prg));
    }
}
