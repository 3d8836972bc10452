//! Sums, products, quotients, and what rests on them.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use super::{Operand, Secret, Window};
use crate::element::{Fixed, FixedWord, Integer, Number, Signed, Unsigned};
use crate::error::Source;
use crate::ir::{Binary, Op, Rounding, Unary};

operators! {
    Add add of Number by binary(Binary::Add);
    Sub sub of Number by binary(Binary::Sub);
    Mul mul of Number by exact_product;
    Div div of Number by binary(Binary::Div);
    Rem rem of Integer by binary(Binary::Rem);
}

/// Operators with a public element on the left.
macro_rules! scalars {
    ($trait:ident $method:ident: $($scalar:ident)*) => {$(
        impl $trait<Secret<$scalar>> for $scalar {
            type Output = Secret<$scalar>;

            #[track_caller]
            fn $method(self, secret: Secret<$scalar>) -> Secret<$scalar> {
                $trait::$method(secret.beside(self, Source::here()), secret)
            }
        }

        impl $trait<&Secret<$scalar>> for $scalar {
            type Output = Secret<$scalar>;

            #[track_caller]
            fn $method(self, secret: &Secret<$scalar>) -> Secret<$scalar> {
                $trait::$method(secret.beside(self, Source::here()), secret)
            }
        }
    )*};
    ($($trait:ident $method:ident;)*) => {
        $(scalars! { $trait $method: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 })*
        $(
            impl<W: FixedWord, const F: u32> $trait<Secret<Fixed<W, F>>> for Fixed<W, F>
            where
                Secret<Fixed<W, F>>: $trait<Secret<Fixed<W, F>>, Output = Secret<Fixed<W, F>>>,
            {
                type Output = Secret<Fixed<W, F>>;

                #[track_caller]
                fn $method(self, secret: Secret<Fixed<W, F>>) -> Secret<Fixed<W, F>> {
                    $trait::$method(secret.beside(self, Source::here()), secret)
                }
            }
        )*
    };
}
scalars! { Add add; Sub sub; Mul mul; Div div; }
scalars! { Rem rem: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 }

prefixes! { Neg neg of Signed by Unary::Negate; }

impl<T: Number> Secret<T> {
    /// `x * x`; about half as much work as a product of two values.
    #[track_caller]
    pub fn square(&self) -> Self {
        let square: Self = self.unary(Unary::Square);
        Self::of(square.tensor.truncated(T::TYPE, Source::here()))
    }

    /// The number times a factor: exact for fixed-point numbers too, without anything to
    /// round. One that the type's integers do not have is an error of the program.
    #[track_caller]
    pub fn times(&self, factor: i64) -> Self {
        let at = Source::here();
        let element = T::TYPE;
        let code = factor as i128 as u128 & element.mask();
        if element.extend(code) != i128::from(factor) {
            let fault = crate::Fault::Constant {
                value: factor.to_string(),
                element,
            };
            return Self::of(self.tensor.failed(fault, at));
        }
        let factor: Self = self.beside(T::decode(code), at);
        // As an integer, without bits after the point.
        let factor = factor.tensor.retyped(element, element.integer(), at);
        Self::of(self.tensor.binary(Binary::Mul, &factor, at))
    }

    /// A product; of fixed-point numbers rounded down, unless the program says otherwise.
    #[track_caller]
    fn exact_product(&self, other: impl Operand<T>) -> Self {
        let product: Self = self.binary(Binary::Mul, other);
        Self::of(product.tensor.truncated(T::TYPE, Source::here()))
    }
}

impl<W: FixedWord, const F: u32> Secret<Fixed<W, F>> {
    /// A product whose bits after the point are cut off by the cheapest protocol that there is: without a
    /// circuit for it, and less exactly.
    ///
    /// The result is what `*` gives, or 2^-F more. And with a chance of about |x| / 2^l for the product x
    /// as an integer of l bits, 2^-2F times as large as its value, it is wrong altogether, by 2^(l-F) steps:
    /// keep numbers far below the type's range. For `Fixed<i64, 16>` and products up to 1 that is once in 2^32,
    /// up to 1,000 once in 2^22. [`Computation::check`](crate::Computation::check) finds what is cut off with a chance
    /// of more than one in a million.
    ///
    /// In replicated sharing, and in `A` between two parties, it takes no circuit, and in the latter no message;
    /// elsewhere it is exact. There two of the parties know how a product was rounded, so that one of
    /// them that sees the output learns something of the bits that were cut off.
    /// [`Program::with_rounding`](crate::Program::with_rounding) has all products cut off so.
    #[track_caller]
    pub fn mul_probabilistic(&self, other: impl Operand<Fixed<W, F>>) -> Self {
        let product: Self = self.binary(Binary::Mul, other);
        let rounding = Rounding::Probabilistic;
        product.apply(Op::Truncate { by: F, rounding })
    }
}

impl<T: Signed> Secret<T> {
    /// `|x|`; that of the least number is itself.
    #[track_caller]
    pub fn abs(&self) -> Self {
        self.unary(Unary::Abs)
    }
}

impl<T: Unsigned> Secret<T> {
    /// The square root, rounded down.
    #[track_caller]
    pub fn sqrt(&self) -> Self {
        self.unary(Unary::Root)
    }
}

impl<T: Number> Secret<T> {
    /// The matrix product `[.., m, k] x [.., k, n] -> [.., m, n]`: axes before the last two broadcast, and
    /// an operand of one axis is a single row, or a single column, whose axis goes. The sum of
    /// fixed-point products is rounded down once.
    #[track_caller]
    pub fn matmul(&self, other: impl Operand<T>) -> Self {
        let at = Source::here();
        let other = self.beside(other, at);
        let product = self.tensor.matrix_product(&other.tensor, at);
        Self::of(product.truncated(T::TYPE, at))
    }

    /// Two-dimensional convolutions of images `[images, channels, rows, columns]` with filters
    /// `[filters, channels / groups, rows, columns]`: `[images, filters, rows, columns]`. The sum of
    /// fixed-point products is rounded down once.
    #[track_caller]
    pub fn convolve(&self, filters: impl Operand<T>, window: Window) -> Self {
        let at = Source::here();
        let filters = self.beside(filters, at);
        let product = self.tensor.convolve(&filters.tensor, window);
        Self::of(product.truncated(T::TYPE, at))
    }

    /// The sum of products along the last axis, which both have; axes before it broadcast. The sum of
    /// fixed-point products is rounded down once.
    #[track_caller]
    pub fn dot(&self, other: impl Operand<T>) -> Self {
        let product: Self = self.binary(Binary::Mul, other);
        let sum = product.sum(product.rank().saturating_sub(1));
        Self::of(sum.tensor.truncated(T::TYPE, Source::here()))
    }
}
