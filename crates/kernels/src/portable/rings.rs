//! Ring operations element by element; the compiler makes vectors of these loops.

use madrigal_core::Ring;

use crate::rings::Masks;

/// Rows of y that stay in the first-level cache, `WIDTH` columns of them, while rows of x pass.
pub(crate) const INNER: usize = 128;
/// Rows of x whose part of `INNER` columns stays in the second-level cache.
pub(crate) const BAND: usize = 256;
/// Rows of a tile of z that is held in registers.
pub(crate) const ROWS: usize = 4;

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
pub(crate) fn multiply_row<T: Ring>(x: &[T], y: &[T], z: &mut [T], columns: usize) {
    for (k, &factor) in x.iter().enumerate() {
        for (z, &y) in z.iter_mut().zip(&y[k * columns..]) {
            *z = z.add(factor.mul(y));
        }
    }
}

/// 32 numbers in registers, each `times` times multiplied by `x`: what multiplication allows at most.
#[inline(always)]
pub(crate) fn multiply_registers(x: u64, times: usize) -> u64 {
    let mut numbers: [u64; 32] = core::array::from_fn(|i| i as u64);
    for _ in 0..times {
        for number in &mut numbers {
            *number = number.wrapping_mul(x);
        }
    }
    numbers.iter().fold(0, |sum, &number| sum ^ number)
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
pub(crate) fn beaver_products<T: Ring>(
    z: &mut [T],
    [a, b, c]: [&[T]; 3],
    [d, e]: [&[T]; 2],
    leader: bool,
) {
    let n = z.len();
    let (a, b, c, d, e) = (&a[..n], &b[..n], &c[..n], &d[..n], &e[..n]);
    let leads = T::ZERO.sub(T::from_u128(leader.into()));
    for i in 0..n {
        z[i] = c[i]
            .add(d[i].mul(b[i].add(e[i].and(leads))))
            .add(e[i].mul(a[i]));
    }
}

#[inline(always)]
pub(crate) fn beaver_squares<T: Ring>(z: &mut [T], [a, c]: [&[T]; 2], d: &[T], leader: bool) {
    let n = z.len();
    let (a, c, d) = (&a[..n], &c[..n], &d[..n]);
    let leads = T::ZERO.sub(T::from_u128(leader.into()));
    for i in 0..n {
        z[i] = c[i].add(d[i].mul(a[i].add(a[i]).add(d[i].and(leads))));
    }
}

#[inline(always)]
pub(crate) fn beaver_dots<T: Ring>(
    z: &mut [T],
    [a, b, c]: [&[T]; 3],
    [d, e]: [&[T]; 2],
    length: usize,
    leader: bool,
) {
    let leads = T::ZERO.sub(T::from_u128(leader.into()));
    for (j, z) in z.iter_mut().enumerate() {
        let [a, b, c] = [a, b, c].map(|v| &v[j * length..][..length]);
        let [d, e] = [d, e].map(|v| &v[j * length..][..length]);
        let mut sum = T::ZERO;
        for i in 0..length {
            let product = d[i].mul(b[i].add(e[i].and(leads)));
            sum = sum.add(c[i]).add(product).add(e[i].mul(a[i]));
        }
        *z = sum;
    }
}

/// Bit i of the byte as the lowest bit of byte i.
#[inline(always)]
fn bits_apart(byte: u8) -> [u8; 8] {
    // A copy in each byte, of which each keeps its own bit; then whatever that is becomes 1.
    let own = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    (((own + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101).to_le_bytes()
}

/// Gives `work` each element of `z` with its number and its bit, 0 or 1.
#[inline(always)]
fn with_bits<T: Ring>(bits: &[u8], z: &mut [T], mut work: impl FnMut(&mut T, usize, T)) {
    // Wide enough for whole vectors of elements after the bits are apart.
    const TOGETHER: usize = 64;
    let mut apart = [0; TOGETHER];
    let parts = bits.chunks(TOGETHER / 8).zip(z.chunks_mut(TOGETHER));
    for (part, (bits, z)) in parts.enumerate() {
        for (apart, &byte) in apart.as_chunks_mut::<8>().0.iter_mut().zip(bits) {
            *apart = bits_apart(byte);
        }
        let first = part * TOGETHER;
        if z.len() == TOGETHER && bits.len() == TOGETHER / 8 {
            for i in 0..TOGETHER {
                work(&mut z[i], first + i, T::from_u128(apart[i].into()));
            }
        } else {
            let known = (8 * bits.len()).min(z.len());
            for (i, z) in z[..known].iter_mut().enumerate() {
                work(z, first + i, T::from_u128(apart[i].into()));
            }
        }
    }
}

#[inline(always)]
pub(crate) fn unpack_bits<T: Ring>(bits: &[u8], z: &mut [T]) {
    with_bits(bits, z, |z, _, bit| *z = bit);
}

#[inline(always)]
pub(crate) fn pack_bits<T: Ring>(x: &[T], bits: &mut [u8]) {
    for (byte, x) in bits.iter_mut().zip(x.chunks(8)) {
        let mut lowest = [0; 8];
        for (lowest, x) in lowest.iter_mut().zip(x) {
            *lowest = x.bit(0);
        }
        // Bit 0 of byte i goes to bit 56 + i; no two meet, so nothing is carried.
        *byte = (u64::from_le_bytes(lowest).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
}

#[inline(always)]
pub(crate) fn add_flipped<T: Ring>(z: &mut [T], r: &[T], bits: &[u8], one: T, up: usize) {
    let r = &r[..z.len()];
    with_bits(bits, z, |z, i, bit| {
        let flip = one.sub(r[i].add(r[i])).and(T::ZERO.sub(bit));
        *z = z.add(r[i].add(flip).shl(up));
    });
}

#[inline(always)]
pub(crate) fn flip_from<T: Ring>(z: &mut [T], x: &[T], bits: &[u8]) {
    let x = &x[..z.len()];
    with_bits(bits, z, |z, i, bit| {
        *z = z.add(x[i].sub(z.add(*z)).and(T::ZERO.sub(bit)));
    });
}

#[inline(always)]
pub(crate) fn add_strings<T: Ring>(z: &mut [u8], x: &[u8]) {
    for (z, x) in z.chunks_exact_mut(T::BYTES).zip(words::<T>(x)) {
        T::read(z).add(x).write(z);
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
