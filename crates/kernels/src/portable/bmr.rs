//! ANDs garbled by N parties, by their definition, one after the other.

use core::ops::Range;

use crate::Block;
use crate::bmr::{Column, Summed, tweak};
use crate::garble::{KeyWindow, SECOND};

use super::aes;
use super::garble::{mask, sigma};

pub(crate) fn clear_colours(keys: &mut [Block]) {
    for key in keys {
        key.0[0] &= !1;
    }
}

pub(crate) fn active_keys(offset: Block, colours: &[Block], keys: &mut [Block]) {
    for (key, colour) in keys.iter_mut().zip(colours) {
        key.0[0] &= !1;
        *key ^= times(mask(colour.lo()), offset);
    }
}

fn times(mask: u64, x: Block) -> Block {
    Block::new(mask & x.lo(), mask & x.hi())
}

/// `pi(y) ^ y` with `y = sigma(x) ^ t`, for several.
fn hash<const N: usize>(keys: &[Block; 11], inputs: [(Block, Block); N]) -> [Block; N] {
    let inputs = inputs.map(|(x, tweak)| sigma(x) ^ tweak);
    let mut out = inputs;
    aes::encrypt(keys, &mut out);
    core::array::from_fn(|i| out[i] ^ inputs[i])
}

/// The tweaks of both operands of an AND.
fn tweaks(i: usize, upper: u64) -> [Block; 2] {
    [0, SECOND].map(|operand| Block::new(i as u64 | operand, upper))
}

pub(crate) fn garble_column<const OWN: bool>(
    keys: &KeyWindow,
    key: usize,
    offset: Block,
    column: &mut Column<'_>,
    range: Range<usize>,
) {
    let keys = keys.map(|round| round[key]);
    for i in range {
        let (a, b, [first, second]) = (column.a[i], column.b[i], tweaks(i, column.tweak));
        let pairs = [
            (a, first),
            (a ^ offset, first),
            (b, second),
            (b ^ offset, second),
        ];
        let [a0, a1, b0, b1] = hash(&keys, pairs);
        let [mut one, mut by_a, mut by_b] = column.rows.map(|row| row[i]);
        if OWN {
            let bit = |k: u32| mask(u64::from(column.bits[i] >> k));
            one ^= column.zero[i] ^ times(bit(0), offset);
            by_a ^= times(bit(1), offset);
            by_b ^= times(bit(2), offset) ^ a;
        }
        one ^= a0 ^ b0;
        by_a ^= a0 ^ a1;
        by_b ^= b0 ^ b1;
        for (table, block) in column.table.iter_mut().zip([one, by_a, by_b]) {
            table[16 * i..][..16].copy_from_slice(&block.to_bytes());
        }
    }
}

pub(crate) fn evaluate_column(
    keys: &KeyWindow,
    key: usize,
    work: &mut Summed<'_>,
    range: Range<usize>,
) {
    let keys = keys.map(|round| round[key]);
    for i in range {
        let [one, by_a, by_b] = work.table.map(|table| {
            let bytes = table[16 * i..].first_chunk();
            Block::from_bytes(*bytes.unwrap_or(&[0; 16]))
        });
        let of = |party: usize| party * work.stride + i;
        let (own, colour) = (work.a[of(work.column)], work.b[of(work.column)]);
        let (alpha, beta) = (mask(own.lo()), mask(colour.lo()));
        let mut sum = one ^ times(alpha, by_a) ^ times(beta, by_b ^ own);
        for party in 0..work.parties {
            let [first, second] = tweaks(work.first + i, tweak(party, work.column));
            let pairs = [(work.a[of(party)], first), (work.b[of(party)], second)];
            let [from_a, from_b] = hash(&keys, pairs);
            sum ^= from_a ^ from_b;
        }
        work.c[i] = sum;
    }
}
