//! Constants in the types of programs.

use madrigal_program::{Array, Shape, Type};

use super::integers::{array, whole};
use crate::tensor::{Data, Tensor};

/// A constant in a type, or the first number that the type does not have.
pub(super) fn encoded(tensor: &Tensor, element: Type, inverse: bool) -> Result<Array, String> {
    let shape = Shape::checked(tensor.shape()).ok_or_else(|| "too many elements".to_owned())?;
    // Not through floats, which have 53 bits.
    if let Data::Int(values) = tensor.data()
        && whole(tensor.element()) == Some(element)
    {
        return array(tensor.element(), &shape, values).ok_or_else(String::new);
    }
    let mut numbers = tensor.to_f64();
    if inverse {
        if let Some(zero) = numbers.iter().position(|&number| number == 0.0) {
            return Err(format!("0 (element {zero})"));
        }
        numbers
            .iter_mut()
            .for_each(|number| *number = 1.0 / *number);
    }
    let fits = |number: f64| Array::from_f64(element, &Shape::scalar(), &[number]).is_some();
    Array::from_f64(element, &shape, &numbers).ok_or_else(|| {
        let wrong = numbers.iter().find(|&&number| !fits(number));
        let own = |number: f64| if inverse { 1.0 / number } else { number };
        wrong.map_or_else(String::new, |&number| own(number).to_string())
    })
}
