//! Secrets beneath their types: all that operators do, once for all types.

use std::sync::Arc;

use crate::array::Array;
use crate::element::Type;
use crate::error::{Fault, Source};
use crate::ir::{Binary, Op, Rounding, Value};
use crate::recorder::Recorder;
use crate::shape::{Shape, View};
use crate::tensor_type::TensorType;

/// A tensor of secrets whose element [type](Type) is a value, not one of Rust: what front ends work with
/// that learn types when they run, and what [`Secret`](super::Secret) is beneath its type.
///
/// Operators record themselves in the program, as those of secrets do. They convert nothing: operands of other
/// types than an operation takes are an error of the program. Products of numbers with a fixed point keep
/// the bits after it of both factors, until [`truncate`](Self::truncate) cuts some off.
///
/// ```
/// use madrigal_program::{Array, Inputs, Party, Program, Rounding, Shape, Type};
/// let element = Type::fixed(64, 16).ok_or("a type")?;
/// let mut p = Program::new(2);
/// let x = p.tensor_input(None, Party::new(0), element, &[2, 3]);
/// let weights = Array::from_f64(element, &Shape::checked(&[3]).ok_or("a shape")?, &[1.0, 0.5, -2.0]);
/// let weights = p.tensor_constant(weights.ok_or("numbers in range")?);
/// let y = x.matmul(&weights).truncate(16, Rounding::Exact);
/// assert_eq!(y.shape().axes(), [2]);
/// p.open_tensor(None, &y, Party::new(1));
/// let program = p.finish()?;
/// let shape = Shape::checked(&[2, 3]).ok_or("a shape")?;
/// let x = Array::from_f64(element, &shape, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).ok_or("numbers in range")?;
/// let outputs = program.simulate(&Inputs::new().with_array(None, x))?;
/// let y = outputs.arrays().next().flatten().ok_or("an output")?;
/// assert_eq!(y.to_f64(), [-4.0, -5.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "an operation that nothing uses is left out of the program"]
pub struct Tensor {
    pub(super) recorder: Arc<Recorder>,
    /// `None` where there was an error.
    pub(super) value: Option<Value>,
    /// Shape; where there was an error, that of an operand.
    pub(super) shape: Shape,
    /// Type of the elements; where there was an error, that of an operand.
    element: Type,
}

impl Tensor {
    pub(crate) fn new(recorder: &Arc<Recorder>, value: Option<Value>) -> Self {
        let (shape, element) = match value {
            Some(value) => {
                let typed = recorder.type_of(value);
                (typed.shape, typed.element)
            }
            None => (Shape::scalar(), Type::BOOL),
        };
        Self {
            recorder: Arc::clone(recorder),
            value,
            shape,
            element,
        }
    }

    /// The type of the elements.
    pub fn element(&self) -> Type {
        self.element
    }

    /// Whether both are the same value of one program: not only equal ones.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.recorder, &other.recorder)
            && self.value.is_some()
            && self.value == other.value
    }

    pub(crate) fn tensor_type(&self) -> TensorType {
        TensorType::new(self.element, self.shape.clone())
    }

    /// A public tensor, unless there are not as many elements as the axes say.
    pub(crate) fn constant(
        recorder: &Arc<Recorder>,
        array: Result<Array, Fault>,
        at: Source,
    ) -> Self {
        let value = match array {
            Ok(array) => Some(recorder.add_constant(array, at)),
            Err(fault) => {
                recorder.fail(at, fault);
                None
            }
        };
        Self::new(recorder, value)
    }

    /// The value as a graph knows it, or `None` after an error.
    pub(crate) fn import(&self, into: &Arc<Recorder>, operator: &str, at: Source) -> Option<Value> {
        into.import(&self.recorder, self.value?, operator, at)
    }

    /// The value of an operation that could not be; one that follows an error has no fault of its own.
    pub(super) fn failed(&self, fault: Fault, at: Source) -> Self {
        if self.value.is_some() {
            self.recorder.fail(at, fault);
        }
        self.nothing()
    }

    /// A value that follows an error.
    pub(super) fn nothing(&self) -> Self {
        Self {
            value: None,
            ..self.clone()
        }
    }

    /// An operation on this value alone, with one result.
    pub(super) fn apply(&self, op: Op, at: Source) -> Self {
        self.with(op, &[], at)
    }

    /// An operation on this value and others, with one result.
    pub(super) fn with(&self, op: Op, others: &[&Self], at: Source) -> Self {
        self.results(op, others, 1, at).swap_remove(0)
    }

    /// An operation on this value and others, with `count` results.
    pub(super) fn results(&self, op: Op, others: &[&Self], count: u32, at: Source) -> Vec<Self> {
        let recorders = others.iter().map(|other| &other.recorder);
        let recorder = recorders.fold(&self.recorder, |a, b| Recorder::inner(a, b));
        let recorder = &recorder.here();
        let name = op.to_string();
        let all = std::iter::once(self).chain(others.iter().copied());
        let inputs: Option<Vec<Value>> =
            all.map(|value| value.import(recorder, &name, at)).collect();
        let Some(first) = inputs.and_then(|inputs| recorder.add(op, inputs, at)) else {
            return vec![self.nothing(); count as usize];
        };
        (0..count)
            .map(|output| Self::new(recorder, Some(Value { output, ..first })))
            .collect()
    }

    /// An operation on elements of two values, broadcast.
    pub(super) fn binary(&self, op: Binary, other: &Self, at: Source) -> Self {
        self.with_broadcast(Op::Binary(op), &[other], at)
    }

    /// An operation on elements of values, all broadcast to one shape.
    pub(super) fn with_broadcast(&self, op: Op, others: &[&Self], at: Source) -> Self {
        let mut shape = self.shape.clone();
        for other in others {
            shape = match shape.broadcast(&other.shape) {
                Some(shape) => shape,
                None if others.iter().any(|other| other.value.is_none()) => return self.nothing(),
                None => {
                    let fault = Fault::Broadcast {
                        operator: op.to_string(),
                        left: shape,
                        right: other.shape.clone(),
                    };
                    return self.failed(fault, at);
                }
            };
        }
        let others: Vec<Self> = others
            .iter()
            .map(|other| other.broadcast(&shape, at))
            .collect();
        let others: Vec<&Self> = others.iter().collect();
        self.broadcast(&shape, at).with(op, &others, at)
    }

    /// Repeated along the axes that it lacks or has with length 1.
    pub(super) fn broadcast(&self, shape: &Shape, at: Source) -> Self {
        match self.value {
            Some(_) if self.shape != *shape => {
                self.apply(Op::View(View::broadcast(&self.shape, shape)), at)
            }
            _ => self.clone(),
        }
    }

    /// Another shape of as many elements.
    pub(super) fn reshaped(&self, axes: &[usize], at: Source) -> Self {
        let checked = Shape::checked(axes);
        let shape = checked.filter(|shape| shape.elements() == self.shape.elements());
        match (self.value, shape) {
            (None, _) => self.clone(),
            (_, Some(shape)) if shape == self.shape => self.clone(),
            (_, Some(shape)) => self.apply(Op::Reshape(shape), at),
            (_, None) => {
                let fault = Fault::Reshape {
                    from: self.shape.clone(),
                    to: axes.to_vec(),
                };
                self.failed(fault, at)
            }
        }
    }

    /// Elements by their strides.
    pub(super) fn viewed(
        &self,
        axes: &[usize],
        strides: Vec<isize>,
        offset: usize,
        at: Source,
    ) -> Self {
        match Shape::checked(axes) {
            _ if self.value.is_none() => self.clone(),
            Some(shape) => self.apply(
                Op::View(View {
                    shape,
                    strides,
                    offset,
                }),
                at,
            ),
            None => {
                let axes = axes.to_vec();
                self.failed(Fault::TooLarge { axes }, at)
            }
        }
    }

    /// A product's surplus of bits after the point cut off, for numbers of a type, as the program says.
    pub(super) fn truncated(self, element: Type, at: Source) -> Self {
        let rounding = self.recorder.rounding();
        self.cut(element.fraction(), rounding, at)
    }

    /// So many bits after the point cut off.
    pub(super) fn cut(&self, by: u32, rounding: Rounding, at: Source) -> Self {
        match by {
            0 => self.clone(),
            by => self.apply(Op::Truncate { by, rounding }, at),
        }
    }

    /// The elements' bits in another type.
    pub(super) fn retyped(&self, from: Type, to: Type, at: Source) -> Self {
        match from == to {
            true => self.clone(),
            false => self.apply(Op::Cast(to), at),
        }
    }

    pub(super) fn wrong_axis(&self, operator: &str, axis: usize, at: Source) -> Self {
        let fault = Fault::Axis {
            operator: operator.into(),
            axis,
            shape: self.shape.clone(),
        };
        self.failed(fault, at)
    }

    pub(super) fn out_of_range(&self, axis: usize, from: usize, to: usize, at: Source) -> Self {
        let fault = Fault::Range {
            from,
            to,
            axis,
            shape: self.shape.clone(),
        };
        self.failed(fault, at)
    }

    /// Matrix products, whose batches broadcast.
    pub(super) fn matrix_product(&self, other: &Self, at: Source) -> Self {
        if self.value.is_none() || other.value.is_none() {
            return self.nothing();
        }
        let (left, right) = (self.shape.axes(), other.shape.axes());
        let inner = || Fault::Inner {
            left: self.shape.clone(),
            right: other.shape.clone(),
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
        let outer = Shape::checked(outer_left)
            .zip(Shape::checked(outer_right))
            .and_then(|(left, right)| left.broadcast(&right));
        let Some(outer) = outer.filter(|_| k == k_right) else {
            return self.failed(inner(), at);
        };
        let batch = outer.elements();
        let part = |value: &Self, rows: usize, columns: usize| {
            let full = [outer.axes(), &[rows, columns]].concat();
            let value = match value.shape.rank() {
                1 => value.reshaped(&[rows, columns], at),
                _ => value.clone(),
            };
            match Shape::checked(&full) {
                Some(full) => value
                    .broadcast(&full, at)
                    .reshaped(&[batch, rows, columns], at),
                None => value.failed(Fault::TooLarge { axes: full }, at),
            }
        };
        let (a, b) = (part(self, m, k), part(other, k, n));
        let product = a.with(Op::MatMul, &[&b], at);
        let mut axes = outer.axes().to_vec();
        axes.extend((left.len() > 1).then_some(m));
        axes.extend((right.len() > 1).then_some(n));
        product.reshaped(&axes, at)
    }

    /// Entries of a table at places of its first axis.
    pub(super) fn look_up(&self, table: &Self, at: Source) -> Self {
        if self.value.is_none() || table.value.is_none() {
            return table.nothing();
        }
        let Some((&entries, width)) = table.shape.axes().split_first() else {
            return table.wrong_axis(&Op::LookUp.to_string(), 0, at);
        };
        let axes = [self.shape.axes(), width].concat();
        let width = width.iter().product();
        let places = self.reshaped(&[1, self.shape.elements()], at);
        let flat = table.reshaped(&[1, entries, width], at);
        let found = flat.with(Op::LookUp, &[&places], at);
        found.reshaped(&axes, at)
    }

    /// Tensors one after the other along an axis.
    pub(super) fn joined(outer: &Arc<Recorder>, parts: &[&Self], axis: usize, at: Source) -> Self {
        let op = Op::Join(axis);
        match parts.split_first() {
            Some((first, others)) => first.with(op, others, at),
            None => Self::new(outer, outer.add(op, Vec::new(), at)),
        }
    }
}
