//! Bit-sliced programs in chunks of fixed length, of which the compiler makes vectors. Rows are whole
//! words; where they are whole cache lines too, the chunk is one.

use crate::lanes::{LocalOp, RowShape, SumStep};

/// Four lines: one check of bounds for each, and still all in registers.
const LINES: usize = 256;
const LINE: usize = 64;
const WORD: usize = 8;

#[inline(always)]
pub(crate) fn local_rows(arena: &mut [u8], shape: RowShape, ops: &[LocalOp], leads: [bool; 2]) {
    if shape.stride.is_multiple_of(LINES / WORD) {
        local_chunks::<LINES>(arena, shape, ops, leads);
    } else if shape.stride.is_multiple_of(LINE / WORD) {
        local_chunks::<LINE>(arena, shape, ops, leads);
    } else {
        local_chunks::<WORD>(arena, shape, ops, leads);
    }
}

/// Rows of `W` components of a word.
pub(crate) fn local_words<const W: usize>(arena: &mut [u64], ops: &[LocalOp], leads: [bool; 2]) {
    let (rows, _) = arena.as_chunks_mut::<W>();
    let flip = |bit: bool, component: usize| match leads[component] && bit {
        true => u64::MAX,
        false => 0,
    };
    for op in ops {
        match *op {
            LocalOp::Xor { dst, a, b } => {
                let (a, b) = (rows[a as usize], rows[b as usize]);
                rows[dst as usize] = core::array::from_fn(|i| a[i] ^ b[i]);
            }
            LocalOp::Not { dst, a } => {
                let a = rows[a as usize];
                rows[dst as usize] = core::array::from_fn(|i| a[i] ^ flip(true, i));
            }
            LocalOp::Const { dst, bit } => {
                rows[dst as usize] = core::array::from_fn(|i| flip(bit, i));
            }
        }
    }
}

#[inline(always)]
fn local_chunks<const C: usize>(
    arena: &mut [u8],
    shape: RowShape,
    ops: &[LocalOp],
    leads: [bool; 2],
) {
    let width = shape.width() * WORD;
    let part = shape.stride * WORD;
    let at = |row: u32| row as usize * width;
    for op in ops {
        match *op {
            LocalOp::Xor { dst, a, b } => {
                let (dst, a, b) = (at(dst), at(a), at(b));
                for i in (0..width).step_by(C) {
                    let (mut x, y) = (chunk::<C>(arena, a + i), chunk::<C>(arena, b + i));
                    for j in 0..C {
                        x[j] ^= y[j];
                    }
                    put(arena, dst + i, x);
                }
            }
            LocalOp::Not { dst, a } => {
                let (dst, a) = (at(dst), at(a));
                for i in (0..width).step_by(C) {
                    let flip = if leads[i / part] { u8::MAX } else { 0 };
                    let mut x = chunk::<C>(arena, a + i);
                    for x in &mut x {
                        *x ^= flip;
                    }
                    put(arena, dst + i, x);
                }
            }
            LocalOp::Const { dst, bit } => {
                let dst = at(dst);
                for i in (0..width).step_by(C) {
                    let flip = if leads[i / part] && bit { u8::MAX } else { 0 };
                    put(arena, dst + i, [flip; C]);
                }
            }
        }
    }
}

#[inline(always)]
pub(crate) fn replicated_sums(
    arena: &[u8],
    shape: RowShape,
    steps: &[SumStep],
    kept: &mut [u8],
    first: u32,
    z: &mut [u8],
) {
    if shape.stride.is_multiple_of(LINES / WORD) {
        sum_chunks::<LINES>(arena, shape, steps, kept, first, z);
    } else if shape.stride.is_multiple_of(LINE / WORD) {
        sum_chunks::<LINE>(arena, shape, steps, kept, first, z);
    } else {
        sum_chunks::<WORD>(arena, shape, steps, kept, first, z);
    }
}

/// Rows of a word.
pub(crate) fn sum_words(
    arena: &[u64],
    steps: &[SumStep],
    kept: &mut [u64],
    first: u32,
    z: &mut [u8],
) {
    let ((rows, _), (z, _)) = (arena.as_chunks::<2>(), z.as_chunks_mut::<WORD>());
    let product = |a: u32, b: u32| {
        let ([x0, x1], [y0, y1]) = (rows[a as usize], rows[b as usize]);
        (x0 & (y0 ^ y1)) ^ (x1 & y0)
    };
    let mut give = |to: u32, word: u64| {
        let z = &mut z[(to - first) as usize];
        *z = (u64::from_ne_bytes(*z) ^ word).to_ne_bytes();
    };
    for step in steps {
        match *step {
            SumStep::Multiply { to, a, b } => give(to, product(a, b)),
            SumStep::Keep { to, a, b } => kept[to as usize] = product(a, b),
            SumStep::Add { to, a, b } => kept[to as usize] ^= product(a, b),
            SumStep::Xor { to, a, b } => kept[to as usize] = kept[a as usize] ^ kept[b as usize],
            SumStep::Give { to, a } => give(to, kept[a as usize]),
            SumStep::GiveXor { to, a, b } => give(to, kept[a as usize] ^ kept[b as usize]),
        }
    }
}

#[inline(always)]
fn sum_chunks<const C: usize>(
    arena: &[u8],
    shape: RowShape,
    steps: &[SumStep],
    kept: &mut [u8],
    first: u32,
    z: &mut [u8],
) {
    let part = shape.stride * WORD;
    let row = |row: u32| row as usize * part;
    let sum = |to: u32| row(to - first);
    for step in steps {
        match *step {
            SumStep::Multiply { to, a, b } => {
                for i in (0..part).step_by(C) {
                    let product = cross_terms::<C>(arena, part, [a, b], i);
                    let old = chunk::<C>(z, sum(to) + i);
                    put(z, sum(to) + i, xor_chunks(old, product));
                }
            }
            SumStep::Keep { to, a, b } => {
                for i in (0..part).step_by(C) {
                    let product = cross_terms::<C>(arena, part, [a, b], i);
                    put(kept, row(to) + i, product);
                }
            }
            SumStep::Add { to, a, b } => {
                for i in (0..part).step_by(C) {
                    let product = cross_terms::<C>(arena, part, [a, b], i);
                    let old = chunk::<C>(kept, row(to) + i);
                    put(kept, row(to) + i, xor_chunks(old, product));
                }
            }
            SumStep::Xor { to, a, b } => {
                for i in (0..part).step_by(C) {
                    let (a, b) = (chunk::<C>(kept, row(a) + i), chunk(kept, row(b) + i));
                    put(kept, row(to) + i, xor_chunks(a, b));
                }
            }
            SumStep::Give { to, a } => {
                for i in (0..part).step_by(C) {
                    let (old, a) = (chunk::<C>(z, sum(to) + i), chunk(kept, row(a) + i));
                    put(z, sum(to) + i, xor_chunks(old, a));
                }
            }
            SumStep::GiveXor { to, a, b } => {
                for i in (0..part).step_by(C) {
                    let (a, b) = (chunk::<C>(kept, row(a) + i), chunk(kept, row(b) + i));
                    let old = chunk::<C>(z, sum(to) + i);
                    put(z, sum(to) + i, xor_chunks(old, xor_chunks(a, b)));
                }
            }
        }
    }
}

/// Computes the cross terms of two rows of two components of `part` bytes, at `i` of each.
#[inline(always)]
fn cross_terms<const C: usize>(arena: &[u8], part: usize, [a, b]: [u32; 2], i: usize) -> [u8; C] {
    let (x, y) = (a as usize * 2 * part + i, b as usize * 2 * part + i);
    let (mut x0, x1) = (chunk::<C>(arena, x), chunk::<C>(arena, x + part));
    let (y0, y1) = (chunk::<C>(arena, y), chunk::<C>(arena, y + part));
    for j in 0..C {
        x0[j] = (x0[j] & (y0[j] ^ y1[j])) ^ (x1[j] & y0[j]);
    }
    x0
}

#[inline(always)]
fn xor_chunks<const C: usize>(mut a: [u8; C], b: [u8; C]) -> [u8; C] {
    for j in 0..C {
        a[j] ^= b[j];
    }
    a
}

#[inline(always)]
pub(crate) fn replicated_and(x: [&[u8]; 2], y: [&[u8]; 2], z: &mut [u8]) {
    let n = z.len();
    let ([x0, x1], [y0, y1]) = (x.map(|x| &x[..n]), y.map(|y| &y[..n]));
    for i in 0..n {
        z[i] ^= (x0[i] & (y0[i] ^ y1[i])) ^ (x1[i] & y0[i]);
    }
}

#[inline(always)]
pub(crate) fn replicated_carry(t: [&[u8]; 2], a: [&[u8]; 2], c: [&[u8]; 2], z: &mut [u8]) {
    let n = z.len();
    let [t0, t1] = t.map(|t| &t[..n]);
    let [a0, a1] = a.map(|a| &a[..n]);
    let [c0, c1] = c.map(|c| &c[..n]);
    for i in 0..n {
        let (s0, s1) = (a0[i] ^ c0[i], a1[i] ^ c1[i]);
        z[i] ^= a0[i] ^ (t0[i] & (s0 ^ s1)) ^ (t1[i] & s0);
    }
}

#[inline(always)]
fn chunk<const C: usize>(bytes: &[u8], at: usize) -> [u8; C] {
    let mut chunk = [0; C];
    chunk.copy_from_slice(&bytes[at..at + C]);
    chunk
}

#[inline(always)]
fn put<const C: usize>(bytes: &mut [u8], at: usize, chunk: [u8; C]) {
    bytes[at..at + C].copy_from_slice(&chunk);
}
