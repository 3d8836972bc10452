//! Comparisons.

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
