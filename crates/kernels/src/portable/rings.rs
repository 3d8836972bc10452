//! Ring operations element by element; the compiler makes vectors of these loops.

use madrigal_core::Ring;

use crate::rings::Masks;

/// Columns of y and z, and rows of y, that stay in the second-level cache while all rows of x pass.
const COLUMNS: usize = 256;
const INNER: usize = 128;
/// Rows of x that share each load of y.
const ROWS: usize = 4;

#[inline(always)]
pub(crate) fn multiply_add<T: Ring>(x: &[T], y: &[T], z: &mut [T], inner: usize, columns: usize) {
    for left in (0..columns).step_by(COLUMNS) {
        let width = COLUMNS.min(columns - left);
        for top in (0..inner).step_by(INNER) {
            let depth = INNER.min(inner - top);
            let bands = x.chunks(ROWS * inner).zip(z.chunks_mut(ROWS * columns));
            for (x, z) in bands {
                for k in top..top + depth {
                    let y = &y[k * columns + left..][..width];
                    let rows = x.chunks_exact(inner).zip(z.chunks_exact_mut(columns));
                    for (x, z) in rows {
                        let factor = x[k];
                        for (z, &y) in z[left..][..width].iter_mut().zip(y) {
                            *z = z.add(factor.mul(y));
                        }
                    }
                }
            }
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
