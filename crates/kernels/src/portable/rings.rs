//! Ring operations element by element; the compiler makes vectors of these loops.

use madrigal_core::Ring;

use crate::rings::Masks;

/// Rows of y that stay in the first-level cache, `WIDTH` columns of them, while rows of x pass.
const INNER: usize = 128;
/// Rows of x whose part of `INNER` columns stays in the second-level cache.
const BAND: usize = 256;
/// Rows of a tile of z that is held in registers.
const ROWS: usize = 4;

#[inline(always)]
pub(crate) fn multiply_add<T: Ring>(x: &[T], y: &[T], z: &mut [T], inner: usize, columns: usize) {
    // Tiles of 4 by 256 bytes: half of the registers of AVX-512.
    match T::BITS {
        8 => multiply_tiles::<T, 256>(x, y, z, inner, columns),
        16 => multiply_tiles::<T, 128>(x, y, z, inner, columns),
        32 => multiply_tiles::<T, 64>(x, y, z, inner, columns),
        64 => multiply_tiles::<T, 32>(x, y, z, inner, columns),
        _ => multiply_tiles::<T, 8>(x, y, z, inner, columns),
    }
}

#[inline(always)]
fn multiply_tiles<T: Ring, const WIDTH: usize>(
    x: &[T],
    y: &[T],
    z: &mut [T],
    inner: usize,
    columns: usize,
) {
    let whole = columns / WIDTH * WIDTH;
    let bands = x.chunks(BAND * inner).zip(z.chunks_mut(BAND * columns));
    for (x, z) in bands {
        for top in (0..inner).step_by(INNER) {
            let depth = INNER.min(inner - top);
            let y = &y[top * columns..][..depth * columns];
            for left in (0..whole).step_by(WIDTH) {
                for (x, z) in x.chunks(ROWS * inner).zip(z.chunks_mut(ROWS * columns)) {
                    if x.len() == ROWS * inner {
                        let x = core::array::from_fn(|row| &x[row * inner + top..][..depth]);
                        multiply_tile::<T, WIDTH>(x, &y[left..], &mut z[left..], columns);
                    } else {
                        let rows = x.chunks_exact(inner).zip(z.chunks_exact_mut(columns));
                        for (x, z) in rows {
                            let z = &mut z[left..left + WIDTH];
                            multiply_row(&x[top..top + depth], &y[left..], z, columns);
                        }
                    }
                }
            }
            if whole < columns {
                for (x, z) in x.chunks_exact(inner).zip(z.chunks_exact_mut(columns)) {
                    multiply_row(&x[top..top + depth], &y[whole..], &mut z[whole..], columns);
                }
            }
        }
    }
}

/// Four rows of z by `WIDTH` columns, in registers.
#[inline(always)]
fn multiply_tile<T: Ring, const WIDTH: usize>(
    x: [&[T]; ROWS],
    y: &[T],
    z: &mut [T],
    columns: usize,
) {
    let depth = x[0].len();
    let mut sums = [[T::ZERO; WIDTH]; ROWS];
    for k in 0..depth {
        let mut row = [T::ZERO; WIDTH];
        row.copy_from_slice(&y[k * columns..][..WIDTH]);
        for (sums, x) in sums.iter_mut().zip(x) {
            let factor = x[k];
            for (sum, y) in sums.iter_mut().zip(row) {
                *sum = sum.add(factor.mul(y));
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        for (z, &sum) in z[row * columns..][..WIDTH].iter_mut().zip(sums) {
            *z = z.add(sum);
        }
    }
}

/// `z += x y` for one row of x; y has rows `columns` apart.
#[inline(always)]
fn multiply_row<T: Ring>(x: &[T], y: &[T], z: &mut [T], columns: usize) {
    for (k, &factor) in x.iter().enumerate() {
        for (z, &y) in z.iter_mut().zip(&y[k * columns..]) {
            *z = z.add(factor.mul(y));
        }
    }
}

#[inline(always)]
pub(crate) fn add_into<T: Ring>(z: &mut [T], x: &[T]) {
    for (z, &x) in z.iter_mut().zip(x) {
        *z = z.add(x);
    }
}

#[inline(always)]
pub(crate) fn sub_into<T: Ring>(z: &mut [T], x: &[T]) {
    for (z, &x) in z.iter_mut().zip(x) {
        *z = z.sub(x);
    }
}

#[inline(always)]
pub(crate) fn mul_into<T: Ring>(z: &mut [T], x: &[T]) {
    for (z, &x) in z.iter_mut().zip(x) {
        *z = z.mul(x);
    }
}

#[inline(always)]
pub(crate) fn replicated_products<T: Ring>(x: [&[T]; 2], y: [&[T]; 2], minus: &[T], z: &mut [T]) {
    let n = z.len();
    let ([x0, x1], [y0, y1]) = (x.map(|x| &x[..n]), y.map(|y| &y[..n]));
    let minus = &minus[..n];
    for i in 0..n {
        let cross = x0[i].mul(y0[i].add(y1[i])).add(x1[i].mul(y0[i]));
        z[i] = z[i].sub(minus[i]).add(cross);
    }
}

#[inline(always)]
pub(crate) fn replicated_dots<T: Ring>(x: [&[T]; 2], y: [&[T]; 2], length: usize, z: &mut [T]) {
    for (j, z) in z.iter_mut().enumerate() {
        let [x0, x1] = x.map(|x| &x[j * length..][..length]);
        let [y0, y1] = y.map(|y| &y[j * length..][..length]);
        let mut sum = T::ZERO;
        for i in 0..length {
            sum = sum.add(x0[i].mul(y0[i].add(y1[i])).add(x1[i].mul(y0[i])));
        }
        *z = z.add(sum);
    }
}

#[inline(always)]
pub(crate) fn unpack_bits<T: Ring>(bits: &[u8], z: &mut [T]) {
    for (&byte, z) in bits.iter().zip(z.chunks_mut(8)) {
        let byte = T::from_u128(u128::from(byte));
        for (i, z) in z.iter_mut().enumerate() {
            *z = byte.shr(i).and(T::ONE);
        }
    }
}

#[inline(always)]
fn words<T: Ring>(bytes: &[u8]) -> impl ExactSizeIterator<Item = T> + '_ {
    bytes.chunks_exact(T::BYTES).map(T::read)
}

#[inline(always)]
pub(crate) fn add_shifted<T: Ring>(z: &mut [T], h: &[u8], down: usize, up: usize) {
    for (z, h) in z.iter_mut().zip(words::<T>(h)) {
        *z = z.add(h.shr(down).shl(up));
    }
}

#[inline(always)]
pub(crate) fn offer_strings<T: Ring>(
    y: &[T],
    z: &mut [T],
    masks: Masks<'_>,
    bit: usize,
    out: &mut [u8],
) {
    let far = T::BITS - bit;
    let low = T::ZERO.sub(T::ONE).shr(bit);
    let down = masks.far_down;
    let near = words::<T>(masks.near[0]).zip(words::<T>(masks.near[1]));
    let strings = near.zip(words::<T>(masks.far[0]).zip(words::<T>(masks.far[1])));
    let out = out.chunks_exact_mut(T::BYTES);
    for (((z, &y), ((h0, h1), (g0, g1))), out) in z.iter_mut().zip(y).zip(strings).zip(out) {
        let (g0, g1) = (g0.shr(down), g1.shr(down));
        let near_d = h0.sub(h1).add(y).and(low);
        let far_d = g0.sub(g1).add(y).shl(far);
        near_d.or(far_d).write(out);
        *z = z.sub(h0.shl(bit)).sub(g0.shl(far));
    }
}

#[inline(always)]
pub(crate) fn correct_strings<T: Ring>(x: T, bit: usize, unit: &[u8], z: &mut [T]) {
    let far = T::BITS - bit;
    let (near_x, far_x) = (x.spread(bit), x.spread(far));
    for (z, d) in z.iter_mut().zip(words::<T>(unit)) {
        let near_d = d.shl(bit).and(near_x);
        let far_d = d.shr(far).shl(far).and(far_x);
        *z = z.add(near_d).add(far_d);
    }
}
