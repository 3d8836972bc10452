//! What can be done to tensors whose types are known when a program runs: the operators of
//! [`Secret`](super::Secret), on values and names of types.

mod arithmetic;
mod shapes;

pub use arithmetic::Window;

use madrigal_core::Party;

use super::{Secret, Tensor};
use crate::array::Array;
use crate::element::{Plain, Type};
use crate::error::{Fault, Source};
use crate::opening::Receivers;
use crate::program::Program;
use crate::shape::Shape;

impl Tensor {
    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The same value with its type, which is an error of the program if it is another.
    #[track_caller]
    pub fn typed<T: Plain>(&self) -> Secret<T> {
        if self.element() == T::TYPE {
            return Secret::of(self.clone());
        }
        let fault = Fault::OtherType {
            expected: T::TYPE,
            found: self.element(),
        };
        Secret::of(self.failed(fault, Source::here()))
    }
}

impl<T: Plain> Secret<T> {
    /// The same value, with its type as a value.
    pub fn untyped(&self) -> Tensor {
        self.tensor.clone()
    }
}

impl Program {
    /// A secret that a party brings along: [`Program::input`], or [`Program::input_named`], of a type that is
    /// a value.
    #[track_caller]
    pub fn tensor_input(
        &mut self,
        name: Option<&str>,
        owner: Party,
        element: Type,
        axes: &[usize],
    ) -> Tensor {
        self.any_input(name, owner, element, axes)
    }

    /// A public tensor: [`Program::constant`].
    #[track_caller]
    pub fn tensor_constant(&mut self, array: Array) -> Tensor {
        Tensor::constant(self.recorder(), Ok(array), Source::here())
    }

    /// Opens a value: [`Program::open`], or [`Program::open_named`]. It is fetched from
    /// [`Outputs::arrays`](crate::Outputs::arrays) by the number that this gives.
    #[track_caller]
    pub fn open_tensor(&mut self, name: Option<&str>, value: &Tensor, to: impl Receivers) -> usize {
        self.open_any(name, to, Source::here(), |opener| opener.open(value))
    }
}
