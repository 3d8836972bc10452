//! Garbled ANDs by their definition, one after the other.

use crate::garble::{Evaluated, Garbled, KEYS, KeyWindow, SECOND, SUM};
use crate::labels::{LabelOps, ROW_UNIT};
use crate::{Block, opaque_word};

use super::aes;

pub(crate) fn expand_keys(base: Block, first: u64, keys: &mut KeyWindow) {
    for key in 0..KEYS {
        let expanded = aes::expand_key(base ^ Block::new(first + key as u64, 0));
        for (round, expanded) in keys.iter_mut().zip(expanded) {
            round[key] = expanded;
        }
    }
}

/// `H(x, t) = pi(y) ^ y` with `y = sigma(x) ^ t`, for several.
fn hash<const N: usize>(keys: &KeyWindow, key: usize, inputs: [(Block, u64); N]) -> [Block; N] {
    let keys = keys.map(|round| round[key]);
    let inputs = inputs.map(|(x, tweak)| sigma(x) ^ Block::new(tweak, 0));
    let mut out = inputs;
    aes::encrypt(&keys, &mut out);
    core::array::from_fn(|i| out[i] ^ inputs[i])
}

/// The linear orthomorphism `(lo, hi) -> (hi, lo ^ hi)` of each 64-bit word.
pub(super) fn sigma(x: Block) -> Block {
    let word = |x: u64| (x >> 32) ^ (x << 32) ^ (x & 0xffff_ffff_0000_0000);
    Block::new(word(x.lo()), word(x.hi()))
}

/// All ones where the lowest bit is one.
pub(super) fn mask(bit: u64) -> u64 {
    opaque_word(bit & 1).wrapping_neg()
}

fn if_odd(x: Block, then: Block) -> Block {
    let mask = mask(x.lo());
    then & Block::new(mask, mask)
}

/// Zahur, Rosulek and Evans, figure 2; `sides` get their `T_G`, `rest` their `T_E`.
pub(crate) fn garble_half(keys: &KeyWindow, key: usize, offset: Block, piece: Garbled<'_, 16>) {
    let table = piece.sides.as_chunks_mut().0.iter_mut();
    let table = table.zip(piece.rest.as_chunks_mut().0);
    let labels = piece.a.iter().zip(piece.b).zip(piece.c);
    for (i, (((&a, &b), c), (left, right))) in labels.zip(table).enumerate() {
        let t = piece.first + i as u64;
        let [a0, a1, b0, b1] = hash(
            keys,
            key,
            [
                (a, t),
                (a ^ offset, t),
                (b, t ^ SECOND),
                (b ^ offset, t ^ SECOND),
            ],
        );
        let generator = a0 ^ a1 ^ if_odd(b, offset);
        let evaluator = b0 ^ b1 ^ a;
        *c = a0 ^ if_odd(a, generator) ^ b0 ^ if_odd(b, evaluator ^ a);
        *left = generator.to_bytes();
        *right = evaluator.to_bytes();
    }
}

pub(crate) fn evaluate_half(keys: &KeyWindow, key: usize, piece: Evaluated<'_, 16>) {
    let table = piece.sides.as_chunks().0.iter();
    let table = table.zip(piece.rest.as_chunks().0);
    let labels = piece.a.iter().zip(piece.b).zip(piece.c);
    for (i, (((&a, &b), c), (&left, &right))) in labels.zip(table).enumerate() {
        let t = piece.first + i as u64;
        let [from_a, from_b] = hash(keys, key, [(a, t), (b, t ^ SECOND)]);
        let (generator, evaluator) = (Block::from_bytes(left), Block::from_bytes(right));
        *c = from_a ^ if_odd(a, generator) ^ from_b ^ if_odd(b, evaluator ^ a);
    }
}

/// What the evaluator adds to the hashes and the table's part for colours i and j, given masks:
/// products of control bits with the halves of both labels.
fn labels_part([i, j]: [u64; 2], [p, q]: [u64; 2], a: Block, b: Block) -> [u64; 2] {
    [
        ((p ^ q) & a.lo()) ^ (p & a.hi()) ^ ((p ^ i) & b.lo()) ^ (q & b.hi()),
        (p & a.lo()) ^ ((q ^ j) & a.hi()) ^ (q & b.lo()) ^ ((p ^ q) & b.hi()),
    ]
}

/// By the evaluator's equations, solved for the label and the table, colours (0, 0), (0, 1) and (1, 0)
/// in turn; that they hold for (1, 1) too is the scheme's secret. `controls` are the coins, and become
/// the control bits; `sides` get `G_0` and `G_1`, `rest` gets `G_2`.
pub(crate) fn garble_three(keys: &KeyWindow, key: usize, offset: Block, piece: Garbled<'_, 8>) {
    let table = piece.sides.as_chunks_mut().0.iter_mut();
    let table = table.zip(piece.rest.as_chunks_mut().0).zip(piece.controls);
    let labels = piece.a.iter().zip(piece.b).zip(piece.c);
    for (n, (((&a, &b), c), ((sides, middle), control))) in labels.zip(table).enumerate() {
        // The colours of the labels of 0, and the labels of colour 0.
        let colours = [mask(a.lo()), mask(b.lo())];
        let [by_a, by_b] = colours;
        let (a, b) = (a ^ if_odd(a, offset), b ^ if_odd(b, offset));
        let t = piece.first + n as u64;
        let (second, sum) = (t ^ SECOND, t ^ SUM);
        let [a0, a1, b0, b1, same, other] = hash(
            keys,
            key,
            [
                (a, t),
                (a ^ offset, t),
                (b, second),
                (b ^ offset, second),
                (a ^ b, sum),
                (a ^ b ^ offset, sum),
            ],
        );
        // For colours i and j: p and q, and whether the product is 1.
        let coins = [mask(u64::from(*control)), mask(u64::from(*control >> 1))];
        let at = |i: u64, j: u64| {
            let p = coins[0] ^ by_b ^ (j & (by_a ^ by_b)) ^ (i & by_b);
            let q = coins[1] ^ by_a ^ (j & by_a) ^ (i & (by_a ^ by_b));
            ([p, q], (i ^ by_a) & (j ^ by_b))
        };
        // The sum of the lower halves of hashes, of labels and of the product's part of R.
        let row = |i: u64, j: u64, hashes: [Block; 3]| {
            let [from_a, from_b, from_sum] = hashes;
            let (control, product) = at(i, j);
            let shifted = |x: Block, by: u64| x ^ (offset & Block::new(by, by));
            let [l, r] = labels_part([i, j], control, shifted(a, i), shifted(b, j));
            [
                l ^ from_a.lo() ^ from_sum.lo() ^ (product & offset.lo()),
                r ^ from_b.lo() ^ from_sum.lo() ^ (product & offset.hi()),
            ]
        };
        let one = u64::MAX;
        let [c_l, c_r] = row(0, 0, [a0, b0, same]);
        let [middle_half, right] = row(0, one, [a0, b1, other]);
        let [left, _] = row(one, 0, [a1, b0, other]);
        let middle_half = middle_half ^ c_l;
        *c = Block::new(c_l, c_r);
        *sides = Block::new(left ^ c_l ^ middle_half, right ^ c_r ^ middle_half).to_bytes();
        *middle = middle_half.to_le_bytes();
        // The same for bits.
        let bits = |i: u64, j: u64, hashes: [Block; 3]| {
            let [from_a, from_b, from_sum] = hashes.map(Block::hi);
            let ([p, q], _) = at(i, j);
            [p ^ from_a ^ from_sum, q ^ from_b ^ from_sum]
        };
        let [z_l, z_r] = bits(0, 0, [a0, b0, same]);
        let [z_2, right] = bits(0, one, [a0, b1, other]);
        let [left, _] = bits(one, 0, [a1, b0, other]);
        let z_2 = z_2 ^ z_l;
        let z = [z_l, z_r, left ^ z_l ^ z_2, right ^ z_r ^ z_2, z_2];
        *control = z.iter().rev().fold(0, |bits, z| bits << 1 | (z & 1) as u8);
    }
}

pub(crate) fn evaluate_three(keys: &KeyWindow, key: usize, piece: Evaluated<'_, 8>) {
    let table = piece.sides.as_chunks().0.iter();
    let table = table.zip(piece.rest.as_chunks().0).zip(piece.controls);
    let labels = piece.a.iter().zip(piece.b).zip(piece.c);
    for (n, (((&a, &b), c), ((&sides, &middle), &control))) in labels.zip(table).enumerate() {
        let t = piece.first + n as u64;
        let [from_a, from_b, from_sum] =
            hash(keys, key, [(a, t), (b, t ^ SECOND), (a ^ b, t ^ SUM)]);
        let (i, j) = (mask(a.lo()), mask(b.lo()));
        let z = |k: u32| u64::from(control >> k);
        let both = (i ^ j) & z(4);
        let p = mask(from_a.hi() ^ from_sum.hi() ^ z(0) ^ (i & z(2)) ^ both);
        let q = mask(from_b.hi() ^ from_sum.hi() ^ z(1) ^ (j & z(3)) ^ both);
        let [l, r] = labels_part([i, j], [p, q], a, b);
        let sides = Block::from_bytes(sides);
        let both = (i ^ j) & u64::from_le_bytes(middle);
        *c = Block::new(
            l ^ from_a.lo() ^ from_sum.lo() ^ (i & sides.lo()) ^ both,
            r ^ from_b.lo() ^ from_sum.lo() ^ (j & sides.hi()) ^ both,
        );
    }
}

/// Local operations on rows of labels, in chunks of fixed length, of which the compiler makes vectors.
/// The arena is as long as the operations' check says.
#[inline(always)]
pub(crate) fn label_rows(arena: &mut [Block], lanes: usize, ops: LabelOps<'_>) {
    if lanes == 1 {
        label_chunks::<1, true>(arena, 1, ops);
    } else if lanes.is_multiple_of(32) {
        label_chunks::<32, false>(arena, lanes, ops);
    } else if lanes.is_multiple_of(8) {
        label_chunks::<8, false>(arena, lanes, ops);
    } else {
        label_chunks::<1, false>(arena, lanes, ops);
    }
}

#[inline(always)]
fn label_chunks<const C: usize, const SINGLE: bool>(
    arena: &mut [Block],
    lanes: usize,
    ops: LabelOps<'_>,
) {
    let chunks = if SINGLE { 1 } else { lanes / C };
    let step = lanes * (size_of::<Block>() / ROW_UNIT);
    ops.assert_fit(arena, lanes);
    let arena = arena.as_mut_ptr();
    let zeros = ops.zeros();
    for &[dst, a, b, c] in ops.rows() {
        // One lane is sooner added than looked at.
        let third = SINGLE || c != zeros;
        for chunk in 0..chunks {
            let at = |row: u32| {
                // SAFETY: `row` is a row's number times `ROW_UNIT`, and the row is one of those that
                // the arena was found to have, of `lanes` blocks each, of which these are `C`.
                unsafe { arena.byte_add(row as usize * step).add(chunk * C) }.cast::<[Block; C]>()
            };
            // SAFETY: as said, and nothing else refers to the arena. Rows may be the same: what is
            // written depends on what has been read.
            unsafe {
                let (mut x, y) = (at(a).read(), at(b).read());
                for j in 0..C {
                    x[j] ^= y[j];
                }
                if third {
                    let y = at(c).read();
                    for j in 0..C {
                        x[j] ^= y[j];
                    }
                }
                at(dst).write(x);
            }
        }
    }
}
