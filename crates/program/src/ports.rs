//! Values that come into a program, and those that go out.

use std::fmt;
use std::marker::PhantomData;

use madrigal_core::Party;

use crate::error::Source;
use crate::tensor_type::TensorType;

/// A secret that a party brings along.
#[derive(Debug, Clone)]
pub struct InputPort {
    /// Who brings it.
    pub owner: Party,
    /// Name of the input, if it has one.
    pub name: Option<String>,
    /// Type and shape of the input.
    pub tensor_type: TensorType,
    /// Line where the program asks for it.
    pub at: Source,
}

/// A value that parties learn.
#[derive(Debug, Clone)]
pub struct OutputPort {
    /// Who learns it, in order.
    pub to: Vec<Party>,
    /// Name of the output, if it has one.
    pub name: Option<String>,
    /// Type and shape of the output.
    pub tensor_type: TensorType,
    /// Line where the program opens it.
    pub at: Source,
}

/// A handle to an opened value, which fetches it from [`Outputs`](crate::Outputs) and knows its type.
#[derive(Debug)]
pub struct Opened<T> {
    pub(crate) number: usize,
    pub(crate) element: PhantomData<T>,
}

impl<T> Clone for Opened<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Opened<T> {}

/// `input 3 ("bids")`
pub(crate) struct Named<'a>(
    pub(crate) &'static str,
    pub(crate) usize,
    pub(crate) Option<&'a str>,
);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(side, number, name) = self;
        match name {
            Some(name) => write!(f, "{side} {number} ({name:?})"),
            None => write!(f, "{side} {number}"),
        }
    }
}
