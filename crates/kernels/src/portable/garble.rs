//! Garbled ANDs by their definition, one after the other.

use crate::garble::{
    Controls, Evaluated, Garbled, KEYS, KeyWindow, Operands, pack, three_bytes, tweaks, unpack,
};
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
pub(super) fn hash<const N: usize>(
    keys: &KeyWindow,
    key: usize,
    inputs: [(Block, Block); N],
) -> [Block; N] {
    let mut keys = keys.map(|round| round[key]);
    (keys[0], keys[10]) = (Block::ZERO, Block::ZERO);
    let inputs = inputs.map(|(x, tweak)| sigma(x) ^ tweak);
    let mut out = inputs;
    aes::encrypt(&keys, &mut out);
    core::array::from_fn(|i| out[i] ^ inputs[i])
}

/// The linear orthomorphism `(lo, hi) -> (lo ^ hi, lo)` of each 64-bit word.
fn sigma(x: Block) -> Block {
    let word = |x: u64| (x ^ x >> 32) & 0xffff_ffff | x << 32;
    Block::new(word(x.lo()), word(x.hi()))
}

/// All ones where the lowest bit is one.
pub(super) fn mask(bit: u64) -> u64 {
    opaque_word(bit & 1).wrapping_neg()
}

/// `then` where the lowest bit of `x` is zero.
fn if_even(x: Block, then: Block) -> Block {
    let mask = mask(!x.lo());
    then & Block::new(mask, mask)
}

/// Gets an AND's entry of a table, of `W` bytes for each.
fn get<const W: usize>(table: &[u8], i: usize) -> [u8; W] {
    table.as_chunks().0[i]
}

fn set<const W: usize>(table: &mut [u8], i: usize, bytes: [u8; W]) {
    table.as_chunks_mut().0[i] = bytes;
}

/// Zahur, Rosulek and Evans, figure 2, with the complement of the lowest bit as colour; of a piece's table the
/// first half are all `T_G`, the second all `T_E`.
pub(crate) fn garble_half(
    keys: &KeyWindow,
    key: usize,
    offset: Block,
    pieces: &[Operands<'_>],
    mut c: &mut [Block],
    mut table: &mut [u8],
) {
    for (key, &[a, b]) in (key..).zip(pieces) {
        let (products, c_rest) = c.split_at_mut(a.len());
        let (left, table_rest) = table.split_at_mut(16 * a.len());
        let (right, table_rest) = table_rest.split_at_mut(16 * a.len());
        (c, table) = (c_rest, table_rest);
        for i in 0..a.len() {
            let (a, b, [x, y]) = (a[i], b[i], tweaks(i as u64));
            let inputs = [(a, x), (a ^ offset, x), (b, y), (b ^ offset, y)];
            let [a0, a1, b0, b1] = hash(keys, key, inputs);
            let generator = a0 ^ a1 ^ if_even(b, offset);
            let evaluator = b0 ^ b1 ^ a;
            products[i] = a0 ^ if_even(a, generator) ^ b0 ^ if_even(b, evaluator ^ a);
            set(left, i, generator.to_bytes());
            set(right, i, evaluator.to_bytes());
        }
    }
}

pub(crate) fn evaluate_half(
    keys: &KeyWindow,
    key: usize,
    pieces: &[Operands<'_>],
    mut table: &[u8],
    mut c: &mut [Block],
) {
    for (key, &[a, b]) in (key..).zip(pieces) {
        let (products, c_rest) = c.split_at_mut(a.len());
        let (left, table_rest) = table.split_at(16 * a.len());
        let (right, table_rest) = table_rest.split_at(16 * a.len());
        (c, table) = (c_rest, table_rest);
        for i in 0..a.len() {
            let (a, b, [x, y]) = (a[i], b[i], tweaks(i as u64));
            let [from_a, from_b] = hash(keys, key, [(a, x), (b, y)]);
            let generator = Block::from_bytes(get(left, i));
            let evaluator = Block::from_bytes(get(right, i));
            products[i] = from_a ^ if_even(a, generator) ^ from_b ^ if_even(b, evaluator ^ a);
        }
    }
}

/// Computes the part that the evaluator adds to the hashes and the table's part for colours i and j, given masks:
/// products of control bits with the halves of both labels.
fn labels_part([i, j]: [u64; 2], [p, q]: [u64; 2], a: Block, b: Block) -> [u64; 2] {
    [
        ((p ^ q) & a.lo()) ^ (p & a.hi()) ^ ((p ^ i) & b.lo()) ^ (q & b.hi()),
        (p & a.lo()) ^ ((q ^ j) & a.hi()) ^ (q & b.lo()) ^ ((p ^ q) & b.hi()),
    ]
}

/// Computes the part that C_L and C_R have of the hashes of A, B and their sum.
fn hashed_labels([a, b, sum]: [Block; 3]) -> [u64; 2] {
    [a.lo() ^ sum.lo(), b.hi() ^ sum.lo()]
}

/// Computes the part that p and q have of these hashes, at the AND's bit.
fn hashed_controls([a, b, sum]: [Block; 3]) -> [u64; 2] {
    [a.hi() ^ sum.hi(), b.lo() ^ sum.hi()]
}

/// Garbles by the evaluator's equations, solved for the label and the table, colours (0, 1), (1, 0) and (0, 0) in turn; that
/// they hold for (1, 1) too is the scheme's secret. `sides` get `G_0` and `G_1`, `rest` gets `G_2`.
pub(crate) fn garble_three(
    keys: &KeyWindow,
    key: usize,
    offset: Block,
    coins: &[Block],
    pieces: &[Operands<'_>],
    mut c: &mut [Block],
    mut table: &mut [u8],
) {
    for ((key, &[a, b]), &coins) in (key..).zip(pieces).zip(coins) {
        let ands = a.len();
        let (products, c_rest) = c.split_at_mut(ands);
        let (sides, table_rest) = table.split_at_mut(16 * ands);
        let (rest, table_rest) = table_rest.split_at_mut(8 * ands);
        let (packed, table_rest) = table_rest.split_at_mut(three_bytes(ands) - 24 * ands);
        (c, table) = (c_rest, table_rest);
        let piece = &mut Garbled {
            a,
            b,
            c: products,
            sides,
            rest,
        };
        let mut controls = [Block::ZERO; 3];
        garble_piece(keys, key, [offset, coins], piece, &mut controls);
        pack(coins, &mut controls, ands, packed);
    }
}

/// Sets the control bits but for the coins.
fn garble_piece(
    keys: &KeyWindow,
    key: usize,
    [offset, coins]: [Block; 2],
    piece: &mut Garbled<'_, 8>,
    controls: &mut Controls,
) {
    for n in 0..piece.a.len() {
        let (a, b, [x, y]) = (piece.a[n], piece.b[n], tweaks(n as u64));
        // The colours of the labels of 0, and the labels of colour 0.
        let [by_a, by_b] = [mask(!a.lo()), mask(!b.lo())];
        let (a, b) = (a ^ if_even(a, offset), b ^ if_even(b, offset));
        let inputs = [
            (a, x),
            (a ^ offset, x),
            (b, y),
            (b ^ offset, y),
            (a ^ b, x ^ y),
            (a ^ b ^ offset, x ^ y),
        ];
        let [a0, a1, b0, b1, same, other] = hash(keys, key, inputs);
        // For colours i and j: p and q, and whether the product is 1. The coins are 1 ^ p at (0, 1) and 1 ^ q at (1, 0).
        let coin = |coins: u64| mask(coins >> n ^ 1);
        let [p, q] = [coin(coins.lo()) ^ by_a, coin(coins.hi()) ^ by_b];
        let at = |i: u64, j: u64| {
            let p = p ^ by_b ^ (j & (by_a ^ by_b)) ^ (i & by_b);
            let q = q ^ by_a ^ (j & by_a) ^ (i & (by_a ^ by_b));
            ([p, q], (i ^ by_a) & (j ^ by_b))
        };
        // The sum of halves of hashes, of labels and of the product's part of R.
        let row = |i: u64, j: u64, hashes: [Block; 3]| {
            let (control, product) = at(i, j);
            let shifted = |x: Block, by: u64| x ^ (offset & Block::new(by, by));
            let [l, r] = labels_part([i, j], control, shifted(a, i), shifted(b, j));
            let [from_l, from_r] = hashed_labels(hashes);
            [
                l ^ from_l ^ (product & offset.lo()),
                r ^ from_r ^ (product & offset.hi()),
            ]
        };
        let one = u64::MAX;
        let [c_l, right] = row(0, one, [a0, b1, other]);
        let [left, c_r] = row(one, 0, [a1, b0, other]);
        let [middle, _] = row(0, 0, [a0, b0, same]);
        piece.c[n] = Block::new(c_l, c_r);
        let sides = Block::new(left ^ c_l, right ^ c_r);
        set(piece.sides, n, sides.to_bytes());
        set(piece.rest, n, (middle ^ c_l).to_le_bytes());
        // Sets the control bits; the coins, which come in with the first two, are left for the caller to add.
        let bits = |i: u64, j: u64, hashes: [Block; 3]| {
            let ([p, q], _) = at(i, j);
            let [from_p, from_q] = hashed_controls(hashes);
            [from_p ^ !p, from_q ^ !q]
        };
        let [z_l, right] = bits(0, one, [a0, b1, other]);
        let [left, z_r] = bits(one, 0, [a1, b0, other]);
        let [both, _] = bits(0, 0, [a0, b0, same]);
        let two = both ^ z_l;
        let made = [
            Block::new(z_r, z_l) ^ Block::new(coins.hi(), coins.lo()),
            Block::new(right ^ z_r, left ^ z_l),
            Block::new(two, two),
        ];
        for (controls, made) in controls.iter_mut().zip(made) {
            *controls ^= made & Block::new(1 << n, 1 << n);
        }
    }
}

pub(crate) fn evaluate_three(
    keys: &KeyWindow,
    key: usize,
    pieces: &[Operands<'_>],
    mut table: &[u8],
    mut c: &mut [Block],
) {
    for (key, &[a, b]) in (key..).zip(pieces) {
        let ands = a.len();
        let (products, c_rest) = c.split_at_mut(ands);
        let (sides, table_rest) = table.split_at(16 * ands);
        let (rest, table_rest) = table_rest.split_at(8 * ands);
        let (packed, table_rest) = table_rest.split_at(three_bytes(ands) - 24 * ands);
        (c, table) = (c_rest, table_rest);
        let piece = &mut Evaluated {
            a,
            b,
            c: products,
            sides,
            rest,
        };
        evaluate_piece(keys, key, piece, unpack(packed));
    }
}

fn evaluate_piece(
    keys: &KeyWindow,
    key: usize,
    piece: &mut Evaluated<'_, 8>,
    [ends, turns, both]: Controls,
) {
    for n in 0..piece.a.len() {
        let (a, b, [x, y]) = (piece.a[n], piece.b[n], tweaks(n as u64));
        let hashes = hash(keys, key, [(a, x), (b, y), (a ^ b, x ^ y)]);
        let (i, j) = (mask(!a.lo()), mask(!b.lo()));
        let same = !(i ^ j);
        let [p, q] = hashed_controls(hashes);
        let p = mask(!(p ^ ends.hi() ^ (i & turns.hi()) ^ (same & both.hi())) >> n);
        let q = mask(!(q ^ ends.lo() ^ (j & turns.lo()) ^ (same & both.lo())) >> n);
        let sides = Block::from_bytes(get(piece.sides, n));
        let middle = same & u64::from_le_bytes(get(piece.rest, n));
        let [from_l, from_r] = hashed_labels(hashes);
        let [l, r] = labels_part([i, j], [p, q], a, b);
        piece.c[n] = Block::new(
            l ^ from_l ^ (i & sides.lo()) ^ middle,
            r ^ from_r ^ (j & sides.hi()) ^ middle,
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
