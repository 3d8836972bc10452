//! Elements of 64 bits as words.

use madrigal_core::Ring;

/// Elements of 64 bits as what they are.
pub(crate) fn as_words<T: Ring, const N: usize>(strings: [&[T]; N]) -> Option<[&[u64]; N]> {
    // SAFETY: `Ring` is sealed and has one type of 64 bits, `u64`: the types are the same.
    let word = |x: &[T]| unsafe { core::slice::from_raw_parts(x.as_ptr().cast(), x.len()) };
    (T::BITS == 64).then(|| strings.map(word))
}

/// [`as_words`], writable.
pub(crate) fn as_words_mut<T: Ring>(x: &mut [T]) -> Option<&mut [u64]> {
    // SAFETY: as in `as_words`; the exclusive borrow passes from `x` to the result.
    let words = || unsafe { core::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) };
    (T::BITS == 64).then(words)
}
