//! Arrays as Python hands them over: a type, a shape, and elements as bytes.

use madrigal_program::{Array, Shape, Type};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::value_error;

/// An array in Python: type, lengths of the axes, elements.
pub type Parts = (String, Vec<usize>, Py<PyBytes>);

pub fn type_of(text: &str) -> PyResult<Type> {
    text.parse().map_err(value_error)
}

pub fn shape_of(axes: &[usize]) -> PyResult<Shape> {
    let large = || value_error(format!("shape {axes:?} has too many elements or axes"));
    Shape::checked(axes).ok_or_else(large)
}

/// Elements of `data`: `float64` of numbers with a fixed point, bytes that are 0 or 1 of `bool`, else integers of the type's width,
/// the lowest byte first.
pub fn array_of(element: Type, shape: &Shape, data: &[u8]) -> PyResult<Array> {
    let width = width(element);
    let count = shape.elements();
    if data.len() != count * width {
        let found = data.len();
        return Err(value_error(format!(
            "{found} bytes, and {count} of {element} have {}",
            count * width
        )));
    }
    if element.fraction() > 0 {
        let numbers: Vec<f64> = data
            .as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| f64::from_le_bytes(*bytes))
            .collect();
        let array = Array::from_f64(element, shape, &numbers);
        return array.ok_or_else(|| {
            let fits =
                |number: f64| Array::from_f64(element, &Shape::scalar(), &[number]).is_some();
            let place = numbers
                .iter()
                .position(|&number| !fits(number))
                .unwrap_or(0);
            value_error(format!(
                "element {place} is {}, which is no number of type {element}",
                numbers[place]
            ))
        });
    }
    let codes = data.chunks_exact(width).map(|bytes| {
        let mut word = [0; 16];
        word[..width].copy_from_slice(bytes);
        u128::from_le_bytes(word)
    });
    Ok(Array::from_codes(element, shape, codes).expect("bytes were counted"))
}

/// Bytes of an element, as [`array_of`] takes it.
fn width(element: Type) -> usize {
    match (element.fraction(), element.bits()) {
        (0, bits) => (bits as usize).div_ceil(8),
        _ => 8,
    }
}

/// An array for Python, as [`array_of`] takes it.
pub fn parts(py: Python<'_>, array: &Array) -> PyResult<Parts> {
    let element = array.element();
    let axes = array.shape().axes().to_vec();
    let size = array.shape().elements() * width(element);
    let data = PyBytes::new_with(py, size, |to| {
        if element.fraction() > 0 {
            for (number, to) in array.to_f64().iter().zip(to.chunks_exact_mut(8)) {
                to.copy_from_slice(&number.to_le_bytes());
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
