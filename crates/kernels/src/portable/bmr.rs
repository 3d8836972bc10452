//! ANDs garbled by N parties, by their definition, one after the other.

use core::ops::Range;

use crate::Block;
use crate::bmr::{Column, Summed, tweak};
use crate::garble::KeyWindow;

use super::garble::{hash, mask};

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

/// The tweaks of both operands of an AND.
fn tweaks(i: usize, which: Block) -> [Block; 2] {
    crate::garble::tweaks(i as u64).map(|tweak| tweak ^ which)
}

pub(crate) fn garble_column<const OWN: bool>(
    keys: &KeyWindow,
    key: usize,
    offset: Block,
    column: &mut Column<'_>,
    range: Range<usize>,
) {
    for i in range {
        let (a, b, [first, second]) = (column.a[i], column.b[i], tweaks(i, column.tweak));
        let pairs = [
            (a, first),
            (a ^ offset, first),
            (b, second),
            (b ^ offset, second),
        ];
        let [a0, a1, b0, b1] = hash(keys, key, pairs);
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
            let [from_a, from_b] = hash(keys, key, pairs);
            sum ^= from_a ^ from_b;
        }
        work.c[i] = sum;
    }
}
