//! Integers of models as integers of programs: of the same width and sign, so that they wrap around as the model's do.

use madrigal_program::{Array, Plain, Shape, Type};

use crate::tensor::Element;

/// The integers of programs that are those of a model; none for what are no integers.
pub(super) fn whole(element: Element) -> Option<Type> {
    Some(match element {
        Element::I8 => i8::TYPE,
        Element::I16 => i16::TYPE,
        Element::I32 => i32::TYPE,
        Element::I64 => i64::TYPE,
        Element::U8 => u8::TYPE,
        Element::U16 => u16::TYPE,
        Element::U32 => u32::TYPE,
        Element::U64 => u64::TYPE,
        _ => return None,
    })
}

/// The integers that have as many bits as numbers with a fixed point.
pub(super) fn integer(number: Type) -> Type {
    match number.bits() {
        16 => i16::TYPE,
        32 => i32::TYPE,
        64 => i64::TYPE,
        _ => i128::TYPE,
    }
}

/// Integers as the model keeps them in the clear, each as its 64 bits or with copies of its sign; none if there are not
/// as many as the shape says, or `element` is no integer.
pub(super) fn array(element: Element, shape: &Shape, values: &[i64]) -> Option<Array> {
    fn of<T: Plain>(shape: &Shape, values: &[i64], cut: impl Fn(i64) -> T) -> Option<Array> {
        let values: Vec<T> = values.iter().map(|&value| cut(value)).collect();
        Array::of(shape, &values)
    }
    match element {
        Element::I8 => of(shape, values, |v| v as i8),
        Element::I16 => of(shape, values, |v| v as i16),
        Element::I32 => of(shape, values, |v| v as i32),
        Element::I64 => of(shape, values, |v| v),
        Element::U8 => of(shape, values, |v| v as u8),
        Element::U16 => of(shape, values, |v| v as u16),
        Element::U32 => of(shape, values, |v| v as u32),
        Element::U64 => of(shape, values, |v| v as u64),
        _ => None,
    }
}
