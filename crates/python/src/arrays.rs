//! Arrays as Python hands them over: a type, a shape, and elements as bytes.

use std::sync::{Mutex, PoisonError};

use madrigal_program::{Array, ArrayPieces, Shape, Type};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::value_error;

/// An array in Python: type, lengths of the axes, elements.
pub type Parts = (String, Vec<usize>, Py<PyByteArray>);

pub fn type_of(text: &str) -> PyResult<Type> {
    text.parse().map_err(value_error)
}

pub fn shape_of(axes: &[usize]) -> PyResult<Shape> {
    let large = || value_error(format!("shape {axes:?} has too many elements or axes"));
    Shape::checked(axes).ok_or_else(large)
}

/// Elements of `data`, as [`push`] takes them.
pub fn array_of(element: Type, shape: Shape, data: &[u8]) -> PyResult<Array> {
    let mut pieces = ArrayPieces::new(element, shape);
    push(&mut pieces, data)?;
    finished(pieces)
}

/// Appends elements: `float64` of numbers with a fixed point, bytes that are 0 or 1 of `bool`, else integers of the type's width,
/// the lowest byte first.
fn push(pieces: &mut ArrayPieces, data: &[u8]) -> PyResult<()> {
    let element = pieces.element();
    let width = width(element);
    if !data.len().is_multiple_of(width) || data.len() / width > pieces.missing() {
        let (found, missing) = (data.len(), pieces.missing());
        return Err(value_error(format!(
            "{found} bytes, and {missing} elements of {element} with {width} each are missing"
        )));
    }
    if element.fraction() == 0 {
        pieces.push_codes(data.chunks_exact(width).map(|bytes| {
            let mut word = [0; 16];
            word[..width].copy_from_slice(bytes);
            u128::from_le_bytes(word)
        }));
        return Ok(());
    }
    let numbers = data.as_chunks::<8>().0;
    let number = |bytes: &[u8; 8]| f64::from_le_bytes(*bytes);
    let first = pieces.shape().elements() - pieces.missing();
    let pushed = pieces.push_f64(numbers.iter().map(number));
    pushed.map_err(|place| {
        value_error(format!(
            "element {place} is {}, which is no number of type {element}",
            number(&numbers[place - first])
        ))
    })
}

fn finished(pieces: ArrayPieces) -> PyResult<Array> {
    let missing = pieces.missing();
    let array = pieces.finish();
    array.ok_or_else(|| value_error(format!("{missing} elements are missing")))
}

/// An array that Python fills piece by piece, so that it is never there as bytes, too. Whoever takes it leaves nothing.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Values(Mutex<Option<ArrayPieces>>);

#[pymethods]
impl Values {
    #[new]
    fn new(dtype: &str, shape: Vec<usize>) -> PyResult<Self> {
        let pieces = ArrayPieces::new(type_of(dtype)?, shape_of(&shape)?);
        Ok(Self(Mutex::new(Some(pieces))))
    }

    /// The next elements.
    fn push(&self, data: &[u8]) -> PyResult<()> {
        self.with(|pieces| push(pieces.as_mut().ok_or_else(taken)?, data))
    }
}

impl Values {
    /// An array that is there already.
    pub fn of(array: &Array) -> PyResult<Self> {
        let mut pieces = ArrayPieces::new(array.element(), array.shape().clone());
        pieces.push_codes(array.codes());
        Ok(Self(Mutex::new(Some(pieces))))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Option<ArrayPieces>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the array, whose elements have all come.
    pub fn take(&self) -> PyResult<Array> {
        finished(self.with(Option::take).ok_or_else(taken)?)
    }
}

fn taken() -> PyErr {
    value_error("an array is taken once")
}

/// Bytes of an element, as [`push`] takes it.
fn width(element: Type) -> usize {
    match (element.fraction(), element.bits()) {
        (0, bits) => (bits as usize).div_ceil(8),
        _ => 8,
    }
}

/// An array for Python, as [`push`] takes it.
pub fn parts(py: Python<'_>, array: &Array) -> PyResult<Parts> {
    let element = array.element();
    let axes = array.shape().axes().to_vec();
    let size = array.shape().elements() * width(element);
    let data = PyByteArray::new_with(py, size, |to| {
        if element.fraction() > 0 {
            for (code, to) in array.codes().zip(to.chunks_exact_mut(8)) {
                to.copy_from_slice(&element.number(code).to_le_bytes());
            }
            return Ok(());
        }
        let width = width(element);
        for (code, to) in array.codes().zip(to.chunks_exact_mut(width)) {
            to.copy_from_slice(&code.to_le_bytes()[..width]);
        }
        Ok(())
    })?;
    Ok((element.to_string(), axes, data.unbind()))
}
