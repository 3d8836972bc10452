//! Values that come into a program, and those that go out.

use std::fmt;
use std::marker::PhantomData;

use madrigal_core::Party;

use crate::error::Source;
use crate::holder::{Client, Holder};
use crate::tensor_type::TensorType;

/// A secret that a party or a client brings along.
#[derive(Debug, Clone)]
pub struct InputPort {
    /// Who brings it.
    pub owner: Holder,
    /// Name of the input, if it has one.
    pub name: Option<String>,
    /// Type and shape of the input.
    pub tensor_type: TensorType,
    /// Line where the program asks for it.
    pub at: Source,
}

/// A value that parties or clients learn.
#[derive(Debug, Clone)]
pub struct OutputPort {
    /// Who learns it: parties in order, then clients.
    pub to: Vec<Holder>,
    /// Name of the output, if it has one.
    pub name: Option<String>,
    /// Type and shape of the output.
    pub tensor_type: TensorType,
    /// Line where the program opens it.
    pub at: Source,
}

impl OutputPort {
    /// The parties that learn it, in order.
    pub fn parties(&self) -> Vec<Party> {
        self.to.iter().filter_map(Holder::party).collect()
    }

    /// Whether a party learns it.
    pub fn is_for(&self, party: Party) -> bool {
        self.to.contains(&Holder::Party(party))
    }

    /// The clients that learn it.
    pub fn clients(&self) -> impl Iterator<Item = &Client> {
        self.to.iter().filter_map(Holder::client)
    }
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
