//! Bits of integers and truth values.

use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use super::{Operand, Secret};
use crate::element::{Bits, Integer, Number, Plain, Unsigned};
use crate::error::Source;
use crate::ir::{Binary, Op, Unary};

operators! {
    BitAnd bitand of Bits by binary(Binary::And);
    BitOr bitor of Bits by binary(Binary::Or);
    BitXor bitxor of Bits by binary(Binary::Xor);
}
prefixes! { Not not of Bits by Unary::Not; }

/// Shifts by a public `u32`, or by a secret unsigned integer of any width.
macro_rules! shifts {
    ($($trait:ident $method:ident $op:ident of $bound:ident;)*) => {$(
        impl<T: $bound> $trait<u32> for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: u32) -> Secret<T> {
                self.unary(Unary::$op(by))
            }
        }

        impl<T: $bound> $trait<u32> for &Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: u32) -> Secret<T> {
                self.unary(Unary::$op(by))
            }
        }

        impl<T: $bound, U: Unsigned> $trait<&Secret<U>> for &Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: &Secret<U>) -> Secret<T> {
                self.binary(Binary::$op, by)
            }
        }

        impl<T: $bound, U: Unsigned> $trait<&Secret<U>> for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: &Secret<U>) -> Secret<T> {
                self.binary(Binary::$op, by)
            }
        }

        impl<T: $bound, U: Unsigned> $trait<Secret<U>> for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, by: Secret<U>) -> Secret<T> {
                self.binary(Binary::$op, &by)
            }
        }
    )*};
}
shifts! { Shl shl ShiftLeft of Integer; Shr shr ShiftRight of Integer; }

impl<T: Integer> Secret<T> {
    /// Rotated towards the highest bit by a public amount.
    #[track_caller]
    pub fn rotate_left(&self, by: u32) -> Self {
        self.unary(Unary::RotateLeft(by % T::TYPE.bits()))
    }

    /// Rotated towards the highest bit by a secret amount, modulo the width.
    #[track_caller]
    pub fn rotate_left_by<U: Unsigned>(&self, by: &Secret<U>) -> Self {
        self.binary(Binary::RotateLeft, by)
    }

    /// Number of bits that are 1.
    #[track_caller]
    pub fn count_ones(&self) -> Secret<u32> {
        self.unary(Unary::CountOnes)
    }

    /// Number of the highest bits that are 0.
    #[track_caller]
    pub fn leading_zeros(&self) -> Secret<u32> {
        self.unary(Unary::LeadingZeros)
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
        self.lt(T::decode(0))
    }
}
