//! Operators on all elements along an axis.

use super::{Secret, Tensor};
use crate::element::{Bits, Integer, Number};

impl<T: Number> Secret<T> {
    forward! {
        /// The sums along an axis, which goes; 0 of none.
        sum(axis: usize);
        /// The least along an axis, which goes and must have an element.
        least(axis: usize);
        /// The greatest along an axis, which goes and must have an element.
        greatest(axis: usize);
        /// The sums of the first 1, 2, 3, ... elements along an axis.
        prefix_sums(axis: usize);
    }

    /// The sum of all elements.
    #[track_caller]
    pub fn sum_all(&self) -> Self {
        self.flatten().sum(0)
    }

    /// The least along the last axis, which goes, and where it stands, counted from 0; the first place if
    /// there are several.
    #[track_caller]
    pub fn min_with_place(&self) -> (Self, Secret<u32>) {
        Self::found(self.tensor.min_with_place())
    }

    /// The greatest along the last axis, which goes, and where it stands, counted from 0; the first place
    /// if there are several.
    #[track_caller]
    pub fn max_with_place(&self) -> (Self, Secret<u32>) {
        Self::found(self.tensor.max_with_place())
    }

    fn found([extreme, place]: [Tensor; 2]) -> (Self, Secret<u32>) {
        (Self::of(extreme), Secret::of(place))
    }
}

impl<T: Integer> Secret<T> {
    forward! {
        /// The products along an axis, which goes; 1 of none.
        product(axis: usize);
    }
}

impl<T: Bits> Secret<T> {
    forward! {
        /// All elements along an axis, which goes, together by `&`: of truth values, whether all are true.
        all(axis: usize);
        /// All elements along an axis, which goes, together by `|`: of truth values, whether any is true.
        any(axis: usize);
        /// All elements along an axis, which goes, together by `^`: of truth values, whether an odd number of
        /// them is true. Costs nothing.
        parity(axis: usize);
    }
}

impl Secret<bool> {
    /// Number of elements that are true along an axis, which goes.
    #[track_caller]
    pub fn count(&self, axis: usize) -> Secret<u32> {
        self.cast::<u32>().sum(axis)
    }
}
