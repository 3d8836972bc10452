//! Operations on vectors and matrices over Z_2^l, and the arithmetic of Gilboa products of strings
//! (MOTION 5.2.1), for which `madrigal-correlations` has the protocol.
//!
//! Strings are bytes: element j is the [`Ring::BYTES`] bytes from `j * Ring::BYTES` on. Loops end with
//! the shortest argument.

use madrigal_core::{Ring, Zeroizing};

use crate::portable::ROWS;
use crate::{Kernels, crew};
use instances::{by_ring, instances};

mod instances;
mod masks;
mod words;

pub use masks::Masks;
pub(crate) use words::{as_words, as_words_mut};

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

/// Defines for each kernel a function, a method of [`Kernels`], and an instance for each ring; what stands behind `first`
/// is done before.
macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        fn $kernel:ident($($argument:ident: $type:ty),*) $(, first |$kernels:ident| $check:block)?;
    )*) => {
        impl Kernels { $(
            #[doc = concat!("[`", stringify!($kernel), "`] at this handle's level.")]
            pub fn $kernel<T: Ring>(self, $($argument: $type),*) {
                $(let $kernels = self; $check)?
                by_ring!(T, self.$kernel($($argument),*));
            }
        )* }

        $(
            $(#[$doc])*
            pub fn $kernel<T: Ring>($($argument: $type),*) {
                Kernels::detect().$kernel::<T>($($argument),*);
            }
        )*

        instances! { $(fn $kernel($($argument: $type),*);)* }
    };
}

/// Products of elements that are worth a thread's attention: 50 microseconds.
const SHARED: usize = 1 << 18;

/// Has the crew at work share the rows of a product; where there are few, what is summed over.
fn share_rows<T: Ring>(
    kernels: Kernels,
    x: &[T],
    y: &[T],
    z: &mut [T],
    [inner, columns]: [usize; 2],
) {
    let rows = x.len() / inner;
    if rows >= crew::threads() {
        let least = SHARED.div_ceil(inner * columns);
        // Whole tiles of the kernels.
        let unit = if rows >= ROWS * crew::threads() {
            ROWS
        } else {
            1
        };
        let cut = crew::ranges(rows, unit, least)
            .next()
            .map_or(rows, |first| first.len());
        let pieces = x.chunks(cut * inner).zip(z.chunks_mut(cut * columns));
        crew::each(pieces, |(x, z)| {
            kernels.multiply_add(x, y, z, inner, columns)
        });
        return;
    }
    let least = SHARED.div_ceil(rows * columns);
    let pieces = crew::ranges(inner, 1, least).map(|steps| {
        let part = |row: &[T]| row[steps.clone()].to_vec();
        let left: Vec<T> = x.chunks_exact(inner).flat_map(part).collect();
        (
            Zeroizing::new(left),
            &y[steps.start * columns..steps.end * columns],
        )
    });
    let sums = crew::map(pieces, |(x, y)| {
        let mut sum = Zeroizing::new(vec![T::ZERO; rows * columns]);
        kernels.multiply_add(&x, y, &mut sum, y.len() / columns, columns);
        sum
    });
    sums.iter().for_each(|sum| kernels.add_into(z, sum));
}

kernels! {
    /// `z += x y` for matrices, row by row: x with `inner` columns, y with `inner` rows and `columns`
    /// columns. Rows are shared out among the [crew](crate::crew) at work.
    ///
    /// # Panics
    /// If the sizes do not fit.
    fn multiply_add(x: &[T], y: &[T], z: &mut [T], inner: usize, columns: usize), first |kernels| {
        if inner == 0 || columns == 0 {
            return;
        }
        assert!(
            x.len().is_multiple_of(inner)
                && y.len() == inner * columns
                && z.len() == x.len() / inner * columns,
            "multiply_add: {} by {} elements do not give {} with {inner} inner rows and {columns} columns",
            x.len(),
            y.len(),
            z.len()
        );
        if crew::threads() > 1 && z.len().saturating_mul(inner) >= 2 * SHARED {
            return share_rows(kernels, x, y, z, [inner, columns]);
        }
    };

    /// `z += x`, element by element.
    fn add_into(z: &mut [T], x: &[T]);

    /// `z -= x`, element by element.
    fn sub_into(z: &mut [T], x: &[T]);

    /// `z *= x`, element by element.
    fn mul_into(z: &mut [T], x: &[T]);

    /// One party's part of products of replicated sharings:
    /// `z += x[0] * (y[0] + y[1]) + x[1] * y[0] - minus`, element by element.
    ///
    /// # Panics
    /// If an operand is shorter than `z`; so do the two functions below.
    fn replicated_products(x: [&[T]; 2], y: [&[T]; 2], minus: &[T], z: &mut [T]);

    /// Sums up replicated products: `z[j]` gains the sum over the `length` elements from `j * length` on of
    /// `x[0] * (y[0] + y[1]) + x[1] * y[0]`.
    fn replicated_dots(x: [&[T]; 2], y: [&[T]; 2], length: usize, z: &mut [T]);

    /// `z[j]` becomes bit j of `bits`: 0 or 1.
    fn unpack_bits(bits: &[u8], z: &mut [T]);

    /// Bit j of `bits` becomes the lowest bit of `x[j]`; bits of the last byte past the end become zero.
    fn pack_bits(x: &[T], bits: &mut [u8]);

    /// One party's shares of products, from its shares `[a, b, c]` of triples c = a b and from the opened,
    /// hence public, `[d, e]`, d = x - a and e = y - b: `z = c + d b + e a`, and for the one `leader` among
    /// the parties also `+ d e` (Beaver 1991; MOTION 6.1 says it of x and y in place of a and b).
    ///
    /// # Panics
    /// If an operand is shorter than `z`; so do all functions here that have a leader or bits and another
    /// operand.
    fn beaver_products(z: &mut [T], triples: [&[T]; 3], opened: [&[T]; 2], leader: bool);

    /// Makes squares, from pairs `[a, c]`, c = a^2, and d = x - a: `z = c + 2 d a`, and for the
    /// leader also `+ d^2`.
    fn beaver_squares(z: &mut [T], pairs: [&[T]; 2], opened: &[T], leader: bool);

    /// [`beaver_products`] summed up: `z[j]` becomes the sum of `length` products from `j * length` on.
    fn beaver_dots(z: &mut [T], triples: [&[T]; 3], opened: [&[T]; 2], length: usize, leader: bool);

    /// `z[j]` gains 2^`up` times `r[j]`, or where bit j of `bits` is set, 2^`up` times `one - r[j]`: with r
    /// shared, and `one` 1 at one party and 0 elsewhere, that is r XOR the bit. Without a branch.
    fn add_flipped(z: &mut [T], r: &[T], bits: &[u8], one: T, up: usize);

    /// Makes `z[j]` become `x[j] - z[j]` where bit j of `bits` is set. Without a branch.
    fn flip_from(z: &mut [T], x: &[T], bits: &[u8]);

    /// `z += x` for strings of elements of T.
    ///
    /// # Panics
    /// If they differ in length.
    fn add_strings(z: &mut [u8], x: &[u8]), first |_kernels| {
        assert_eq!(z.len(), x.len(), "strings of one length");
    };

    /// `z[j] += (h[j] >> down) << up` mod 2^l, for `down` and `up` below l.
    fn add_shifted(z: &mut [T], h: &[u8], down: usize, up: usize);

    /// The sender's part of bits `bit` and l - `bit` of products with `y`, for 0 < `bit` < l / 2.
    ///
    /// With d = h_0 - h_1 + y for either bit, `out[j]` is the lowest l - `bit` bits of the lower bit's d,
    /// and above them the lowest `bit` bits of the higher bit's; `z[j]` loses 2^`bit` h_0 for the one,
    /// 2^(l - `bit`) h_0 for the other.
    fn offer_strings(y: &[T], z: &mut [T], masks: Masks<'_>, bit: usize, out: &mut [u8]);

    /// The receiver's part of the same: where bit `bit` or l - `bit` of `x` is set, `z[j]` gains that
    /// bit's d times 2^`bit` or 2^(l - `bit`). Takes the same time for every `x`.
    fn correct_strings(x: T, bit: usize, unit: &[u8], z: &mut [T]);
}
