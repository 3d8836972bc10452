//! Tensors of secrets, and what is done to them.

mod arithmetic;
mod bits;
mod compare;
mod convert;
mod loops;
mod operand;
mod reduce;
mod shapes;
mod tables;

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

pub use loops::{Index, Part, State};
pub use operand::{Beside, Operand};

use crate::array::Array;
use crate::element::{Plain, Type};
use crate::error::{Fault, Source};
use crate::ir::{Binary, Op, Unary, Value};
use crate::program::Recorder;
use crate::shape::{Shape, View};

/// A tensor of secrets of a [`Program`](crate::Program); without axes it is a single one.
///
/// Operators take secrets, references to them, and public elements and arrays, and broadcast as NumPy
/// does. Integers wrap around at their width, silently; [`Checked`](crate::Checked) finds where. A
/// `Secret<bool>` is never a `bool`: what depends on it is chosen with [`select`](Secret::select).
///
/// Cloning copies no elements: both are the same value.
#[must_use = "an operation that nothing uses is left out of the program"]
pub struct Secret<T> {
    recorder: Rc<Recorder>,
    /// `None` where there was an error.
    value: Option<Value>,
    /// Where there was an error: of an operand.
    shape: Shape,
    element: PhantomData<T>,
}

impl<T> Clone for Secret<T> {
    fn clone(&self) -> Self {
        Self {
            recorder: Rc::clone(&self.recorder),
            value: self.value,
            shape: self.shape.clone(),
            element: PhantomData,
        }
    }
}

impl<T: Plain> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret<{}>{}", T::TYPE, self.shape)
    }
}

impl<T> Secret<T> {
    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How many axes there are.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// How many elements there are.
    pub fn elements(&self) -> usize {
        self.shape.elements()
    }
}

impl<T: Plain> Secret<T> {
    pub(crate) fn new(recorder: &Rc<Recorder>, value: Option<Value>) -> Self {
        let shape = match value {
            Some(value) => recorder.sort(value).shape,
            None => Shape::scalar(),
        };
        Self {
            recorder: Rc::clone(recorder),
            value,
            shape,
            element: PhantomData,
        }
    }

    /// A public tensor.
    pub(crate) fn constant(
        recorder: &Rc<Recorder>,
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
        let value = match array {
            Ok(array) => Some(recorder.add_constant(array, at)),
            Err(fault) => {
                recorder.fail(at, fault);
                None
            }
        };
        Self::new(recorder, value)
    }

    pub(crate) fn recorder(&self) -> &Rc<Recorder> {
        &self.recorder
    }

    pub(crate) fn value(&self) -> Option<Value> {
        self.value
    }

    /// The value as a graph knows it, or `None` after an error.
    pub(crate) fn import(&self, into: &Rc<Recorder>, operator: &str, at: Source) -> Option<Value> {
        let value = self.value?;
        let imported = into.import(&self.recorder, value, at);
        if imported.is_none() {
            let operator = operator.into();
            into.fail(at, Fault::Foreign { operator });
        }
        imported
    }

    /// What is left where an operation could not be.
    fn failed<U: Plain>(&self, fault: Fault, at: Source) -> Secret<U> {
        self.recorder.fail(at, fault);
        self.nothing()
    }

    /// A value that follows an error.
    fn nothing<U: Plain>(&self) -> Secret<U> {
        Secret {
            recorder: Rc::clone(&self.recorder),
            value: None,
            shape: self.shape.clone(),
            element: PhantomData,
        }
    }

    /// An operation on this value alone, with one result.
    fn apply<U: Plain>(&self, op: Op, at: Source) -> Secret<U> {
        match self
            .value
            .and_then(|value| self.recorder.add(op, vec![value], at))
        {
            Some(value) => Secret::new(&self.recorder, Some(value)),
            None => self.nothing(),
        }
    }

    fn unary<U: Plain>(&self, op: Unary, at: Source) -> Secret<U> {
        self.apply(Op::Unary(op), at)
    }

    /// An operation on elements of two values, broadcast; not of one type where amounts of shifts are.
    fn binary<U: Plain, V: Plain>(&self, op: Binary, other: &Secret<U>, at: Source) -> Secret<V> {
        let Some(shape) = self.shape.broadcast(&other.shape) else {
            let fault = Fault::Broadcast {
                operator: op.to_string(),
                left: self.shape.clone(),
                right: other.shape.clone(),
            };
            return match (self.value, other.value) {
                (Some(_), Some(_)) => self.failed(fault, at),
                _ => self.nothing(),
            };
        };
        let (a, b) = (self.broadcast(&shape, at), other.broadcast(&shape, at));
        let recorder = Recorder::inner(&a.recorder, &b.recorder);
        let name = op.to_string();
        let operands = a
            .import(recorder, &name, at)
            .zip(b.import(recorder, &name, at));
        match operands.and_then(|(a, b)| recorder.add(Op::Binary(op), vec![a, b], at)) {
            Some(value) => Secret::new(recorder, Some(value)),
            None => self.nothing(),
        }
    }

    /// Repeated along the axes that it lacks or has with length 1.
    fn broadcast(&self, shape: &Shape, at: Source) -> Self {
        if self.shape == *shape {
            return self.clone();
        }
        match self.value {
            Some(_) => self.apply(Op::View(View::broadcast(&self.shape, shape)), at),
            None => self.clone(),
        }
    }

    /// As many results as the operation has, `None` where it could not be.
    fn results(
        &self,
        op: Op,
        inputs: Option<Vec<Value>>,
        count: u32,
        at: Source,
    ) -> Vec<Option<Value>> {
        let first = inputs.and_then(|inputs| self.recorder.add(op, inputs, at));
        (0..count)
            .map(|output| first.map(|value| Value { output, ..value }))
            .collect()
    }
}

/// The type of places as one of elements.
const _: () = assert!(Type::PLACE.bits() == u32::BITS, "places are u32");
