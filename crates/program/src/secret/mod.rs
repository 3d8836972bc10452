//! Tensors of secrets, and what is done to them.

/// Methods of secrets that are those of the tensor beneath.
macro_rules! forward {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(&self, $($argument: $type),*) -> Self {
            Self::of(self.tensor.$name($($argument),*))
        }
    )*};
}

/// Operators between a secret, or a reference to one, and any operand.
macro_rules! operators {
    ($($trait:ident $method:ident of $bound:ident by $how:ident $(($binary:expr))?;)*) => {$(
        impl<T: $bound, O: Operand<T>> $trait<O> for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, other: O) -> Secret<T> {
                self.$how($($binary,)? other)
            }
        }

        impl<T: $bound, O: Operand<T>> $trait<O> for &Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self, other: O) -> Secret<T> {
                self.$how($($binary,)? other)
            }
        }
    )*};
}

/// Operators on one secret, or a reference to one.
macro_rules! prefixes {
    ($($trait:ident $method:ident of $bound:ident by $unary:expr;)*) => {$(
        impl<T: $bound> $trait for Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self) -> Secret<T> {
                self.unary($unary)
            }
        }

        impl<T: $bound> $trait for &Secret<T> {
            type Output = Secret<T>;

            #[track_caller]
            fn $method(self) -> Secret<T> {
                self.unary($unary)
            }
        }
    )*};
}

mod arithmetic;
mod bits;
mod branches;
mod compare;
mod convert;
mod dynamic;
mod functions;
mod loops;
mod operand;
mod permutation;
mod reduce;
mod shapes;
mod tables;
mod tensor;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

pub use dynamic::Window;
pub use loops::{Index, Part, State};
pub use operand::{Beside, Operand};
pub use permutation::Permutation;
pub use tensor::Tensor;

use crate::array::Array;
use crate::element::{Plain, Type};
use crate::error::{Fault, Source};
use crate::ir::{Op, Unary, Value};
use crate::recorder::Recorder;
use crate::shape::Shape;

/// A tensor of secrets of a [`Program`](crate::Program); without axes it is a single one.
///
/// Operators take secrets, references to them, and public elements and arrays, and broadcast as NumPy
/// does. Integers wrap around at their width, silently; [`Checked`](crate::Checked) finds where. A
/// `Secret<bool>` is never a `bool`: what depends on it is chosen with [`select`](Secret::select).
///
/// Cloning copies no elements: both are the same value.
#[must_use = "an operation that nothing uses is left out of the program"]
pub struct Secret<T> {
    tensor: Tensor,
    element: PhantomData<T>,
}

impl<T> Clone for Secret<T> {
    fn clone(&self) -> Self {
        Self {
            tensor: self.tensor.clone(),
            element: PhantomData,
        }
    }
}

impl<T: Plain> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret<{}>{}", T::TYPE, self.shape())
    }
}

impl<T> Secret<T> {
    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.tensor.shape
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.shape().elements()
    }
}

impl<T: Plain> Secret<T> {
    pub(crate) fn new(recorder: &Arc<Recorder>, value: Option<Value>) -> Self {
        Self::of(Tensor::new(recorder, value))
    }

    /// A tensor whose elements are of this type.
    pub(crate) fn of(tensor: Tensor) -> Self {
        Self {
            tensor,
            element: PhantomData,
        }
    }

    /// A public tensor.
    pub(crate) fn constant(
        recorder: &Arc<Recorder>,
        (axes, elements): (Vec<usize>, Vec<T>),
        at: Source,
    ) -> Self {
        let array = match Shape::checked(&axes) {
            Some(shape) => Array::of(&shape, &elements).ok_or_else(|| Fault::Elements {
                expected: shape.elements(),
                found: elements.len(),
                axes,
            }),
            None => Err(Fault::TooLarge { axes }),
        };
        Self::of(Tensor::constant(recorder, array, at))
    }

    pub(crate) fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    #[track_caller]
    fn unary<U: Plain>(&self, op: Unary) -> Secret<U> {
        self.apply(Op::Unary(op))
    }

    #[track_caller]
    fn apply<U: Plain>(&self, op: Op) -> Secret<U> {
        Secret::of(self.tensor.apply(op, Source::here()))
    }
}

/// The type of places as one of elements.
const _: () = assert!(Type::PLACE.bits() == u32::BITS, "places are u32");
