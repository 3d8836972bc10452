//! Comparisons.

use super::{Operand, Secret};
use crate::element::{Number, Plain};
use crate::error::Source;
use crate::ir::{Binary, Unary};

impl<T: Plain> Secret<T> {
    /// Whether the two are equal.
    #[track_caller]
    pub fn eq(&self, other: impl Operand<T>) -> Secret<bool> {
        let at = Source::here();
        let other = self.beside(other, at);
        self.binary(Binary::Equal, &other, at)
    }

    /// Whether the two differ.
    #[track_caller]
    pub fn ne(&self, other: impl Operand<T>) -> Secret<bool> {
        let at = Source::here();
        let other = self.beside(other, at);
        let equal: Secret<bool> = self.binary(Binary::Equal, &other, at);
        equal.unary(Unary::Not, at)
    }
}

impl<T: Number> Secret<T> {
    /// `x < y`
    #[track_caller]
    pub fn lt(&self, other: impl Operand<T>) -> Secret<bool> {
        let at = Source::here();
        let other = self.beside(other, at);
        self.binary(Binary::Less, &other, at)
    }

    /// `x > y`
    #[track_caller]
    pub fn gt(&self, other: impl Operand<T>) -> Secret<bool> {
        let at = Source::here();
        let other = self.beside(other, at);
        other.binary(Binary::Less, self, at)
    }

    /// `x <= y`
    #[track_caller]
    pub fn le(&self, other: impl Operand<T>) -> Secret<bool> {
        let at = Source::here();
        let other = self.beside(other, at);
        let greater: Secret<bool> = other.binary(Binary::Less, self, at);
        greater.unary(Unary::Not, at)
    }

    /// `x >= y`
    #[track_caller]
    pub fn ge(&self, other: impl Operand<T>) -> Secret<bool> {
        let at = Source::here();
        let other = self.beside(other, at);
        let less: Secret<bool> = self.binary(Binary::Less, &other, at);
        less.unary(Unary::Not, at)
    }

    /// The smaller of the two.
    #[track_caller]
    pub fn min(&self, other: impl Operand<T>) -> Self {
        let at = Source::here();
        let other = self.beside(other, at);
        self.binary(Binary::Min, &other, at)
    }

    /// The greater of the two.
    #[track_caller]
    pub fn max(&self, other: impl Operand<T>) -> Self {
        let at = Source::here();
        let other = self.beside(other, at);
        self.binary(Binary::Max, &other, at)
    }
}
