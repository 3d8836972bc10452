//! Sums, products, quotients, and what rests on them.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use super::{Operand, Secret};
use crate::element::{Fixed, FixedWord, Integer, Number, Plain, Signed, Unsigned};
use crate::error::Source;
use crate::ir::{Binary, Op, Rounding, Unary};

/// An operator between a secret or a reference to one and any operand.
macro_rules! operators {
    ($($trait:ident $method:ident of $bound:ident by $how:ident $(($binary:expr))?;)*) => {$(
        impl<T: $bound, O: Operand<T>> $trait<O> for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, other: O) -> Secret<T> {
                let at = Source::here();
                let other = self.beside(other, at);
                self.$how($($binary,)? &other, at)
            }
        }

        impl<T: $bound, O: Operand<T>> $trait<O> for &Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, other: O) -> Secret<T> {
                let at = Source::here();
                let other = self.beside(other, at);
                self.$how($($binary,)? &other, at)
            }
        }
    )*};
}
operators! {
    Add add of Number by binary(Binary::Add);
    Sub sub of Number by binary(Binary::Sub);
    Mul mul of Number by exact_product;
    Div div of Integer by binary(Binary::Div);
    Rem rem of Integer by binary(Binary::Rem);
}

/// The same with a public element on the left.
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
scalars! { Add add; Sub sub; Mul mul; }
scalars! { Div div: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 }
scalars! { Rem rem: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 }

impl<T: Signed> Neg for Secret<T> {
    type Output = Secret<T>;

    #[track_caller]
    fn neg(self) -> Secret<T> {
        self.unary(Unary::Negate, Source::here())
    }
}

impl<T: Signed> Neg for &Secret<T> {
    type Output = Secret<T>;

    #[track_caller]
    fn neg(self) -> Secret<T> {
        self.unary(Unary::Negate, Source::here())
    }
}

impl<T: Number> Secret<T> {
    /// `x * x`; about half as much work as a product of two values.
    #[track_caller]
    pub fn square(&self) -> Self {
        let at = Source::here();
        let square: Self = self.unary(Unary::Square, at);
        square.truncated(Rounding::Exact, at)
    }

    /// The number with so many times its value: exact for fixed-point numbers too, without anything to
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
            return self.failed(fault, at);
        }
        let factor: Self = self.beside(T::decode(code), at);
        // As an integer, without bits after the point.
        let factor: Self = factor.apply(Op::Cast(element.integer()), at);
        self.binary(Binary::Mul, &factor, at)
    }

    /// A product; of fixed-point numbers rounded down.
    pub(super) fn exact_product(&self, other: &Self, at: Source) -> Self {
        let product: Self = self.binary(Binary::Mul, other, at);
        product.truncated(Rounding::Exact, at)
    }

    /// A product of fixed-point numbers with its surplus of bits after the point cut off.
    pub(super) fn truncated(self, rounding: Rounding, at: Source) -> Self {
        match T::TYPE.fraction() {
            0 => self,
            by => self.apply(Op::Truncate { by, rounding }, at),
        }
    }
}

impl<W: FixedWord, const F: u32> Secret<Fixed<W, F>> {
    /// A product whose bits after the point are cut off by the cheapest protocol that there is: without a
    /// circuit for it, and less exactly.
    ///
    /// The result is what `*` gives, or 2^-F more. And with a chance of about |x| / 2^l for the product x
    /// as an integer of l bits it is wrong altogether, by 2^(l-F) steps: keep numbers far below the
    /// type's range. In replicated sharing two of the servers know how a product was rounded, so that one
    /// of them that sees the output learns something of the bits that were cut off.
    #[track_caller]
    pub fn mul_probabilistic(&self, other: impl Operand<Fixed<W, F>>) -> Self {
        let at = Source::here();
        let other = self.beside(other, at);
        let product: Self = self.binary(Binary::Mul, &other, at);
        product.truncated(Rounding::Probabilistic, at)
    }
}

impl<T: Signed> Secret<T> {
    /// `|x|`; that of the least number is itself.
    #[track_caller]
    pub fn abs(&self) -> Self {
        self.unary(Unary::Abs, Source::here())
    }
}

impl<T: Unsigned> Secret<T> {
    /// The square root, rounded down.
    #[track_caller]
    pub fn sqrt(&self) -> Self {
        self.unary(Unary::Root, Source::here())
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
        self.matrix_product(&other, Rounding::Exact, at)
    }

    /// The sum of products along the last axis, which both have; axes before it broadcast. The sum of
    /// fixed-point products is rounded down once.
    #[track_caller]
    pub fn dot(&self, other: impl Operand<T>) -> Self {
        let at = Source::here();
        let other = self.beside(other, at);
        let product: Self = self.binary(Binary::Mul, &other, at);
        let axis = product.rank().saturating_sub(1);
        let sum: Self = match product.value() {
            Some(_) => product.apply(Op::Reduce(crate::ir::Reduction::Sum, axis), at),
            None => product,
        };
        sum.truncated(Rounding::Exact, at)
    }

    fn matrix_product(&self, other: &Self, rounding: Rounding, at: Source) -> Self {
        let (left, right) = (self.shape().axes(), other.shape().axes());
        if self.value().is_none() || other.value().is_none() {
            return self.nothing();
        }
        let inner = || crate::Fault::Inner {
            left: self.shape().clone(),
            right: other.shape().clone(),
        };
        let (outer_left, [m, k]) = match left {
            [] => return self.failed(inner(), at),
            [k] => (&left[..0], [1, *k]),
            [outer @ .., m, k] => (outer, [*m, *k]),
        };
        let (outer_right, [k_right, n]) = match right {
            [] => return self.failed(inner(), at),
            [k] => (&right[..0], [*k, 1]),
            [outer @ .., k, n] => (outer, [*k, *n]),
        };
        let outer = crate::Shape::checked(outer_left)
            .zip(crate::Shape::checked(outer_right))
            .and_then(|(left, right)| left.broadcast(&right));
        let Some(outer) = outer.filter(|_| k == k_right) else {
            return self.failed(inner(), at);
        };
        let batch = outer.elements();
        let part = |value: &Self, rows: usize, columns: usize| {
            let full = [outer.axes(), &[rows, columns]].concat();
            let value = match value.rank() {
                1 => value.reshaped(&[rows, columns], at),
                _ => value.clone(),
            };
            match crate::Shape::checked(&full) {
                Some(full) => value
                    .broadcast(&full, at)
                    .reshaped(&[batch, rows, columns], at),
                None => value.failed(crate::Fault::TooLarge { axes: full }, at),
            }
        };
        let (a, b) = (part(self, m, k), part(other, k, n));
        let recorder = crate::program::Recorder::inner(a.recorder(), b.recorder());
        let operands =
            a.import(recorder, "matrix product", at)
                .zip(b.import(recorder, "matrix product", at));
        let product = operands.and_then(|(a, b)| recorder.add(Op::MatMul, vec![a, b], at));
        let Some(product) = product else {
            return self.nothing();
        };
        let mut axes = outer.axes().to_vec();
        axes.extend((left.len() > 1).then_some(m));
        axes.extend((right.len() > 1).then_some(n));
        let product = Self::new(recorder, Some(product));
        product.reshaped(&axes, at).truncated(rounding, at)
    }
}

impl<T: Plain> Secret<T> {
    /// Another shape of as many elements.
    pub(super) fn reshaped(&self, axes: &[usize], at: Source) -> Self {
        let checked = crate::Shape::checked(axes);
        let shape = checked.filter(|shape| shape.elements() == self.elements());
        match (self.value(), shape) {
            (None, _) => self.clone(),
            (_, Some(shape)) if shape == *self.shape() => self.clone(),
            (_, Some(shape)) => self.apply(Op::Reshape(shape), at),
            (_, None) => {
                let fault = crate::Fault::Reshape {
                    from: self.shape().clone(),
                    to: axes.to_vec(),
                };
                self.failed(fault, at)
            }
        }
    }
}
