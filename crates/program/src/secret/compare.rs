//! Comparisons.

use std::ops::{Bound, RangeBounds};

use super::{Operand, Secret};
use crate::element::{Number, Plain};
use crate::error::Source;
use crate::ir::Binary;

impl<T: Plain> Secret<T> {
    /// Whether the two are equal.
    #[track_caller]
    pub fn eq(&self, other: impl Operand<T>) -> Secret<bool> {
        self.binary(Binary::Equal, other)
    }

    /// Whether the two differ.
    #[track_caller]
    pub fn ne(&self, other: impl Operand<T>) -> Secret<bool> {
        !self.eq(other)
    }
}

impl<T: Number> Secret<T> {
    /// `x < y`
    #[track_caller]
    pub fn lt(&self, other: impl Operand<T>) -> Secret<bool> {
        self.binary(Binary::Less, other)
    }

    /// `x > y`
    #[track_caller]
    pub fn gt(&self, other: impl Operand<T>) -> Secret<bool> {
        self.beside(other, Source::here()).lt(self)
    }

    /// `x <= y`
    #[track_caller]
    pub fn le(&self, other: impl Operand<T>) -> Secret<bool> {
        !self.gt(other)
    }

    /// `x >= y`
    #[track_caller]
    pub fn ge(&self, other: impl Operand<T>) -> Secret<bool> {
        !self.lt(other)
    }

    /// Whether it is in a range of public numbers: one comparison for each end that some numbers of the type are beyond.
    ///
    /// ```
    /// use madrigal_program::{Everyone, Inputs, Party, Program};
    /// let mut p = Program::new(2);
    /// let x = p.input::<i8>(Party::new(0), [4]);
    /// let inside = p.open(x.within(-3..=100), Everyone);
    /// let outputs = p.finish()?.simulate(&Inputs::new().with([-4i8, -3, 100, 101]))?;
    /// assert_eq!(outputs.get(inside), [false, true, true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn within(&self, range: impl RangeBounds<T>) -> Secret<bool> {
        let bound = |bound: Bound<&T>| match bound {
            Bound::Included(&end) => (Some(end), true),
            Bound::Excluded(&end) => (Some(end), false),
            Bound::Unbounded => (None, true),
        };
        let ((start, starts), (end, ends)) = (bound(range.start_bound()), bound(range.end_bound()));
        let least = |&start: &T| starts && start.encode() == T::TYPE.least();
        let greatest = |&end: &T| ends && end.encode() == T::TYPE.greatest();
        let above = start
            .filter(|start| !least(start))
            .map(|start| match starts {
                true => self.ge(start),
                false => self.gt(start),
            });
        let below = end.filter(|end| !greatest(end)).map(|end| match ends {
            true => self.le(end),
            false => self.lt(end),
        });
        match (above, below) {
            (Some(above), Some(below)) => above & below,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => self.eq(self),
        }
    }

    /// The smaller of the two.
    #[track_caller]
    pub fn min(&self, other: impl Operand<T>) -> Self {
        self.binary(Binary::Min, other)
    }

    /// The greater of the two.
    #[track_caller]
    pub fn max(&self, other: impl Operand<T>) -> Self {
        self.binary(Binary::Max, other)
    }
}
