//! ANDs garbled by N parties, by their definition, one after the other.

use core::ops::Range;

use crate::Block;
use crate::bmr::{Column, Summed, tweak, twice};
use crate::garble::KeyWindow;

use super::aes;
use super::garble::mask;

pub(crate) fn join_keys(a: &[Block], b: &[Block], out: &mut [Block]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = twice(a ^ twice(b));
    }
}

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

/// `pi(x) ^ x`, for several.
fn hash<const N: usize>(keys: &[Block; 11], inputs: [Block; N]) -> [Block; N] {
    let mut out = inputs;
    aes::encrypt(keys, &mut out);
    core::array::from_fn(|i| out[i] ^ inputs[i])
}

pub(crate) fn garble_column<const OWN: bool>(
    keys: &KeyWindow,
    key: usize,
    offset: Block,
    column: &mut Column<'_>,
    range: Range<usize>,
) {
    let keys = keys.map(|round| round[key]);
    let (two, four) = (twice(offset), twice(twice(offset)));
    for i in range {
        let x = column.inputs[i] ^ Block::new(i as u64, column.tweak);
        // Of the pairs (0, 0), (1, 0), (0, 1), (1, 1).
        let [f00, f10, f01, f11] = hash(&keys, [x, x ^ two, x ^ four, x ^ two ^ four]);
        let [mut one, mut by_a, mut by_b] = column.rows.map(|row| row[i]);
        let mut both = Block::ZERO;
        if OWN {
            let bit = |k: u32| mask(u64::from(column.bits[i] >> k));
            one ^= column.zero[i] ^ times(bit(0), offset);
            by_a ^= times(bit(1), offset);
            by_b ^= times(bit(2), offset);
            both = offset;
        }
        one ^= f00;
        by_a ^= f00 ^ f10;
        by_b ^= f00 ^ f01;
        both ^= f00 ^ f10 ^ f01 ^ f11;
        for (table, block) in column.table.iter_mut().zip([one, by_a, by_b, both]) {
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
        let [one, by_a, by_b, both] = work.table.map(|table| {
            let bytes = table[16 * i..].first_chunk();
            Block::from_bytes(*bytes.unwrap_or(&[0; 16]))
        });
        let (alpha, beta) = (mask(work.a[i].lo()), mask(work.b[i].lo()));
        let mut sum = one ^ times(alpha, by_a) ^ times(beta, by_b) ^ times(alpha & beta, both);
        for party in 0..work.parties {
            let x = work.inputs[party * work.stride + i];
            let [hash] = hash(&keys, [x ^ Block::new(i as u64, tweak(party, work.column))]);
            sum ^= hash;
        }
        work.c[i] = sum;
    }
}
