//! What is made of all elements along an axis.

use super::Secret;
use crate::element::{Bits, Integer, Number, Plain};
use crate::error::Source;
use crate::ir::{Extreme, Op, Reduction};

impl<T: Plain> Secret<T> {
    fn reduce(&self, reduction: Reduction, axis: usize, at: Source) -> Self {
        self.apply(Op::Reduce(reduction, axis), at)
    }

    fn find(&self, extreme: Extreme, at: Source) -> (Self, Secret<u32>) {
        let [extreme, place] = self.tensor.find(extreme, at);
        (Self::of(extreme), Secret::of(place))
    }
}

impl<T: Number> Secret<T> {
    /// The sums along an axis, which goes; 0 of none.
    #[track_caller]
    pub fn sum(&self, axis: usize) -> Self {
        self.reduce(Reduction::Sum, axis, Source::here())
    }

    /// The sum of all elements.
    #[track_caller]
    pub fn sum_all(&self) -> Self {
        let at = Source::here();
        let flat = self.tensor.reshaped(&[self.elements()], at);
        Self::of(flat.apply(Op::Reduce(Reduction::Sum, 0), at))
    }

    /// The least along an axis, which goes and must have an element.
    #[track_caller]
    pub fn least(&self, axis: usize) -> Self {
        self.reduce(Reduction::Least, axis, Source::here())
    }

    /// The greatest along an axis, which goes and must have an element.
    #[track_caller]
    pub fn greatest(&self, axis: usize) -> Self {
        self.reduce(Reduction::Greatest, axis, Source::here())
    }

    /// The least along the last axis, which goes, and where it stands, counted from 0; the first place if
    /// there are several.
    #[track_caller]
    pub fn min_with_place(&self) -> (Self, Secret<u32>) {
        self.find(Extreme::Least, Source::here())
    }

    /// The greatest along the last axis, which goes, and where it stands, counted from 0; the first place
    /// if there are several.
    #[track_caller]
    pub fn max_with_place(&self) -> (Self, Secret<u32>) {
        self.find(Extreme::Greatest, Source::here())
    }

    /// The sums of the first 1, 2, 3, ... elements along an axis.
    #[track_caller]
    pub fn prefix_sums(&self, axis: usize) -> Self {
        self.apply(Op::PrefixSums(axis), Source::here())
    }
}

impl<T: Integer> Secret<T> {
    /// The products along an axis, which goes; 1 of none.
    #[track_caller]
    pub fn product(&self, axis: usize) -> Self {
        self.reduce(Reduction::Product, axis, Source::here())
    }
}

impl<T: Bits> Secret<T> {
    /// All elements along an axis, which goes, together by `&`: of truth values, whether all are true.
    #[track_caller]
    pub fn all(&self, axis: usize) -> Self {
        self.reduce(Reduction::And, axis, Source::here())
    }

    /// All elements along an axis, which goes, together by `|`: of truth values, whether any is true.
    #[track_caller]
    pub fn any(&self, axis: usize) -> Self {
        self.reduce(Reduction::Or, axis, Source::here())
    }

    /// All elements along an axis, which goes, together by `^`: of truth values, whether an odd number of
    /// them is true. Costs nothing.
    #[track_caller]
    pub fn parity(&self, axis: usize) -> Self {
        self.reduce(Reduction::Xor, axis, Source::here())
    }
}

impl Secret<bool> {
    /// How many are true along an axis, which goes.
    #[track_caller]
    pub fn count(&self, axis: usize) -> Secret<u32> {
        let at = Source::here();
        let ones: Secret<u32> = self.apply(Op::Cast(u32::TYPE), at);
        ones.reduce(Reduction::Sum, axis, at)
    }
}
