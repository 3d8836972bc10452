//! Operations of each party on its share alone, without a message, beside the sums and differences of
//! [`madrigal_kernels::rings`].

use madrigal_core::{Party, Ring};
use madrigal_kernels::rings;

use super::LEADER;

/// Multiplies all elements by a public constant.
pub fn scale<T: Ring>(share: &mut [T], by: T) {
    share.iter_mut().for_each(|x| *x = x.mul(by));
}

/// Adds values that all know to the elements; `me` is the party whose share it is.
///
/// # Panics
/// If there are not as many as elements.
pub fn add_constants<T: Ring>(me: Party, share: &mut [T], values: &[T]) {
    assert_eq!(share.len(), values.len(), "a constant for each element");
    if me == LEADER {
        rings::add_into(share, values);
    }
}

/// Adds one value that all know to each element.
pub fn add_constant<T: Ring>(me: Party, share: &mut [T], value: T) {
    if me == LEADER {
        share.iter_mut().for_each(|x| *x = x.add(value));
    }
}
