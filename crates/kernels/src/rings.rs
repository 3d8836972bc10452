//! Operations on vectors and matrices over Z_2^l, and the arithmetic of Gilboa products of strings
//! (MOTION 5.2.1), for which `madrigal-correlations` has the protocol.
//!
//! Strings are bytes: element j is the [`Ring::BYTES`] bytes from `j * Ring::BYTES` on. Loops end with
//! the shortest argument.

use madrigal_core::Ring;

use crate::Kernels;
use instances::by_ring;

mod instances;
mod masks;
mod words;

pub use masks::Masks;
pub(crate) use words::{as_words, as_words_mut};

impl Kernels {
    /// [`multiply_add`] at this handle's level.
    pub fn multiply_add<T: Ring>(
        self,
        x: &[T],
        y: &[T],
        z: &mut [T],
        inner: usize,
        columns: usize,
    ) {
        if inner == 0 || columns == 0 {
            return;
        }
        assert!(
            x.len().is_multiple_of(inner)
                && y.len() == inner * columns
                && z.len() == x.len() / inner * columns,
            "multiply_add: {} by {} elements do not give {} with {inner} inner rows and {columns} \
             columns",
            x.len(),
            y.len(),
            z.len()
        );
        by_ring!(T, self.multiply_add(x, y, z, inner, columns));
    }

    /// [`add_into`] at this handle's level.
    pub fn add_into<T: Ring>(self, z: &mut [T], x: &[T]) {
        by_ring!(T, self.add_into(z, x));
    }

    /// [`sub_into`] at this handle's level.
    pub fn sub_into<T: Ring>(self, z: &mut [T], x: &[T]) {
        by_ring!(T, self.sub_into(z, x));
    }

    /// [`mul_into`] at this handle's level.
    pub fn mul_into<T: Ring>(self, z: &mut [T], x: &[T]) {
        by_ring!(T, self.mul_into(z, x));
    }

    /// [`replicated_products`] at this handle's level.
    pub fn replicated_products<T: Ring>(
        self,
        x: [&[T]; 2],
        y: [&[T]; 2],
        minus: &[T],
        z: &mut [T],
    ) {
        by_ring!(T, self.replicated_products(x, y, minus, z));
    }

    /// [`replicated_dots`] at this handle's level.
    pub fn replicated_dots<T: Ring>(self, x: [&[T]; 2], y: [&[T]; 2], length: usize, z: &mut [T]) {
        by_ring!(T, self.replicated_dots(x, y, length, z));
    }

    /// [`unpack_bits`] at this handle's level.
    pub fn unpack_bits<T: Ring>(self, bits: &[u8], z: &mut [T]) {
        by_ring!(T, self.unpack_bits(bits, z));
    }

    /// [`pack_bits`] at this handle's level.
    pub fn pack_bits<T: Ring>(self, x: &[T], bits: &mut [u8]) {
        by_ring!(T, self.pack_bits(x, bits));
    }

    /// [`beaver_products`] at this handle's level.
    pub fn beaver_products<T: Ring>(
        self,
        z: &mut [T],
        triples: [&[T]; 3],
        opened: [&[T]; 2],
        leader: bool,
    ) {
        by_ring!(T, self.beaver_products(z, triples, opened, leader));
    }

    /// [`beaver_squares`] at this handle's level.
    pub fn beaver_squares<T: Ring>(
        self,
        z: &mut [T],
        pairs: [&[T]; 2],
        opened: &[T],
        leader: bool,
    ) {
        by_ring!(T, self.beaver_squares(z, pairs, opened, leader));
    }

    /// [`beaver_dots`] at this handle's level.
    pub fn beaver_dots<T: Ring>(
        self,
        z: &mut [T],
        triples: [&[T]; 3],
        opened: [&[T]; 2],
        length: usize,
        leader: bool,
    ) {
        by_ring!(T, self.beaver_dots(z, triples, opened, length, leader));
    }

    /// [`add_flipped`] at this handle's level.
    pub fn add_flipped<T: Ring>(self, z: &mut [T], r: &[T], bits: &[u8], one: T, up: usize) {
        by_ring!(T, self.add_flipped(z, r, bits, one, up));
    }

    /// [`flip_from`] at this handle's level.
    pub fn flip_from<T: Ring>(self, z: &mut [T], x: &[T], bits: &[u8]) {
        by_ring!(T, self.flip_from(z, x, bits));
    }

    /// [`add_strings`] at this handle's level.
    pub fn add_strings<T: Ring>(self, z: &mut [u8], x: &[u8]) {
        assert_eq!(z.len(), x.len(), "strings of one length");
        by_ring!(T, self.add_strings(z, x));
    }

    /// [`add_shifted`] at this handle's level.
    pub fn add_shifted<T: Ring>(self, z: &mut [T], h: &[u8], down: usize, up: usize) {
        by_ring!(T, self.add_shifted(z, h, down, up));
    }

    /// [`offer_strings`] at this handle's level.
    pub fn offer_strings<T: Ring>(
        self,
        y: &[T],
        z: &mut [T],
        masks: Masks<'_>,
        bit: usize,
        out: &mut [u8],
    ) {
        by_ring!(T, self.offer_strings(y, z, masks, bit, out));
    }

    /// [`correct_strings`] at this handle's level.
    pub fn correct_strings<T: Ring>(self, x: T, bit: usize, unit: &[u8], z: &mut [T]) {
        by_ring!(T, self.correct_strings(x, bit, unit, z));
    }
}

/// `z += x y` for matrices, row by row: x with `inner` columns, y with `inner` rows and `columns`
/// columns.
///
/// # Panics
/// If the sizes do not fit.
pub fn multiply_add<T: Ring>(x: &[T], y: &[T], z: &mut [T], inner: usize, columns: usize) {
    Kernels::detect().multiply_add(x, y, z, inner, columns);
}

/// The bytes of `elements`, each least significant byte first.
#[inline]
#[must_use]
pub fn as_bytes<T: Ring>(elements: &[T]) -> &[u8] {
    // SAFETY: `Ring` is sealed and has the unsigned integers alone, which are initialised bytes
    // without padding; `u8` has alignment 1 and no invalid values, and the result borrows `elements`
    // for its whole life.
    unsafe { core::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The bytes of `elements`, writable; layout as in [`as_bytes`].
#[inline]
#[must_use]
pub fn as_bytes_mut<T: Ring>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `as_bytes`; every byte pattern is a valid unsigned integer, and the exclusive
    // borrow passes from `elements` to the result.
    unsafe { core::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}

/// `z += x`, element by element.
pub fn add_into<T: Ring>(z: &mut [T], x: &[T]) {
    Kernels::detect().add_into(z, x);
}

/// `z -= x`, element by element.
pub fn sub_into<T: Ring>(z: &mut [T], x: &[T]) {
    Kernels::detect().sub_into(z, x);
}

/// `z *= x`, element by element.
pub fn mul_into<T: Ring>(z: &mut [T], x: &[T]) {
    Kernels::detect().mul_into(z, x);
}

/// One party's part of products of replicated sharings:
/// `z += x[0] * (y[0] + y[1]) + x[1] * y[0] - minus`, element by element.
///
/// # Panics
/// If an operand is shorter than `z`; so do the two functions below.
pub fn replicated_products<T: Ring>(x: [&[T]; 2], y: [&[T]; 2], minus: &[T], z: &mut [T]) {
    Kernels::detect().replicated_products(x, y, minus, z);
}

/// Sums up replicated products: `z[j]` gains the sum over the `length` elements from `j * length` on of
/// `x[0] * (y[0] + y[1]) + x[1] * y[0]`.
pub fn replicated_dots<T: Ring>(x: [&[T]; 2], y: [&[T]; 2], length: usize, z: &mut [T]) {
    Kernels::detect().replicated_dots(x, y, length, z);
}

/// `z[j]` becomes bit j of `bits`: 0 or 1.
pub fn unpack_bits<T: Ring>(bits: &[u8], z: &mut [T]) {
    Kernels::detect().unpack_bits(bits, z);
}

/// Bit j of `bits` becomes the lowest bit of `x[j]`; bits of the last byte past the end become zero.
pub fn pack_bits<T: Ring>(x: &[T], bits: &mut [u8]) {
    Kernels::detect().pack_bits(x, bits);
}

/// One party's shares of products, from its shares `[a, b, c]` of triples c = a b and from the opened,
/// hence public, `[d, e]`, d = x - a and e = y - b: `z = c + d b + e a`, and for the one `leader` among
/// the parties also `+ d e` (Beaver 1991; MOTION 6.1 says it of x and y in place of a and b).
///
/// # Panics
/// If an operand is shorter than `z`; so do all functions here that have a leader or bits and another
/// operand.
pub fn beaver_products<T: Ring>(z: &mut [T], triples: [&[T]; 3], opened: [&[T]; 2], leader: bool) {
    Kernels::detect().beaver_products(z, triples, opened, leader);
}

/// Makes squares, from pairs `[a, c]`, c = a^2, and d = x - a: `z = c + 2 d a`, and for the
/// leader also `+ d^2`.
pub fn beaver_squares<T: Ring>(z: &mut [T], pairs: [&[T]; 2], opened: &[T], leader: bool) {
    Kernels::detect().beaver_squares(z, pairs, opened, leader);
}

/// [`beaver_products`] summed up: `z[j]` becomes the sum of `length` products from `j * length` on.
pub fn beaver_dots<T: Ring>(
    z: &mut [T],
    triples: [&[T]; 3],
    opened: [&[T]; 2],
    length: usize,
    leader: bool,
) {
    Kernels::detect().beaver_dots(z, triples, opened, length, leader);
}

/// `z[j]` gains 2^`up` times `r[j]`, or where bit j of `bits` is set, 2^`up` times `one - r[j]`: with r
/// shared, and `one` 1 at one party and 0 elsewhere, that is r XOR the bit. Without a branch.
pub fn add_flipped<T: Ring>(z: &mut [T], r: &[T], bits: &[u8], one: T, up: usize) {
    Kernels::detect().add_flipped(z, r, bits, one, up);
}

/// Makes `z[j]` become `x[j] - z[j]` where bit j of `bits` is set. Without a branch.
pub fn flip_from<T: Ring>(z: &mut [T], x: &[T], bits: &[u8]) {
    Kernels::detect().flip_from(z, x, bits);
}

/// `z += x` for strings of elements of T.
///
/// # Panics
/// If they differ in length.
pub fn add_strings<T: Ring>(z: &mut [u8], x: &[u8]) {
    Kernels::detect().add_strings::<T>(z, x);
}

/// `z[j] += (h[j] >> down) << up` mod 2^l, for `down` and `up` below l.
pub fn add_shifted<T: Ring>(z: &mut [T], h: &[u8], down: usize, up: usize) {
    Kernels::detect().add_shifted(z, h, down, up);
}

/// The sender's part of bits `bit` and l - `bit` of products with `y`, for 0 < `bit` < l / 2.
///
/// With d = h_0 - h_1 + y for either bit, `out[j]` is the lowest l - `bit` bits of the lower bit's d,
/// and above them the lowest `bit` bits of the higher bit's; `z[j]` loses 2^`bit` h_0 for the one,
/// 2^(l - `bit`) h_0 for the other.
pub fn offer_strings<T: Ring>(y: &[T], z: &mut [T], masks: Masks<'_>, bit: usize, out: &mut [u8]) {
    Kernels::detect().offer_strings(y, z, masks, bit, out);
}

/// The receiver's part of the same: where bit `bit` or l - `bit` of `x` is set, `z[j]` gains that
/// bit's d times 2^`bit` or 2^(l - `bit`). Takes the same time for every `x`.
pub fn correct_strings<T: Ring>(x: T, bit: usize, unit: &[u8], z: &mut [T]) {
    Kernels::detect().correct_strings(x, bit, unit, z);
}
