//! Operands that stand beside a secret.

use std::sync::Arc;

use super::Secret;
use crate::array::IntoArray;
use crate::element::{Fixed, FixedWord, Plain};
use crate::error::{Fault, Source};
use crate::ir::Binary;
use crate::recorder::Recorder;

/// The secret beside which an operand stands, and the line in the source.
#[derive(Clone, Copy)]
pub struct Beside<'a> {
    pub(super) recorder: &'a Arc<Recorder>,
    pub(super) at: Source,
}

/// An operand of operators on secrets of `T`: a secret, a public element, an array, slice or vector of
/// them; beside fixed-point numbers an `f64` too.
pub trait Operand<T: Plain> {
    /// The operand as a value of the program.
    fn operand(&self, beside: Beside<'_>) -> Secret<T>;
}

impl<T: Plain> Secret<T> {
    /// An operation on elements of this and another operand, broadcast.
    #[track_caller]
    pub(super) fn binary<U: Plain, V: Plain>(
        &self,
        op: Binary,
        other: impl Operand<U>,
    ) -> Secret<V> {
        let at = Source::here();
        let other = self.beside(other, at);
        Secret::of(self.tensor.binary(op, &other.tensor, at))
    }

    /// Another operand of an operator on this one.
    pub(super) fn beside<U: Plain>(&self, other: impl Operand<U>, at: Source) -> Secret<U> {
        other.operand(Beside {
            recorder: &self.tensor.recorder,
            at,
        })
    }
}

impl<T: Plain> Operand<T> for Secret<T> {
    fn operand(&self, _: Beside<'_>) -> Secret<T> {
        self.clone()
    }
}

impl<T: Plain> Operand<T> for &Secret<T> {
    fn operand(&self, _: Beside<'_>) -> Secret<T> {
        (*self).clone()
    }
}

/// Public operands, which become constants.
macro_rules! constants {
    ($([$($parameter:tt)*] $operand:ty;)*) => {$(
        impl<T: Plain $($parameter)*> Operand<T> for $operand {
            fn operand(&self, beside: Beside<'_>) -> Secret<T> {
                Secret::constant(beside.recorder, self.parts(), beside.at)
            }
        }
    )*};
}
constants! {
    [] T; [] &[T]; [] Vec<T>;
    [, const N: usize] [T; N];
    [, const N: usize, const M: usize] [[T; M]; N];
    [, const N: usize] ([usize; N], Vec<T>);
}

/// The nearest fixed-point number; one that is out of range is an error of the program.
impl<W: FixedWord, const F: u32> Operand<Fixed<W, F>> for f64 {
    fn operand(&self, beside: Beside<'_>) -> Secret<Fixed<W, F>> {
        let number = Fixed::from_f64(*self).unwrap_or_else(|| {
            let fault = Fault::Constant {
                value: self.to_string(),
                element: Fixed::<W, F>::TYPE,
            };
            beside.recorder.fail(beside.at, fault);
            Fixed::default()
        });
        number.operand(beside)
    }
}
