//! The units of corrections that hold one bit's alone: the first and the last one.

use madrigal_core::{Ring, Zeroizing};

fn words<T: Ring>(bytes: &[u8]) -> impl ExactSizeIterator<Item = T> + '_ {
    bytes.chunks_exact(T::BYTES).map(T::read)
}

/// The unit of bit 0.
pub(super) fn offer_first<T: Ring>(y: &[T], z: &mut [T], h: [&[u8]; 2], out: &mut [u8]) {
    let h = words::<T>(h[0]).zip(words::<T>(h[1]));
    let out = out.chunks_exact_mut(T::BYTES);
    for (((z, &y), (h0, h1)), out) in z.iter_mut().zip(y).zip(h).zip(out) {
        h0.sub(h1).add(y).write(out);
        *z = z.sub(h0);
    }
}

/// The unit of bit l / 2.
pub(super) fn offer_half<T: Ring>(y: &[T], z: &mut [T], h: [&[u8]; 2], out: &mut [u8]) {
    let half = T::BITS / 2;
    let low = T::ZERO.sub(T::ONE).shr(half);
    let place = |j: usize| j * T::BYTES..(j + 1) * T::BYTES;
    let count = y.len().div_ceil(2);
    let (mut y, mut z) = (y.chunks(count), z.chunks_mut(count));
    for down in [0, half] {
        let (Some(y), Some(z)) = (y.next(), z.next()) else {
            return;
        };
        for (j, (z, &y)) in z.iter_mut().zip(y).enumerate() {
            let [h0, h1] = h.map(|h| T::read(&h[place(j)]).shr(down));
            let d = h0.sub(h1).add(y).and(low).shl(down);
            let out = &mut out[place(j)];
            T::read(out).or(d).write(out);
            *z = z.sub(h0.shl(half));
        }
    }
}

pub(super) fn correct_first<T: Ring>(x: T, unit: &[u8], z: &mut [T]) {
    let x = x.spread(0);
    for (z, d) in z.iter_mut().zip(words::<T>(unit)) {
        *z = z.add(d.and(x));
    }
}

/// Whether the half word past the last of an odd number of products is zero.
pub(super) fn has_clear_end<T: Ring>(products: usize, unit: &[u8]) -> bool {
    products.is_multiple_of(2)
        || words::<T>(unit)
            .last()
            .is_none_or(|word| word.shr(T::BITS / 2) == T::ZERO)
}

pub(super) fn correct_half<T: Ring>(x: T, unit: &[u8], z: &mut [T]) {
    let half = T::BITS / 2;
    let x = x.spread(half);
    let (first, second) = z.split_at_mut(unit.len() / T::BYTES);
    for (z, d) in first.iter_mut().zip(words::<T>(unit)) {
        *z = z.add(d.shl(half).and(x));
    }
    for (z, d) in second.iter_mut().zip(words::<T>(unit)) {
        *z = z.add(d.shr(half).shl(half).and(x));
    }
}

pub(super) fn transpose<T: Ring>(matrix: &[T], rows: usize, columns: usize) -> Zeroizing<Vec<T>> {
    let mut out = Zeroizing::new(Vec::with_capacity(matrix.len()));
    for column in 0..columns {
        out.extend((0..rows).map(|row| matrix[row * columns + column]));
    }
    out
}
