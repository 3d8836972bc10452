//! Types of whole tensors.

use std::fmt;

use crate::element::Type;
use crate::shape::Shape;

/// Type and shape of a value of a typed program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Type of the elements.
    pub element: Type,
    /// Lengths of the axes.
    pub shape: Shape,
}

impl TensorType {
    pub(crate) fn new(element: Type, shape: Shape) -> Self {
        Self { element, shape }
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape.rank() {
            0 => write!(f, "{}", self.element),
            _ => write!(f, "{}{}", self.element, self.shape),
        }
    }
}
