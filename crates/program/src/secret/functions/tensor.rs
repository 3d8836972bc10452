//! Parts that all functions are made of.

use std::sync::Arc;

use crate::array::Array;
use crate::element::Type;
use crate::error::{Fault, Source};
use crate::function::{Function, Kind, PRECISION};
use crate::ir::{Binary, Each, Op, Reduction, Unary};
use crate::secret::Tensor;

impl Tensor {
    /// A public element beside this value.
    pub(super) fn code(&self, element: Type, code: u128, at: Source) -> Self {
        let array = Array::one(element, code & element.mask());
        Self::constant(&self.recorder, Ok(array), at)
    }

    /// The nearest number of the elements' type; an error of the program if there is none.
    pub(super) fn number(&self, value: f64, at: Source) -> Self {
        let element = self.element();
        match element.nearest(value) {
            Some(code) => self.code(element, code, at),
            None => self.no_number(value, element, at),
        }
    }

    fn no_number(&self, value: f64, element: Type, at: Source) -> Self {
        let value = value.to_string();
        self.failed(Fault::Constant { value, element }, at)
    }

    /// A function of each element, in the narrowest type that has its results; then in `to`.
    pub(super) fn function(&self, kind: Kind, to: Type, at: Source) -> Self {
        match Function::new(kind, self.element()) {
            Some(function) => self.applied(function, at).recast(to, at),
            None => self.no_function(kind, at),
        }
    }

    /// A function of each element whose results have as many bits after the point as `to` has.
    pub(super) fn factor(&self, kind: Kind, to: Type, at: Source) -> Self {
        match Function::with_results(kind, self.element(), to) {
            Some(function) => self.applied(function, at).recast(to, at),
            None => self.no_function(kind, at),
        }
    }

    /// The divisors in the form that dividends take.
    fn inverse(&self, at: Source) -> Self {
        match Function::new(Kind::Inverse, self.element()) {
            Some(function) => self.applied(function, at),
            None => self.no_function(Kind::Inverse, at),
        }
    }

    /// Quotients of numbers of one type, whose shapes broadcast.
    pub(super) fn quotient(&self, divisor: &Self, at: Source) -> Self {
        let element = self.element();
        let (Some(function), true) = (
            Function::new(Kind::Quotient, element),
            self.value.is_none() || divisor.value.is_none() || divisor.element() == element,
        ) else {
            return self.no_function(Kind::Quotient, at);
        };
        // The inverses come before the divisors are repeated: there may be fewer.
        let inverse = divisor.inverse(at);
        self.with_broadcast(Op::Each(Each::new(Arc::new(function))), &[&inverse], at)
            .recast(element, at)
    }

    fn applied(&self, function: Function, at: Source) -> Self {
        self.apply(Op::Each(Each::new(Arc::new(function))), at)
    }

    fn no_function(&self, kind: Kind, at: Source) -> Self {
        let fault = Fault::Element {
            operator: kind.to_string(),
            found: crate::error::Words(vec![self.element()]),
        };
        self.failed(fault, at)
    }

    /// The elements' bits in another type.
    pub(super) fn recast(&self, to: Type, at: Source) -> Self {
        self.retyped(self.element(), to, at)
    }

    pub(super) fn added(&self, other: &Self, at: Source) -> Self {
        self.binary(Binary::Add, other, at)
    }

    pub(super) fn less_by(&self, other: &Self, at: Source) -> Self {
        self.binary(Binary::Sub, other, at)
    }

    /// The product of numbers with a fixed point, rounded down.
    pub(super) fn rounded_product(&self, other: &Self, at: Source) -> Self {
        let element = self.element();
        let product = self.binary(Binary::Mul, other, at);
        product.truncated(element, at)
    }

    /// Times a public number, as an integer c of F + 3 bits, and the product shifted back by b bits: x c 2^-b, rounded
    /// down, for all x whose result is in range. The product itself may leave the type, so x is cut in two: with
    /// x = h 2^b + r the result is h c, an integer, and r c 2^-b, whose product has room.
    pub(super) fn scaled(&self, factor: f64, at: Source) -> Self {
        let element = self.element();
        let Some(scale) = Scale::new(factor, element) else {
            return self.no_number(factor, element, at);
        };
        if scale.by == 0 || (scale.code == 1 && scale.by < element.bits()) {
            return self.times_code(scale.code, at).shifted_down(scale.by, at);
        }
        if scale.by + scale.bits() < element.bits() {
            let high = self.shifted_down(scale.by, at);
            let raised = high.apply(Op::Unary(Unary::ShiftLeft(scale.by)), at);
            let low = self.less_by(&raised, at).times_code(scale.code, at);
            let low = low.shifted_down(scale.by, at);
            return high.times_code(scale.code, at).added(&low, at);
        }
        let wide = element.wider().unwrap_or(element);
        let product = self.recast(wide, at).times_code(scale.code, at);
        product.shifted_down(scale.by, at).recast(element, at)
    }

    /// Times a public integer.
    fn times_code(&self, code: i128, at: Source) -> Self {
        match code {
            1 => self.clone(),
            _ => {
                let factor = self.code(self.element().integer(), code as u128, at);
                self.binary(Binary::Mul, &factor, at)
            }
        }
    }

    /// The elements' codes without their lowest bits, as numbers of the same type.
    fn shifted_down(&self, by: u32, at: Source) -> Self {
        let element = self.element();
        let finer = element.moved(by.into()).unwrap_or(element);
        self.recast(finer, at).cut(by, self.recorder.rounding(), at)
    }

    pub(super) fn squared(&self, at: Source) -> Self {
        self.apply(Op::Unary(Unary::Square), at)
    }

    pub(super) fn negated(&self, at: Source) -> Self {
        self.apply(Op::Unary(Unary::Negate), at)
    }

    /// An axis to one element, which stays as an axis of length 1.
    pub(super) fn folded(&self, reduction: Reduction, axis: usize, at: Source) -> Self {
        let folded = self.apply(Op::Reduce(reduction, axis), at);
        let mut axes = self.shape.axes().to_vec();
        match axes.get_mut(axis) {
            Some(length) => *length = 1,
            None => return folded, // failed
        }
        folded.reshaped(&axes, at)
    }

    /// How long an axis is, if there is one.
    pub(super) fn length(&self, axis: usize) -> usize {
        self.shape.axes().get(axis).copied().unwrap_or(1)
    }

    /// Whether each element is below 0.
    pub(super) fn negative(&self, at: Source) -> Self {
        let element = self.element();
        self.binary(Binary::Less, &self.code(element, 0, at), at)
    }

    /// `max(x, 0)`
    pub(super) fn positive_part(&self, at: Source) -> Self {
        let zero = self.code(self.element(), 0, at);
        self.negative(at).choice(&zero, self, at)
    }

    /// `yes` where this is true, else `no`.
    pub(super) fn choice(&self, yes: &Self, no: &Self, at: Source) -> Self {
        self.with_broadcast(Op::Select, &[yes, no], at)
    }
}

/// A public factor as an odd integer and a number of bits to cut off afterwards.
struct Scale {
    code: i128,
    by: u32,
}

impl Scale {
    /// The factor to a 2^-(F + 3)th of itself, for numbers of a type.
    fn new(factor: f64, element: Type) -> Option<Self> {
        let precision = element.fraction().min(PRECISION) as i32 + 2;
        if !factor.is_finite()
            || factor.abs() >= 2f64.powi((element.bits() - element.fraction()) as i32 - 1)
        {
            return None;
        }
        // A smaller factor leaves nothing of any number.
        let most = 2 * element.bits().min(64) as i32 - 2;
        let mut by = 0;
        while by < most && factor.abs() * 2f64.powi(by) < 2f64.powi(precision) {
            by += 1;
        }
        let mut code = (factor * 2f64.powi(by)).round() as i128;
        while by > 0 && code & 1 == 0 {
            (code, by) = (code >> 1, by - 1);
        }
        Some(Self {
            code,
            by: by as u32,
        })
    }

    /// Bits of the integer, without its sign.
    fn bits(&self) -> u32 {
        u128::BITS - self.code.unsigned_abs().leading_zeros()
    }
}

impl Type {
    /// The type with twice as many bits, if there is one.
    pub(super) fn wider(self) -> Option<Self> {
        let wide = Self::signed(2 * self.bits());
        let fraction = i64::from(self.fraction());
        (self.is_signed() && self.bits() <= 64).then(|| wide.moved(fraction))?
    }
}
