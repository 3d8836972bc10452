//! Values of inputs.

use std::fmt;
use std::sync::Arc;

use madrigal_clients::Elements;
use madrigal_engine::{Element, Shares};
use madrigal_intake::{Input, Kind, shape_in_words};
use madrigal_program::Array;

use crate::error::ClientError;

/// A value for an input of a kind.
#[derive(Clone)]
pub enum Value {
    /// Typed elements with a shape.
    Array(Array),
    /// A clear value of the input's elements, with the lengths of its axes.
    Shares(Vec<usize>, Shares),
    /// Lengths of the axes, and elements that are read piece by piece and never held together: for values that do not fit into memory. They are
    /// read up to three times before anything is sent, and while they are sent, in the runtime's tasks; each time they have to be the same.
    Stream(Vec<usize>, Arc<dyn Elements>),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, shape) = match self {
            Self::Array(array) => ("Array", array.shape().axes()),
            Self::Shares(shape, _) => ("Shares", &shape[..]),
            Self::Stream(shape, _) => ("Stream", &shape[..]),
        };
        write!(f, "{name}({shape:?})")
    }
}

/// A value in the form that an input is dealt in.
pub(crate) enum Fitted {
    Whole(Shares),
    Stream(Arc<dyn Elements>),
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
    ) -> Result<(Vec<usize>, Fitted), ClientError> {
        let wrong = |got: String| ClientError::Value {
            kind: kind.name.clone(),
            input: input.name.clone(),
            got,
            expected: format!("{} {}", input.element_type, shape_in_words(&input.shape)),
        };
        let shape = match self {
            Self::Array(array) => array.shape().axes().to_vec(),
            Self::Shares(shape, _) | Self::Stream(shape, _) => shape.clone(),
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
                    true => Ok((shape, Fitted::Whole(array.to_shares(input.element)))),
                    false => Err(wrong(got)),
                }
            }
            Self::Stream(_, elements) => match fits && shape.len() == input.shape.len() {
                true => Ok((shape, Fitted::Stream(elements.clone()))),
                false => Err(wrong(format!("{} {shown}", input.element_type))),
            },
            Self::Shares(_, value) => {
                let got = format!("{} {shown}", value.sort().element);
                let of_form: Element = value.sort().element;
                let elements: usize = shape.iter().product();
                let clear = value.is_known() && value.sort().sharing.is_clear();
                let whole = elements == value.len() && shape.len() == input.shape.len();
                match fits && whole && clear && of_form == input.element {
                    true => Ok((shape, Fitted::Whole(value.clone()))),
                    false => Err(wrong(got)),
                }
            }
        }
    }
}
