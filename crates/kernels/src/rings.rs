//! Operations on vectors and matrices over Z_2^l, and the arithmetic of Gilboa products of strings
//! (MOTION 5.2.1), for which `madrigal-correlations` has the protocol.
//!
//! Strings are bytes: element j is the [`Ring::BYTES`] bytes from `j * Ring::BYTES` on. Loops end with
//! the shortest argument.

use madrigal_core::Ring;

use crate::Kernels;
use crate::dispatch::dispatch;

/// The sender's stretched masks of two OTs per product: those of bit `near` and those of bit
/// l - `near` of the receiver's factor.
#[derive(Clone, Copy)]
pub struct Masks<'a> {
    /// h_0 and h_1 of the lower bit.
    pub near: [&'a [u8]; 2],
    /// h_0 and h_1 of the higher bit, after a shift down.
    pub far: [&'a [u8]; 2],
    /// That shift, in bits: two products may share a word, because few bits of it count.
    pub far_down: usize,
}

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
        dispatch!(self, multiply_add(x, y, z, inner, columns));
    }

    /// [`add_shifted`] at this handle's level.
    pub fn add_shifted<T: Ring>(self, z: &mut [T], h: &[u8], down: usize, up: usize) {
        dispatch!(self, add_shifted(z, h, down, up));
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
        dispatch!(self, offer_strings(y, z, masks, bit, out));
    }

    /// [`correct_strings`] at this handle's level.
    pub fn correct_strings<T: Ring>(self, x: T, bit: usize, unit: &[u8], z: &mut [T]) {
        dispatch!(self, correct_strings(x, bit, unit, z));
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
