//! Values of inputs.

use madrigal_engine::{Element, Shares};
use madrigal_intake::{Input, Kind, shape_in_words};
use madrigal_program::Array;

use crate::error::ClientError;

/// A value for an input of a kind.
#[derive(Debug, Clone)]
pub enum Value {
    /// Typed elements with a shape.
    Array(Array),
    /// A clear value of the input's elements, with the lengths of its axes.
    Shares(Vec<usize>, Shares),
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Self::Array(array)
    }
}

impl Value {
    /// Lengths of the axes, and the clear value in the form that an input is dealt in.
    pub(crate) fn fit(
        &self,
        kind: &Kind,
        input: &Input,
    ) -> Result<(Vec<usize>, Shares), ClientError> {
        let wrong = |got: String| ClientError::Value {
            kind: kind.name.clone(),
            input: input.name.clone(),
            got,
            expected: format!("{} {}", input.element_type, shape_in_words(&input.shape)),
        };
        let shape = match self {
            Self::Array(array) => array.shape().axes().to_vec(),
            Self::Shares(shape, _) => shape.clone(),
        };
        let axes = shape.iter().zip(&input.shape);
        let fits = axes
            .clone()
            .all(|(axis, asked)| asked.is_none_or(|asked| asked == *axis));
        let shown: Vec<_> = shape.iter().map(|&axis| Some(axis)).collect();
        let shown = shape_in_words(&shown);
        match self {
            Self::Array(array) => {
                let got = format!("{} {shown}", array.element());
                let of_type = array.element().to_string() == input.element_type;
                let bits = array.element().bits() as usize <= input.element.bits();
                match fits && of_type && bits && shape.len() == input.shape.len() {
                    true => Ok((shape, array.to_shares(input.element))),
                    false => Err(wrong(got)),
                }
            }
            Self::Shares(_, value) => {
                let got = format!("{} {shown}", value.sort().element);
                let of_form: Element = value.sort().element;
                let elements: usize = shape.iter().product();
                let clear = value.is_known() && value.sort().sharing.is_clear();
                let whole = elements == value.len() && shape.len() == input.shape.len();
                match fits && whole && clear && of_form == input.element {
                    true => Ok((shape, value.clone())),
                    false => Err(wrong(got)),
                }
            }
        }
    }
}
