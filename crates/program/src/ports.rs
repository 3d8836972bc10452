//! What comes into a program, and what goes out.

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
    /// What it is called, if it has a name.
    pub name: Option<String>,
    /// Its type and shape.
    pub tensor_type: TensorType,
    /// Where the program asks for it.
    pub at: Source,
}

/// A value that parties learn.
#[derive(Debug, Clone)]
pub struct OutputPort {
    /// Who learns it, in order.
    pub to: Vec<Party>,
    /// What it is called, if it has a name.
    pub name: Option<String>,
    /// Its type and shape.
    pub tensor_type: TensorType,
    /// Where the program opens it.
    pub at: Source,
}

/// What an opened value is fetched with from [`Outputs`](crate::Outputs), which then knows its type.
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
