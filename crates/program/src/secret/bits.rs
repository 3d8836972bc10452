//! Bits of integers and truth values.

use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use super::{Operand, Secret};
use crate::element::{Bits, Integer, Number, Plain, Unsigned};
use crate::error::Source;
use crate::ir::{Binary, Op, Unary};

macro_rules! operators {
    ($($trait:ident $method:ident $binary:ident;)*) => {$(
        impl<T: Bits, O: Operand<T>> $trait<O> for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, other: O) -> Secret<T> {
                let at = Source::here();
                let other = self.beside(other, at);
                self.binary(Binary::$binary, &other, at)
            }
        }

        impl<T: Bits, O: Operand<T>> $trait<O> for &Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, other: O) -> Secret<T> {
                let at = Source::here();
                let other = self.beside(other, at);
                self.binary(Binary::$binary, &other, at)
            }
        }
    )*};
}
operators! { BitAnd bitand And; BitOr bitor Or; BitXor bitxor Xor; }

impl<T: Bits> Not for Secret<T> {
    type Output = Secret<T>;

    #[track_caller]
    fn not(self) -> Secret<T> {
        self.unary(Unary::Not, Source::here())
    }
}

impl<T: Bits> Not for &Secret<T> {
    type Output = Secret<T>;

    #[track_caller]
    fn not(self) -> Secret<T> {
        self.unary(Unary::Not, Source::here())
    }
}

/// By how much to shift: a public `u32`, or a secret unsigned integer of any width.
macro_rules! shifts {
    ($($trait:ident $method:ident $op:ident of $bound:ident;)*) => {$(
        impl<T: $bound> $trait<u32> for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: u32) -> Secret<T> {
                self.unary(Unary::$op(by), Source::here())
            }
        }

        impl<T: $bound> $trait<u32> for &Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: u32) -> Secret<T> {
                self.unary(Unary::$op(by), Source::here())
            }
        }

        impl<T: $bound, U: Unsigned> $trait<&Secret<U>> for &Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: &Secret<U>) -> Secret<T> {
                self.binary(Binary::$op, by, Source::here())
            }
        }

        impl<T: $bound, U: Unsigned> $trait<&Secret<U>> for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: &Secret<U>) -> Secret<T> {
                self.binary(Binary::$op, by, Source::here())
            }
        }

        impl<T: $bound, U: Unsigned> $trait<Secret<U>> for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: Secret<U>) -> Secret<T> {
                self.binary(Binary::$op, &by, Source::here())
            }
        }
    )*};
}
shifts! { Shl shl ShiftLeft of Integer; Shr shr ShiftRight of Integer; }

impl<T: Integer> Secret<T> {
    /// Rotated towards the highest bit by a public amount.
    #[track_caller]
    pub fn rotate_left(&self, by: u32) -> Self {
        self.unary(Unary::RotateLeft(by % T::TYPE.bits()), Source::here())
    }

    /// Rotated towards the highest bit by a secret amount, modulo the width.
    #[track_caller]
    pub fn rotate_left_by<U: Unsigned>(&self, by: &Secret<U>) -> Self {
        self.binary(Binary::RotateLeft, by, Source::here())
    }

    /// How many bits are 1.
    #[track_caller]
    pub fn count_ones(&self) -> Secret<u32> {
        self.unary(Unary::CountOnes, Source::here())
    }

    /// How many of the highest bits are 0.
    #[track_caller]
    pub fn leading_zeros(&self) -> Secret<u32> {
        self.unary(Unary::LeadingZeros, Source::here())
    }
}

impl Secret<bool> {
    /// `yes` where this is true, `no` elsewhere; both are computed in any case.
    #[track_caller]
    pub fn select<T: Plain>(&self, yes: impl Operand<T>, no: impl Operand<T>) -> Secret<T> {
        let at = Source::here();
        let (yes, no) = (self.beside(yes, at), self.beside(no, at));
        self.choose(&yes, &no, at)
    }

    pub(super) fn choose<T: Plain>(
        &self,
        yes: &Secret<T>,
        no: &Secret<T>,
        at: Source,
    ) -> Secret<T> {
        let branches = [&yes.tensor, &no.tensor];
        Secret::of(self.tensor.with_broadcast(Op::Select, &branches, at))
    }
}

impl<T: Number> Secret<T> {
    /// Whether each number is below 0; never for unsigned ones.
    #[track_caller]
    pub fn is_negative(&self) -> Secret<bool> {
        let at = Source::here();
        let zero: Self = self.beside(T::decode(0), at);
        self.binary(Binary::Less, &zero, at)
    }
}
