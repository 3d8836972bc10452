//! Ring elements as bit planes: the form in which Boolean protocols compute on numbers.
//!
//! A batch of n numbers of w bits is w *planes*, rows of n packed bits each; plane i has bit i of
//! every number. Rows begin `stride` bytes apart, `stride >= ceil(n / 8)`. Netlists have rows of
//! whole 64-bit words. Both functions work on shares as on numbers, and neither branches on them.

use madrigal_core::{Ring, bits};
use madrigal_kernels::{self as kernels, rings};

/// Writes the `planes.len() / stride` lowest bits of the elements as planes; what is past the end
/// of a row becomes zero.
///
/// # Panics
/// If rows are too short, or there are more than T has bits.
pub fn split<T: Ring>(elements: &[T], planes: &mut [u8], stride: usize) {
    let used = bits::bytes_for(elements.len());
    let width = width_of::<T>(planes.len(), stride, used);
    if stride > used {
        for row in planes.chunks_exact_mut(stride) {
            row[used..].fill(0);
        }
    }
    let bytes = rings::as_bytes(elements);
    kernels::transpose_bits(bytes, elements.len(), width, T::BYTES, planes, stride);
}

/// The elements with these lowest bits; where there are fewer planes than T has bits, the others are
/// zero. Bits past the end of a row are ignored.
///
/// # Panics
/// In the same cases as [`split`].
pub fn join<T: Ring>(planes: &[u8], stride: usize, elements: &mut [T]) {
    let width = width_of::<T>(planes.len(), stride, bits::bytes_for(elements.len()));
    elements.fill(T::ZERO);
    let count = elements.len();
    let bytes = rings::as_bytes_mut(elements);
    kernels::transpose_bits(planes, width, count, stride, bytes, T::BYTES);
}

/// Number of planes.
fn width_of<T: Ring>(bytes: usize, stride: usize, used: usize) -> usize {
    if used == 0 {
        return 0;
    }
    assert!(
        stride >= used && bytes.is_multiple_of(stride) && bytes / stride <= T::BITS,
        "{bytes} bytes are no planes of numbers of up to {} bits, each of {used} bytes and {stride} \
         apart",
        T::BITS
    );
    bytes / stride
}
