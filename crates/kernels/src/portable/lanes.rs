//! Bit-sliced programs in chunks of fixed length, of which the compiler makes vectors. Rows are whole
//! words; where they are whole cache lines too, the chunk is one.

use crate::lanes::{And, LocalOp, RowShape};

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
pub(crate) fn replicated_and_rows(arena: &[u8], shape: RowShape, ands: &[And], z: &mut [u8]) {
    if shape.stride.is_multiple_of(LINES / WORD) {
        and_chunks::<LINES>(arena, shape, ands, z);
    } else if shape.stride.is_multiple_of(LINE / WORD) {
        and_chunks::<LINE>(arena, shape, ands, z);
    } else {
        and_chunks::<WORD>(arena, shape, ands, z);
    }
}

#[inline(always)]
fn and_chunks<const C: usize>(arena: &[u8], shape: RowShape, ands: &[And], z: &mut [u8]) {
    let part = shape.stride * WORD;
    let at = |row: u32| row as usize * 2 * part;
    for (and, z) in ands.iter().zip(z.chunks_exact_mut(part.max(1))) {
        let (x, y) = (at(and.a), at(and.b));
        for i in (0..part).step_by(C) {
            let (x0, x1) = (chunk::<C>(arena, x + i), chunk::<C>(arena, x + part + i));
            let (y0, y1) = (chunk::<C>(arena, y + i), chunk::<C>(arena, y + part + i));
            let mut sum = chunk::<C>(z, i);
            for j in 0..C {
                sum[j] ^= (x0[j] & (y0[j] ^ y1[j])) ^ (x1[j] & y0[j]);
            }
            put(z, i, sum);
        }
    }
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
